"""Models on disk: what was learnt as safetensors, everything else as JSON. Nothing is ever unpickled."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Hashable
from functools import partial
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from featprop.errors import FeatpropError, FileError, ModelError, ParameterError, quote_error
from featprop.features import TablePreprocessor
from featprop.io.atomic import read_whole, replacing_folder, restore_interrupted
from featprop.models.base import NodeClassifier
from featprop.models.registry import MODELS, get_model, model_class
from featprop.names import from_jsonable, to_jsonable
from featprop.options import options_of, settings_of
from featprop.sources.native import foreign_entries

__all__ = ["check_may_hold_model", "load_model", "n_labels_in", "save_model"]

log = logging.getLogger(__name__)

DESCRIPTION = "model.json"
WEIGHTS = "weights.safetensors"
FORMAT = 1


def save_model(model: NodeClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted model into a folder, in place of a model that is there already."""
    folder = Path(path)
    if not model.is_fitted:
        raise ModelError("The model", "must be fitted before it is saved", "an unfitted one", "call fit first")
    check_may_hold_model(folder)
    settings = settings_of(model)
    settings.pop("device", None)
    description = {
        "format": FORMAT,
        "model": MODELS.name_of(model),
        "settings": settings,
        "classes": [to_jsonable(name) for name in model.classes_],
        "n_features": model.n_features_in_,
        "feature_names": None if model.feature_names_in_ is None else list(model.feature_names_in_),
        "preprocessor": None if model.preprocessor_ is None else model.preprocessor_.to_json(),
        "labelled": _described_labels(model),
    }
    with replacing_folder(folder) as temporary:
        (temporary / DESCRIPTION).write_text(json.dumps(description, indent=2, ensure_ascii=False), encoding="utf-8")
        (temporary / WEIGHTS).write_bytes(save(dict(model.tensors())))


def load_model(path: str | os.PathLike[str], device: str = "cpu") -> NodeClassifier:
    """Read a model that `save_model` wrote.

    Parameters
    ----------
    path
        The folder.
    device
        Where it computes, if it is one that can choose.
    """
    folder = Path(path)
    return read_whole(folder, partial(_read, folder, device))


def _read(folder: Path, device: str) -> NodeClassifier:
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
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RuntimeError,
        ArithmeticError,
        OSError,
        SafetensorError,
    ) as error:
        rule, found = "must be an undamaged model of this version", f"this: {quote_error(error)}"
        raise ModelError(f"{folder}", rule, found, "train it again") from error


def check_may_hold_model(folder: Path) -> None:
    """Refuse to replace a folder that holds anything but a model."""
    restore_interrupted(folder)
    if not folder.exists():
        return
    strange = foreign_entries(folder, {DESCRIPTION, WEIGHTS}) if folder.is_dir() else ["a file"]
    if strange:
        rule = "must be a new folder or one that holds a model only"
        raise FileError(f"{folder}", rule, ", ".join(strange[:5]), "choose another place")


def n_labels_in(folder: Path) -> int | None:
    """Return how many labels the model in a folder was trained on; None if there is none that says so."""
    try:
        return len(json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))["labelled"]) or None
    except (ValueError, KeyError, TypeError, OSError, RecursionError):
        return None


def _restored(description: dict[str, Any], tensors: dict[str, Any], device: str) -> NodeClassifier:
    kind = model_class(description["model"])
    try:
        model = get_model(kind.name, **description["settings"])
    except ParameterError as error:
        raise ValueError(str(error)) from error
    if "device" in options_of(type(model)):
        model.set_params(device=device)
    model.classes_ = tuple(from_jsonable(name) for name in description["classes"])
    if len(set(model.classes_)) < len(model.classes_):
        raise ValueError("a class that is there twice")
    model.n_features_in_ = int(description["n_features"])
    names = description["feature_names"]
    model.feature_names_in_ = None if names is None else tuple(names)
    if names is not None and (not isinstance(names, list) or len(names) != model.n_features_in_):
        raise ValueError(f"names of other features than {model.n_features_in_}")
    preprocessor = description["preprocessor"]
    model.preprocessor_ = None if preprocessor is None else TablePreprocessor.from_json(preprocessor)
    _restore_labels(model, description["labelled"])
    model.restore(tensors)
    return model


def _described_labels(model: NodeClassifier) -> list[list[Any]]:
    """Return the labels the model was trained on, each as id, index of its class and digest of its features.

    Ids that JSON cannot hold are no reason not to save the model: it is saved without these labels.
    """
    code_of = {name: code for code, name in enumerate(model.classes_)}
    try:
        ids = [to_jsonable(node) for node in model.labelled_]
    except ParameterError as error:
        log.warning("The model is saved without the labels it was trained on: %s", error)
        return []
    codes = [code_of[name] for name in model.labelled_.values()]
    return [list(parts) for parts in zip(ids, codes, model.labelled_rows_, strict=True)]


def _restore_labels(model: NodeClassifier, kept: Any) -> None:
    """Take up what `_described_labels` returned."""
    if not isinstance(kept, list):
        raise ValueError("labels that are no list")
    labels: dict[Hashable, Hashable] = {}
    rows = []
    for node, code, row in kept:
        if type(code) is not int or not 0 <= code < len(model.classes_) or not isinstance(row, str):
            raise ValueError(f"a label that is none of the classes: {code!r}")
        labels[from_jsonable(node)] = model.classes_[code]
        rows.append(row)
    if len(labels) < len(rows):
        raise ValueError("two labels for one node")
    model.labelled_, model.labelled_rows_ = labels, tuple(rows)
