"""Time, memory and loss of featprop and of the programs it is compared with: one table, kept in docs/performance.md.

    python benchmarks/performance.py [--only ROW ...] [--large] [--more] [--authors FOLDER] [--graphs FOLDER]

Rows that are not measured keep their last values; Coauthor CS must be placed (FEATPROP_DATA). `--large` adds 10M nodes;
`--more` compares K-Medoids with other packages (benchmarks/requirements.txt); `--authors` times the program of the
paper's authors, a copy of github.com/CrickWu/active_graph whose data/Cora/Cora/raw/ has the eight ind.cora.* files. It
runs unchanged except for a patch in memory of what fails without a GPU. Large graphs are made in `--graphs` once (4 GB
in all).

Loss is the mean distance of all rows to the nearest medoid. Times include all steps of a method: the distance matrix
from scikit-learn for FasterPAM, and the search for the nearest rows for K-Means.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")  # as in the processes of `featprop experiments run`

import numpy as np
import scipy.sparse as sp

import featprop as fp
from featprop.clustering import Points, k_medoids
from featprop.datasets import load
from featprop.errors import FeatpropError
from featprop.propagation import measure_coverage, propagate

PAGE = Path("docs/performance.md")
HEAD = "| what | featprop | compared with | ratio | target |\n| --- | ---: | ---: | ---: | ---: |\n"
BUDGETS = (10, 20, 40, 80, 160)
K_MEDOIDS = [  # data set, medoids, seeds, largest ratio of times
    ("cora", 10, 5, "1"),
    ("citeseer", 40, 5, "1"),
    ("pubmed", 10, 3, "1/8"),
    ("pubmed", 160, 3, "1/8"),
    ("coauthor-cs", 40, 2, "1/10"),
]
GRAPHS: dict[str, dict[str, int]] = {
    "1m": {"nodes": 1_000_000, "edges": 10_000_000, "features": 64},
    "2m": {"nodes": 2_000_000, "edges": 20_000_000, "features": 32},
    "10m": {"nodes": 10_000_000, "edges": 100_000_000, "features": 32},
}
AUTHORS_ROUNDS = 2
AUTHORS = """
import runpy, sys, warnings
warnings.simplefilter("ignore")
import torch
torch.Tensor.get_device = lambda tensor: tensor.device  # -1 on a CPU, which .to() does not take
sys.path.insert(0, ".")
sys.argv[0] = "active_graph.py"
runpy.run_path("active_graph.py", run_name="__main__")
"""


@dataclass(frozen=True)
class Row:
    """A row of the table: what was measured, featprop's value, the other's, their ratio, and the target."""

    what: str
    ours: str
    theirs: str = ""
    ratio: str = ""
    target: str = ""

    def __str__(self) -> str:
        return f"| {self.what} | {self.ours} | {self.theirs} | {self.ratio} | {self.target} |"


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    started = time.perf_counter()
    found = call()
    return found, time.perf_counter() - started


def measured(command: list[str]) -> tuple[float, float]:
    """Return the seconds a command takes and its peak memory in GB, including mapped pages of files."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)}: {errors.decode()[-2000:]}")
    return time.perf_counter() - started, usage.ru_maxrss * 1024 / 1e9


def select(place: Path, out: Path, budget: int, *options: str) -> tuple[float, float]:
    command = ["select", str(place), "--budget", str(budget), "--out", str(out), "--force", *options]
    return measured([sys.executable, "-m", "featprop", *command])


def dense(rows: Any) -> np.ndarray:
    return rows.toarray() if sp.issparse(rows) else rows


def loss_of(rows: Any, medoids: np.ndarray) -> float:
    return measure_coverage(Points(rows), np.unique(medoids)).mean_distance


def kmedoids_rows(_: argparse.Namespace) -> Iterator[Row]:
    """K-Medoids and FasterPAM with its distance matrix."""
    import kmedoids
    from sklearn.metrics import pairwise_distances

    k_medoids(np.random.default_rng(0).random((300, 150)).astype(np.float32), 5, method="streamed")
    for name in dict.fromkeys(entry[0] for entry in K_MEDOIDS):
        rows = propagate(load(name), 2)
        distances, preparing = timed(lambda r=rows: pairwise_distances(dense(r)).astype(np.float32))
        for _, count, n_seeds, target in (entry for entry in K_MEDOIDS if entry[0] == name):
            ratios, spent, theirs = [], [], []
            for seed in range(n_seeds):
                other, took = timed(lambda s=seed, b=count, d=distances: kmedoids.fasterpam(d, b, random_state=s))
                theirs.append(preparing + took)
                own, took = timed(lambda s=seed, b=count, r=rows: k_medoids(r, b, random_state=s))
                spent.append(took)
                ratios.append(loss_of(rows, own.medoids) / loss_of(rows, np.asarray(other.medoids, dtype=np.intp)))
            ours, their = statistics.median(spent), statistics.median(theirs)
            what = f"K-Medoids on {name}, {count} medoids ({own.method}); FasterPAM with its distances"
            ratio = f"time {ours / their:.2f} ×, loss {np.mean(ratios):.5f} ×"
            yield Row(what, f"{ours:.2f} s", f"{their:.2f} s", ratio, f"time {target} ×, loss 1.001 ×")


def experiments_rows(given: argparse.Namespace) -> Iterator[Row]:
    """FeatProp and a GCN on Cora over five budgets, selected, trained and scored; and the authors' program."""
    from featprop.experiments.protocol import Protocol
    from featprop.experiments.settings import Spec, Trial

    fp.GCN(epochs=1).fit(load("digits"), [0, 1], [0, 1])  # PyTorch imports much at the first step
    graph, seeds = load("cora"), tuple(range(5))
    trial = Trial("cora", graph.fingerprint, Spec("featprop"), (Spec("gcn"),), BUDGETS, seeds)
    times = []
    for _ in range(3):
        results, spent = timed(lambda: [*Protocol(replace(graph)).run(trial)])
        times.append(spent / len(seeds))
    scores = [result.macro_f1 for result in results if result.protocol == "paper"]
    ours = statistics.median(times)
    theirs = _time_authors(given.authors) if given.authors else None
    yield Row(
        "experiments: FeatProp and a GCN on Cora, one seed over five budgets; the authors' program",
        f"{ours:.2f} s, Macro-F1 {100 * np.mean(scores):.1f}",
        f"{theirs[0]:.1f} s, Macro-F1 {theirs[1]:.1f}" if theirs else "",
        f"{ours / theirs[0]:.3f} ×" if theirs else "",
        "1/15 ×",
    )


def _time_authors(folder: Path) -> tuple[float, float]:
    """Run FeatProp of the authors' program (K-Means on S²X, then a GCN); return its seconds per round and Macro-F1."""
    written = set(folder.glob("GCN/Cora/kmeans/*.json"))
    method = "--method kmeans --cluster_method kmeans --kmeans_num_layer 2 --self_loop_coeff 1 --model GCN"
    run = f"--dataset Cora --lr 0.01 --epoch 200 --rand_rounds {AUTHORS_ROUNDS} --label_list 10 20 40 80 160"
    subprocess.run(
        [sys.executable, "-c", AUTHORS, *method.split(), *run.split()], cwd=folder, check=True, capture_output=True
    )
    (result,) = set(folder.glob("GCN/Cora/kmeans/*.json")) - written
    output = json.loads(result.read_text())
    scores = dict(zip(output["metric_names"], 100 * np.mean(output["avg"], axis=0), strict=True))
    macro = next(value for name, value in scores.items() if "macro" in name.lower())
    return float(output["time"]) / AUTHORS_ROUNDS, float(macro)


def training_rows(_: argparse.Namespace) -> Iterator[Row]:
    """Train a GCN on the receptive field of 40 labels, and a plain PyG loop, on a graph of PubMed's size."""
    import torch

    warnings.filterwarnings("ignore", category=DeprecationWarning)
    from torch_geometric.nn import GCNConv

    n, n_edges, width, classes, epochs = 19_717, 44_324, 500, 3, 200
    generator = np.random.default_rng(0)
    adjacency = sp.coo_array((np.ones(n_edges), tuple(generator.integers(0, n, size=(2, n_edges)))), shape=(n, n))
    features = generator.random((n, width)) * (generator.random((n, width)) < 0.1)
    graph = fp.Graph.from_scipy(adjacency, features)
    nodes, targets = generator.choice(n, 40, replace=False), np.arange(40) % classes

    def loop() -> None:
        data = graph.to_pyg()
        first, second = GCNConv(width, 16, cached=True), GCNConv(16, classes, cached=True)
        optimiser = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=0.01, weight_decay=5e-4)
        for _ in range(epochs):
            optimiser.zero_grad()
            hidden = torch.nn.functional.dropout(torch.relu(first(data.x, data.edge_index)), 0.5)
            scores = second(hidden, data.edge_index)[torch.from_numpy(nodes)]
            torch.nn.functional.cross_entropy(scores, torch.from_numpy(targets)).backward()
            optimiser.step()

    def fit() -> None:
        fresh = replace(graph)  # nothing is propagated yet, as for the plain loop
        fp.GCN(epochs=epochs).fit(fresh, nodes, targets).predict(fresh)

    fp.GCN(epochs=2).fit(graph, nodes, targets)
    times = [(timed(fit)[1], timed(loop)[1]) for _ in range(3)]
    ours, theirs = (statistics.median(each) for each in zip(*times, strict=True))
    what = "GCN on 40 labels of 19,717 nodes, 200 epochs, all predicted; a plain PyG loop"
    yield Row(what, f"{ours:.2f} s", f"{theirs:.2f} s", f"{ours / theirs:.2f} ×", "1/4 ×")


def rounds_rows(_: argparse.Namespace) -> Iterator[Row]:
    """Measure what a labelling page waits for: the fit of the default model, and a whole round."""
    for name in ("cora", "pubmed"):
        graph = load(name)
        classes = np.array(graph.class_names(), dtype=object)
        known = graph.ids[[each is not None for each in classes]].tolist()
        picks, first = timed(lambda g=graph, k=known: fp.select(g, 40, candidates=k))
        nodes, labels = picks.nodes.tolist(), classes[picks.positions].tolist()

        def predict(model: Any, g: fp.Graph = graph, n: list[Any] = nodes, y: list[Any] = labels) -> Any:
            return model.fit(g, n, y).predict_proba(g)

        def run_round(g: fp.Graph = graph, n: list[Any] = nodes, y: list[Any] = labels) -> None:
            model = fp.GraphRidge().fit(g, n, y)
            fp.select(g, 20, labelled=n, labels=y, model=model)
            model.predict_proba(g)

        run_round()
        predict(fp.GCN(epochs=2))
        calls = (lambda: predict(fp.GraphRidge()), lambda: predict(fp.GCN()), run_round)
        times = [[timed(call)[1] for call in calls] for _ in range(5)]
        ridge, gcn, whole = (statistics.median(each) for each in zip(*times, strict=True))
        what = f"fit the default model to 40 labels of {name} and predict; a GCN"
        yield Row(what, f"{ridge:.3f} s", f"{gcn:.2f} s", f"{ridge / gcn:.2f} ×")
        yield Row(f"the first 40 nodes of {name}", f"{first:.2f} s")
        yield Row(f"a round on {name}: fit, 20 more nodes, predict", f"{whole:.2f} s", target="1 s")


def startup_rows(_: argparse.Namespace) -> Iterator[Row]:
    """Start-up of the command line, and the whole way from two CSV files to a list of nodes."""

    def fastest(*command: str) -> float:
        return min(measured(list(command))[0] for _ in range(5))

    base = fastest(sys.executable, "-c", "import numpy, scipy.sparse")
    own = fastest(sys.executable, "-m", "featprop", "select", "--help")
    what = "featprop select --help; import numpy, scipy.sparse"
    yield Row(what, f"{own:.2f} s", f"{base:.2f} s", f"{own / base:.1f} ×", "3 ×")
    with tempfile.TemporaryDirectory() as place:
        folder, n = Path(place) / "graph", 1000
        folder.mkdir()
        generator = np.random.default_rng(0)
        values = generator.normal(size=(n, 8)).round(3)
        rows = [f"n{node},{','.join(map(str, row))}" for node, row in enumerate(values)]
        (folder / "nodes.csv").write_text("\n".join(["id,a,b,c,d,e,f,g,h", *rows]))
        ends = [f"n{one},n{other}" for one, other in generator.integers(n, size=(4 * n, 2))]
        (folder / "edges.csv").write_text("\n".join(["source,target", *ends]))
        spent = min(select(folder, Path(place) / "picks.csv", 40)[0] for _ in range(3))
    yield Row("featprop select, 1,000 nodes from CSV, cold start to file", f"{spent:.1f} s", target="3 s")


def _large_graph(given: argparse.Namespace, name: str) -> Path:
    place = given.graphs / name
    if not place.exists():
        print(f"making {place}", flush=True)
        given.graphs.mkdir(parents=True, exist_ok=True)
        fp.datasets.make(place, **GRAPHS[name])  # type: ignore[arg-type]
    return Path(place)


def scale_rows(given: argparse.Namespace) -> Iterator[Row]:
    """Millions of nodes: time and peak memory of the command a user would type."""
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "picks.csv"
        spent, peak = select(_large_graph(given, "1m"), out, 1000, "--compute", "max-memory=1.1GB")
        what = "1M nodes, 10M edges, 64 columns, 1,000 picks"
        yield Row(what, f"{spent:.0f} s, {peak:.2f} GB", target="25 s, 1 GB")
        if given.large:
            spent, peak = select(_large_graph(given, "10m"), out, 1000, "--compute", "max-memory=4GB")
            what = "10M nodes, 100M edges, 32 columns, 1,000 picks"
            yield Row(what, f"{spent:.0f} s, {peak:.2f} GB", target="305 s, 3.7 GB")


def dask_rows(given: argparse.Namespace) -> Iterator[Row]:
    """Two Dask workers on this machine, and one process."""
    with tempfile.TemporaryDirectory() as made:
        one, two = Path(made) / "one.csv", Path(made) / "two.csv"
        plain, _ = select(_large_graph(given, "2m"), one, 1000)
        there, _ = select(_large_graph(given, "2m"), two, 1000, "--compute", "workers=2")
        same = "equal picks" if one.read_bytes() == two.read_bytes() else "OTHER PICKS"
    what = "2M nodes, two Dask workers; one process"
    yield Row(what, f"{there:.0f} s", f"{plain:.0f} s", f"{there / plain:.2f} ×, {same}", "1.15 ×, equal picks")


def more_rows(_: argparse.Namespace) -> Iterator[Row]:
    """K-Medoids and other packages: faiss and scikit-learn K-Means with the nearest rows, and BanditPAM."""
    import banditpam
    import faiss
    from sklearn.cluster import KMeans

    def faiss_means(rows: np.ndarray, count: int) -> np.ndarray:
        model = faiss.Kmeans(rows.shape[1], count, seed=1, niter=25)
        model.train(rows)
        index = faiss.IndexFlatL2(rows.shape[1])
        index.add(rows)
        return index.search(model.centroids, 1)[1].ravel()

    def sklearn_means(rows: np.ndarray, count: int) -> np.ndarray:
        return KMeans(count, n_init=1, random_state=0).fit(rows).transform(rows).argmin(axis=0)

    def bandit(rows: np.ndarray, count: int) -> np.ndarray:
        model = banditpam.KMedoids(n_medoids=count, algorithm="BanditPAM")
        model.fit(rows.astype(np.float64), "L2")
        return np.asarray(model.medoids)

    mixture = np.random.default_rng(0).normal(size=(1_000_000, 32)).astype(np.float32)
    mixture += 4 * np.random.default_rng(1).normal(size=(1500, 32)).astype(np.float32)[np.arange(1_000_000) % 1500]
    cases: list[tuple[str, Any, int, str, Callable[[np.ndarray, int], np.ndarray]]] = [
        ("pubmed", propagate(load("pubmed"), 2), 40, "scikit-learn K-Means and the nearest rows", sklearn_means),
        ("pubmed", propagate(load("pubmed"), 2), 40, "faiss K-Means and the nearest rows", faiss_means),
        ("digits", propagate(load("digits"), 2), 10, "BanditPAM", bandit),
        ("1,000,000 × 32 normal rows", mixture, 1000, "faiss K-Means and the nearest rows", faiss_means),
    ]
    for name, rows, count, other, call in cases:
        own, ours = timed(lambda r=rows, b=count: k_medoids(r, b).medoids)
        full = np.ascontiguousarray(dense(rows), dtype=np.float32)
        found, theirs = timed(lambda f=full, b=count, c=call: c(f, b))
        ratio = f"time {ours / theirs:.2f} ×, loss {loss_of(rows, own) / loss_of(rows, found):.4f} ×"
        yield Row(f"K-Medoids on {name}, {count} medoids; {other}", f"{ours:.2f} s", f"{theirs:.2f} s", ratio)
    sizes = (10_000, 30_000, 100_000, 300_000, 1_000_000)
    spent = [timed(lambda n=n: k_medoids(mixture[:n], 100))[1] for n in sizes]
    exponent = np.polyfit(np.log(sizes), np.log(spent), 1)[0]
    yield Row("growth of K-Medoids from 10,000 to 1M rows, 100 medoids", f"exponent {exponent:.2f}", target="1.1")


ROWS: dict[str, Callable[[argparse.Namespace], Iterator[Row]]] = {
    "scale": scale_rows,  # first: a process inherits the peak memory of the one that starts it
    "dask": dask_rows,
    "startup": startup_rows,
    "kmedoids": kmedoids_rows,
    "experiments": experiments_rows,
    "training": training_rows,
    "rounds": rounds_rows,
    "more": more_rows,
}


def update_page(rows: list[Row]) -> None:
    """Replace the rows of the page that were measured, and add new ones."""
    text = PAGE.read_text(encoding="utf-8")
    before, table = text.split(HEAD)
    known = {line.split(" | ")[0]: line for line in table.splitlines() if line.startswith("|")}
    known |= {str(row).split(" | ")[0]: str(row) for row in rows}
    machine = (
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, NumPy {np.__version__}"
    )
    before = re.sub(r"(?m)^Last run: .*$", f"Last run: {time.strftime('%Y-%m-%d')} on {machine}.", before)
    PAGE.write_text(before + HEAD + "\n".join(known.values()) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=ROWS)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--more", action="store_true")
    parser.add_argument("--authors", type=Path)
    parser.add_argument("--graphs", type=Path, default=Path(tempfile.gettempdir()) / "featprop-scale")
    parser.add_argument("--no-page", action="store_true", help="leave docs/performance.md alone")
    given = parser.parse_args()
    names = given.only or [name for name in ROWS if name != "more" or given.more]
    print(HEAD, end="")
    for name in names:
        rows = []
        try:
            for row in ROWS[name](given):
                print(row, flush=True)
                rows.append(row)
        except FeatpropError as error:  # a data set that is neither placed nor can be downloaded
            print(f"{name} is incomplete: {error}", file=sys.stderr)
        if not given.no_page:
            update_page(rows)


if __name__ == "__main__":
    main()
