"""Compare K-Medoids with the `kmedoids` package, scikit-learn, faiss and BanditPAM.

Loss is the mean distance of all rows to the nearest medoid. Times include all steps of a method: the distance matrix
from scikit-learn for `kmedoids`, and the search for the nearest rows for K-Means. Peak memory is measured in a separate
process, relative to the memory after loading the rows.
"""

from __future__ import annotations

import argparse
import multiprocessing
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import featprop as fp
from featprop.clustering import Points, k_medoids
from featprop.errors import FeatpropError
from featprop.propagation import measure_coverage, normalised_adjacency, propagate

sys.path[:] = [folder for folder in sys.path if Path(folder).resolve() != Path(__file__).parent]  # not this kmedoids

BUDGETS = (10, 40, 160)
SEEDS = range(5)
PICKS = 40
STRATEGIES = ("featprop", "featprop-cosine", "featprop-diffused")
SMALL, MIDDLE, WIDE = ("cora", "citeseer", "cora-ml"), ("pubmed", "dblp"), ("coauthor-cs",)


def rows_of(name: str) -> np.ndarray | sp.csr_array:
    return propagate(fp.datasets.load(name), 2)


def dense(rows: np.ndarray | sp.csr_array) -> np.ndarray:
    return rows.toarray() if sp.issparse(rows) else rows


def loss_of(rows: np.ndarray, medoids: np.ndarray) -> float:
    return measure_coverage(Points(rows), np.unique(medoids)).mean_distance


def timed(call: Callable[[], np.ndarray]) -> tuple[np.ndarray, float]:
    started = time.perf_counter()
    medoids = call()
    return medoids, time.perf_counter() - started


def ours(rows: np.ndarray, count: int, seed: int) -> np.ndarray:
    return k_medoids(rows, count, random_state=seed).medoids


def picked(name: str, seed: int) -> np.ndarray:
    """Select as `featprop select` does, from a newly loaded graph."""
    return fp.select(fp.datasets.load(name), PICKS, strategy="featprop", random_state=seed).positions


def sklearn_kmeans(rows: np.ndarray, count: int, seed: int) -> np.ndarray:
    from sklearn.cluster import KMeans

    model = KMeans(count, n_init=1, random_state=seed).fit(rows)
    return model.transform(rows).argmin(axis=0)


def faiss_kmeans(rows: np.ndarray, count: int, seed: int) -> np.ndarray:
    import faiss

    points = np.ascontiguousarray(dense(rows), dtype=np.float32)
    model = faiss.Kmeans(points.shape[1], count, seed=seed + 1, niter=25)
    model.train(points)
    index = faiss.IndexFlatL2(points.shape[1])
    index.add(points)
    return index.search(model.centroids, 1)[1].ravel()


def bandit(rows: np.ndarray, count: int, seed: int) -> np.ndarray:
    import banditpam

    banditpam.set_num_threads(2)
    model = banditpam.KMedoids(n_medoids=count, algorithm="BanditPAM")
    model.random_state = seed
    model.fit(dense(rows).astype(np.float64), "L2")
    return np.asarray(model.medoids)


def compare(name: str, seeds: range = SEEDS) -> None:
    import kmedoids
    from sklearn.metrics import pairwise_distances

    try:
        rows = rows_of(name)
    except FeatpropError as error:
        print(f"{name}: skipped, {error}")
        return
    full = dense(rows)
    kind = f"CSR, {rows.nnz / full.size:.0%} filled" if sp.issparse(rows) else "dense"
    print(f"\n{name}: {full.shape[0]:,} x {full.shape[1]:,} ({kind})")
    _, made_time = timed(lambda: rows_of(name))
    distances, matrix_time = timed(lambda: pairwise_distances(full).astype(np.float32))
    for count in BUDGETS:
        theirs, theirs_time = [], []
        own, own_time, method = [], [], ""
        for seed in seeds:
            found, spent = timed(lambda s=seed, b=count: kmedoids.fasterpam(distances, b, random_state=s).medoids)
            theirs.append(loss_of(rows, found))
            theirs_time.append(matrix_time + spent)
            started = time.perf_counter()
            result = k_medoids(rows, count, random_state=seed)
            own_time.append(time.perf_counter() - started)
            own.append(loss_of(rows, result.medoids))
            method = result.method
        loss, spent = np.mean(theirs), np.median(theirs_time)
        print(
            f"  b = {count}: featprop ({method}) loss {np.mean(own):.6f} = {np.mean(own) / loss:.5f} x FasterPAM, "
            f"{np.median(own_time):.2f} s = {np.median(own_time) / spent:.3f} x FasterPAM ({spent:.2f} s, "
            f"{matrix_time:.2f} of it distances)"
        )
        if count == PICKS:
            chosen = np.median([timed(lambda s=seed: picked(name, s))[1] for seed in seeds])
            print(
                f"      {count} picks from the graph: {chosen:.2f} s = {chosen / (made_time + spent):.3f} x "
                "S²X, distances and FasterPAM"
            )
        for label, method in (("scikit-learn K-Means", sklearn_kmeans), ("faiss K-Means", faiss_kmeans)):
            found, other = timed(lambda m=method, b=count: m(full, b, 0))
            print(
                f"      {label} + nearest: loss {loss_of(rows, found) / np.mean(own):.4f} x ours with "
                f"{len(set(found.tolist()))} distinct rows, {other:.2f} s; ours {np.median(own_time) / other:.2f} x"
            )


def compare_bandit() -> None:
    rows = rows_of("digits")
    own, own_time = timed(lambda: ours(rows, 10, 0))
    found, spent = timed(lambda: bandit(rows, 10, 0))
    ratio = loss_of(rows, found) / loss_of(rows, own)
    print(f"\ndigits, b = 10: BanditPAM loss {ratio:.4f} x ours, {spent:.1f} s against {own_time:.2f} s")


def memory_of(rows_from: Callable[..., np.ndarray], argument: object, count: int) -> float:
    """Return the peak memory above the loaded rows in MB, measured in a new process."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(_memory, (rows_from, argument, count))


def _memory(rows_from: Callable[..., np.ndarray], argument: object, count: int) -> float:
    rows = rows_from(argument)
    k_medoids(np.random.default_rng(0).random((300, 150)).astype(np.float32), 5, method="streamed")
    Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    k_medoids(rows, count)
    return resident("VmHWM") - before


def resident(what: str) -> float:
    """Return the current (VmRSS) or peak (VmHWM) memory of this process in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what)) / 1024


def mixture(n: int, width: int = 32, parts: int = 1500) -> np.ndarray:
    generator = np.random.default_rng(0)
    centres = 4 * generator.normal(size=(parts, width))
    rows = np.empty((n, width), dtype=np.float32)
    for start in range(0, n, 50_000):
        size = min(50_000, n - start)
        rows[start : start + size] = centres[generator.integers(0, parts, size)] + generator.normal(size=(size, width))
    return rows


def large() -> None:
    rows = mixture(1_000_000)
    print("\n1,000,000 x 32 mixture, b = 1,000")
    result, spent = timed(lambda: k_medoids(rows, 1000))
    found, theirs = timed(lambda: faiss_kmeans(rows, 1000, 0))
    print(f"  featprop ({result.method}): loss {result.loss:.5f}, {spent:.1f} s")
    loss = loss_of(rows, found)
    print(f"  faiss K-Means + nearest: loss {loss:.5f} = {loss / result.loss:.4f} x ours, {theirs:.1f} s")
    print(f"  peak memory above the rows: {memory_of(mixture, 1_000_000, 1000):.0f} MB (target: within 1 GB)")


def growth() -> None:
    print("\ntime by the number of rows, 32 columns, b = 100")
    sizes, spent = (10_000, 30_000, 100_000, 300_000, 1_000_000), []
    for n in sizes:
        rows = mixture(n)
        result, seconds = timed(lambda r=rows: k_medoids(r, 100))
        spent.append(seconds)
        print(f"  {n:>9,}: {seconds:.2f} s ({result.method})")
    exponent = np.polyfit(np.log(sizes), np.log(spent), 1)[0]
    print(f"  exponent {exponent:.2f} (target: at most 1.1)")


def wide_graph(nodes: int = 34_493, columns: int = 8415, edges: int = 247_962, words: int = 33) -> fp.Graph:
    """Make a graph of the size of Coauthor Physics, with five classes that each prefer some words."""
    with tempfile.TemporaryDirectory() as folder:
        drawn = fp.datasets.make(
            Path(folder) / "graph", nodes=nodes, edges=edges, classes=5, features=1, smallest=0.08, homophily=0.93
        )
        adjacency, labels = drawn.adjacency.copy(), np.array(drawn.labels)
    generator = np.random.default_rng(0)
    order = np.stack([generator.permutation(columns) for _ in range(5)])
    rows = np.repeat(np.arange(nodes), 1 + generator.poisson(words - 1, nodes))
    rank = (10 * ((columns + 10) / 10) ** generator.random(len(rows)) - 10).astype(int).clip(0, columns - 1)
    word = np.where(generator.random(len(rows)) < 0.5, order[labels[rows], rank], rank)
    features = sp.csr_array((np.ones(len(rows), dtype=np.float32), (rows, word)), shape=(nodes, columns))
    features.data[:] = 1
    return fp.Graph.from_scipy(adjacency, features)


def made_wide() -> None:
    graph = wide_graph()
    n, width = graph.features.shape
    print(f"\nsynthetic, {n:,} x {width:,}, {graph.features.nnz / (n * width):.2%} filled, {PICKS} picks", flush=True)
    adjacency = normalised_adjacency(graph)
    _, whole = timed(lambda: adjacency @ (adjacency @ graph.features))
    for strategy in STRATEGIES:
        fp.select(wide_graph(2000, 1500, 12_000), PICKS, strategy=strategy)
        fresh, before = wide_graph(), time.process_time()
        _, spent = timed(lambda g=fresh, s=strategy: fp.select(g, PICKS, strategy=s))
        cores = time.process_time() - before
        print(
            f"  {strategy}: {spent:.2f} s, {cores:.2f} s of all cores = {spent / whole:.2f} x making S²X with SciPy "
            f"({whole:.2f} s)",
            flush=True,
        )


FIRST_OURS = """
import time
import numpy as np
import featprop as fp
from featprop.clustering import k_medoids
from featprop.propagation import propagate
rows = propagate(fp.datasets.load("cora"), 2)
for _ in range(2):
    started = time.perf_counter()
    k_medoids(rows, 10)
    print(time.perf_counter() - started)
"""
FIRST_THEIRS = """
import time
import featprop as fp
import kmedoids
from featprop.propagation import propagate
from sklearn.metrics import pairwise_distances
rows = propagate(fp.datasets.load("cora"), 2)
full = rows.toarray() if hasattr(rows, "toarray") else rows
started = time.perf_counter()
kmedoids.fasterpam(pairwise_distances(full).astype("float32"), 10, random_state=0)
print(time.perf_counter() - started)
"""


def first_call() -> None:
    """Time the first two calls in a process, with cached kernels, and the first call of FasterPAM."""
    times = [[*map(float, _printed(program))] for _ in range(5) for program in (FIRST_OURS, FIRST_THEIRS)]
    (first, second), (theirs,) = np.median(times[::2], axis=0), np.median(times[1::2], axis=0)
    print(
        f"\ncora, b = 10, new process: first call {first:.2f} s = {first / theirs:.2f} x FasterPAM with its "
        f"distances ({theirs:.2f} s), second {second:.2f} s = {second / theirs:.2f} x"
    )


def _printed(program: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.split()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parts = ["small", "middle", "wide", "made-wide", "first-call", "bandit", "memory", "large", "growth"]
    parser.add_argument("--only", choices=parts)
    only = parser.parse_args().only
    k_medoids(np.random.default_rng(0).random((300, 150)).astype(np.float32), 5, method="streamed")
    k_medoids(np.random.default_rng(0).random((300, 150)).astype(np.float32), 5)
    for part, names, seeds in (("small", SMALL, SEEDS), ("middle", MIDDLE, SEEDS), ("wide", WIDE, range(2))):
        if only in (None, part):
            for name in names:
                compare(name, seeds)
    if only in (None, "made-wide"):
        made_wide()
    if only in (None, "first-call"):
        first_call()
    if only in (None, "bandit"):
        compare_bandit()
    if only in (None, "memory"):
        print("\npeak memory above the rows")
        for name in (*MIDDLE, *WIDE):
            for count in BUDGETS:
                print(f"  {name}, b = {count}: {memory_of(rows_of, name, count):.0f} MB", flush=True)
    if only in (None, "large"):
        large()
    if only in (None, "growth"):
        growth()


if __name__ == "__main__":
    main()
