"""What the pages of the documentation start from: files on a shelf, and small stand-ins for data sets."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import featprop as fp
from featprop.labels import LabelLog
from featprop.models import MODELS
from featprop.sources.native import write_native
from featprop.strategies import STRATEGIES
from tests.docs.reader import STAND_INS, Reader, accounts
from tests.helpers import run_trials_here


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the files that commands in the middle of a page need: graph, filled sheets, model, label log."""
    place = tmp_path_factory.mktemp("shelf")
    nodes, edges, truth = accounts().made_tables()
    for folder, table in ("my-graph", nodes), ("labelled-graph", nodes.assign(label=nodes["id"].map(truth))):
        (place / folder).mkdir()
        table.to_csv(place / folder / "nodes.csv", index=False)
        edges.to_csv(place / folder / "edges.csv", index=False)
    _write_other_sources(place, nodes.assign(status=nodes["id"].map(truth)), edges)
    graph = fp.read_graph(place / "my-graph")
    picks = fp.select(graph, 40)
    others = fp.select(graph, 40, labelled=picks)
    for name, chosen in ("picks.csv", picks), ("first.csv", picks), ("more.csv", others), ("second.csv", others):
        chosen.write(place / name)
        accounts().fill(place / name)
    fp.evaluate.draw_audit(graph, 30, exclude=[*picks, *others]).write(place / "audit.csv", graph)
    accounts().fill(place / "audit.csv")
    fp.models.save_model(
        fp.GraphRidge().fit(graph, picks, [truth[node] for node in picks]), place / "model.safetensors"
    )
    for name, chosen in ("my-graph.labels", picks), ("other.labels", others):
        with LabelLog(place / name) as log:
            log.tell({node: truth[node] for node in chosen})
    with LabelLog(place / "other.labels") as log:
        (place / "results.json").write_bytes(fp.labels.export_labels(log, graph, "label-studio"))
    for name in ("cora.npz", "ms_academic_cs.npz", "ind.cora.x", "arxiv.zip"):
        (place / name).touch()
    draw = np.random.default_rng(0)
    known = np.arange(300) % 3
    near = (draw.random((300, 300)) < np.where(known[:, None] == known, 0.03, 0.002)).astype(float)
    small = fp.Graph.from_scipy(near, draw.normal(size=(300, 8)) + 2 * np.eye(3, 8)[known], labels=known)
    for name in STAND_INS:
        write_native(small, place / "cache" / "graphs" / name)
    return place


def _write_other_sources(place: Path, nodes: pd.DataFrame, edges: pd.DataFrame) -> None:
    """Write the tables under other names, to a database and as graph files."""
    accounts = nodes.rename(columns={"id": "account"})
    payments = edges.rename(columns={"source": "payer", "target": "payee", "weight": "amount"})
    accounts.to_csv(place / "accounts.csv", index=False)
    payments.to_csv(place / "payments.csv", index=False)
    with closing(sqlite3.connect(place / "shop.db")) as database:
        accounts.to_sql("accounts", database, index=False)
        payments.to_sql("payments", database, index=False)
    graph = nx.karate_club_graph()
    nx.write_graphml(graph, place / "social.graphml")
    nx.write_edgelist(graph, place / "edges.txt", data=False)


@pytest.fixture
def reader(run: Callable[..., Any], shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    """A reader with an empty home folder and no network."""
    (tmp_path / "graphs").mkdir()
    shutil.copytree(shelf / "cache", tmp_path / "cache")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("FEATPROP_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("FEATPROP_DATA", raising=False)
    run_trials_here(monkeypatch)
    for registry in (STRATEGIES, MODELS):
        monkeypatch.setattr(registry, "classes", dict(registry.classes))
    return Reader(run, shelf, tmp_path, monkeypatch)
