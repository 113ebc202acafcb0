"""The plain arrays every outside graph is turned into before it is checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from featprop.tables import Preparation

__all__ = ["RawGraph"]


@dataclass(frozen=True)
class RawGraph:
    """A graph as it came from outside: unchecked, in positions 0..n-1.

    Attributes
    ----------
    source, target
        The two ends of each edge, as positions.
    features
        One row a node: any SciPy sparse matrix or a dense array.
    weights
        One weight an edge, or None for an unweighted graph.
    ids
        The user's name of each node, or None for 0..n-1.
    labels
        The class of each node; None, NaN or, in an integer array, a negative number where unknown. None if no
        label is known.
    feature_names
        The name of each feature column, if it has one.
    table
        The table of the nodes as it came, a row a node: what a person can read of them.
    preparation
        How its columns became features.
    scaled
        Whether weights are divided by their mean.
    repeated
        What an edge weighs that is there several times: the largest weight (``"max"``), the ``"sum"`` or the
        ``"count"``.
    """

    source: NDArray[np.integer[Any]]
    target: NDArray[np.integer[Any]]
    features: Any
    weights: NDArray[Any] | None = None
    ids: Any = None
    labels: Any = None
    feature_names: tuple[str, ...] | None = None
    table: pa.Table | None = None
    preparation: Preparation | None = None
    scaled: bool = False
    repeated: str = "max"
