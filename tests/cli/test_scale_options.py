"""The options for more than memory holds: the same answer, clear errors, nothing left behind."""

import socket
from contextlib import suppress
from pathlib import Path

import pytest
from typer.testing import CliRunner

import featprop as fp
from featprop.cli import app


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scale") / "graph"
    fp.datasets.make(folder, nodes=2000, edges=6000, features=5, classes=3)
    return folder


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return result.exit_code, result.output


def test_choose_train_and_predict_within_a_bound(graph: Path, tmp_path: Path) -> None:
    scratch, plain, bound = tmp_path / "scratch", tmp_path / "plain", tmp_path / "bound"
    for folder, options in ((plain, []), (bound, ["--compute", "max-memory=1.2GB", "--compute", f"scratch={scratch}"])):
        folder.mkdir()
        code, said = run("select", graph, "--budget", 12, "--out", folder / "picks.csv", *options)
        assert code == 0, said
        ids = [int(line.split(",")[0]) for line in (folder / "picks.csv").read_text().splitlines()[1:]]
        labels = fp.read_graph(graph).class_names()
        (folder / "labels.csv").write_text("id,label\n" + "".join(f"{node},{labels[node]}\n" for node in ids))
        model = folder / "model.safetensors"
        assert run("train", graph, "--labels", folder / "labels.csv", "--out", model, *options)[0] == 0
        code, said = run("predict", graph, "--model", model, "--out", folder / "p.parquet", *options)
        assert code == 0, said
    for name in ("picks.csv", "p.parquet"):
        assert (plain / name).read_bytes() == (bound / name).read_bytes()
    assert not list(scratch.iterdir())


def test_local_workers_start_next_to_another_scheduler(graph: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    with socket.socket() as other:
        with suppress(OSError):  # the port is in use
            other.bind(("127.0.0.1", 8787))
            other.listen()
        for options in ((), ("--compute", "workers=2")):
            code, said = run("select", graph, "--budget", 5, "--out", tmp_path / f"picks{len(options)}.csv", *options)
            assert code == 0, said
    assert (tmp_path / "picks0.csv").read_bytes() == (tmp_path / "picks2.csv").read_bytes()


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        (["max-memory=lots"], "'lots'"),
        (["max-memory=10MB"], "10.0 MB"),
        (["workers=0"], "workers"),
        (["workers"], "workers"),
        (["speed=9"], "speed"),
        (["cluster=nowhere:1"], "nowhere:1"),
        (["cluster=tcp://127.0.0.1:9", "workers=2"], "cluster"),
    ],
)
def test_resources_that_cannot_be_used(
    graph: Path, tmp_path: Path, options: list[str], fact: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("featprop.compute.dask_backend.CONNECT_TIMEOUT_S", 1)
    words = [word for each in options for word in ("--compute", each)]
    code, output = run("select", graph, "--budget", 5, "--out", tmp_path / "picks.csv", *words)
    assert code == 2
    assert fact in " ".join(output.split())
    assert not (tmp_path / "picks.csv").exists()
