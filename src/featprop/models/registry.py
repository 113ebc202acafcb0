"""The names of the models: those of featprop, and those other packages bring (`featprop.registry`)."""

from __future__ import annotations

from featprop.models.base import NodeClassifier
from featprop.options import options_of
from featprop.registry import Registry

__all__ = ["DEFAULT_MODEL", "MODELS", "available_models", "get_model", "model_class", "model_of_seed", "register_model"]

MODELS: Registry[NodeClassifier] = Registry("model", NodeClassifier, "featprop.models")

DEFAULT_MODEL = "ridge"
"""What is trained unless another is named."""

register_model = MODELS.register
available_models = MODELS.names
model_class = MODELS.find
get_model = MODELS.make


def model_of_seed(seed: int, name: str | None = None) -> NodeClassifier:
    """Return a model, the default one if none is named, with that seed if it draws anything."""
    chosen = name or DEFAULT_MODEL
    takes_seed = "seed" in options_of(model_class(chosen))
    return get_model(chosen, **({"seed": seed} if takes_seed else {}))
