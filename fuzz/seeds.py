"""Valid inputs of every kind, made by featprop's own commands out of one small graph.

Making them also imports and compiles what the commands need, once for all cases.
"""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import pickle
import random
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

from featprop.cli import app
from featprop.experiments.results import Result, appending
from fuzz.clock import repeatable

__all__ = ["CLASSES", "NODES", "make_seeds"]

NODES = 48
PROTOCOL = "paper"
CLASSES = ("ok", "review", "fraud")

Columns = dict[str, list[Any]]


def make_seeds(folder: Path) -> None:
    """Fill a folder with valid inputs, the same every time."""
    with (
        repeatable(),
        contextlib.chdir(folder),
        (folder / "told.txt").open("w") as told,
        contextlib.redirect_stdout(told),
        contextlib.redirect_stderr(told),
    ):
        _tables()
        _arrays()
        _planetoid()
        _answers()
        _settings()
        _results()
        import_module("featprop.web.page.server")


def featprop(*words: str) -> None:
    """Run a command, which must succeed."""
    try:
        app(list(words), prog_name="featprop")
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"featprop {' '.join(words)} ended with {end.code}") from end


def _columns() -> tuple[Columns, Columns]:
    """Return a graph of payments: a column of each kind, and weighted edges."""
    chance = random.Random(1)
    kinds = [place % 3 for place in range(NODES)]
    nodes = {
        "id": [f"n{place}" for place in range(NODES)],
        "amount": [round(100 * kind + chance.gauss(0, 20), 2) for kind in kinds],
        "speed": [None if place % 11 == 0 else place % 7 for place in range(NODES)],
        "known": [chance.random() < 0.3 + 0.3 * (kind == 1) for kind in kinds],
        "country": [chance.choice("AB" if kind else "BC") * 2 for kind in kinds],
        "since": [f"20{10 + place % 15}-0{1 + place % 9}-1{place % 10}" for place in range(NODES)],
        "about": [f"{['Pays rent', 'Pays at night', 'Pays everybody'][kind]} now" for kind in kinds],
        "label": [CLASSES[kind] if place % 4 == 0 else None for place, kind in enumerate(kinds)],
    }
    ends = [(place, (place + step) % NODES) for place in range(NODES) for step in (3, 6)]
    ends += [(place, (place + 1) % NODES) for place in range(0, NODES, 5)]
    edges = {
        "source": [f"n{one}" for one, _ in ends],
        "target": [f"n{other}" for _, other in ends],
        "weight": [round(chance.uniform(0.5, 3), 2) for _ in ends],
    }
    return nodes, edges


def _tables() -> None:
    nodes, edges = _columns()
    for form in ("csv", "parquet", "excel"):
        Path(form).mkdir()
    for name, columns in (("nodes", nodes), ("edges", edges)):
        rows = [list(columns), *map(list, zip(*columns.values(), strict=True))]
        _write_csv(Path("csv") / f"{name}.csv", rows)
        table = pa.table(columns)
        if name == "nodes":
            vectors = [[float(place % 3 == kind) for kind in range(3)] for place in range(NODES)]
            table = table.append_column("embedding", pa.array(vectors, pa.list_(pa.float32())))
        pq.write_table(table, Path("parquet") / f"{name}.parquet")
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        book.save(Path("excel") / f"{name}.xlsx")
    featprop("convert", "parquet", "native")


def _write_csv(path: Path, rows: list[list[Any]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([["" if value is None else value for value in row] for row in rows])
    path.write_text(text.getvalue(), encoding="utf-8")


def _arrays() -> None:
    adjacency = sp.csr_array(sp.random_array((NODES, NODES), density=0.1, rng=np.random.default_rng(0)))
    features = sp.csr_array(sp.random_array((NODES, 20), density=0.2, rng=np.random.default_rng(1)))
    labels = np.arange(NODES) % 3
    parts = {
        f"{name}_{part}": np.asarray(getattr(matrix, part))
        for name, matrix in (("adj", adjacency), ("attr", features))
        for part in ("data", "indices", "indptr", "shape")
    }
    np.savez("plain.npz", labels=labels, **parts)
    boxes = [np.array(sp.csr_matrix(matrix), dtype=object) for matrix in (adjacency, features)]
    np.savez("pickled.npz", adj_matrix=boxes[0], node_attr=boxes[1], node_label=labels, allow_pickle=True)
    featprop("convert", "plain.npz", "native-sparse")


def _planetoid() -> None:
    """Write files that count as Cora: 2,708 nodes, 1,433 features and 7 classes."""
    folder = Path("planetoid")
    folder.mkdir()
    nodes, unseen, words, classes = 2708, 1000, 1433, 7
    rows, known = np.arange(nodes), nodes - unseen
    features = sp.csr_matrix((np.ones(nodes, np.float32), (rows, rows % words)), shape=(nodes, words))
    one_hot = np.eye(classes, dtype=np.int32)[rows % classes]
    graph = {row: [(row + 7) % nodes, (row - 7) % nodes] for row in range(nodes)}
    parts = {
        "x": features[:140], "y": one_hot[:140], "allx": features[:known], "ally": one_hot[:known],
        "tx": features[known:], "ty": one_hot[known:], "graph": graph,
    }  # fmt: skip
    for name, part in parts.items():
        (folder / f"ind.cora.{name}").write_bytes(pickle.dumps(part, protocol=2))
    (folder / "ind.cora.test.index").write_text("".join(f"{row}\n" for row in range(known, nodes)))


def _answers() -> None:
    """Write sheets, a label log, rounds, models and the files of other tools."""
    label = {f"n{place}": CLASSES[place % 3] for place in range(NODES)}
    featprop("select", "csv", "--budget", "9", "--show", "about", "--out", "picks.csv")
    _fill(Path("picks.csv"), label)
    featprop("audit", "csv", "--labels", "picks.csv", "--size", "8", "--out", "audit.csv")
    _fill(Path("audit.csv"), label)
    book = openpyxl.Workbook()
    rows = list(csv.reader(Path("picks.csv").read_text(encoding="utf-8").splitlines()))
    for row in rows:
        book.active.append(row)
    book.save("picks.xlsx")
    pq.write_table(
        pa.table({name: [row[place] for row in rows[1:]] for place, name in enumerate(rows[0])}), "picks.parquet"
    )

    featprop("train", "csv", "--labels", "picks.csv", "--out", "ridge.safetensors")
    featprop("predict", "csv", "--model", "ridge.safetensors", "--out", "predictions.csv")
    featprop(
        "train", "native", "--labels", "picks.csv", "--out", "gcn.safetensors", "--model", "gcn", "--set", "epochs=3"
    )
    for strategy in ("featprop-diffused", "anrmab"):
        rounds = f"rounds-{strategy.partition('-')[0]}"
        chosen = ("--strategy", strategy, "--log", f"{rounds}.labels")
        featprop("select", "csv", "--budget", "3", "--labels", "picks.csv", *chosen, "--out", "more.csv", "--force")
        _fill(Path("more.csv"), label)
        featprop("select", "csv", "--budget", "3", "--labels", "more.csv", *chosen, "--out", "more.csv", "--force")

    featprop("import", "log.labels", "picks.csv", "--annotator", "Ann")
    said = [
        ["id", "label", "annotator"],
        *([node, label[node], "Bob"] for node in list(label)[:6]),
        ["n7", "skip", "Bob"],
    ]
    _write_csv(Path("bob.csv"), said)
    featprop("import", "log.labels", "bob.csv")
    featprop("import", "log.labels", "audit.csv", "--graph", "csv")
    for form, name in (("csv", "export.csv"), ("jsonl", "export.jsonl"), ("label-studio", "export.json")):
        featprop("export", "log.labels", "--format", form, "--graph", "csv", "--nodes", "picks.csv", "--out", name)
    featprop("report", "csv", "--labels", "picks.csv", "--audit", "audit.csv", "--out", "report.html")


def _fill(path: Path, label: dict[str, str]) -> None:
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    _write_csv(path, [list(rows[0]), *(list((row | {"label": label[row["id"]]}).values()) for row in rows)])


def _settings() -> None:
    Path("run.toml").write_text(
        'title = "A try"\ndatasets = ["graph"]\nstrategies = ["random", "degree"]\nmodels = ["ridge"]\n'
        "budgets = [6, 8]\nseeds = 1\nepochs = 2\n"
        '[stand-ins]\nelsewhere = "graph"\n[only]\ndegree = ["graph"]\n[options.featprop]\nlayers = 1\n'
        "[settings.gcn]\nhidden = 4\n",
        encoding="utf-8",
    )
    shutil.copytree("csv", "graph")
    nodes = Path("graph/nodes.csv")
    rows = list(csv.DictReader(nodes.read_text(encoding="utf-8").splitlines()))
    filled = [list((row | {"label": CLASSES[place % 3]}).values()) for place, row in enumerate(rows)]
    _write_csv(nodes, [list(rows[0]), *filled])


def _results() -> None:
    """Write what a run of these settings would: to start its processes would take longer than all the rest."""
    figures = {"nodes": NODES, "edges": 106, "classes": 3, "features": 12, "labelled": NODES, "homophily": 0.9}
    with appending(Path("results")) as results:
        results.record({"graph": figures})
        for strategy, score in (("random", 0.5), ("degree", 0.7)):
            for budget, seed in itertools.product((6, 8), (0, 1)):
                results.append(
                    [
                        Result(
                            "graph",
                            strategy,
                            budget,
                            seed,
                            "ridge",
                            PROTOCOL,
                            tuple(f"n{node}" for node in range(budget)),
                            score,
                            score,
                            score,
                            0.1,
                            0.2,
                            10**8,
                            0.5,
                            0.9,
                            0.1,
                            "0f3a",
                            versions={"featprop": "0.2.0"},
                        )
                    ]
                )
    featprop("experiments", "report", "results", "--out", "report")
