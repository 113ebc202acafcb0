"""``python -m featprop``."""

from featprop.cli import app

app(prog_name="featprop")
