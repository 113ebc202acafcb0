"""Feature sets: a node's own features, and the same features smoothed over the graph.

A set has one row per node. Rows are centred and of unit length, so an inner product measures how similar two nodes are
beyond what all nodes have in common. Centring after smoothing matters on dense graphs: averages over many neighbours
all point the same way, and two random nodes of BlogCatalog had a cosine of 0.85.

The set ``"structure"`` ignores the features. Each node gets a random signature, which is diffused over the graph, so
rows are similar where random walks end at the same nodes (as in FastRP, Chen et al. 2019). A signature is derived from
the id of its node, so old nodes keep nearly the same rows when a graph grows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featprop.compute import get_backend, release_pages, split_into_chunks
from featprop.compute.message_passing import Edges, smooth_rows
from featprop.compute.reduction import MIN_CENTRED_LENGTH, Reduction, centre_rows, mean_row
from featprop.graph import Graph
from featprop.ids import name_to_text
from featprop.matrix import Floats, read_only

FEATURE_SETS = ("own", "two-hops", "diffused")
"""Names of the feature sets made of features."""
STRUCTURE = "structure"
"""Name of the feature set made of the edges alone."""
SIGNATURE_SIGNS = 256
"""Number of random signs in the signature of a node."""
MAX_SAMPLED_EDGES = 20_000
"""Number of edges that `feature_homophily` samples."""


@dataclass(frozen=True, eq=False)
class FeatureSpace:
    """Transformation of features learned on one graph, so that rows of another graph are comparable.

    Attributes
    ----------
    reduction
        Centring and truncated SVD of the features.
    centres
        Mean row of each set by name; it is subtracted from the rows.
    """

    reduction: Reduction
    centres: Mapping[str, Floats]

    def fingerprint(self, name: str) -> str:
        """Return a digest that is equal for spaces that give the same rows of a set."""
        digest = hashlib.blake2b(self.reduction.fingerprint.encode(), digest_size=16)
        digest.update(np.ascontiguousarray(self.centres[name]).data)
        return digest.hexdigest()


def make_feature_sets(
    graph: Graph,
    edges: Edges,
    reduction: Reduction,
    names: Collection[str],
    centres: Mapping[str, Floats] | None = None,
) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Compute the rows of some feature sets; return them and the centres that were subtracted.

    Parameters
    ----------
    graph, edges, reduction
        The graph, its edges prepared for message passing, and the reduction of its features.
    names
        Names of the sets to compute.
    centres
        Centres to subtract; the means of the rows if None.
    """
    found: dict[str, Floats] = {}
    if wanted := [name for name in FEATURE_SETS if name in names]:
        own = reduction.transform(graph.features)
        found = {"own": own, **smooth_rows(edges, own, [name for name in wanted if name != "own"])}
        found = {name: found[name] for name in wanted}
    if STRUCTURE in names:
        found[STRUCTURE] = smooth_rows(edges, _make_signatures(graph), ("diffused",))["diffused"]
    used = {name: mean_row(rows) if centres is None else centres[name] for name, rows in found.items()}
    for name, rows in found.items():
        centre_rows(rows, used[name])
    return {name: np.asarray(read_only(rows)) for name, rows in found.items()}, used


def feature_homophily(graph: Graph, own: Floats) -> float:
    """Return how much more similar neighbours are than random pairs, in standard deviations of the latter.

    It needs no labels. It is above 0.8 on citation and co-author graphs and below 0.2 on heterophilous graphs. Random
    pairs are drawn by degree, as neighbours are.
    """
    count = len(graph.adjacency.indices)
    if not count:
        return 0.0
    generator = np.random.default_rng(0)
    sample = np.sort(generator.choice(count, size=min(count, MAX_SAMPLED_EDGES), replace=False))
    sources = np.searchsorted(graph.adjacency.indptr, sample, side="right") - 1
    targets = np.asarray(graph.adjacency.indices[sample])
    here, there = own[sources], own[targets]
    release_pages(own)
    alike = np.einsum("ij,ij->i", here, there)
    random = np.einsum("ij,ij->i", here, there[generator.permutation(len(there))])
    spread = float(random.std())
    return float(alike.mean() - random.mean()) / spread if spread > MIN_CENTRED_LENGTH else 0.0


def _make_signatures(graph: Graph) -> Floats:
    """Return random signs for each node, derived from its id."""
    rows = get_backend().allocate_rows(graph.n_nodes, SIGNATURE_SIGNS)
    get_backend().run(_write_signs, graph.n_nodes, graph.ids, rows)
    return rows


def _write_signs(block: slice, ids: NDArray[Any], rows: Floats) -> None:
    size = SIGNATURE_SIGNS // 8
    for chunk in split_into_chunks(block):
        digests = [
            hashlib.blake2b(name_to_text(node).encode(), digest_size=size).digest() for node in ids[chunk].tolist()
        ]
        bits = np.unpackbits(np.frombuffer(b"".join(digests), dtype=np.uint8)).reshape(-1, SIGNATURE_SIGNS)
        rows[chunk] = bits.astype(np.float32) * 2 - 1
