"""Changed arrays: some of them are pickles that were crafted to do harm."""

import random
import zipfile
from pathlib import Path

import numpy as np
import pytest

import featprop as fp
from featprop.errors import FeatpropError
from fuzz.mutations.arrays import crafted_npy, mutated_npy, npy
from fuzz.mutations.pickles import CRAFTED


def test_some_arrays_are_crafted_pickles() -> None:
    content, chance = npy(np.arange(5)), random.Random(0)
    changed = [mutated_npy(chance, content) for _ in range(300)]
    crafted = {name for name, pickled in CRAFTED.items() if crafted_npy(pickled) in changed}
    assert len(crafted) > 10


def test_they_come_as_far_as_pickles_do(tmp_path: Path) -> None:
    """The header is right, so it is the pickle that is refused."""
    with zipfile.ZipFile(tmp_path / "graph.npz", "w") as archive:
        for name in ("adj_matrix", "node_attr", "node_label"):
            archive.writestr(f"{name}.npy", crafted_npy(CRAFTED["a call"]))
    with pytest.raises(FeatpropError, match="found a call of "):
        fp.read_graph(tmp_path / "graph.npz")
