"""Graphs that come with featprop."""

from featprop.datasets.digits import digits

__all__ = ["digits"]
