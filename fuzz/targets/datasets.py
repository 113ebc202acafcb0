"""Files of public data sets that somebody placed: pickles of Planetoid."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

from fuzz.case import Case, target
from fuzz.mutations.content import mutated_bytes
from fuzz.mutations.pickles import mutated_pickle

__all__ = []


@target("planetoid", 6)
def planetoid(random: random.Random, seeds: Path, folder: Path) -> Case:
    """Change one of the eight files, mostly as a pickle."""
    shutil.copytree(seeds / "planetoid", folder / "data")
    path = random.choice(sorted(path for path in (folder / "data").iterdir() if path.suffix not in (".x", ".y")))
    if path.suffix == ".index":
        path.write_bytes(mutated_bytes(random, path.read_bytes()))
    else:
        path.write_bytes(mutated_pickle(random, path.read_bytes()))
    return Case(["inspect", "cora"], environment={"FEATPROP_DATA": "data"})
