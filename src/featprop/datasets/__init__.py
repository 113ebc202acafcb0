"""The data sets of the paper and of the field, by name, and graphs made to order."""

from featprop.datasets.catalogue import CATALOGUE, find, is_known
from featprop.datasets.digits import digits
from featprop.datasets.entry import Dataset
from featprop.datasets.loading import fetch, kept_form, load, resolve, whereabouts
from featprop.datasets.stats import Statistics, homophily, statistics
from featprop.datasets.synthetic import make

__all__ = [
    "CATALOGUE",
    "Dataset",
    "Statistics",
    "digits",
    "fetch",
    "find",
    "homophily",
    "is_known",
    "kept_form",
    "load",
    "make",
    "resolve",
    "statistics",
    "whereabouts",
]
