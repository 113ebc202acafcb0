"""Models that learn from a few labelled nodes: one file per model, imported on first use."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from featprop.models.base import (
    DEFAULT_MODEL,
    MODELS,
    NodeClassifier,
    available_models,
    clone,
    get_model,
    model_class,
    register_model,
    seeded_model,
)

if TYPE_CHECKING:
    from featprop.models.cross_validation import cross_val_score as cross_val_score
    from featprop.models.gcn import GCN as GCN
    from featprop.models.ridge import GraphRidge as GraphRidge
    from featprop.models.saved import load_model as load_model
    from featprop.models.saved import save_model as save_model
    from featprop.models.sgc import SGC as SGC

_MODULE_OF = {
    "GCN": "gcn",
    "GraphRidge": "ridge",
    "SGC": "sgc",
    "cross_val_score": "cross_validation",
    "load_model": "saved",
    "save_model": "saved",
}

__all__ = [
    "DEFAULT_MODEL",
    "MODELS",
    "NodeClassifier",
    "available_models",
    "clone",
    "get_model",
    "model_class",
    "register_model",
    "seeded_model",
    *_MODULE_OF,
]


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        return getattr(import_module(f"featprop.models.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module 'featprop.models' has no attribute {name!r}", name=name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
