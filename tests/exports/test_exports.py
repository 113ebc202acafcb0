"""Exports as other programs write them go the whole way by the command line: inspect, select, label, train, predict.

Each export has a class planted in its columns and its edges. No table holds the class: it is for whoever labels, and
for measuring.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import openpyxl
import pandas as pd
import pytest

import featprop as fp
from featprop.sources.building import convert_tables
from featprop.sources.reading import describe
from tests.helpers import assert_refused, fill, ok, rows_of

Run = Callable[..., Any]
Export = tuple[Path, dict[str, str]]
"""The path of a graph, and the true class of each node by its id as text."""


class Planted:
    """Nodes of a few classes: numbers whose mean depends on the class, and edges mostly inside the classes."""

    def __init__(self, ids: Sequence[Any], names: Sequence[str], seed: int) -> None:
        self.ids, self.names, self.generator = list(ids), list(names), np.random.default_rng(seed)
        self.codes = self.generator.permutation(np.arange(len(self.ids)) % len(self.names))
        self.classes = {str(node): self.names[code] for node, code in zip(self.ids, self.codes, strict=True)}

    def numbers(self, strength: float = 1.5) -> np.ndarray:
        """Return one number per node; which classes lie high and which low differs from call to call."""
        means = self.generator.permutation(np.linspace(-strength, strength, len(self.names)))
        return means[self.codes] + self.generator.normal(size=len(self.ids))

    def words(self, *words: str) -> list[str]:
        """Return one word per node: often that of its class, else any."""
        own = self.generator.random(len(self.ids)) < 0.7
        places = np.where(own, self.codes, self.generator.integers(len(words), size=len(self.ids)))
        return [words[place % len(words)] for place in places]

    def edges(self, source: str = "source", target: str = "target") -> pd.DataFrame:
        """Return the ends of the edges, no edge twice."""
        pairs = set()
        for node, code in enumerate(self.codes):
            same = np.flatnonzero(self.codes == code)
            for _ in range(3):
                other = int(self.generator.choice(same if self.generator.random() < 0.85 else len(self.ids)))
                if other != node:
                    pairs.add((min(node, other), max(node, other)))
        ends = sorted(pairs)
        return pd.DataFrame({source: [self.ids[a] for a, _ in ends], target: [self.ids[b] for _, b in ends]})


def plain(seed: int) -> tuple[Planted, pd.DataFrame]:
    """Return 240 nodes of two classes with three columns of numbers and a word."""
    planted = Planted(range(100, 340), ["left", "right"], seed=seed)
    columns = {f"w{place}": planted.numbers().round(4) for place in range(3)}
    return planted, pd.DataFrame({"id": planted.ids, **columns, "colour": planted.words("red", "blue")})


def bank(folder: Path) -> Export:
    """Customers with amounts, a postcode, dates and yes or no; transfers as ``tx_id,payer,payee,amount``."""
    planted = Planted([f"C{number:05d}" for number in range(300)], ["private", "business", "suspect"], seed=1)
    generator, size = planted.generator, 300
    nodes = pd.DataFrame(
        {
            "id": planted.ids,
            "age": np.clip(45 + 12 * planted.numbers(), 18, 95).round().astype(int),
            "balance": [f"${amount:,.2f}" for amount in np.exp(8 + planted.numbers())],
            "country": planted.words("DE", "FR", "NL"),
            "postcode": [f"{code:05d}" for code in generator.integers(1_000, 99_999, size)],
            "since": pd.Timestamp("2015-01-01") + pd.to_timedelta(generator.integers(0, 3_000, size), "D"),
            "newsletter": planted.words("yes", "no"),
            "bank": "0001",
        }
    )
    nodes.loc[generator.choice(size, 20, replace=False), "age"] = None
    nodes.loc[7, "balance"] = "unknown"
    transfers = planted.edges("payer", "payee")
    transfers.insert(0, "tx_id", [f"T{number:06d}" for number in range(len(transfers))])
    transfers["amount"] = np.exp(generator.normal(5, 1, len(transfers))).round(2)
    nodes.to_csv(folder / "nodes.csv", index=False)
    transfers.to_csv(folder / "edges.csv", index=False)
    named = '[columns]\nsource = "payer"\ntarget = "payee"\n'
    (folder / "graph.toml").write_text(f'nodes = "nodes.csv"\nedges = "edges.csv"\n{named}')
    return folder, planted.classes


def german(folder: Path) -> Export:
    """Companies as a German Excel saves them: cp1252, semicolons, ``sep=``, decimal commas and dots for thousands."""
    planted = Planted([f"Müller-{number}" for number in range(240)], ["säumig", "pünktlich"], seed=2)
    nodes = pd.DataFrame(
        {
            "id": planted.ids,
            "Größe": [f"{value:.2f}".replace(".", ",") for value in 5 + planted.numbers()],
            "Umsatz": [f"{value:,.0f} €".replace(",", ".") for value in np.exp(8 + planted.numbers())],
            "Quote": [f"{value:.1f} %".replace(".", ",") for value in 50 + 10 * planted.numbers()],
            "Branche": planted.words("Bäckerei", "Schlosserei"),
        }
    )
    edges = planted.edges()
    edges["weight"] = [f"{value:.2f}".replace(".", ",") for value in planted.generator.uniform(0.5, 2, len(edges))]
    for name, table in [("nodes", nodes), ("edges", edges)]:
        text = "sep=;\n" + table.to_csv(index=False, sep=";")
        (folder / f"{name}.csv").write_bytes(text.replace("\n", "\r\n").encode("cp1252"))
    return folder, planted.classes


def papers(folder: Path) -> Export:
    """Papers with a title, a year and an embedding, as Parquet."""
    planted = Planted(range(1_000, 1_360), ["graphs", "vision", "speech"], seed=3)
    topics = ["edges nodes spectral community", "image pixel segment camera", "audio phoneme voice acoustic"]
    common, choice = ["a study of", "towards", "learning", "deep", "robust", "fast"], planted.generator.choice
    nodes = pd.DataFrame(
        {
            "id": planted.ids,
            "title": [" ".join([*choice(common, 2), *choice(topics[code].split(), 3)]) for code in planted.codes],
            "year": planted.generator.integers(1995, 2024, len(planted.ids)),
            "embedding": list(np.column_stack([planted.numbers(0.8) for _ in range(16)]).astype(np.float32)),
        }
    )
    nodes.to_parquet(folder / "nodes.parquet", index=False)
    planted.edges().to_parquet(folder / "edges.parquet", index=False)
    return folder, planted.classes


def with_index(folder: Path) -> Export:
    """Tables that pandas wrote with its index: an unnamed first column, and ``,from,to,weight``."""
    planted, nodes = plain(seed=4)
    edges = planted.edges("from", "to")
    edges["weight"] = planted.generator.uniform(10, 1_000, len(edges)).round(2)
    nodes.to_csv(folder / "nodes.csv")
    edges.to_csv(folder / "edges.csv")
    return folder, planted.classes


def from_networkx(folder: Path) -> Export:
    """A NetworkX graph by way of pandas: the ids are the index, and the column that holds them has no name."""
    planted, nodes = plain(seed=9)
    graph = nx.from_pandas_edgelist(planted.edges())
    graph.add_nodes_from((row.pop("id"), row) for row in nodes.to_dict("records"))
    pd.DataFrame.from_dict(dict(graph.nodes(data=True)), orient="index").to_csv(folder / "nodes.csv")
    nx.to_pandas_edgelist(graph).to_csv(folder / "edges.csv", index=False)
    return folder, planted.classes


def workbook(folder: Path) -> Export:
    """One workbook, ``graph.xlsx``, with the sheets Nodes and Edges."""
    planted, nodes = plain(seed=8)
    nodes["joined"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(planted.generator.integers(0, 900, len(nodes)), "D")
    nodes["active"] = [word == "yes" for word in planted.words("yes", "no")]
    with pd.ExcelWriter(folder / "graph.xlsx") as book:
        nodes.to_excel(book, sheet_name="Nodes", index=False)
        planted.edges().to_excel(book, sheet_name="Edges", index=False)
    return folder / "graph.xlsx", planted.classes


COLUMNS = {
    bank: (["age", "balance", "country", "since", "newsletter"], 11),
    german: (["Größe", "Umsatz", "Quote", "Branche"], 4),
    papers: (["title", "year", "embedding"], 36),
    with_index: (["w0", "w1", "w2", "colour"], 4),
    workbook: (["w0", "w1", "w2", "colour", "joined", "active"], 10),
    from_networkx: (["w0", "w1", "w2", "colour"], 4),
}
"""The columns of each export that become features, and the number of features."""
FACTS = {
    bank: ["logarithm", "month, weekday"],
    german: ["Größe", "Umsatz", "weights divided by their mean"],
    papers: ["TF-IDF", "16 numbers"],
    workbook: ["position in time", "1 for true, 0 for false"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "export"
    place.mkdir()
    return place


@pytest.mark.parametrize("write", FACTS)
def test_from_the_export_to_predictions(write: Callable[[Path], Export], run: Run, folder: Path) -> None:
    graph, classes = write(folder)
    inspected = ok(run("inspect", graph)).output
    for fact in FACTS[write]:
        assert fact in inspected, inspected
    ok(run("select", graph, "--budget", "20", "--out", "picks.csv"))
    fill("picks.csv", classes.__getitem__)
    ok(run("train", graph, "--labels", "picks.csv", "--out", "model.safetensors"))
    ok(run("predict", graph, "--model", "model.safetensors", "--out", "predictions.csv"))
    rows = rows_of("predictions.csv")
    assert len(rows) == len(classes)
    assert np.mean([classes[row["id"]] == row["prediction"] for row in rows]) > 0.85
    labels = {row["id"]: row["label"] for row in rows if row["label"]}
    assert len(labels) == 20
    assert labels.items() <= classes.items()


@pytest.mark.parametrize("write", COLUMNS)
def test_the_right_columns_become_features_and_conversion_keeps_them(
    write: Callable[[Path], Export], folder: Path, tmp_path: Path
) -> None:
    path, _ = write(folder)
    graph = fp.read_graph(path)
    assert graph.preprocessor is not None
    assert (list(graph.preprocessor.column_names), graph.n_features) == COLUMNS[write]
    convert_tables(describe(path), tmp_path / "kept")
    assert fp.read_graph(tmp_path / "kept").fingerprint == graph.fingerprint


def test_ids_that_became_floats_are_recognised(run: Run, folder: Path) -> None:
    """As in a column of pandas that once had a gap: ``161.0``."""
    planted, nodes = plain(seed=6)
    nodes.to_csv(folder / "nodes.csv", index=False)
    planted.edges().astype(float).to_csv(folder / "edges.csv", index=False)
    assert_refused(run("inspect", folder), "100 for 100.0")


def test_ends_of_unusual_names_stop(run: Run, folder: Path) -> None:
    bank(folder)
    (folder / "graph.toml").unlink()
    assert_refused(run("select", folder, "--budget", "5"), "tx_id payer payee amount")


def test_labels_of_a_workbook(run: Run, folder: Path, tmp_path: Path) -> None:
    graph, classes = workbook(folder)
    book = openpyxl.Workbook()
    for row in [["id", "label"], *([int(node), label] for node, label in list(classes.items())[:30])]:
        book.active.append(row)
    book.save(tmp_path / "labels.xlsx")
    result = ok(run("train", graph, "--labels", "labels.xlsx"))
    assert "Trained on 30 labels of 2 classes" in result.output
