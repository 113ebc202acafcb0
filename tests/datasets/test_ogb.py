"""OGB's archive, and the folder the ogb package leaves: small ones in the same layout."""

import gzip
import zipfile

import numpy as np
import pytest

from featprop.datasets import catalogue, find, whereabouts
from featprop.datasets.ogb import parts_of_ogb_files, parts_of_ogb_zip
from featprop.datasets.routes import placed
from featprop.errors import FileError
from featprop.graph import Graph

EDGES = "0,1\n1,2\n2,0\n0,1\n3,3\n"
FEATURES = "0.5,-1.25\n1.0,0\n0.0,2e-3\n-0.125,4\n"
LABELS = "2\n0\n0\n1\n"


@pytest.fixture
def parts():
    texts = {
        "edge.csv.gz": EDGES,
        "node-feat.csv.gz": FEATURES,
        "node-label.csv.gz": LABELS,
        "num-node-list.csv.gz": "4\n",
    }
    return {name: gzip.compress(text.encode()) for name, text in texts.items()}


def archive(path, parts):
    with zipfile.ZipFile(path, "w") as writer:
        for name, content in parts.items():
            writer.writestr(f"arxiv/raw/{name}", content)
        writer.writestr("arxiv/split/time/train.csv.gz", gzip.compress(b"0\n"))
        writer.writestr("../../evil", b"x")
    return {path.name: path}


def check(graph):
    assert np.allclose(graph.features, [[0.5, -1.25], [1, 0], [0, 0.002], [-0.125, 4]])
    assert graph.labels.tolist() == [2, 0, 0, 1]
    assert graph.n_edges == 3


def test_archive(parts, tmp_path):
    check(Graph.from_raw(parts_of_ogb_zip(archive(tmp_path / "arxiv.zip", parts))))
    assert [path.name for path in tmp_path.iterdir()] == ["arxiv.zip"], "nothing is unpacked"


def test_folder_of_the_ogb_package(parts, data):
    folder = data / "ogbn_arxiv" / "raw"
    folder.mkdir(parents=True)
    for name, content in parts.items():
        (folder / name).write_bytes(content)
    entry = find("ogbn-arxiv")
    assert whereabouts(entry) == "placed"
    assert whereabouts(find("ogbn-products")) == "no"
    found = placed(entry)
    assert found.form.read is parts_of_ogb_files
    check(Graph.from_raw(found.form.read(found.files)))


def test_files_without_a_name_of_their_own_need_a_folder(parts, data):
    for name, content in parts.items():
        (data / name).write_bytes(content)
    assert whereabouts(catalogue.CATALOGUE["ogbn-arxiv"]) == "no"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"edge.csv.gz": None}, "must hold raw/edge.csv.gz; found none"),
        ({"edge.csv.gz": b"no gzip"}, "edge.csv.gz in .* must be a compressed CSV file of numbers"),
        ({"edge.csv.gz": gzip.compress(b"0,1,2\n")}, "must have two columns and one; found 3 and 1"),
        ({"node-feat.csv.gz": gzip.compress(b"a,b\n1,2\n")}, "node-feat.csv.gz in .* must be a compressed CSV"),
        ({"node-label.csv.gz": gzip.compress(b"")}, "node-label.csv.gz in .* must be a compressed CSV"),
    ],
)
def test_bad_archives(change, says, parts, tmp_path):
    changed = {name: content for name, content in (parts | change).items() if content is not None}
    with pytest.raises(FileError, match=says):
        parts_of_ogb_zip(archive(tmp_path / "arxiv.zip", changed))


def test_no_archive_at_all(tmp_path):
    (tmp_path / "arxiv.zip").write_text("<html>")
    with pytest.raises(FileError, match="must be a zip file"):
        parts_of_ogb_zip({"arxiv.zip": tmp_path / "arxiv.zip"})
