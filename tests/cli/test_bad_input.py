"""Whatever a user gets wrong: one sentence, exit code 2, and nothing written."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import featprop
from featprop.graph import Graph
from featprop.strategies import available_strategies

Run = Callable[..., Any]
Contents = Callable[[], dict[str, bytes | None]]

NODES = "id,w1,w2,label\na,1,0,left\nb,1,0.5,\nc,0,1,right\nd,0,2,\ne,1,1,\n"
EDGES = "source,target\na,b\nb,c\nc,d\nd,e\n"
LABELS = "id,label\na,left\nc,right\n"
SHEET = "rank,id,represents,spread,label\n"
GRAPH = {"graph/nodes.csv": NODES, "graph/edges.csv": EDGES}

KNOWN = (
    "a folder that featprop convert wrote, a sparse-graph .npz file, a folder with nodes.csv and edges.csv "
    "(or .parquet, .xlsx) or an .xlsx workbook with the sheets nodes and edges"
)

SELECT = ["select", "graph", "--budget", "2"]
TRAIN = ["train", "graph", "--labels", "labels.csv"]
PREDICT = ["predict", "graph"]


def parquet(**columns: Any) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue().to_pybytes()


def npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


NOT_UTF8 = pa.Array.from_buffers(
    pa.string(), 2, [None, pa.array([0, 1, 3], pa.int32()).buffers()[1], pa.py_buffer(b"a\xff\xfe")]
)

MISSING = [
    (
        "graph",
        {},
        ["select", "nowhere", "-b", "2"],
        "nowhere must be a graph or the name of a data set; found no such file or folder: check the path.",
    ),
    (
        "graph of a name much the same",
        {"my_graph/nodes.csv": NODES},
        ["select", "my-graph/", "-b", "2"],
        "my-graph must be a graph or the name of a data set; found no such file or folder: "
        "check the path, or take my_graph.",
    ),
    (
        "npz",
        {},
        ["select", "nowhere.npz", "-b", "2"],
        "nowhere.npz must be a graph or the name of a data set; found no such file or folder: check the path.",
    ),
    (
        "nodes",
        {"graph/nodes.csv": None},
        SELECT,
        "graph must hold nodes.csv, nodes.parquet or nodes.xlsx; found edges.csv: add the file of nodes.",
    ),
    (
        "edges",
        {"graph/edges.csv": None},
        SELECT,
        "graph must hold edges.csv, edges.parquet or edges.xlsx; found nodes.csv: add the file of edges.",
    ),
    (
        "both",
        {"graph/edges.csv": None, "graph/nodes.csv": None},
        SELECT,
        f"graph must be {KNOWN}; found an empty folder: put nodes.csv and edges.csv into a folder and pass the folder.",
    ),
    (
        "id column",
        {"graph/nodes.csv": NODES.replace("id,", "name,")},
        SELECT,
        "graph/nodes.csv must have a column 'id'; found the columns name, w1, w2, label: "
        "say with --id which column names the nodes, such as 'name'.",
    ),
    (
        "target column",
        {"graph/edges.csv": "source\na\n"},
        SELECT,
        "graph/edges.csv must have the columns source and target; found source: add the other one.",
    ),
    (
        "weights in the place of targets",
        {"graph/edges.csv": "source,weight\na,1\n"},
        SELECT,
        "graph/edges.csv must have the columns source and target; found source, weight: add the other one.",
    ),
    (
        "ends as weights",
        {},
        [*SELECT, "--weight", "target"],
        "graph/edges.csv must have a column of weights beside those of the ends; found 'target' for both: "
        "name another with --weight.",
    ),
    (
        "feature column",
        {},
        [*SELECT, "--features", "w*", "--features", "v*"],
        "graph/nodes.csv must have a feature column 'v*'; found the columns w1, w2: name one of them.",
    ),
    (
        "labels",
        {},
        TRAIN,
        "labels.csv must be a file; found no such file: check the path.",
    ),
    (
        "labels to select",
        {},
        [*SELECT, "--labels", "labels.csv"],
        "labels.csv must be a file; found no such file: check the path.",
    ),
    (
        "label column",
        {"labels.csv": "id,class\na,left\n"},
        TRAIN,
        "labels.csv must have a column 'label'; found the columns id, class: name a column label.",
    ),
    (
        "id column of labels",
        {"labels.csv": "name,label\na,left\n"},
        TRAIN,
        "labels.csv must have a column 'id'; found the columns name, label: name a column id.",
    ),
    (
        "any label",
        {"graph/nodes.csv": "id,w\na,1\nb,2\n", "graph/edges.csv": "source,target\na,b\n"},
        ["train", "graph"],
        "Training must have labels; found no --labels, and no label in the graph's own label column: "
        "pass --labels picks.csv.",
    ),
    (
        "model",
        {},
        PREDICT,
        "model must be a model folder with model.json and weights.safetensors; found no such folder: "
        "make one with featprop train.",
    ),
]

NOT_WHAT_ITS_NAME_SAYS = [
    (
        "CSV named parquet",
        {"graph/nodes.csv": None, "graph/nodes.parquet": NODES},
        SELECT,
        "graph/nodes.parquet must be a Parquet file; found this: ~: save it again in that format.",
    ),
    (
        "Parquet named csv",
        {"graph/nodes.csv": parquet(id=list("abcde"), w=[1, 2, 3, 4, 5])},
        SELECT,
        "graph/nodes.csv must be a CSV file in UTF-8; found this: ~: save it again in that format.",
    ),
    (
        "text named npz",
        {"graph.npz": NODES},
        ["select", "graph.npz", "-b", "2"],
        "graph.npz must be a sparse-graph .npz with adj_data, adj_indices, adj_indptr, adj_shape and the same for "
        "attr_; found a file that is no .npz: write it again in that layout.",
    ),
    (
        "another npz",
        {"graph.npz": npz(weights=np.ones(3))},
        ["select", "graph.npz", "-b", "2"],
        "graph.npz must be a sparse-graph .npz with adj_data, adj_indices, adj_indptr, adj_shape and the same for "
        "attr_; found this: no 'adj_data': write it again in that layout.",
    ),
    (
        "binary nodes",
        {"graph/nodes.csv": bytes(range(256)) * 20},
        SELECT,
        "graph/nodes.csv must be a CSV file in UTF-8; found this: ~: save it again in that format.",
    ),
    (
        "binary edges",
        {"graph/edges.csv": bytes(range(256)) * 20},
        SELECT,
        "graph/edges.csv must be a CSV file in UTF-8; found this: ~: save it again in that format.",
    ),
    (
        "binary labels",
        {"labels.csv": bytes(range(256)) * 20},
        TRAIN,
        "labels.csv must be a CSV file in UTF-8; found this: ~: save it again in that format.",
    ),
    (
        "nothing at all",
        {"graph/nodes.csv": ""},
        SELECT,
        "graph/nodes.csv must hold a table; found an empty file: export it again.",
    ),
    (
        "a file for a folder",
        {},
        ["select", "graph/nodes.csv", "-b", "2"],
        f"graph/nodes.csv must be {KNOWN}; found another kind of file: "
        "put nodes.csv and edges.csv into a folder and pass the folder.",
    ),
    (
        "text that is not UTF-8 in Parquet",
        {"graph/nodes.csv": None, "graph/nodes.parquet": parquet(id=NOT_UTF8, w=[1, 2])},
        SELECT,
        "Column 'id' of graph/nodes.parquet must hold text in UTF-8; found this: ~: write it again in that encoding.",
    ),
    (
        "labels that are not UTF-8 in Parquet",
        {"labels.parquet": parquet(id=["a", "b"], label=NOT_UTF8)},
        ["train", "graph", "--labels", "labels.parquet"],
        "Column 'label' of labels.parquet must hold text in UTF-8; found this: ~: write it again in that encoding.",
    ),
    (
        "nodes twice",
        {"graph/nodes.parquet": parquet(id=["a"], w=[1])},
        SELECT,
        "graph must hold one file of nodes; found nodes.csv and nodes.parquet: remove one of them.",
    ),
]

GRAPHS = [
    (
        "duplicate ids",
        {"graph/nodes.csv": NODES + "a,1,1,\nd,1,1,\n"},
        SELECT,
        "Node ids of graph/nodes.csv must be distinct; found 2 ('a', 'd') repeated: keep one row a node.",
    ),
    (
        "an empty id",
        {"graph/nodes.csv": NODES + ",1,1,\n"},
        SELECT,
        "graph/nodes.csv must have an id in every row; found 1 empty, the first in row 6: fill the column 'id'.",
    ),
    (
        "duplicate columns",
        {"graph/nodes.csv": NODES.replace("w2", "w1")},
        SELECT,
        "graph/nodes.csv must have distinct columns; found 1 (w1) repeated: rename them.",
    ),
    (
        "edges naming unknown nodes",
        {"graph/edges.csv": EDGES + "z0,z1\nz0,a\nz2,z3\na,z4\nb,z5\nc,z6\n"},
        SELECT,
        "Edges of graph/edges.csv must join ids of the nodes; found 7 ('z0', 'z2', 'z1', 'z3', 'z4', …) unknown in "
        "6 of 10 edges: add those nodes or drop the edges.",
    ),
    (
        "an edge naming nothing",
        {"graph/edges.csv": EDGES + "a,\n"},
        SELECT,
        "Edges of graph/edges.csv must join ids of the nodes; found 1 (an empty cell) unknown in 1 of 5 edges: "
        "add those nodes or drop the edges.",
    ),
    (
        "NaN",
        {"graph/nodes.csv": NODES.replace("b,1,", "b,nan,").replace("d,0,", "d,NaN,")},
        [*SELECT, "--raw"],
        "Feature 'w1' of graph/nodes.csv must be finite numbers with --raw; found NaN or an empty cell in row 2 "
        "(2 in all): fill or drop them, or leave --raw out.",
    ),
    (
        "an empty cell",
        {"graph/nodes.csv": NODES.replace("c,0,1,", "c,0,,")},
        [*SELECT, "--raw"],
        "Feature 'w2' of graph/nodes.csv must be finite numbers with --raw; found NaN or an empty cell in row 3 "
        "(1 in all): fill or drop them, or leave --raw out.",
    ),
    (
        "infinity",
        {"graph/nodes.csv": NODES.replace("c,0,1,", "c,0,-inf,")},
        [*SELECT, "--raw"],
        "Feature 'w2' of graph/nodes.csv must be finite numbers with --raw; found -inf in row 3 (1 in all): "
        "fill or drop them, or leave --raw out.",
    ),
    (
        "NaN at a numbered node of Parquet",
        {"graph/nodes.csv": None, "graph/nodes.parquet": parquet(id=[7, 8], w=[1, None])},
        [*SELECT, "--raw"],
        "Feature 'w' of graph/nodes.parquet must be finite numbers with --raw; found NaN or an empty cell in row 2 "
        "(1 in all): fill or drop them, or leave --raw out.",
    ),
    (
        "no numeric feature",
        {"graph/nodes.csv": "id,name,label\na,Ann,x\nb,Bob,y\n"},
        SELECT,
        "graph/nodes.csv must have at least one column that can be a feature; found name: left out: nearly every node "
        "has its own: add a column, or say what one is with --column NAME=KIND.",
    ),
    (
        "a feature that is text",
        {"graph/nodes.csv": NODES.replace("b,1,", "b,one,")},
        [*SELECT, "--features", "w1", "--raw"],
        "Feature columns of graph/nodes.csv must be numeric with --raw; found 'w1' of the type string: "
        "leave --raw out.",
    ),
    (
        "empty graph",
        {"graph/nodes.csv": "id,w1,label\n", "graph/edges.csv": "source,target\n"},
        SELECT,
        "graph/nodes.csv must have at least one node; found no row: add a row for each node.",
    ),
    (
        "negative weight",
        {"graph/edges.csv": "source,target,weight\na,b,1\nb,c,-2\nc,d,-1\n"},
        SELECT,
        "Edge weights must be numbers of at least 0; found -2.0 at the edge from 'b' to 'c' (2 in all): "
        "drop or mend those edges.",
    ),
    (
        "NaN weight",
        {"graph/edges.csv": "source,target,weight\na,b,1\nb,c,nan\n"},
        SELECT,
        "Column 'weight' of graph/edges.csv must be numeric; found 'nan' in row 2 (1 in all): "
        "write a number in every row, or pass --weights none.",
    ),
    (
        "infinite weight",
        {"graph/edges.csv": "source,target,weight\na,b,inf\n"},
        SELECT,
        "Column 'weight' of graph/edges.csv must be numeric; found 'inf' in row 1: "
        "write a number in every row, or pass --weights none.",
    ),
    (
        "no number for a weight",
        {"graph/edges.csv": "source,target,weight\na,b,1\nb,c,strong\n"},
        SELECT,
        "Column 'weight' of graph/edges.csv must be numeric; found 'strong' in row 2: "
        "write a number in every row, or pass --weights none.",
    ),
    (
        "an empty weight",
        {"graph/edges.csv": "source,target,weight\na,b,1\nb,c,\nc,d,\n"},
        SELECT,
        "Column 'weight' of graph/edges.csv must be numeric; found an empty cell in row 2 (2 in all): "
        "write a number in every row, or pass --weights none.",
    ),
]

OPTIONS = [
    (
        f"budget of {budget}",
        {},
        ["select", "graph", "--budget", budget],
        f"budget must be from 1 to 5, the number of nodes that may be chosen; found {budget}: "
        "choose a number in that range.",
    )
    for budget in ("0", "-3", "6")
] + [
    (
        "budget above the unlabelled nodes",
        {"labels.csv": LABELS},
        ["select", "graph", "--budget", "4", "--labels", "labels.csv"],
        "budget must be from 1 to 3, the number of nodes that may be chosen; found 4: choose a number in that range.",
    ),
    (
        "budget when all are labelled",
        {"labels.csv": "id,label\n" + "".join(f"{node},x\n" for node in "abcde")},
        ["select", "graph", "--budget", "1", "--labels", "labels.csv"],
        "budget must be 0, as there are no more nodes that may be chosen; found 1: there is nothing left to label.",
    ),
    (
        "strategy misspelt",
        {},
        [*SELECT, "--strategy", "Fetprop"],
        f"strategy must be one of {', '.join(available_strategies())}; found 'Fetprop': "
        "did you mean 'featprop' or 'featprop-hidden'?",
    ),
    (
        "unknown strategy",
        {},
        [*SELECT, "--strategy", "best"],
        f"strategy must be one of {', '.join(available_strategies())}; found 'best': choose one of them.",
    ),
    (
        "option misspelt",
        {},
        [*SELECT, "--strategy", "featprop", "--set", "layer=3"],
        "Option of strategy featprop must be one of clustering, layers; found 'layer': did you mean 'layers'?",
    ),
    (
        "option of another strategy than the default",
        {},
        [*SELECT, "--set", "layers=3"],
        "Option of strategy featprop-diffused must be one of first, step; found 'layers': choose one of them.",
    ),
    (
        "option of the default out of range",
        {},
        [*SELECT, "--set", "first=0"],
        "first of strategy featprop-diffused must be a whole number at least 1; found 0: the default is 10.",
    ),
    (
        "option of another strategy",
        {},
        [*SELECT, "--strategy", "degree", "--set", "layers=3"],
        "set must be left out, as strategy degree has no options; found 'layers=3': choose another or drop it.",
    ),
    (
        "option without a value",
        {},
        [*SELECT, "--set", "layers"],
        "set must be written as name=value; found 'layers': write --set layers=3.",
    ),
    (
        "option that is no number",
        {},
        [*SELECT, "--strategy", "featprop", "--set", "layers=three"],
        "layers of strategy featprop must be a whole number from 0 to 1000; found 'three': the default is 2.",
    ),
    (
        "option out of range",
        {},
        [*SELECT, "--strategy", "featprop", "--set", "layers=-1"],
        "layers of strategy featprop must be a whole number from 0 to 1000; found -1: the default is 2.",
    ),
    (
        "option with another choice",
        {},
        [*SELECT, "--strategy", "featprop", "--set", "clustering=k-means"],
        "clustering of strategy featprop must be one of kmeans, kmedoids; found 'k-means': did you mean 'kmeans'?",
    ),
    (
        "option set twice",
        {},
        [*SELECT, "--strategy", "featprop", "--set", "layers=1", "--set", "layers=2"],
        "layers of strategy featprop must be set once; found it twice: drop one.",
    ),
    (
        "rounds in a folder of other things",
        {},
        [*SELECT, "--rounds", "graph"],
        "graph must be a new folder or one that holds a saved learner only; found edges.csv, nodes.csv: "
        "choose another folder.",
    ),
    (
        "unknown strategy to read about",
        {},
        ["strategies", "agee"],
        f"strategy must be one of {', '.join(available_strategies())}; found 'agee': did you mean 'age' or 'degree'?",
    ),
    (
        "model misspelt",
        {"labels.csv": LABELS},
        [*TRAIN, "--model", "GCNN"],
        "model must be one of gcn, ridge, sgc; found 'GCNN': did you mean 'gcn'?",
    ),
    (
        "unknown model",
        {"labels.csv": LABELS},
        [*TRAIN, "--model", "transformer"],
        "model must be one of gcn, ridge, sgc; found 'transformer': choose one of them.",
    ),
    (
        "setting of the default model",
        {"labels.csv": LABELS},
        [*TRAIN, "--set", "alpha=0"],
        "alpha of model ridge must be a number at least 1e-06; found 0.0: the default is 1.0.",
    ),
    (
        "setting of another model than the default",
        {"labels.csv": LABELS},
        [*TRAIN, "--set", "epochs=20"],
        "Option of model ridge must be one of alpha, features, self_training, structure; "
        "found 'epochs': choose one of them.",
    ),
    (
        "device to train",
        {"labels.csv": LABELS},
        [*TRAIN, "--model", "gcn", "--device", "abacus"],
        "device must be one PyTorch has here; found 'abacus': use 'cpu'.",
    ),
    (
        "features of an npz",
        {"graph.npz": npz(weights=np.ones(3))},
        ["select", "graph.npz", "-b", "2", "--features", "w*"],
        "--features must be about a table of nodes or edges; found a graph without tables: "
        "leave it out for a sparse-graph .npz file.",
    ),
]

LABEL_FILES = [
    (
        "unknown ids",
        {"labels.csv": LABELS + "".join(f"z{row},left\n" for row in range(7))},
        TRAIN,
        "ids in labels.csv must be ids of the graph; found 7 ('z0', 'z1', 'z2', 'z3', 'z4', …) unknown: "
        "ids of this graph look like 'a'.",
    ),
    (
        "unknown ids to select",
        {"labels.csv": LABELS + "z,left\n"},
        [*SELECT, "--labels", "labels.csv"],
        "ids in labels.csv must be ids of the graph; found 1 ('z') unknown: ids of this graph look like 'a'.",
    ),
    (
        "no label filled",
        {"labels.csv": SHEET + "1,a,3,0.5,\n2,c,2,0.5,\n"},
        TRAIN,
        "labels.csv must have at least one label filled in; found none: fill the label column.",
    ),
    (
        "no label filled in either",
        {"labels.csv": "id,label\na,\n", "more.csv": "id,label\nb,\n"},
        [*SELECT, "--labels", "labels.csv", "--labels", "more.csv"],
        "labels.csv and more.csv must have at least one label filled in; found none: fill the label column.",
    ),
    (
        "one class",
        {"labels.csv": "id,label\na,left\nb,left\n"},
        TRAIN,
        "labels must hold at least two classes; found only 'left': label nodes of another class too.",
    ),
    (
        "sheets that contradict each other",
        {"labels.csv": LABELS, "more.csv": "id,label\nb,left\nc,left\n"},
        [*TRAIN, "--labels", "more.csv"],
        "labels.csv and more.csv must give a node one label; "
        "found 1 (node 'c': 'right' of labels.csv and 'left' of more.csv): "
        "keep one of them, or pass --on-conflict majority or latest.",
    ),
    (
        "a sheet that contradicts itself",
        {"labels.csv": LABELS + "a,right\n"},
        TRAIN,
        "labels.csv must give a node one label; found 1 (node 'a': 'left' and 'right'): "
        "keep one of them, or pass --on-conflict majority or latest.",
    ),
]

OUTPUTS = [
    (
        "labels a person typed",
        {"picks.csv": SHEET + "1,a,3,0.5,left\n2,c,2,0.5,\n"},
        SELECT,
        "picks.csv must not be overwritten; found labels that a person typed: 1 (a): "
        "choose another place or pass --force (force=True in Python).",
    ),
    (
        "a file of another program",
        {"mine.csv": "date,amount\n2020-01-01,3\n"},
        [*SELECT, "--out", "mine.csv"],
        "mine.csv must not be overwritten; found a file that featprop did not write: "
        "choose another place or pass --force (force=True in Python).",
    ),
    (
        "nodes of the graph",
        {},
        [*SELECT, "--out", "graph/nodes.csv", "--features", "w1"],
        "graph/nodes.csv must not be overwritten; found a file that featprop did not write: "
        "choose another place or pass --force (force=True in Python).",
    ),
    (
        "labels a person typed, by predictions",
        {"picks.csv": SHEET + "1,a,3,0.5,left\n"},
        [*PREDICT, "--out", "picks.csv"],
        "picks.csv must not be overwritten; found labels that a person typed: 1 (a): "
        "choose another place or pass --force (force=True in Python).",
    ),
    ("no csv", {}, [*SELECT, "--out", "picks.xlsx"], "out must end in .csv; found 'picks.xlsx': write to picks.csv."),
    (
        "a folder",
        {"p.csv/x": ""},
        [*SELECT, "--out", "p.csv"],
        "p.csv must be a file; found a folder: choose another place.",
    ),
    (
        "below a file",
        {"notes": "x"},
        [*SELECT, "--out", "notes/picks.csv"],
        "notes/picks.csv must be in a writable folder; found File exists: choose a place you may write to.",
    ),
    (
        "a model among other things",
        {"labels.csv": LABELS, "model/notes.txt": "x", "model/a.csv": "x", "model/model.json": "{}"},
        TRAIN,
        "model must be a new folder or one that holds a model only; found a.csv, notes.txt: choose another place.",
    ),
    (
        "a model in place of a file",
        {"labels.csv": LABELS, "notes": "x"},
        [*TRAIN, "--out", "notes"],
        "notes must be a new folder or one that holds a model only; found a file: choose another place.",
    ),
]


def table(**sections: list[Any]) -> Any:
    cases = [(f"{section}: {name}", *case) for section, listed in sections.items() for name, *case in listed]
    return pytest.mark.parametrize(
        ("files", "arguments", "message"), [pytest.param(*case, id=name) for name, *case in cases]
    )


def put(folder: Path, files: dict[str, str | bytes | None]) -> None:
    """Write files, given as path and content; a content of None leaves the folder of the file and no file."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        if content is not None:
            path.write_bytes(content.encode() if isinstance(content, str) else content)


def refused(result: Any, message: str) -> None:
    """Check exit code 2 and the message, in which ~ stands for the words of another library."""
    assert result.exit_code == 2, result.exception
    assert result.stdout == ""
    *told, last = result.stderr.splitlines()
    assert not [line for line in told if "rror" in line]
    rest = last
    for part in f"Error: {message}".split("~"):
        before, found, rest = rest.partition(part)
        assert found, f"{last!r} has no {part!r}"
        assert bool(before) == (part != f"Error: {message}".split("~")[0])
    assert rest == ""


@table(
    missing=MISSING,
    type=NOT_WHAT_ITS_NAME_SAYS,
    graph=GRAPHS,
    option=OPTIONS,
    labels=LABEL_FILES,
    out=OUTPUTS,
)
def test_bad_input(
    run: Run, tmp_path: Path, contents: Contents, files: dict[str, Any], arguments: list[str], message: str
) -> None:
    put(tmp_path, GRAPH | files)
    before = contents()
    refused(run(*arguments), message)
    assert contents() == before


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A model of the graph, as files."""
    folder = tmp_path_factory.mktemp("trained")
    put(folder, GRAPH)
    graph = featprop.read_graph(folder / "graph")
    featprop.models.save_model(featprop.GCN(epochs=1).fit(graph, ["a", "c"], ["left", "right"]), folder / "model")
    return {f"model/{path.name}": path.read_bytes() for path in sorted((folder / "model").iterdir())}


DESCRIPTION, WEIGHTS = "model/model.json", "model/weights.safetensors"


def described(**changes: Any) -> Callable[[bytes], bytes]:
    return lambda content: json.dumps(json.loads(content) | changes).encode()


def without(key: str) -> Callable[[bytes], bytes]:
    return lambda content: json.dumps({k: v for k, v in json.loads(content).items() if k != key}).encode()


DAMAGED = "model must be an undamaged model of this version; found this: "


@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        pytest.param(WEIGHTS, lambda content: content[:40], f"{DAMAGED}~: train it again.", id="header cut"),
        pytest.param(WEIGHTS, lambda content: content[:-5], f"{DAMAGED}~: train it again.", id="weights cut"),
        pytest.param(WEIGHTS, lambda content: b"", f"{DAMAGED}~: train it again.", id="weights empty"),
        pytest.param(WEIGHTS, lambda content: b"PK" * 500, f"{DAMAGED}~: train it again.", id="another file"),
        pytest.param(DESCRIPTION, lambda content: content[:60], f"{DAMAGED}~: train it again.", id="JSON cut"),
        pytest.param(DESCRIPTION, lambda content: b"[1, 2]", f"{DAMAGED}~: train it again.", id="another JSON"),
        pytest.param(DESCRIPTION, lambda content: b"\xff\xfe\x00", f"{DAMAGED}~: train it again.", id="no text"),
        pytest.param(DESCRIPTION, without("format"), f"{DAMAGED}no 'format': train it again.", id="no format"),
        pytest.param(DESCRIPTION, without("classes"), f"{DAMAGED}no 'classes': train it again.", id="no classes"),
        pytest.param(DESCRIPTION, described(format=2), f"{DAMAGED}format 2, not 1: train it again.", id="format 2"),
        pytest.param(DESCRIPTION, described(n_features=3), f"{DAMAGED}~: train it again.", id="another width"),
        pytest.param(DESCRIPTION, described(classes=["x"]), f"{DAMAGED}~: train it again.", id="another class"),
        pytest.param(DESCRIPTION, described(settings={"depth": 9}), f"{DAMAGED}~: train it again.", id="settings"),
        pytest.param(
            DESCRIPTION,
            described(model="gat"),
            "model must be one of gcn, ridge, sgc; found 'gat': choose one of them.",
            id="another kind",
        ),
        pytest.param(
            WEIGHTS,
            lambda content: None,
            "model must be a model folder with model.json and weights.safetensors; found no weights.safetensors: "
            "make one with featprop train.",
            id="weights missing",
        ),
        pytest.param(
            DESCRIPTION,
            lambda content: None,
            "model must be a model folder with model.json and weights.safetensors; found no model.json: "
            "make one with featprop train.",
            id="description missing",
        ),
    ],
)
def test_a_damaged_model(
    run: Run,
    tmp_path: Path,
    contents: Contents,
    trained: dict[str, bytes],
    name: str,
    damage: Callable[[bytes], bytes | None],
    message: str,
) -> None:
    put(tmp_path, GRAPH | trained | {name: damage(trained[name])})
    before = contents()
    refused(run(*PREDICT), message)
    assert contents() == before


@pytest.mark.parametrize(
    ("nodes", "arguments", "message"),
    [
        pytest.param(
            "id,v1,v2\na,1,0\nb,1,1\n",
            PREDICT,
            "The nodes must have the columns that the model learnt from; found none of 2 (w1, w2): "
            "use tables with these columns.",
            id="other columns",
        ),
        pytest.param(
            NODES,
            [*PREDICT, "--device", "abacus"],
            "device must be one PyTorch has here; found 'abacus': use 'cpu'.",
            id="unknown device",
        ),
    ],
)
def test_a_model_that_does_not_fit(
    run: Run,
    tmp_path: Path,
    contents: Contents,
    trained: dict[str, bytes],
    nodes: str,
    arguments: list[str],
    message: str,
) -> None:
    put(tmp_path, {"graph/nodes.csv": nodes, "graph/edges.csv": "source,target\na,b\n"} | trained)
    before = contents()
    refused(run(*arguments), message)
    assert contents() == before


def test_a_model_folder_in_use_is_refused_before_any_work(run: Run, tmp_path: Path) -> None:
    put(tmp_path, {"model/notes.txt": "x"})
    refused(
        run("train", "nowhere"),
        "model must be a new folder or one that holds a model only; found notes.txt: choose another place.",
    )


def test_an_output_in_use_is_refused_before_any_work(run: Run, tmp_path: Path) -> None:
    put(tmp_path, {"mine.csv": "x"})
    for command in (["select", "nowhere", "--budget", "1"], ["predict", "nowhere"]):
        refused(
            run(*command, "--out", "mine.csv"),
            "mine.csv must not be overwritten; found a file that featprop did not write: "
            "choose another place or pass --force (force=True in Python).",
        )


def test_the_graph_that_every_case_spoils_is_right(run: Run, tmp_path: Path, trained: dict[str, bytes]) -> None:
    put(tmp_path, GRAPH | trained | {"labels.csv": LABELS})
    for arguments in (SELECT, TRAIN, PREDICT):
        result = run(*arguments)
        assert result.exit_code == 0, result.output
    assert isinstance(featprop.read_graph("graph"), Graph)


def test_what_memory_has_no_room_for(run: Run, write_folder: Callable[..., Path], monkeypatch: Any) -> None:
    def full(*_: object, **__: object) -> None:
        raise MemoryError("Unable to allocate 8.00 TiB")

    monkeypatch.setattr("featprop.datasets.resolve", full)
    result = run("inspect", write_folder())
    assert result.exit_code == 2
    assert result.stderr == (
        "Error: What was asked for must have room in memory; found no more (Unable to allocate 8.00 TiB): "
        "ask for less, take --max-memory where there is, or a larger machine.\n"
    )
