"""The data sets of the paper and of the field, by name, and graphs made to order."""

from featprop.datasets.catalogue import CATALOGUE, find, is_known
from featprop.datasets.digits import digits
from featprop.datasets.entry import Dataset
from featprop.datasets.loading import fetch, load, resolve, whereabouts

__all__ = ["CATALOGUE", "Dataset", "digits", "fetch", "find", "is_known", "load", "resolve", "whereabouts"]
