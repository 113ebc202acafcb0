"""featprop: which nodes of a graph to label, and a model for the rest.

    import featprop as fp

    graph = fp.read_graph("my-graph/")
    picks = fp.select(graph, budget=40)
    model = fp.GraphRidge().fit(graph, picks.nodes, labels)
    model.predict(graph)

Names are imported when they are first used: PyTorch is loaded by the networks, GCN and SGC, alone.
"""

from __future__ import annotations

TYPE_CHECKING = False
"""As in `typing`, which takes longer to import than Ctrl-C may go unheard."""

if TYPE_CHECKING:
    # isort: off
    from typing import Any

    from featprop.clustering import KMedoids, k_medoids
    from featprop.errors import FeatpropError, FileError, GraphError, LabelError, MissingExtraError
    from featprop.errors import ModelError, ParameterError
    from featprop.compute import working
    from featprop.evaluate import Advice, AuditSample, AuditScore, Doubts, Estimate, LearningCurve
    from featprop.evaluate import advise, doubts, draw_audit, estimate, learning_curve, score_audit
    from featprop.graph import Graph
    from featprop.sources import GraphDescription, read_graph
    from featprop.labels import LabelLog, export_labels, import_labels
    from featprop.models import GCN, SGC, NodeClassifier, GraphRidge, available_models, get_model, load_model
    from featprop.models import register_model, save_model
    from featprop.propagation import propagate
    from featprop.web.report import Report, report
    from featprop.active import ActiveLearner, Plan, Selection, plan, select, write_predictions
    from featprop.strategies import ScoreStrategy, QueryContext, Strategy, available_strategies, get_strategy
    from featprop.strategies import register_strategy
    from featprop.features import TablePreprocessor
    from featprop.transforms import FeatPropSplit
    # isort: on

__version__ = "0.2.0"

_NAMES = {
    "compute": "working",
    "clustering": "KMedoids k_medoids",
    "errors": "FeatpropError FileError GraphError LabelError MissingExtraError ModelError ParameterError",
    "evaluate": "Advice AuditSample AuditScore Doubts Estimate LearningCurve "
    "advise doubts draw_audit estimate learning_curve score_audit",
    "graph": "Graph",
    "sources": "GraphDescription read_graph",
    "labels": "LabelLog export_labels import_labels",
    "models": "GCN SGC NodeClassifier GraphRidge available_models get_model load_model register_model save_model",
    "propagation": "propagate",
    "web.report": "Report report",
    "active": "ActiveLearner Plan Selection plan select write_predictions",
    "strategies": "ScoreStrategy QueryContext Strategy available_strategies get_strategy register_strategy",
    "features": "TablePreprocessor",
    "transforms": "FeatPropSplit",
}
_HOME = {name: f"featprop.{module}" for module, names in _NAMES.items() for name in names.split()}
# fmt: off
__all__ = [
    "GCN", "SGC", "ActiveLearner", "Advice", "AuditSample", "AuditScore", "Doubts", "Estimate", "FeatPropSplit",
    "FeatpropError", "FileError", "Graph", "GraphDescription", "GraphError", "GraphRidge", "KMedoids", "LabelError",
    "LabelLog", "LearningCurve", "MissingExtraError", "ModelError", "NodeClassifier", "ParameterError", "Plan",
    "QueryContext", "Report", "ScoreStrategy", "Selection", "Strategy", "TablePreprocessor", "advise",
    "available_models", "available_strategies", "doubts", "draw_audit", "estimate", "export_labels", "get_model",
    "get_strategy", "import_labels", "k_medoids", "learning_curve", "load_model", "plan", "propagate", "read_graph",
    "register_model", "register_strategy", "report", "save_model", "score_audit", "select",
    "working", "write_predictions",
]
# fmt: on


def __getattr__(name: str) -> Any:
    import importlib

    if name in ("datasets", "errors"):
        return importlib.import_module(f"featprop.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'featprop' has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(_HOME[name]), name)
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in ("torch", "torch_geometric"):
            raise
        from featprop.errors import MissingExtraError

        raise MissingExtraError(f"featprop.{name}", "pyg", missing) from error


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
