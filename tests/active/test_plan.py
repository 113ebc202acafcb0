"""What budgets buy: against the nearest pick by brute force, the elbow by hand, and in words."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featprop.active import plan, select
from featprop.graph import Graph
from featprop.propagation import Propagation
from tests.graphs import edgeless


def scattered(seed: int, n: int = 60) -> Graph:
    """Nodes around three centres, without an edge."""
    generator = np.random.default_rng(seed)
    rows = generator.normal(size=(n, 4)) + 5 * np.eye(3, 4)[generator.integers(3, size=n)]
    return edgeless(rows.astype(np.float32))


@given(seed=st.integers(0, 1000), before=st.integers(0, 5))
@settings(max_examples=20, deadline=None)
def test_every_point_is_the_mean_distance_to_the_nearest_of_so_many(seed: int, before: int) -> None:
    graph = scattered(seed)
    options = {"strategy": "random", "labelled": list(range(before)), "random_state": seed}
    found = plan(graph, 12, **options)
    assert found.picks.nodes.tolist() == select(graph, 12, **options).nodes.tolist()
    assert ("further labels" in str(found)) == (before > 0)
    ours = Propagation.of(graph)
    rows = np.hstack([np.sqrt(share) * ours.features(name) for name, share in ours.compared_shares.items()])
    for count in (1, 5, 12):
        chosen = [*range(before), *found.picks.positions[:count].tolist()]
        apart = 1 - rows @ rows[chosen].T
        assert found.mean_distance[count - 1] == pytest.approx(apart.min(axis=1).mean(), rel=1e-3)


def test_the_elbow_by_hand() -> None:
    of_picks = plan(scattered(0), 5)
    curve = np.array([10.0, 4.0, 2.0, 1.0, 0.0])
    # below the line 10, 7.5, 5, 2.5, 0: by 0, 3.5, 3, 1.5, 0
    bent = replace(of_picks, mean_distance=curve, elbow=2)
    assert (bent.gained(1), bent.gained(2), bent.gained(5)) == (0.0, 0.6, 1.0)
    assert all(fact in str(bent) for fact in ("2 labels", "60%"))


def test_three_groups_have_their_elbow_at_three() -> None:
    rows = np.repeat(np.eye(3, dtype=np.float32), 20, axis=0)
    rows += np.random.default_rng(0).normal(size=rows.shape, scale=0.01).astype(np.float32)
    graph = edgeless(rows)
    assert plan(graph, 20).elbow == 3


def test_more_labels_cover_better_and_the_listed_budgets_hold_the_elbow_and_the_last() -> None:
    found = plan(scattered(0), 30)
    assert (np.diff(found.mean_distance) <= 1e-6).all()
    budgets = [budget for budget, _, _ in found.rows()]
    assert budgets == sorted({1, 2, 5, 10, 20, found.elbow, 30})
