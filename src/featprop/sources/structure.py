"""Features for nodes that have none: where a node stands in the graph.

The rows are the leading eigenvectors of the normalised adjacency, S = (I+D)^-1/2 (A+I) (I+D)^-1/2, found by subspace
iteration (Halko, Martinsson, Tropp: Finding structure with randomness, 2011, https://arxiv.org/abs/0909.4061), each
multiplied by its eigenvalue, and the logarithm of the degree. Nodes without a neighbour, which all are components of
one node, get a row of zeros and their degree instead of an eigenvector each.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

N_SPECTRAL = 64
N_EXTRA = 16
N_ITERATIONS = 24


def structural_features(adjacency: sp.csr_array) -> tuple[NDArray[np.float32], tuple[str, ...]]:
    """Return structural features of every node and their names."""
    n_nodes = adjacency.shape[0]
    degrees = np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()
    joined = np.flatnonzero(degrees > 0)
    width = min(N_SPECTRAL, max(len(joined) - 1, 0))
    rows = np.zeros((n_nodes, width + 1), dtype=np.float32)
    if width:
        inner = adjacency if len(joined) == n_nodes else sp.csr_array(adjacency[joined][:, joined])
        rows[joined, :width] = _spectral(inner, width)
    counts = np.log1p(np.diff(adjacency.indptr))
    spread = counts.std()
    rows[:, width] = (counts - counts.mean()) / spread / np.sqrt(max(n_nodes, 1)) if spread else 0.0
    rows *= np.sqrt(n_nodes)
    return rows, (*(f"spectral_{place}" for place in range(1, width + 1)), "degree")


def _spectral(adjacency: sp.csr_array, width: int) -> NDArray[np.float32]:
    """Return the eigenvectors of the largest eigenvalues of S, without the trivial one, times their eigenvalues."""
    n_nodes = adjacency.shape[0]
    scale = 1.0 / np.sqrt(1.0 + np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel())
    outer = sp.dia_array((scale[None, :], [0]), shape=adjacency.shape)
    matrix = sp.csr_array(outer @ (adjacency + sp.eye_array(n_nodes, format="csr")) @ outer, dtype=np.float32)
    block = min(width + 1 + N_EXTRA, n_nodes)
    trivial = (1.0 / scale).astype(np.float32)
    trivial /= np.linalg.norm(trivial)
    basis = np.random.default_rng(0).standard_normal((n_nodes, block), dtype=np.float32)
    basis[:, 0] = trivial
    basis, _ = np.linalg.qr(basis)
    for _ in range(N_ITERATIONS):
        basis, _ = np.linalg.qr(matrix @ (matrix @ basis) + matrix @ basis)
    small = basis.T @ (matrix @ basis)
    values, vectors = np.linalg.eigh((small + small.T) / 2)
    order = np.argsort(-values)[1 : width + 1]
    found = basis @ vectors[:, order].astype(np.float32)
    signs = np.sign(found[np.abs(found).argmax(axis=0), np.arange(found.shape[1])])
    return np.asarray(found * signs * np.maximum(values[order], 0).astype(np.float32))
