"""Model folders."""

from __future__ import annotations

import random
import shutil
import struct
from pathlib import Path

from fuzz import checks
from fuzz.case import Case, target
from fuzz.mutations.content import mutated_bytes
from fuzz.mutations.trees import mutated_json

__all__ = []


@target("model", 10)
def model(random: random.Random, seeds: Path, folder: Path) -> Case:
    """Change the description or the numbers of a model, and predict with it."""
    kind = random.choice(["ridge", "ridge", "ridge", "gcn"])
    shutil.copytree(seeds / ("csv" if kind == "ridge" else "parquet"), folder / "graph")
    shutil.copytree(seeds / kind, folder / "model")
    description, weights = folder / "model" / "model.json", folder / "model" / "weights.safetensors"
    way = random.random()
    if way < 0.6:
        description.write_bytes(mutated_json(random, description.read_bytes()))
    elif way < 0.8:
        weights.write_bytes(_changed_header(random, weights.read_bytes()))
    elif way < 0.97:
        weights.write_bytes(mutated_bytes(random, weights.read_bytes()))
    else:
        random.choice([description, weights]).unlink()
    words = ["predict", "graph", "--model", "model", "--out", "out.csv"]
    return Case(words, ("out.csv",), check=checks.predictions("out.csv"))


def _changed_header(random: random.Random, content: bytes) -> bytes:
    """Change names, types, shapes and places of tensors; the header stays of the length that it says."""
    length = struct.unpack("<Q", content[:8])[0]
    header = mutated_json(random, content[8 : 8 + length])
    return struct.pack("<Q", len(header)) + header + content[8 + length :]
