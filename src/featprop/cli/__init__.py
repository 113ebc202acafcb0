"""The command line: a thin shell. Options in, one call into the library, print."""

from featprop.cli import demo, predict, select, train
from featprop.cli.app import app

__all__ = ["app", "demo", "predict", "select", "train"]
