"""A model on disk: one ``.safetensors`` file with its arrays, and everything else as JSON in the header.

Nothing is ever unpickled. The header also has a digest of all of it, so a damaged or edited file is refused as a whole.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from featprop.errors import FeatpropError, ModelError, ParameterError, quote_error
from featprop.features import TablePreprocessor
from featprop.files import writing_output
from featprop.ids import from_jsonable, to_jsonable
from featprop.models.base import MODELS, NodeClassifier, get_model, model_class
from featprop.options import options_of, settings_of

log = logging.getLogger(__name__)

HEADER, DIGEST = "featprop", "digest"
"""Keys in the header of the file: of the JSON, and of a digest of the JSON and the arrays."""
LABELS = "labelled"
"""Name of the array that holds the training labels as JSON: the header of a file has at most 100 MB."""
FORMAT = 1
DAMAGE = (
    ValueError, KeyError, TypeError, AttributeError, RuntimeError, ArithmeticError, OSError, SafetensorError
)  # fmt: skip


def save_model(model: NodeClassifier, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a fitted model to a file.

    Parameters
    ----------
    model
        A fitted model.
    path
        File to write, usually named ``NAME.safetensors``.
    force
        Whether to overwrite an existing file.
    """
    if not model.is_fitted:
        raise ModelError("An unfitted model cannot be saved.", hint="Call `fit` first.")
    settings = settings_of(model)
    settings.pop("device", None)
    description = {
        "format": FORMAT,
        "model": MODELS.name_of(model),
        "settings": settings,
        "classes": [to_jsonable(name) for name in model.class_names_],
        "n_features": model.n_features_in_,
        "graph_size": list(model.graph_size_),
        "feature_names": None if model.feature_names_in_ is None else list(model.feature_names_in_),
        "preprocessor": None if model.preprocessor_ is None else model.preprocessor_.to_json(),
    }
    labels = json.dumps(_describe_labels(model), ensure_ascii=False).encode()
    arrays = {name: np.ascontiguousarray(values) for name, values in model.state_dict().items()}
    arrays[LABELS] = np.frombuffer(labels, np.uint8)
    header = json.dumps(description, ensure_ascii=False)
    content = save(arrays, {HEADER: header, DIGEST: _digest(header, arrays)})
    with writing_output(Path(path), force=force) as temporary:
        temporary.write_bytes(content)


def load_model(path: str | os.PathLike[str], device: str = "cpu") -> NodeClassifier:
    """Read a model that `save_model` wrote.

    Parameters
    ----------
    path
        The file.
    device
        Where a PyTorch model computes, such as ``"cpu"`` or ``"cuda"``.
    """
    if not Path(path).is_file():
        reason = "it is a folder" if Path(path).is_dir() else "there is no such file"
        raise ModelError(f"Cannot read the model {path}: {reason}.", hint="`train` writes one.", path=path)
    try:
        with safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        description = json.loads(metadata[HEADER])
        if description["format"] != FORMAT:
            raise ValueError(f"format {description['format']} instead of {FORMAT}")
        if metadata[DIGEST] != _digest(metadata[HEADER], arrays):
            raise ValueError("its content does not match its digest")
        labels = json.loads(arrays.pop(LABELS).tobytes())
        return _restore_model(description, labels, arrays, device)
    except FeatpropError:
        raise
    except DAMAGE as error:
        message = f"{path} is damaged, or not a model of this version of featprop: {quote_error(error)}."
        raise ModelError(message, hint="Train it again.", path=path) from error


def _restore_model(description: dict[str, Any], labels: Any, arrays: dict[str, Any], device: str) -> NodeClassifier:
    kind = model_class(description["model"])
    try:
        model = get_model(kind.name, **description["settings"])
    except ParameterError as error:
        raise ValueError(str(error)) from error
    if "device" in options_of(type(model)):
        model.set_params(device=device)
    model.class_names_ = tuple(from_jsonable(name) for name in description["classes"])
    model.n_features_in_ = int(description["n_features"])
    nodes, edges = description["graph_size"]
    model.graph_size_ = (int(nodes), int(edges))
    names = description["feature_names"]
    model.feature_names_in_ = None if names is None else tuple(names)
    preprocessor = description["preprocessor"]
    model.preprocessor_ = None if preprocessor is None else TablePreprocessor.from_json(preprocessor)
    model.labelled_ = {from_jsonable(node): model.class_names_[code] for node, code, _ in labels}
    model.labelled_rows_ = tuple(row for _, _, row in labels)
    model.load_state_dict(arrays)
    return model


def _describe_labels(model: NodeClassifier) -> list[list[Any]]:
    """Return the training labels, each as node id, index of its class and digest of its features.

    A model whose node ids JSON cannot hold is saved without them.
    """
    code_of = {name: code for code, name in enumerate(model.class_names_)}
    try:
        ids = [to_jsonable(node) for node in model.labelled_]
    except ParameterError as error:
        log.warning("The model is saved without its training labels: %s", error)
        return []
    codes = [code_of[name] for name in model.labelled_.values()]
    return [list(parts) for parts in zip(ids, codes, model.labelled_rows_, strict=True)]


def _digest(header: str, arrays: Mapping[str, NDArray[Any]]) -> str:
    digest = hashlib.blake2b(header.encode(), digest_size=16)
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype} {arrays[name].shape};".encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()
