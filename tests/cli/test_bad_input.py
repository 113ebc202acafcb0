"""Every mistake a user can make: exit code 2, one line on standard error, and nothing written."""

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import assert_refused

Run = Callable[..., Any]
Contents = Callable[[], dict[str, bytes | None]]

NODES = "id,w1,w2,label\na,1,0,left\nb,1,0.5,\nc,0,1,right\nd,0,2,\ne,1,1,\n"
EDGES = "source,target\na,b\nb,c\nc,d\nd,e\n"
LABELS = "id,label\na,left\nc,right\n"
SHEET = "rank,id,represents,spread,label\n"
GRAPH = {"graph/nodes.csv": NODES, "graph/edges.csv": EDGES}

SELECT = "select graph --budget 2"
TRAIN = "train graph --labels labels.csv"
PREDICT = "predict graph"


def nodes(text: str) -> dict[str, Any]:
    return {"graph/nodes.csv": text}


def edges(text: str) -> dict[str, Any]:
    return {"graph/edges.csv": text}


def labels(text: str) -> dict[str, Any]:
    return {"labels.csv": text}


# name, files next to or in place of those of GRAPH, command line, and what the message must mention

MISSING = [
    ("graph", {}, "select nowhere -b 2", "nowhere"),
    ("nodes and edges", {"graph/edges.csv": None, "graph/nodes.csv": None}, SELECT, "graph nodes edges init"),
    ("id column", nodes(NODES.replace("id,", "name,")), SELECT, "graph/nodes.csv id name"),
    ("feature column", {"graph/graph.toml": "[columns]\nv = 'number'\n"}, SELECT, "v w1 w2"),
    ("labels to train", {}, TRAIN, "labels.csv"),
    ("label column", labels("id,class\na,left\n"), TRAIN, "labels.csv label class"),
    ("id column of labels", labels("name,label\na,left\n"), TRAIN, "labels.csv id name"),
    ("model", {}, PREDICT, "model"),
]

GRAPHS = [
    ("binary nodes", nodes("\x00\x01" * 20), SELECT, "graph/nodes.csv"),
    ("nodes for edges", {}, "select graph/nodes.csv -b 2", "graph/nodes.csv w1"),
    ("duplicate ids", nodes(NODES + "a,1,1,\nd,1,1,\n"), SELECT, "graph/nodes.csv 2 d"),
    (
        "edges of unknown nodes",
        edges(EDGES + "z0,z1\nz0,a\nz2,z3\na,z4\nb,z5\nc,z6\n"),
        SELECT,
        "graph/edges.csv z0 z1 6 10",
    ),
    ("mixed line endings", edges("source,target\na,b\r\nb,c\n"), SELECT, "graph/edges.csv LF CRLF"),
    ("empty weight", edges("source,target,weight\na,b,1\nb,c,\nc,d,\n"), SELECT, "graph/edges.csv weight 2 b c"),
]

FEATPROP = f"{SELECT} --strategy featprop --set"

OPTIONS = [
    *((f"budget of {b}", {}, f"select graph --budget {b}", f"budget {b} 5") for b in ("0", "-3", "6")),
    ("budget above the unlabelled nodes", labels(LABELS), "select graph -b 4 --labels labels.csv", "budget 4 3"),
    ("strategy misspelt", {}, f"{SELECT} --strategy Fetprop", "strategy Fetprop featprop"),
    ("unknown strategy to read about", {}, "strategies agee", "agee age"),
    ("setting misspelt", {}, f"{FEATPROP} layer=3", "featprop layer layers"),
    ("setting of a strategy without any", {}, f"{SELECT} --strategy degree --set layers=3", "degree layers"),
    ("setting without a value", {}, f"{SELECT} --set layers", "set layers"),
    ("setting out of range", {}, f"{FEATPROP} layers=-1", "layers featprop -1 1000 2"),
    ("setting with another choice", {}, f"{FEATPROP} clustering=k-means", "clustering featprop k-means kmeans"),
    ("setting given twice", {}, f"{FEATPROP} layers=1 --set layers=2", "layers"),
    ("log in place of another file", {}, f"{SELECT} --log graph/nodes.csv", "graph/nodes.csv"),
    ("model misspelt", labels(LABELS), f"{TRAIN} --model GCNN", "model GCNN gcn"),
    ("setting of another model", labels(LABELS), f"{TRAIN} --set epochs=20", "ridge epochs alpha"),
    ("device to train", labels(LABELS), f"{TRAIN} --model gcn --device abacus", "device abacus cpu"),
]

LABEL_FILES = [
    ("unknown ids", labels(LABELS + "".join(f"z{row},left\n" for row in range(7))), TRAIN, "labels.csv z0 z1"),
    ("no label filled in", labels(SHEET + "1,a,3,0.5,\n2,c,2,0.5,\n"), TRAIN, "labels.csv"),
    ("one class", labels("id,label\na,left\nb,left\n"), TRAIN, "two classes"),
    (
        "contradiction between two files",
        labels(LABELS) | {"more.csv": "id,label\nb,left\nc,left\n"},
        f"{TRAIN} --labels more.csv",
        "labels.csv more.csv c left right",
    ),
]

PICKS = {"picks.csv": SHEET + "1,a,3,0.5,left\n2,c,2,0.5,\n"}

OUTPUTS = [
    ("labels entered by a person", PICKS, SELECT, "picks.csv --force"),
    ("not CSV", {}, f"{SELECT} --out picks.xlsx", "picks.xlsx .csv"),
    ("folder", {"p.csv/x": ""}, f"{SELECT} --out p.csv", "p.csv"),
    ("below a file", {"notes": "x"}, f"{SELECT} --out notes/picks.csv", "notes/picks.csv"),
    ("model without its suffix", labels(LABELS), f"{TRAIN} --out model", "model .safetensors"),
]


def table(**sections: list[Any]) -> Any:
    cases = [(f"{section}: {name}", *case) for section, listed in sections.items() for name, *case in listed]
    return pytest.mark.parametrize(
        ("files", "arguments", "facts"), [pytest.param(*case, id=name) for name, *case in cases]
    )


def put(folder: Path, files: dict[str, str | bytes | None]) -> None:
    """Write files, given as path and content; None removes the file and keeps its folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        if content is not None:
            path.write_bytes(content.encode() if isinstance(content, str) else content)


@table(
    missing=MISSING,
    graph=GRAPHS,
    option=OPTIONS,
    labels=LABEL_FILES,
    out=OUTPUTS,
)
def test_bad_input(
    run: Run, tmp_path: Path, contents: Contents, files: dict[str, Any], arguments: str, facts: str
) -> None:
    put(tmp_path, GRAPH | files)
    before = contents()
    assert_refused(run(*arguments.split()), facts)
    assert contents() == before


def test_graph_of_every_case_is_valid(run: Run, tmp_path: Path) -> None:
    put(tmp_path, GRAPH | {"labels.csv": LABELS})
    for arguments in (SELECT, TRAIN, PREDICT):
        result = run(*arguments.split())
        assert result.exit_code == 0, result.output
    put(tmp_path, nodes("id,v1,v2\na,1,0\nb,1,1\n") | edges("source,target\na,b\n"))
    assert_refused(run(*PREDICT.split(), "--force"), "w1 w2")


@pytest.mark.parametrize(
    ("error", "facts"),
    [
        (MemoryError("Unable to allocate 8.00 TiB"), "memory 8.00 TiB"),
        (PermissionError(13, "Permission denied", "secret/nodes.csv"), "secret/nodes.csv Permission denied"),
        (OSError(errno.ENOSPC, "No space left on device", "picks.csv"), "picks.csv space left"),
    ],
)
def test_errors_of_the_system(
    run: Run, write_folder: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, error: Exception, facts: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("featprop.sources.read_graph", fail)
    assert_refused(run("inspect", write_folder()), facts)
