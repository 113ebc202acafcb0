"""Which nodes a map shows: all that matter, and chance decides about the rest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST", "shown_nodes"]

MOST = 4000
"""Nodes on a map."""
MOST_LABELLED = 2500
"""Of them with a label, at most."""


def shown_nodes(
    n_nodes: int, labelled: NDArray[np.intp], listed: Sequence[int], seed: int = 0, most: int = MOST
) -> NDArray[np.intp]:
    """Return the positions of the nodes to show, in order.

    Parameters
    ----------
    n_nodes
        How many there are.
    labelled
        Those with a label, which are shown, a sample of them if they are very many.
    listed
        Those in the lists of the page, which are shown.
    seed
        Another seed shows others of the rest.
    most
        How many to show in all, if that is enough for those above.
    """
    if n_nodes <= most:
        return np.arange(n_nodes)
    generator = np.random.default_rng([seed, n_nodes])
    limit = MOST_LABELLED * most // MOST
    kept = generator.choice(labelled, limit, replace=False) if len(labelled) > limit else labelled
    wanted = np.unique(np.concatenate([kept, np.asarray(listed, dtype=np.intp)]))
    room = max(0, most - len(wanted))
    others = np.setdiff1d(np.arange(n_nodes), np.concatenate([wanted, labelled]))
    return np.sort(np.concatenate([wanted, generator.choice(others, min(room, len(others)), replace=False)]))
