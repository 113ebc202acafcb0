"""Stratified folds that do not depend on the order of the labels."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from featprop.errors import ParameterError
from featprop.ids import name_to_text

__all__ = ["MAX_FOLDS", "stratified_folds"]

MAX_FOLDS = 10


def stratified_folds(nodes: Sequence[Hashable], codes: NDArray[np.integer]) -> NDArray[np.intp]:
    """Return the fold of each label, 0 to `MAX_FOLDS` - 1 or one fold per label if there are fewer.

    Labels of a class are spread over as many folds as they can be. Which fold a node falls into follows from a digest
    of its id, so the folds are the same in whatever order the labels are listed.
    """
    digests = [hashlib.blake2b(_text(node).encode(), digest_size=8).digest() for node in nodes]
    order = sorted(range(len(nodes)), key=lambda place: (codes[place], digests[place]))
    folds = np.empty(len(nodes), dtype=np.intp)
    folds[order] = np.arange(len(nodes)) % min(MAX_FOLDS, len(nodes))
    return folds


def _text(node: Hashable) -> str:
    """Return a text that identifies a node: its JSON form, or its `repr` if it has none."""
    try:
        return name_to_text(node)
    except ParameterError:
        return repr(node)
