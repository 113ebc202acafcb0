"""Commands done once, so that processes forked from here have imported and compiled what these need.

The server of forks imports this module before it forks (`crash.children`); nobody else does.
"""

import os
import tempfile
from pathlib import Path

os.environ |= {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import fsspec.implementations.local
import pooch
import requests
from typer.testing import CliRunner

import crash.works
import featprop.experiments.runner
from crash.graphs import write_labels, write_tables
from featprop.cli import app

__all__: list[str] = []

_NEEDED_LATER = (fsspec.implementations.local, pooch, requests, crash.works, featprop.experiments.runner)

with tempfile.TemporaryDirectory(prefix="featprop-crash-") as _folder:
    _graph, _labels = write_tables(Path(_folder) / "graph"), write_labels(Path(_folder) / "labels.csv")
    _out = f"{_folder}/out"
    for _words in (
        ["convert", f"{_graph}", f"{_out}.fp"],
        ["train", f"{_graph}", "--labels", f"{_labels}", "--out", f"{_out}.safetensors"],
        ["predict", f"{_graph}", "--model", f"{_out}.safetensors", "--out", f"{_out}.csv"],
        ["select", f"{_graph}", "--budget", "3", "--labels", f"{_labels}", "--log", f"{_out}.labels", "--out", "-"],
    ):
        CliRunner().invoke(app, _words)
