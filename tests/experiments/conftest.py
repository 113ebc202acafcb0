"""A small graph, and results made by hand."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_limits

from featprop.experiments.results import Result
from featprop.graph import Graph

EDGES = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (6, 7), (7, 8), (8, 9), (9, 10), (10, 6), (5, 6), (11, 0)]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Use one thread, as the worker processes do."""
    torch.set_num_threads(1)
    with threadpool_limits(limits=1):
        yield


@pytest.fixture
def rings() -> Graph:
    """Two rings of nodes, one class each, joined by an edge; node 11 is attached to the first and has no label."""
    adjacency = np.zeros((12, 12))
    for source, target in EDGES:
        adjacency[source, target] = adjacency[target, source] = 1
    features = np.random.default_rng(0).random((12, 4)).astype(np.float32)
    features[:6, 0] += 2
    features[6:11, 1] += 2
    labels = ["left"] * 6 + ["right"] * 5 + [None]
    return Graph.from_scipy(adjacency, features, ids=[f"n{i}" for i in range(12)], labels=labels)


@pytest.fixture(scope="session")
def line() -> Callable[..., Result]:
    """Make a result; fields that are not given do not matter."""

    def make(strategy: str, budget: int, seed: int, macro: float, **others: Any) -> Result:
        given = {
            "dataset": "cora",
            "model": "gcn",
            "protocol": "paper",
            "nodes": tuple(range(budget)),
            "micro_f1": macro,
            "accuracy": macro,
            "seconds_select": 1.0,
            "seconds_train": 0.5,
            "peak_memory": 2**20,
            "mean_distance": 1.0,
            "max_distance": 2.0,
            **others,
        }
        return Result(strategy=strategy, budget=budget, seed=seed, macro_f1=macro, **given)

    return make
