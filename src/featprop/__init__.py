"""featprop: which nodes of a graph to label, and a graph neural network for the rest.

    import featprop as fp

    graph = fp.read_graph("my-graph/")
    picks = fp.select(graph, budget=40)
    model = fp.GCN().fit(graph, picks.nodes, labels)
    model.predict(graph)

Names are imported when they are first used: choosing nodes never loads PyTorch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from featprop.errors import MissingExtraError

if TYPE_CHECKING:
    from featprop.graph import Graph
    from featprop.io import read_graph
    from featprop.learner import ActiveLearner
    from featprop.models import GCN, SGC, load_model, save_model
    from featprop.propagation import propagate
    from featprop.selection import Selection, select
    from featprop.strategies import Strategy, available, register
    from featprop.transforms import FeatPropSplit

__version__ = "0.1.0"

__all__ = [
    "GCN",
    "SGC",
    "ActiveLearner",
    "FeatPropSplit",
    "Graph",
    "Selection",
    "Strategy",
    "available",
    "load_model",
    "propagate",
    "read_graph",
    "register",
    "save_model",
    "select",
]

_HOME = {
    "ActiveLearner": "featprop.learner",
    "FeatPropSplit": "featprop.transforms",
    "GCN": "featprop.models",
    "Graph": "featprop.graph",
    "SGC": "featprop.models",
    "Selection": "featprop.selection",
    "Strategy": "featprop.strategies",
    "available": "featprop.strategies",
    "load_model": "featprop.models",
    "propagate": "featprop.propagation",
    "read_graph": "featprop.io",
    "register": "featprop.strategies",
    "save_model": "featprop.models",
    "select": "featprop.selection",
}
_EXTRA_OF = {"torch": "train", "safetensors": "train", "torch_geometric": "pyg"}


def __getattr__(name: str) -> Any:
    if name == "datasets":
        return importlib.import_module("featprop.datasets")
    if name not in _HOME:
        raise AttributeError(f"module 'featprop' has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(_HOME[name]), name)
    except ModuleNotFoundError as error:
        if error.name not in _EXTRA_OF:
            raise
        raise MissingExtraError(f"featprop.{name}", _EXTRA_OF[error.name], error.name) from error


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
