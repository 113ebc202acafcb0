"""Calls of a label log and a learner in any order, with any values, across reopened files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from featprop import ActiveLearner, Graph, LabelLog
from featprop.errors import FeatpropError
from fuzz.case import Case
from fuzz.damage import scalars, texts

NODES = 12
nodes = st.integers(0, NODES - 1) | st.integers(0, NODES - 1) | scalars
labels = st.sampled_from(["a", "b", "c"]) | scalars
operations = st.one_of(
    st.tuples(st.just("answer"), nodes, labels, texts),
    st.tuples(st.sampled_from(["skip", "note"]), nodes, texts),
    st.tuples(st.just("tell"), st.dictionaries(nodes, labels, max_size=3)),
    st.tuples(st.just("ask"), st.integers(-1, NODES + 1)),
    st.tuples(st.just("rename_class"), labels, labels),
    st.tuples(st.sampled_from(["undo", "audit", "reopen", "predict", "consensus"])),
)


def operation_lists(seeds: Path) -> SearchStrategy[Case]:  # noqa: ARG001
    """Run a list of operations."""
    lists = st.lists(operations, min_size=1, max_size=12)
    return lists.map(lambda chosen: Case(("operations", repr(chosen)), action=lambda: run_all(chosen)))


def run_all(chosen: list[tuple[Any, ...]]) -> None:
    """Run operations: each works or raises an error of featprop, and the log keeps every event."""
    path = sp.diags_array([np.ones(NODES - 1)] * 2, offsets=[-1, 1], format="csr")
    graph = Graph.from_scipy(path, np.random.default_rng(0).normal(size=(NODES, 4)))
    log, asked = LabelLog("log.labels"), []
    for name, *values in chosen:
        before = log.events()
        if name == "reopen":
            log.close()
            log = LabelLog("log.labels")
            assert log.events() == before, "reopening changed the log"
        try:
            asked += run_one(log, ActiveLearner(graph, log=log, strategy="random"), name, values)
        except FeatpropError:
            assert log.events() == before, f"{name} {values} was refused and wrote something"
        assert log.events()[: len(before)] == before, f"{name} {values} lost or changed an event"
    assert len(asked) == len(set(asked)), f"asked twice: {asked}"
    log.close()


def run_one(log: LabelLog, learner: ActiveLearner, name: str, values: list[Any]) -> list[Any]:
    """Run an operation; return the nodes that it asks for."""
    if name == "ask":
        return list(learner.ask(*values).nodes.tolist())
    if name == "tell":
        learner.tell(*values)
        for node, label in values[0].items():
            assert log.labels()[node] == label, f"{node} was told {label}"
    elif name == "answer":
        log.answer(values[0], values[1], annotator=values[2])
    elif name in ("skip", "note", "rename_class", "consensus"):
        getattr(log, name)(*values)
    elif name == "audit":
        learner.audit(2)
    elif name == "undo":
        learner.undo()
    elif name == "predict":
        assert np.allclose(learner.predict_proba().sum(axis=1), 1, atol=1e-3)
    return []
