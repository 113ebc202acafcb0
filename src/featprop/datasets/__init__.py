"""The data sets of the paper and of the field, by name, and synthetic graphs."""

from typing import TYPE_CHECKING, Any

from featprop.datasets.catalogue import CATALOGUE, Dataset, Statistics, find, homophily, is_known, statistics
from featprop.datasets.loading import Status, cached_form, fetch, load, resolve, status
from featprop.datasets.readers import digits

if TYPE_CHECKING:
    from featprop.datasets.synthetic import make as make

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


def __getattr__(name: str) -> Any:
    if name == "make":
        from featprop.datasets.synthetic import make

        return make
    raise AttributeError(f"module 'featprop.datasets' has no attribute {name!r}", name=name)
