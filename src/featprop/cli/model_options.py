"""The options by which commands say what to train and on which labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from featprop.models import NodeClassifier

__all__ = ["LabelsOption", "ModelOption", "SettingsOption", "chosen_model"]

LabelsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--labels", help="A filled labelling sheet (id, label) or a label log. Repeatable. Default: the graph's own."
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option("--model", help="What to train; featprop models lists them.", show_default="ridge"),
]
SettingsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="A setting of the model; featprop models NAME lists them. Repeatable."
    ),
]


def chosen_model(name: str | None, settings: list[str] | None, seed: int, device: str) -> NodeClassifier:
    """Return the model that the options name, not fitted; it gets seed and device if it has a use for them."""
    from featprop.models import DEFAULT_MODEL, get_model, model_class
    from featprop.options import options_of, parse_options

    kind = model_class(name or DEFAULT_MODEL)
    given = {"random_state": seed, "device": device} | parse_options(kind, settings or [])
    return get_model(kind.name, **{option: value for option, value in given.items() if option in options_of(kind)})
