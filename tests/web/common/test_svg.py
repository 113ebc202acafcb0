import base64
import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread

from featprop.web.common.palette import INK
from featprop.web.common.svg import embed_svg, figure_to_svg, png_uri


def test_png_uri_round_trip(tmp_path: Path) -> None:
    pixels = np.linspace(0, 1, 64, dtype=np.float32).reshape(8, 8)
    png = tmp_path / "image.png"
    png.write_bytes(base64.b64decode(png_uri(pixels).partition(",")[2]))
    assert imread(png)[:, :, 0] == pytest.approx(1 - pixels, abs=1 / 255)


def test_description_is_escaped() -> None:
    figure = Figure(figsize=(1, 1))
    figure.text(0, 0, "text", color=INK.light)
    svg = embed_svg(figure_to_svg(figure, "name"), 'a "quoted" <b>')
    assert re.match(r'<svg viewBox="[^"]*" role="img" aria-label="a &#34;quoted&#34; &lt;b&gt;">', svg)
    assert "var(--ink)" in svg


def test_name_longer_than_the_figure_is_drawn() -> None:
    figure = Figure(figsize=(1, 1), layout="constrained")
    figure.subplots().set_yticks([0], ["x" * 400])
    assert "x" * 400 in figure_to_svg(figure, "name")
