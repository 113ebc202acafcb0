"""Small exports as other programs write them, each with a class planted in its columns and its edges.

Every fixture writes one into a folder of its own and gives the folder and the true class of each node. No table holds
the class: it is for whoever labels, and for measuring.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import openpyxl
import pandas as pd
import pytest


@dataclass(frozen=True)
class Export:
    """A folder with the tables of a graph, and the true class of each node by its id as text."""

    folder: Path
    classes: dict[str, str]


class Planted:
    """Nodes of a few classes: numbers whose mean depends on the class, and edges mostly inside the classes.

    Parameters
    ----------
    ids
        The id of each node.
    names
        The names of the classes.
    """

    def __init__(self, ids: Sequence[Any], names: Sequence[str], seed: int) -> None:
        self.ids, self.names, self.generator = list(ids), list(names), np.random.default_rng(seed)
        self.codes = self.generator.permutation(np.arange(len(self.ids)) % len(self.names))

    def numbers(self, strength: float = 1.5) -> np.ndarray:
        """Return a number a node; which classes lie high and which low differs from call to call."""
        means = self.generator.permutation(np.linspace(-strength, strength, len(self.names)))
        return means[self.codes] + self.generator.normal(size=len(self.ids))

    def words(self, words: Sequence[str], chance: float = 0.7) -> list[str]:
        """Return a word a node: often that of its class, else any."""
        own = self.generator.random(len(self.ids)) < chance
        any_word = self.generator.integers(len(words), size=len(self.ids))
        return [
            words[code % len(words) if is_own else other]
            for code, is_own, other in zip(self.codes, own, any_word, strict=True)
        ]

    def edges(self, each: int = 3, inside: float = 0.85) -> pd.DataFrame:
        """Return the ends of the edges, no edge twice."""
        pairs = set()
        for node, code in enumerate(self.codes):
            same = np.flatnonzero(self.codes == code)
            for _ in range(each):
                other = int(self.generator.choice(same if self.generator.random() < inside else len(self.ids)))
                if other != node:
                    pairs.add((min(node, other), max(node, other)))
        ends = sorted(pairs)
        return pd.DataFrame({"source": [self.ids[a] for a, _ in ends], "target": [self.ids[b] for _, b in ends]})

    def export(self, folder: Path) -> Export:
        return Export(folder, {str(node): self.names[code] for node, code in zip(self.ids, self.codes, strict=True)})


@pytest.fixture
def bank(tmp_path: Path) -> Export:
    """Customers with amounts, a postcode, dates and yes or no; transfers as ``tx_id,payer,payee,amount``."""
    planted = Planted([f"C{number:05d}" for number in range(300)], ["private", "business", "suspect"], seed=1)
    generator, size = planted.generator, 300
    amounts = np.exp(8 + planted.numbers())
    nodes = pd.DataFrame(
        {
            "id": planted.ids,
            "age": np.clip(45 + 12 * planted.numbers(), 18, 95).round().astype(int),
            "balance": [f"${amount:,.2f}" for amount in amounts],
            "country": planted.words(["DE", "FR", "NL"]),
            "postcode": [f"{code:05d}" for code in generator.integers(1_000, 99_999, size)],
            "since": pd.Timestamp("2015-01-01") + pd.to_timedelta(generator.integers(0, 3_000, size), "D"),
            "newsletter": planted.words(["yes", "no"]),
            "bank": "0001",
        }
    )
    nodes.loc[generator.choice(size, 20, replace=False), "age"] = None
    nodes.loc[7, "balance"] = "unknown"
    transfers = planted.edges().rename(columns={"source": "payer", "target": "payee"})
    transfers.insert(0, "tx_id", [f"T{number:06d}" for number in range(len(transfers))])
    transfers["amount"] = np.exp(generator.normal(5, 1, len(transfers))).round(2)
    folder = made(tmp_path / "bank")
    nodes.to_csv(folder / "nodes.csv", index=False)
    transfers.to_csv(folder / "edges.csv", index=False)
    return planted.export(folder)


@pytest.fixture
def german(tmp_path: Path) -> Export:
    """Companies as a German Excel saves them: cp1252, semicolons, ``sep=``, decimal commas and dots for thousands."""
    planted = Planted([f"Müller-{number}" for number in range(240)], ["säumig", "pünktlich"], seed=2)
    nodes = pd.DataFrame(
        {
            "id": planted.ids,
            "Größe": [f"{value:.2f}".replace(".", ",") for value in 5 + planted.numbers()],
            "Umsatz": [f"{value:,.0f} €".replace(",", ".") for value in np.exp(8 + planted.numbers())],
            "Quote": [f"{value:.1f} %".replace(".", ",") for value in 50 + 10 * planted.numbers()],
            "Branche": planted.words(["Bäckerei", "Schlosserei"]),
        }
    )
    edges = planted.edges()
    edges["weight"] = [f"{value:.2f}".replace(".", ",") for value in planted.generator.uniform(0.5, 2, len(edges))]
    folder = made(tmp_path / "german")
    for name, table in [("nodes", nodes), ("edges", edges)]:
        text = "sep=;\n" + table.to_csv(index=False, sep=";")
        (folder / f"{name}.csv").write_bytes(text.replace("\n", "\r\n").encode("cp1252"))
    return planted.export(folder)


@pytest.fixture
def papers(tmp_path: Path) -> Export:
    """Papers with a title, a year and an embedding, as Parquet."""
    planted = Planted(range(1_000, 1_360), ["graphs", "vision", "speech"], seed=3)
    topics = ["edges nodes spectral community", "image pixel segment camera", "audio phoneme voice acoustic"]
    common = ["a study of", "towards", "learning", "deep", "robust", "fast"]
    titles = [
        " ".join([*planted.generator.choice(common, 2), *planted.generator.choice(topics[code].split(), 3)])
        for code in planted.codes
    ]
    vectors = np.column_stack([planted.numbers(0.8) for _ in range(16)]).astype(np.float32)
    nodes = pd.DataFrame(
        {
            "id": planted.ids,
            "title": titles,
            "year": planted.generator.integers(1995, 2024, len(planted.ids)),
            "embedding": list(vectors),
        }
    )
    folder = made(tmp_path / "papers")
    nodes.to_parquet(folder / "nodes.parquet", index=False)
    planted.edges().to_parquet(folder / "edges.parquet", index=False)
    return planted.export(folder)


@pytest.fixture
def with_index(tmp_path: Path) -> Export:
    """Tables that pandas wrote with its index: an unnamed first column, and ``,from,to,weight``."""
    planted, nodes = plain(seed=4)
    edges = planted.edges().rename(columns={"source": "from", "target": "to"})
    edges["weight"] = planted.generator.uniform(10, 1_000, len(edges)).round(2)
    folder = made(tmp_path / "with_index")
    nodes.to_csv(folder / "nodes.csv")
    edges.to_csv(folder / "edges.csv")
    return planted.export(folder)


@pytest.fixture
def with_index_in_parquet(tmp_path: Path) -> Export:
    """Tables whose rows were put in another order before pandas wrote them: ``__index_level_0__``."""
    planted, nodes = plain(seed=5)
    folder = made(tmp_path / "with_index_in_parquet")
    nodes.sample(frac=1, random_state=5).to_parquet(folder / "nodes.parquet")
    planted.edges().sample(frac=1, random_state=5).to_parquet(folder / "edges.parquet")
    return planted.export(folder)


@pytest.fixture
def float_ids(tmp_path: Path) -> Export:
    """Edges whose ids became floating-point numbers, ``161.0``, as in a column of pandas that once had a gap."""
    planted, nodes = plain(seed=6)
    folder = made(tmp_path / "float_ids")
    nodes.to_csv(folder / "nodes.csv", index=False)
    planted.edges().astype(float).to_csv(folder / "edges.csv", index=False)
    return planted.export(folder)


@pytest.fixture
def workbook(tmp_path: Path) -> Export:
    """One workbook, ``graph.xlsx``, with the sheets Nodes and Edges."""
    planted, nodes = plain(seed=8)
    nodes["joined"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(planted.generator.integers(0, 900, len(nodes)), "D")
    nodes["active"] = [word == "yes" for word in planted.words(["yes", "no"])]
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Nodes"
    put(sheet, nodes)
    put(book.create_sheet("Edges"), planted.edges())
    folder = made(tmp_path / "workbook")
    book.save(folder / "graph.xlsx")
    return planted.export(folder)


@pytest.fixture
def from_networkx(tmp_path: Path) -> Export:
    """A NetworkX graph by way of pandas: the ids are the index, and the column that holds them has no name."""
    planted, nodes = plain(seed=9)
    graph = nx.from_pandas_edgelist(planted.edges())
    graph.add_nodes_from((row.pop("id"), row) for row in nodes.to_dict("records"))
    folder = made(tmp_path / "from_networkx")
    pd.DataFrame.from_dict(dict(graph.nodes(data=True)), orient="index").to_csv(folder / "nodes.csv")
    nx.to_pandas_edgelist(graph).to_csv(folder / "edges.csv", index=False)
    return planted.export(folder)


def plain(seed: int) -> tuple[Planted, pd.DataFrame]:
    """Return 240 nodes of two classes with three columns of numbers and a word."""
    planted = Planted(range(100, 340), ["left", "right"], seed=seed)
    columns = {f"w{place}": planted.numbers().round(4) for place in range(3)}
    return planted, pd.DataFrame({"id": planted.ids, **columns, "colour": planted.words(["red", "blue"])})


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def put(sheet: Any, table: pd.DataFrame) -> None:
    sheet.append(list(table.columns))
    for row in table.itertuples(index=False):
        sheet.append([value.to_pydatetime() if isinstance(value, pd.Timestamp) else value for value in row])
