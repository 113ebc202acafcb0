"""A user's tables: what each column is, how it becomes features, and what is said of that."""

from featprop.tables.looks import Column
from featprop.tables.options import TableOptions
from featprop.tables.preparation import Preparation

__all__ = ["Column", "Preparation", "TableOptions"]
