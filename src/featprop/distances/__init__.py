"""Distances between rows, block by block, without the matrix of all of them."""

from featprop.distances.points import Points

__all__ = ["Points"]
