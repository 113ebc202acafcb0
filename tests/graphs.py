"""Graphs for tests: nodes in classes, random graphs, and graphs without edges."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from featprop.graph import Graph

CLASSES = np.array(list("abcdefgh"))


def class_graph(
    n: int = 90,
    classes: int = 3,
    *,
    columns: int = 6,
    within: float = 0.2,
    between: float = 0.01,
    signal: float = 1.0,
    noise: float = 1.0,
    sparse: bool = False,
    seed: int = 0,
    order: np.ndarray | None = None,
    **options: Any,
) -> Graph:
    """Make a graph in which node i has class ``i % classes``, named a, b, c and so on.

    Edges have the probability `within` in a class and `between` two classes. Features are `signal` in the column of the
    class plus `noise`; if `sparse`, they are few and far above zero in their column. `order` permutes the nodes, whose
    ids are then their old positions.
    """
    generator = np.random.default_rng(seed)
    kinds = np.arange(n) % classes
    edges = np.triu(generator.random((n, n)) < np.where(kinds[:, None] == kinds, within, between), 1)
    features = noise * generator.normal(size=(n, columns)) + signal * np.eye(classes, columns)[kinds]
    if sparse:
        features = np.hstack([np.where(features > 1.5, features, 0), np.zeros((n, 4 * columns))])
    if order is not None:
        edges = (edges | edges.T)[np.ix_(order, order)]
        features, kinds, options = features[order], kinds[order], {"ids": order, **options}
    given = sp.csr_array(features) if sparse else features
    return Graph.from_scipy(edges, given, **{"labels": CLASSES[kinds], **options})


def random_graph(
    n: int = 30,
    columns: int = 4,
    *,
    density: float = 0.2,
    filled: float = 1.0,
    weighted: bool = False,
    seed: int = 0,
    **options: Any,
) -> Graph:
    """Make a graph with random edges and normal features, of which a share `filled` is not zero."""
    generator = np.random.default_rng(seed)
    edges = sp.random_array((n, n), density=density, rng=generator, format="csr")
    if not weighted:
        edges.data[:] = 1.0
    features = generator.normal(size=(n, columns)) * (generator.random((n, columns)) < filled)
    return Graph.from_scipy(edges, features, **options)


def edgeless(features: Any, **options: Any) -> Graph:
    """Make a graph without edges, where propagation keeps the features: rows, or how many nodes with equal ones."""
    given = np.ones((features, 1)) if isinstance(features, int) else features
    rows = given if sp.issparse(given) else np.asarray(given, dtype=float)
    return Graph.from_scipy(sp.csr_array((rows.shape[0], rows.shape[0])), rows, **options)


def named(ids: Sequence[Any], **options: Any) -> Graph:
    """Make a graph of nodes with these ids, without edges."""
    return edgeless(len(ids), ids=ids, **options)


def edge_graph(n: int, edges: Sequence[tuple[int, int]], features: Any = None, **options: Any) -> Graph:
    """Make a graph with these edges; all features are 1 unless given."""
    ends = np.array(edges, dtype=int).reshape(-1, 2)
    adjacency = sp.coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    return Graph.from_scipy(adjacency, np.ones((n, 1)) if features is None else np.asarray(features, float), **options)


def write_class_folder(folder: Path, n: int = 240, seed: int = 1) -> Path:
    """Write nodes of the classes a, b and c and edges within the classes as CSV files; node i has class ``i % 3``."""
    generator = np.random.default_rng(seed)
    ids = np.arange(n)
    features = generator.normal(size=(n, 6)) + 1.2 * np.eye(3, 6)[ids % 3]
    nodes = pd.DataFrame(features, columns=[f"w{column}" for column in range(1, 7)])
    nodes.insert(0, "id", ids)
    nodes["label"] = CLASSES[ids % 3]
    ends = {(i, int(j)) for i in range(n) for j in generator.choice(ids[i % 3 :: 3], 2) if i != j}
    folder.mkdir(parents=True)
    nodes.to_csv(folder / "nodes.csv", index=False, float_format="%.4f")
    pd.DataFrame(sorted(ends), columns=["source", "target"]).to_csv(folder / "edges.csv", index=False)
    return folder


def labels_at(graph: Graph, nodes: Any) -> list[Any]:
    """Return the class names of nodes by position."""
    names = graph.class_names()
    return [names[node] for node in nodes]
