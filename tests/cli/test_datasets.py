"""`featprop datasets`, and data sets by name in other commands."""

import csv
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import requests
from typer.testing import CliRunner

from featprop.cli import app
from featprop.datasets import CATALOGUE, download
from featprop.sources import read_graph


@pytest.fixture(autouse=True)
def offline(tmp_path, monkeypatch):
    """An empty cache, no placed files and no network."""

    def refuse(*_, **__):
        raise requests.ConnectionError("no network in this test")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FEATPROP_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("FEATPROP_DATA", raising=False)
    monkeypatch.setattr(requests, "get", refuse)
    answer = subprocess.CompletedProcess([], 1, "", "ERROR: no index in this test")
    pip = SimpleNamespace(run=lambda *_, **__: answer, TimeoutExpired=subprocess.TimeoutExpired)
    monkeypatch.setattr(download, "subprocess", pip)


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def made(*more):
    arguments = ("--nodes", "300", "--edges", "1.2e3", "--classes", "3", "--features", "8", "--out", "made")
    return call("datasets", "make", *arguments, *more)


def test_list_names_every_data_set():
    result = call("datasets")
    assert result.exit_code == 0
    for entry in CATALOGUE.values():
        (line,) = [line for line in result.stdout.splitlines() if line.split()[:1] == [entry.name]]
        for cell in (f"{entry.nodes:,}", f"{entry.edges:,}", f"{entry.features:,}", entry.licence, entry.source):
            assert cell in line
    assert re.search(r"^digits .* built in ", result.stdout, re.MULTILINE)
    assert "FEATPROP_CACHE" in result.stdout


def test_make_prints_counts_and_costs():
    result = made()
    assert result.exit_code == 0, result.output
    assert "Wrote made: 300 nodes, 1,200 edges, 8 features." in result.stdout
    assert read_graph("made").n_edges == 1200


@pytest.mark.parametrize("number", ["many", "1.5", "inf"])
def test_make_needs_whole_numbers(number):
    result = call("datasets", "make", "--nodes", number, "--edges", "10", "--out", "made")
    assert result.exit_code == 2
    assert number in result.stderr


def test_convert_a_name_and_select_from_it():
    result = call("convert", "digits", "digits.fp")
    assert result.exit_code == 0, result.output
    assert re.fullmatch(r"Wrote digits\.fp, [\d.]+ MB\.\n", result.stdout)
    by_name, by_folder = (
        call("select", source, "--budget", "5", "--out", "a.csv", "--force") for source in ("digits", "digits.fp")
    )
    assert by_name.exit_code == by_folder.exit_code == 0, by_name.output
    assert by_name.stdout == by_folder.stdout
    with Path("a.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 5


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        (["select", "coar", "--budget", "5"], "cora"),
        (["select", "nowhere/at/all", "--budget", "5"], "nowhere/at/all"),
        (["datasets", "fetch", "coar"], "cora"),
        (["datasets", "stats", "coar"], "cora"),
        (["datasets", "fetch", "corafull"], "cora_full.npz"),
        (["datasets", "fetch", "cora"], "no index in this test"),
        (["train", "pubmed", "--out", "model.safetensors"], "https://github.com/kimiyoung/planetoid"),
    ],
)
def test_failures(arguments, fact):
    result = call(*arguments)
    assert result.exit_code == 2
    assert fact in result.stderr
    assert result.stderr.splitlines()[-1].startswith("Error: ")
    assert "Traceback" not in result.output


def test_stats_downloads_nothing():
    result = call("datasets", "stats")
    assert result.exit_code == 0
    for name in ("cora", "citeseer", "pubmed", "corafull"):
        assert f"featprop datasets fetch {name}" in result.stdout
    assert re.search(r"paper +2,708 +5,429 +7 +3,703$", result.stdout, re.MULTILINE)


def test_fetch_from_placed_files(tmp_path, monkeypatch):
    entry = CATALOGUE["minesweeper"]
    monkeypatch.setenv("FEATPROP_DATA", str(tmp_path))
    features = np.random.default_rng(0).random((entry.nodes, entry.features), dtype=np.float32)
    labels = np.arange(entry.nodes) % entry.classes
    path = tmp_path / "minesweeper.npz"
    np.savez(path, node_features=features, node_labels=labels, edges=np.array([[0, 1], [1, 2]]))
    assert re.search(r"^minesweeper .* placed ", call("datasets").stdout, re.MULTILINE)
    result = call("datasets", "fetch", "minesweeper")
    assert result.exit_code == 0, result.output
    assert result.stdout == "minesweeper: 10,000 nodes, 2 edges, 7 features\n"
    path.unlink()
    assert re.search(r"^minesweeper .* cached ", call("datasets").stdout, re.MULTILINE)
    assert call("datasets", "stats", "minesweeper").exit_code == 0
