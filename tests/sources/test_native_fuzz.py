"""A native folder with a few bytes changed opens as a graph that can be worked with, or is refused in one sentence."""

import datetime as dt
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from featprop.graph import Graph
from featprop.sources.native import write_native

CASES = 80
"""Damaged folders of each kind."""

USE = """
import sys
from pathlib import Path
import featprop
from featprop.errors import FeatpropError
from featprop.propagation import propagate

for folder in sorted(Path(sys.argv[1]).iterdir()):
    try:
        graph = featprop.read_graph(folder)
        propagate(graph, 2)
        featprop.select(graph, 3)
        graph.class_names()
        print(folder.name, "graph", flush=True)
    except FeatpropError as error:
        print(folder.name, "refused", " ".join(str(error).split()), flush=True)
    except Exception as error:
        print(folder.name, "raised", repr(error), flush=True)
"""


def _graph(kind: str) -> Graph:
    generator = np.random.default_rng(0)
    adjacency = sp.random_array((30, 30), density=0.1, random_state=generator)
    if kind == "dense, text ids":
        ids, features = [f"node {row}" for row in range(30)], generator.normal(size=(30, 4))
    else:
        ids = [(row, dt.date(2026, 1, 1 + row)) for row in range(30)]
        features = sp.random_array((30, 50), density=0.1, random_state=generator)
    labels = [("a", (1, 2), None)[row % 3] for row in range(30)]
    return Graph.from_scipy(adjacency, features, ids=ids, labels=labels)


def _damaged(content: bytes, generator: np.random.Generator) -> bytes:
    """Flip one to four bytes, every second time in the first 128, or cut the file."""
    if generator.random() < 0.15:
        return content[: generator.integers(len(content))]
    changed = bytearray(content)
    end = min(128, len(content)) if generator.random() < 0.5 else len(content)
    for place in generator.integers(end, size=generator.integers(1, 5)):
        changed[place] ^= int(generator.integers(1, 256))
    return bytes(changed)


@pytest.mark.parametrize("kind", ["dense, text ids", "sparse, ids of any type"])
def test_damaged_folders(kind, tmp_path):
    write_native(_graph(kind), tmp_path / "whole")
    files = sorted(path.name for path in (tmp_path / "whole").iterdir())
    generator = np.random.default_rng(7)
    for case in range(CASES):
        folder = shutil.copytree(tmp_path / "whole", tmp_path / "damaged" / f"{case:03}")
        path = folder / files[generator.integers(len(files))]
        path.write_bytes(_damaged(path.read_bytes(), generator))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-W", "ignore", "-c", USE, str(tmp_path / "damaged")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    told = done.stdout.splitlines()
    assert done.returncode == 0, f"the process ended after case {told[-1:]}: {done.stderr[-500:]}"
    assert len(told) == CASES
    assert not [line for line in told if line.split()[1] == "raised"]
    assert {line.split()[1] for line in told} == {"graph", "refused"}
