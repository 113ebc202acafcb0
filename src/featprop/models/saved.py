"""Models on disk: the weights as safetensors, everything else as JSON. Nothing is ever unpickled."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from featprop.errors import FeatpropError, FileError, ModelError, reason
from featprop.io.atomic import replacing_folder
from featprop.models.classifier import NodeClassifier, get_model

__all__ = ["check_may_hold_model", "load_model", "save_model"]

DESCRIPTION = "model.json"
WEIGHTS = "weights.safetensors"
FORMAT = 1


def save_model(model: NodeClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted model into a folder, in place of a model that is there already."""
    folder = Path(path)
    if model.network is None:
        raise ModelError("The model", "must be fitted before it is saved", "an unfitted one", "call fit first")
    check_may_hold_model(folder)
    strange = [repr(name) for name in model.classes if not isinstance(name, str | int | float | bool)]
    if strange:
        rule = "must be text or numbers to be saved"
        raise ModelError("Class names", rule, ", ".join(strange[:5]), "name the classes by text before fit")
    description = {
        "format": FORMAT,
        "model": model.name,
        "settings": model.settings,
        "classes": list(model.classes),
        "n_features": model.n_features,
        "feature_names": None if model.feature_names is None else list(model.feature_names),
    }
    tensors = {name: tensor.contiguous().cpu() for name, tensor in model.network.state_dict().items()}
    with replacing_folder(folder) as temporary:
        (temporary / DESCRIPTION).write_text(json.dumps(description, indent=2, ensure_ascii=False), encoding="utf-8")
        save_file(tensors, temporary / WEIGHTS)
        (temporary / WEIGHTS).chmod((temporary / DESCRIPTION).stat().st_mode)


def load_model(path: str | os.PathLike[str], device: str = "cpu") -> NodeClassifier:
    """Read a model that `save_model` wrote."""
    folder = Path(path)
    if not (folder / DESCRIPTION).is_file() or not (folder / WEIGHTS).is_file():
        missing = [name for name in (DESCRIPTION, WEIGHTS) if not (folder / name).is_file()]
        found = f"no {' and no '.join(missing)}" if folder.is_dir() else "no such folder"
        rule = f"must be a model folder with {DESCRIPTION} and {WEIGHTS}"
        raise ModelError(f"{folder}", rule, found, "make one with featprop train")
    try:
        description = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        if description["format"] != FORMAT:
            raise ValueError(f"format {description['format']}, not {FORMAT}")
        return _restored(description, load_file(folder / WEIGHTS), device)
    except FeatpropError:
        raise
    except (ValueError, KeyError, TypeError, RuntimeError, OSError, SafetensorError) as error:
        rule, found = "must be an undamaged model of this version", f"this: {reason(error)}"
        raise ModelError(f"{folder}", rule, found, "train it again") from error


def check_may_hold_model(folder: Path) -> None:
    """Refuse to replace a folder that holds anything but a model."""
    if not folder.exists():
        return
    strange = sorted({entry.name for entry in folder.iterdir()} - {DESCRIPTION, WEIGHTS}) if folder.is_dir() else []
    if strange or not folder.is_dir():
        found = ", ".join(strange[:5]) if strange else "a file"
        raise FileError(
            f"{folder}", "must be a new folder or one that holds a model only", found, "choose another --out"
        )


def _restored(description: dict[str, Any], tensors: dict[str, torch.Tensor], device: str) -> NodeClassifier:
    kind = get_model(description["model"])
    model = kind(**description["settings"], device=device)
    model.classes = tuple(description["classes"])
    model.n_features = int(description["n_features"])
    names = description["feature_names"]
    model.feature_names = None if names is None else tuple(names)
    model.network = model.build(model.n_features, len(model.classes), torch.Generator())
    model.network.load_state_dict(tensors)
    return model
