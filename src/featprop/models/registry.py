"""The names of the models: those of featprop, and those other packages bring (`featprop.registry`)."""

from __future__ import annotations

from featprop.models.base import NodeClassifier
from featprop.options import options_of
from featprop.registry import Registry

__all__ = ["DEFAULT_MODEL", "MODELS", "available_models", "default_model", "get_model", "model_class", "register_model"]

MODELS: Registry[NodeClassifier] = Registry("model", NodeClassifier, "featprop.models")

DEFAULT_MODEL = "gcn"
"""What is trained unless another is named."""

register_model = MODELS.register
available_models = MODELS.names
model_class = MODELS.find
get_model = MODELS.make


def default_model(seed: int = 0) -> NodeClassifier:
    """Return what is trained unless another model is named, with that seed if it draws anything."""
    takes_seed = "seed" in options_of(model_class(DEFAULT_MODEL))
    return get_model(DEFAULT_MODEL, **({"seed": seed} if takes_seed else {}))
