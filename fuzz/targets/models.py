"""Saved models, and the settings of experiments."""

from __future__ import annotations

import json
import struct
import tomllib
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from fuzz import checks
from fuzz.case import Case
from fuzz.damage import damaged_bytes, damaged_json, damaged_tree
from fuzz.targets.graphs import to_toml

UNBOUNDED = ("seeds", "epochs", "hidden", "layers", "time_limit")
"""Settings that may ask for days of work."""


@st.composite
def saved_models(draw: DrawFn, seeds: Path) -> Case:
    """Damage the description, the header or the numbers of a model, and predict with it."""
    content = (seeds / f"{draw(st.sampled_from(['ridge', 'gcn']))}.safetensors").read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    header, numbers = json.loads(content[8 : 8 + length]), content[8 + length :]
    way = draw(st.sampled_from(["description", "description", "header", "bytes"]))
    if way == "description":
        description = draw(damaged_json(header["__metadata__"]["featprop"].encode()))
        header["__metadata__"]["featprop"] = description.decode(errors="replace")
    damaged = draw(damaged_json(json.dumps(header).encode())) if way == "header" else json.dumps(header).encode()
    whole = struct.pack("<Q", len(damaged)) + damaged + numbers
    files = {"model.safetensors": draw(damaged_bytes(content)) if way == "bytes" else whole}
    words = ("predict", "csv", "--model", "model.safetensors", "--out", "out.csv")
    return Case(words, ("csv",), files, ("out.csv",), check=checks.predictions)


@st.composite
def settings_files(draw: DrawFn, seeds: Path) -> Case:
    """Damage the settings of experiments."""
    content = (seeds / "run.toml").read_bytes()
    if draw(st.integers(0, 2)):
        tree = draw(damaged_tree(tomllib.loads(content.decode())))
        content = to_toml(_limited(tree) if isinstance(tree, dict) else {}).encode("utf-8", "surrogatepass")
    else:
        content = draw(damaged_bytes(content))
    words = ("experiments", "run", "--settings", "run.toml", "--jobs", "1", "--out", "out")
    return Case(words, ("csv",), {"run.toml": content}, changes=("out",), codes=(0, 1))


def _limited(tree: dict[Any, Any]) -> dict[Any, Any]:
    """Keep numbers small that ask for work in proportion."""
    limited = {key: _limited(value) if isinstance(value, dict) else value for key, value in tree.items()}
    small = {key: min(value, 3) for key, value in tree.items() if key in UNBOUNDED and isinstance(value, int)}
    return limited | small


TARGETS = {"model": saved_models, "settings": settings_files}
