"""Valid inputs of every kind, made from one small graph with featprop's own commands."""

from __future__ import annotations

import contextlib
import json
import random
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import scipy.sparse as sp
from typer.testing import CliRunner

from featprop.cli import app
from tests.helpers import fill, ok

NODES, CLASSES = 48, ("ok", "review", "fraud")
LABEL_OF = {f"n{row}": CLASSES[row % 3] for row in range(NODES)}
COMMANDS = """
convert csv native
convert plain.npz native-sparse
select csv --budget 9 --out picks.csv
audit csv --labels picks.csv --size 8 --out audit.csv
train csv --labels picks.csv --out ridge.safetensors
train csv --labels picks.csv --out gcn.safetensors --model gcn --set epochs=3
predict csv --model ridge.safetensors --out predictions.csv
import log.labels picks.csv --annotator Ann
select csv --budget 3 --log log.labels --out more.csv
import log.labels bob.csv
export log.labels --format csv --graph csv --out export.csv
export log.labels --format jsonl --graph csv --out export.jsonl
export log.labels --format label-studio --graph csv --out export.json
"""


def make_seeds(folder: Path) -> Path:
    """Fill a new folder with valid inputs and return it."""
    nodes, edges = graph_tables()
    (folder / "csv").mkdir(parents=True)
    with contextlib.chdir(folder):
        nodes.to_csv("csv/nodes.csv", index=False)
        edges.to_csv("csv/edges.csv", index=False)
        write_other_formats(nodes, edges)
        names = list(LABEL_OF)[:7]
        answers = [*map(LABEL_OF.get, names[:6]), "skip"]
        pd.DataFrame({"id": names, "label": answers, "annotator": "Bob"}).to_csv("bob.csv", index=False)
        for words in map(str.split, COMMANDS.strip().splitlines()):
            ok(CliRunner().invoke(app, words))
            if words[-1] in ("picks.csv", "audit.csv"):
                fill(words[-1], LABEL_OF.__getitem__)
    return folder


def graph_tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return nodes with a column of each kind, and weighted edges."""
    chance, rows = random.Random(1), range(NODES)
    nodes = {
        "id": list(LABEL_OF),
        "amount": [round(100 * (row % 3) + chance.gauss(0, 20), 2) for row in rows],
        "speed": pd.array([None if row % 11 == 0 else row % 7 for row in rows], dtype="Int64"),
        "known": [chance.random() < 0.3 + 0.3 * (row % 3 == 1) for row in rows],
        "country": [chance.choice("AB" if row % 3 else "BC") * 2 for row in rows],
        "since": [f"20{10 + row % 15}-0{1 + row % 9}-1{row % 10}" for row in rows],
        "about": [f"{['Pays rent', 'Pays at night', 'Pays everyone'][row % 3]} now" for row in rows],
        "label": [LABEL_OF[f"n{row}"] if row % 4 == 0 else None for row in rows],
    }
    ends = [(row, (row + step) % NODES) for row in rows for step in (3, 6)]
    ends += [(row, (row + 1) % NODES) for row in rows[::5]]
    edges = pd.DataFrame([(f"n{source}", f"n{target}") for source, target in ends], columns=["source", "target"])
    return pd.DataFrame(nodes), edges.assign(weight=[round(chance.uniform(0.5, 3), 2) for _ in ends])


def write_other_formats(nodes: pd.DataFrame, edges: pd.DataFrame) -> None:
    """Write the graph in the formats of other programs."""
    graph = nx.Graph()
    graph.add_nodes_from((node, {"amount": amount}) for node, amount in zip(nodes["id"], nodes["amount"], strict=True))
    graph.add_weighted_edges_from(edges.itertuples(index=False))
    nx.write_graphml(graph, "graph.graphml")
    nx.write_gml(graph, "graph.gml")
    nx.write_edgelist(graph, "graph.edgelist")
    Path("graph.json").write_text(json.dumps(nx.node_link_data(graph, edges="links")), encoding="utf-8")
    features = sp.random_array((NODES, 20), density=0.2, rng=np.random.default_rng(1))
    arrays = {
        f"{name}_{part}": np.asarray(getattr(matrix, part))
        for name, matrix in (("adj", sp.csr_array(nx.to_scipy_sparse_array(graph))), ("attr", sp.csr_array(features)))
        for part in ("data", "indices", "indptr", "shape")
    }
    np.savez("plain.npz", labels=np.arange(NODES) % 3, **arrays)
