"""Select which nodes of a graph to label, train a model, and predict the rest.

    import featprop as fp

    graph = fp.read_graph("my-graph/")
    picks = fp.select(graph, budget=40)
    model = fp.GraphRidge().fit(graph, picks.nodes, labels)
    model.predict(graph)

Names are imported on first use, so `import featprop` is fast and PyTorch is loaded only by `GCN` and `SGC`.
"""

from __future__ import annotations

TYPE_CHECKING = False
"""Same as `typing.TYPE_CHECKING`; importing `typing` here would delay the handling of Ctrl-C."""

if TYPE_CHECKING:
    from typing import Any

    from featprop import datasets as datasets
    from featprop import errors as errors
    from featprop import evaluate as evaluate
    from featprop import labels as labels
    from featprop import models as models
    from featprop import strategies as strategies
    from featprop.active import ActiveLearner as ActiveLearner
    from featprop.active import Selection as Selection
    from featprop.active import select as select
    from featprop.clustering import KMedoids as KMedoids
    from featprop.graph import Graph as Graph
    from featprop.labels import LabelLog as LabelLog
    from featprop.models import GCN as GCN
    from featprop.models import SGC as SGC
    from featprop.models import GraphRidge as GraphRidge
    from featprop.models import load_model as load_model
    from featprop.sources import read_graph as read_graph
    from featprop.transforms import FeatPropSplit as FeatPropSplit

__version__ = "1.0.0"

_MODULE_OF = {
    "ActiveLearner": "active",
    "FeatPropSplit": "transforms",
    "GCN": "models",
    "Graph": "graph",
    "GraphRidge": "models",
    "KMedoids": "clustering",
    "LabelLog": "labels",
    "SGC": "models",
    "Selection": "active",
    "load_model": "models",
    "read_graph": "sources",
    "select": "active",
}
_MODULES = ("datasets", "errors", "evaluate", "labels", "models", "strategies")

__all__ = [*_MODULE_OF, *_MODULES]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"featprop.{name}")
    if name in _MODULE_OF:
        return getattr(import_module(f"featprop.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module 'featprop' has no attribute {name!r}", name=name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
