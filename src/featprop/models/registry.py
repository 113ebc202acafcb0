"""Models by name: featprop's own, and those of other packages (`featprop.registry`)."""

from __future__ import annotations

from featprop.models.base import NodeClassifier
from featprop.options import options_of
from featprop.registry import Registry

BUILT_IN = {"gcn": "GCN", "ridge": "GraphRidge", "sgc": "SGC"}
"""Class of each of featprop's models; its module has its name."""

MODELS: Registry[NodeClassifier] = Registry(
    "model",
    NodeClassifier,
    "featprop.models",
    {name: f"featprop.models.{name}:{kind}" for name, kind in BUILT_IN.items()},
)

DEFAULT_MODEL = "ridge"
"""Model trained unless another is named."""

register_model = MODELS.register
available_models = MODELS.names
model_class = MODELS.find
get_model = MODELS.make


def seeded_model(random_state: int, name: str | None = None) -> NodeClassifier:
    """Return a model, the default one if none is named, with that seed if it takes one."""
    chosen = name or DEFAULT_MODEL
    takes_seed = "random_state" in options_of(model_class(chosen))
    return get_model(chosen, **({"random_state": random_state} if takes_seed else {}))
