"""Settings of experiments, and the results of others."""

from __future__ import annotations

import json
import random
import shutil
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fuzz.case import Case, target
from fuzz.mutations.content import mutated_bytes
from fuzz.mutations.trees import mutated_json, mutated_tree

__all__ = []

LONG = ("seeds", "epochs", "hidden", "layers", "time_limit")
"""Numbers that may rightly ask for days of work."""


@target("settings", 5)
def settings(random: random.Random, seeds: Path, folder: Path) -> Case:
    """Change a file of settings."""
    shutil.copytree(seeds / "graph", folder / "graph")
    content = (seeds / "run.toml").read_bytes()
    if random.random() < 0.35:
        changed = mutated_bytes(random, content)
    else:
        tree = mutated_tree(random, tomllib.loads(content.decode()))
        with _deeply():
            changed = _toml(_short(tree)).encode("utf-8", "surrogatepass")
    (folder / "run.toml").write_bytes(changed)
    words = ["experiments", "run", "--settings", "run.toml", "--jobs", "1", "--out", "out"]
    return Case(words, changes=("out",), codes=(0, 1))


@target("results", 4)
def results(random: random.Random, seeds: Path, folder: Path) -> Case:
    """Change the lines of results, and make a report of them."""
    shutil.copytree(seeds / "results", folder / "results")
    path = random.choice(
        sorted(path for path in (folder / "results").iterdir() if path.is_file() and path.stat().st_size)
    )
    content = path.read_bytes()
    if path.suffix == ".json":
        path.write_bytes(mutated_json(random, content))
    elif random.random() < 0.3:
        path.write_bytes(mutated_bytes(random, content))
    else:
        lines = content.splitlines(keepends=True)
        place = random.randrange(len(lines))
        lines[place] = mutated_json(random, lines[place]) + b"\n"
        path.write_bytes(b"".join(lines))
    return Case(["experiments", "report", "results", "--out", "out"], ("out",))


@contextmanager
def _deeply() -> Iterator[None]:
    """Allow more calls inside each other: trees are hundreds of levels deep at times."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10 * limit)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def _short(tree: Any) -> Any:
    """Keep numbers small that ask for work in proportion."""
    if isinstance(tree, dict):
        small = {key: min(value, 3) for key, value in tree.items() if key in LONG and isinstance(value, int)}
        return dict(zip(tree, map(_short, tree.values()), strict=True)) | small
    return list(map(_short, tree)) if isinstance(tree, list) else tree


def _toml(tree: Any) -> str:
    """Write a tree of values as TOML; what TOML cannot hold comes out wrong, which is as good."""
    if not isinstance(tree, dict):
        return _value(tree)
    plain = {key: value for key, value in tree.items() if not isinstance(value, dict)}
    tables = {key: value for key, value in tree.items() if isinstance(value, dict)}
    lines = [f"{json.dumps(key)} = {_value(value)}" for key, value in plain.items()]
    for key, value in tables.items():
        lines.append(f"[{json.dumps(key)}]")
        lines += [f"{json.dumps(name)} = {_value(item)}" for name, item in value.items()]
    return "\n".join(lines) + "\n"


def _value(tree: Any) -> str:
    """Write a value that stands behind a name."""
    if isinstance(tree, dict):
        return (
            "{" + ", ".join(map(" = ".join, zip(map(json.dumps, tree), map(_value, tree.values()), strict=True))) + "}"
        )
    return f"[{', '.join(map(_value, tree))}]" if isinstance(tree, list) else json.dumps(tree)
