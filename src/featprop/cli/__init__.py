"""The command line: a thin shell. Options in, one call into the library, print."""

from featprop.cli import convert, datasets, demo, make, predict, select, strategies, train
from featprop.cli.app import app

__all__ = ["app", "convert", "datasets", "demo", "make", "predict", "select", "strategies", "train"]
