"""Models that learn from a few labelled nodes: one file each, all behind `NodeClassifier`.

Every file here is imported but `featprop.models.networks`, which needs PyTorch.
"""

from importlib import import_module
from pkgutil import iter_modules

from featprop.models.base import NodeClassifier
from featprop.models.gcn import GCN
from featprop.models.registry import (
    DEFAULT_MODEL,
    MODELS,
    available_models,
    get_model,
    model_class,
    model_of_seed,
    register_model,
)
from featprop.models.ridge import GraphRidge
from featprop.models.saved import load_model, save_model
from featprop.models.sgc import SGC

__all__ = [
    "DEFAULT_MODEL",
    "GCN",
    "MODELS",
    "SGC",
    "GraphRidge",
    "NodeClassifier",
    "available_models",
    "get_model",
    "load_model",
    "model_class",
    "model_of_seed",
    "register_model",
    "save_model",
]

for found in iter_modules(__path__):
    if found.name != "networks":
        import_module(f"{__name__}.{found.name}")
