"""Saved models."""

from __future__ import annotations

import json
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
    content = (seeds / f"{kind}.safetensors").read_bytes()
    changed = _changed_header if random.random() < 0.8 else mutated_bytes
    (folder / "model.safetensors").write_bytes(changed(random, content))
    words = ["predict", "graph", "--model", "model.safetensors", "--out", "out.csv"]
    return Case(words, ("out.csv",), check=checks.predictions("out.csv"))


def _changed_header(random: random.Random, content: bytes) -> bytes:
    """Change the JSON of a model, or names, types, shapes and places of its arrays."""
    length = struct.unpack("<Q", content[:8])[0]
    whole = json.loads(content[8 : 8 + length])
    if random.random() < 0.7:
        description = whole["__metadata__"]["featprop"].encode()
        whole["__metadata__"]["featprop"] = mutated_json(random, description).decode(errors="replace")
        header = json.dumps(whole).encode()
    else:
        header = mutated_json(random, content[8 : 8 + length])
    return struct.pack("<Q", len(header)) + header + content[8 + length :]
