"""Valid inputs of every kind, made from one small graph with featprop's own commands."""

from __future__ import annotations

import contextlib
import csv
import json
import random
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse as sp
from typer.testing import CliRunner

from featprop.cli import app

NODES, CLASSES = 48, ("ok", "review", "fraud")
LABEL_OF = {f"n{row}": CLASSES[row % 3] for row in range(NODES)}


def make_seeds(folder: Path) -> Path:
    """Fill a new folder with valid inputs and return it."""
    (folder / "csv").mkdir(parents=True)
    with contextlib.chdir(folder):
        for name, columns in zip(("nodes", "edges"), graph_tables(), strict=True):
            write_csv(Path("csv") / f"{name}.csv", columns)
        _write_graph_files()
        _write_labels_and_models()
    return folder


def featprop(line: str) -> None:
    """Run a command, which must succeed."""
    result = CliRunner().invoke(app, line.split())
    assert result.exit_code == 0, result.output


def graph_tables() -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """Return nodes with a column of each kind, and weighted edges."""
    chance, rows = random.Random(1), range(NODES)
    nodes = {
        "id": list(LABEL_OF),
        "amount": [round(100 * (row % 3) + chance.gauss(0, 20), 2) for row in rows],
        "speed": [None if row % 11 == 0 else row % 7 for row in rows],
        "known": [chance.random() < 0.3 + 0.3 * (row % 3 == 1) for row in rows],
        "country": [chance.choice("AB" if row % 3 else "BC") * 2 for row in rows],
        "since": [f"20{10 + row % 15}-0{1 + row % 9}-1{row % 10}" for row in rows],
        "about": [f"{['Pays rent', 'Pays at night', 'Pays everyone'][row % 3]} now" for row in rows],
        "label": [LABEL_OF[f"n{row}"] if row % 4 == 0 else None for row in rows],
    }
    ends = [(row, (row + step) % NODES) for row in rows for step in (3, 6)]
    ends += [(row, (row + 1) % NODES) for row in rows[::5]]
    edges = {
        "source": [f"n{source}" for source, _ in ends],
        "target": [f"n{target}" for _, target in ends],
        "weight": [round(chance.uniform(0.5, 3), 2) for _ in ends],
    }
    return nodes, edges


def write_csv(path: Path, columns: dict[str, list[Any]]) -> None:
    """Write columns as a CSV file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([list(columns), *zip(*columns.values(), strict=True)])


def _write_graph_files() -> None:
    """Write the graph in the formats of other programs."""
    nodes, edges = graph_tables()
    graph = nx.Graph()
    graph.add_nodes_from((node, {"amount": amount}) for node, amount in zip(nodes["id"], nodes["amount"], strict=True))
    graph.add_weighted_edges_from(zip(*edges.values(), strict=True))
    nx.write_graphml(graph, "graph.graphml")
    nx.write_gml(graph, "graph.gml")
    nx.write_edgelist(graph, "graph.edgelist")
    Path("graph.json").write_text(json.dumps(nx.node_link_data(graph, edges="links")), encoding="utf-8")
    adjacency = sp.csr_array(nx.to_scipy_sparse_array(graph))
    features = sp.csr_array(sp.random_array((NODES, 20), density=0.2, rng=np.random.default_rng(1)))
    labels, matrices = np.arange(NODES) % 3, {"adj": adjacency, "attr": features}
    parts = {
        f"{name}_{part}": np.asarray(getattr(matrix, part))
        for name, matrix in matrices.items()
        for part in ("data", "indices", "indptr", "shape")
    }
    np.savez("plain.npz", labels=labels, **parts)


def _write_labels_and_models() -> None:
    featprop("convert csv native")
    featprop("convert plain.npz native-sparse")
    featprop("select csv --budget 9 --out picks.csv")
    _fill_sheet(Path("picks.csv"))
    featprop("audit csv --labels picks.csv --size 8 --out audit.csv")
    _fill_sheet(Path("audit.csv"))
    featprop("train csv --labels picks.csv --out ridge.safetensors")
    featprop("train csv --labels picks.csv --out gcn.safetensors --model gcn --set epochs=3")
    featprop("predict csv --model ridge.safetensors --out predictions.csv")
    featprop("import log.labels picks.csv --annotator Ann")
    featprop("select csv --budget 3 --log log.labels --out more.csv")
    names = list(LABEL_OF)[:7]
    labels = [*map(LABEL_OF.get, names[:6]), "skip"]
    write_csv(Path("bob.csv"), {"id": names, "label": labels, "annotator": ["Bob"] * 7})
    featprop("import log.labels bob.csv")
    for form, name in (("csv", "export.csv"), ("jsonl", "export.jsonl"), ("label-studio", "export.json")):
        featprop(f"export log.labels --format {form} --graph csv --out {name}")


def _fill_sheet(path: Path) -> None:
    """Type the right label into every row of a sheet."""
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    write_csv(path, columns | {"label": [LABEL_OF[node] for node in columns["id"]]})
