"""The data sets of the paper and of the field, by name, and synthetic graphs."""

from featprop.datasets.catalogue import CATALOGUE, Dataset, Statistics, find, homophily, is_known, statistics
from featprop.datasets.loading import Status, cached_form, fetch, load, resolve, status
from featprop.datasets.readers import digits
from featprop.datasets.synthetic import make

__all__ = [
    "CATALOGUE",
    "Dataset",
    "Statistics",
    "Status",
    "cached_form",
    "digits",
    "fetch",
    "find",
    "homophily",
    "is_known",
    "load",
    "make",
    "resolve",
    "statistics",
    "status",
]
