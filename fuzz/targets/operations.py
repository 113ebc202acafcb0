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
OPERATIONS = st.one_of(
    st.tuples(st.just("answer"), nodes, labels, texts),
    st.tuples(st.just("skip"), nodes, texts),
    st.tuples(st.just("note"), nodes, texts),
    st.tuples(st.just("tell"), st.dictionaries(nodes, labels, max_size=3)),
    st.tuples(st.just("ask"), st.integers(-1, NODES + 1)),
    st.tuples(st.just("rename"), labels, labels),
    st.tuples(st.sampled_from(["undo", "audit", "reopen", "predict", "consensus"])),
)


def operation_lists(seeds: Path) -> SearchStrategy[Case]:  # noqa: ARG001
    """Run a list of operations."""
    lists = st.lists(OPERATIONS, min_size=1, max_size=12)
    return lists.map(lambda chosen: Case(("operations", repr(chosen)), changes=("log.labels",), action=Run(chosen)))


class Run:
    """Run operations; each works or raises an error of featprop, and the log keeps every event."""

    def __init__(self, operations: list[tuple[Any, ...]]) -> None:
        self.operations = operations
        self.asked: list[Any] = []

    def __call__(self) -> None:
        edges = sp.diags_array([np.ones(NODES - 1)] * 2, offsets=[-1, 1], format="csr")
        self.graph = Graph.from_scipy(edges, np.random.default_rng(0).normal(size=(NODES, 4)))
        self._open()
        for operation in self.operations:
            before = self.log.events()
            try:
                self._run(*operation)
            except FeatpropError as error:
                assert str(error), "an empty message"
                assert self.log.events() == before, f"{operation} was refused and wrote something"
            assert self.log.events()[: len(before)] == before, f"{operation} lost or changed an event"
        assert len(self.asked) == len(set(self.asked)), f"asked twice: {self.asked}"
        self.log.close()

    def _open(self) -> None:
        self.log = LabelLog("log.labels")
        self.learner = ActiveLearner(self.graph, log=self.log, strategy="random")

    def _run(self, name: str, *values: Any) -> None:
        log, learner = self.log, self.learner
        if name == "answer":
            log.answer(values[0], values[1], annotator=values[2])
        elif name in ("skip", "note"):
            getattr(log, name)(*values)
        elif name == "tell":
            learner.tell(values[0])
            for node, label in values[0].items():
                assert log.labels()[node] == label, f"{node} was told {label}"
        elif name == "ask":
            self.asked += learner.ask(*values).nodes.tolist()
        elif name == "rename":
            log.rename_class(*values)
        elif name == "audit":
            learner.audit(2)
        elif name == "predict":
            assert np.allclose(learner.predict_proba().sum(axis=1), 1, atol=1e-3)
        elif name == "reopen":
            before = self.log.events()
            log.close()
            self._open()
            assert self.log.events() == before, "reopening changed the log"
        elif name == "undo":
            learner.undo()
        else:
            log.consensus()
