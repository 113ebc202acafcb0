"""Models that learn from a few labelled nodes: one file per model, imported on first use."""

from typing import TYPE_CHECKING, Any

from featprop.models.base import NodeClassifier
from featprop.models.registry import (
    BUILT_IN,
    DEFAULT_MODEL,
    MODELS,
    available_models,
    get_model,
    model_class,
    model_of_seed,
    register_model,
)

if TYPE_CHECKING:
    from featprop.models.gcn import GCN as GCN
    from featprop.models.ridge import GraphRidge as GraphRidge
    from featprop.models.saved import load_model as load_model
    from featprop.models.saved import save_model as save_model
    from featprop.models.sgc import SGC as SGC

_NAME_OF = {kind: name for name, kind in BUILT_IN.items()}
_SAVING = ("load_model", "save_model")

__all__ = [
    "DEFAULT_MODEL",
    "MODELS",
    "NodeClassifier",
    "available_models",
    "get_model",
    "model_class",
    "model_of_seed",
    "register_model",
    *_NAME_OF,
    *_SAVING,
]


def __getattr__(name: str) -> Any:
    if name in _NAME_OF:
        return model_class(_NAME_OF[name])
    if name in _SAVING:
        from featprop.models import saved

        return getattr(saved, name)
    raise AttributeError(f"module 'featprop.models' has no attribute {name!r}", name=name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
