"""Rounds of active learning: ask for nodes, tell their labels, retrain, ask again.

An `ActiveLearner` drives this loop for the command line, a notebook or a program. Its label log keeps what people said
and, if it is a file, the state of the learner after each round.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import featprop  # `featprop.evaluate` is imported when it is first used
from featprop.active.choose import select
from featprop.active.picks import Selection
from featprop.errors import FeatpropError, FileError, LabelError, ParameterError, first_five, quote_error
from featprop.graph import Graph, GraphLike, as_graph
from featprop.ids import is_series, labels_of_series, plain
from featprop.models import MODELS, NodeClassifier, get_model, seeded_model
from featprop.models.base import clone
from featprop.options import settings_of
from featprop.strategies import DEFAULT_STRATEGY, STRATEGIES, Strategy, get_strategy

if TYPE_CHECKING:
    import pandas as pd

    from featprop.labels import LabelLog, Labels

logger = logging.getLogger(__name__)


class ActiveLearner:
    """A graph, a strategy, a model, and the annotations so far.

    A strategy that needs a model cannot run before the first labels: its first nodes are selected with
    `featprop.strategies.DEFAULT_STRATEGY`.

    Parameters
    ----------
    graph
        The graph: a `Graph`, a PyG `Data`, a NetworkX graph or a path. Its own labels are ignored.
    strategy
        Name of a strategy, or a strategy; the default is that of the log, or `DEFAULT_STRATEGY`.
    model
        Model to train, or its name; the default is that of the log, or `featprop.models.DEFAULT_MODEL`. It stays
        unchanged: a copy with its settings is fitted whenever the labels have changed.
    random_state
        Seed of strategy and model; the default is that of the log, or 0.
    log
        Label log. If it is a file, every round is recorded in it, and a learner with the same log continues there.
        Without a log, annotations are kept in memory.

    Attributes
    ----------
    asked
        Ids of the nodes that were asked for and have no label yet.
    rounds
        Number of times nodes were asked for.
    """

    def __init__(
        self,
        graph: GraphLike,
        strategy: str | Strategy | None = None,
        *,
        model: str | NodeClassifier | None = None,
        random_state: int | None = None,
        log: LabelLog | None = None,
    ) -> None:
        self.graph = as_graph(graph)
        self._log, self._is_recorded = log, log is not None
        self.asked: list[Hashable] = []
        self.rounds = 0
        self._model: NodeClassifier | None = None
        state = None if log is None else log.learner_state()
        if state is not None:
            self._resume(state, strategy, model, random_state)
        else:
            chosen = DEFAULT_STRATEGY if strategy is None else strategy
            self.strategy = get_strategy(chosen) if isinstance(chosen, str) else chosen
            self.random_state = 0 if random_state is None else random_state
            if isinstance(model, NodeClassifier):
                self._settings = clone(model)
            elif model is not None:
                self._settings = seeded_model(self.random_state, model)
        if log is not None:
            self.asked = log.asked()
            known = [*log.labels(), *self.asked, *log.skips(), *log.audit()]
            self.graph.positions(known, f"ids in {log.path or 'the label log'}")

    @cached_property
    def _settings(self) -> NodeClassifier:
        """The unfitted model; the default one is imported on first use."""
        return seeded_model(self.random_state, None)

    @property
    def log(self) -> LabelLog:
        """The label log, created in memory when it is first used."""
        if self._log is None:
            from featprop.labels import LabelLog

            self._log = LabelLog()
        return self._log

    @property
    def labels(self) -> dict[Hashable, Hashable]:
        """Label of each node that has one, by id, in the order the nodes came up."""
        return {} if self._log is None else self._log.labels()

    @property
    def audited(self) -> dict[Hashable, Hashable]:
        """Label of each audited node that has one. No model learns from these nodes."""
        return {} if self._log is None else self._log.audited()

    @property
    def model_name(self) -> str:
        """Name of the model."""
        return MODELS.name_of(self._settings)

    @property
    def skipped(self) -> list[Hashable]:
        """Ids of the nodes that every annotator skipped. They are not asked for again."""
        return [] if self._log is None else list(self._log.skips())

    def ask(self, budget: int, candidates: Iterable[Hashable] | None = None) -> Selection:
        """Select `budget` nodes to label, other than those labelled, asked for, skipped or audited, and record them.

        Parameters
        ----------
        budget
            Number of nodes.
        candidates
            Ids of the nodes that may be selected; None for all others.
        """
        picks = self.propose(budget, candidates)
        self.record(picks)
        return picks

    def propose(self, budget: int, candidates: Iterable[Hashable] | None = None) -> Selection:
        """Select nodes as `ask` does, without recording that they were asked for."""
        labels, strategy = self.labels, self.strategy
        if strategy.needs and not labels:
            strategy = get_strategy(DEFAULT_STRATEGY)
            logger.info("%s needs a model and there are no labels yet: using %s", self._strategy_name, DEFAULT_STRATEGY)
        model = None
        if strategy.looks_at_model():
            several = len(set(labels.values())) > 1
            model = self.model if several else self._settings if strategy.needs else None
        audit = {} if self._log is None else self._log.audit()
        return select(
            self.graph,
            budget,
            strategy=strategy,
            labelled=list(labels),
            labels=list(labels.values()),
            exclude=[*self.asked, *self.skipped, *audit],
            candidates=candidates,
            model=model,
            random_state=self.random_state,
        )

    def record(self, picks: Iterable[Hashable]) -> None:
        """Record that nodes were asked for: the end of a round."""
        nodes = list(picks)
        if self._is_recorded:
            self.log.save_round(nodes, self._state(self.rounds + 1), self.rounds + 1)
        self.asked += nodes
        self.rounds += 1

    def audit(self, size: int, *, by_predicted: bool = False) -> featprop.evaluate.AuditSample:
        """Draw `size` nodes for an audit of the model: they are never asked for, and no model learns from them.

        Another audit adds nodes to the first.

        Parameters
        ----------
        size
            Number of nodes.
        by_predicted
            Whether to draw about the same number of each predicted class.
        """
        return featprop.evaluate.add_to_audit(
            self.log,
            self.graph,
            size,
            exclude=self.asked,
            random_state=self.random_state,
            model=self.model if by_predicted else None,
            turn=self.rounds,
        )

    def score_audit(self) -> featprop.evaluate.AuditScore:
        """Return how good the model is on the nodes without a label, according to the audit."""
        return featprop.evaluate.score_audit(self.graph, self.model, self.audited, self.log.audit())

    def release_audit(self) -> None:
        """Turn the labels of the audit into ordinary labels."""
        self.log.release_audit(round=self.rounds)

    def tell(self, labels: Labels | Mapping[Hashable, Hashable] | pd.Series[Any], *, annotator: str = "") -> None:
        """Add the labels of nodes, asked for or not.

        Parameters
        ----------
        labels
            What `featprop.labels.read` returns, whose labels count even where the log has others; or the class of each
            node by id, as a mapping or a pandas Series, in which contradicting a label of the same annotator is an
            error.
        annotator
            Annotator of the labels, if they do not name one.
        """
        from featprop.labels import Labels

        if isinstance(labels, Labels):
            self._tell_read(labels, annotator)
            return
        if is_series(labels):
            labels = labels_of_series(labels, self.graph.n_nodes, self.asked)
        if not isinstance(labels, Mapping):
            message = f"`labels` must be a mapping or a pandas Series by node id, not {type(labels).__name__}."
            hint = "Pass {node: label}, or frame.set_index('id')['label'] of a data frame."
            raise LabelError(message, hint=hint, parameter="labels", value=labels)
        new = dict(zip(self._ids(labels, "nodes told"), plain(labels.values()), strict=True))
        self.log.tell(new, annotator=annotator, round=self.rounds)
        self.asked = [node for node in self.asked if node not in new]

    def _tell_read(self, labels: Labels, annotator: str) -> None:
        """Make labels that were read count; an earlier label stays if its row is empty now."""
        from featprop.labels import Kind

        before = self.labels | self.audited
        released = self.log.released()
        self.log.draw_audit({node: w for node, w in labels.audit.items() if node not in released}, round=self.rounds)
        self.log.extend(
            replace(each, annotator=each.annotator or annotator, round=self.rounds, key="")
            for each in labels.annotations
            if each.kind is not Kind.AUDIT
        )
        new, now = labels.labels | labels.audited, self.labels | self.audited
        for node, label in new.items():
            if now.get(node) != label:
                self.log.adjudicate(node, label, annotator=annotator, round=self.rounds)
        corrected = [node for node, label in new.items() if node in before and before[node] != label]
        if corrected:
            changes = [f"{node}: {before[node]} is now {new[node]}" for node in corrected]
            logger.info("Corrected labels: %s", first_five(changes))
        answered = {*self.labels, *self.skipped}
        self.asked = [node for node in dict.fromkeys([*self.asked, *labels.asked]) if node not in answered]

    def correct(self, node: Hashable, label: Hashable, *, annotator: str = "") -> None:
        """Change the label of a node that has one; if others gave it, this is one more answer."""
        (node,), (label,) = self._ids([node]), plain([label])
        if node not in self.labels | self.audited:
            raise LabelError(f"Node {node!r} has no label to correct.", hint="Call `tell` to add one.", node=node)
        self.log.answer(node, label, annotator=annotator, round=self.rounds)

    def skip(self, *nodes: Hashable, reason: str = "", annotator: str = "") -> None:
        """Mark nodes that cannot be labelled; a label of the same annotator is dropped, those of others stay."""
        marked = self._ids(nodes)
        for node in marked:
            self.log.skip(node, reason, annotator=annotator, round=self.rounds)
        self.asked = [node for node in self.asked if node not in marked]

    def undo(self, *, annotator: str = "") -> Hashable | None:
        """Undo the last label, correction or skip and return its node; None if there is nothing to undo.

        A node without any answer left counts as asked for, unless it is audited.
        """
        undone = self.log.undo(annotator=annotator, round=self.rounds)
        if undone is None:
            return None
        if undone.node not in {*(held.node for held in self.log.holding()), *self.asked, *self.log.audit()}:
            self.asked.append(undone.node)
        return undone.node

    def _ids(self, nodes: Iterable[Hashable], what: str = "nodes") -> list[Hashable]:
        """Return nodes with the ids of the graph: 1.0, which equals 1, is the node 1."""
        ids: list[Hashable] = self.graph.ids[self.graph.positions(nodes, what)].tolist()
        return ids

    @property
    def model(self) -> NodeClassifier:
        """The model of the current labels, trained if they changed since the last time."""
        labels = self.labels
        if self._model is None or list(self._model.labelled_.items()) != list(labels.items()):
            self._model = clone(self._settings).fit(self.graph, list(labels), list(labels.values()))
        return self._model

    def predict(self) -> NDArray[Any]:
        """Return the most probable class of every node."""
        return self.model.predict(self.graph)

    def predict_proba(self) -> NDArray[np.float32]:
        """Return the probability of each class for every node; the columns are ``model.class_names_``."""
        return self.model.predict_proba(self.graph)

    def estimate(self) -> featprop.evaluate.Estimate:
        """Estimate how good the predictions are from the labels (`featprop.evaluate.estimate`)."""
        return featprop.evaluate.estimate(self.graph, self.model)

    def advice(self) -> featprop.evaluate.Advice:
        """Return whether more labels are worth it (`featprop.evaluate.advise`)."""
        return featprop.evaluate.advise(self.graph, self.model, self.score_audit().accuracy if self.audited else None)

    def diagnose(self, limit: int = 20) -> featprop.evaluate.Diagnostics:
        """Return suspicious labels and predictions (`featprop.evaluate.diagnose`)."""
        return featprop.evaluate.diagnose(self.graph, self.model, limit)

    def _state(self, rounds: int) -> dict[str, Any]:
        """Return what a learner with the same log needs to continue."""
        return {
            "graph": _describe_graph(self.graph),
            "strategy": {"name": STRATEGIES.name_of(self.strategy), "options": settings_of(self.strategy)},
            "state": self.strategy.state_dict(),
            "model": {"name": self.model_name, "settings": settings_of(self._settings)},
            "random_state": self.random_state,
            "rounds": rounds,
        }

    def _resume(
        self,
        state: dict[str, Any],
        strategy: str | Strategy | None,
        model: str | NodeClassifier | None,
        random_state: int | None,
    ) -> None:
        """Continue from a recorded state; other settings than those of the earlier rounds are an error."""
        try:
            _check_graph(state["graph"], self.graph)
            self.strategy = get_strategy(state["strategy"]["name"], **state["strategy"]["options"])
            self.strategy.load_state_dict(state["state"])
            self.random_state, self.rounds = int(state["random_state"]), int(state["rounds"])
            self._settings = get_model(state["model"]["name"], **state["model"]["settings"])
        except FeatpropError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            message = f"The state of the learner in {self.log.path} is damaged: {quote_error(error)}."
            raise FileError(message, path=self.log.path) from error
        chosen = get_strategy(strategy) if isinstance(strategy, str) else strategy or self.strategy
        kept = (type(chosen), settings_of(chosen)) == (type(self.strategy), settings_of(self.strategy))
        name = MODELS.name_of(model) if isinstance(model, NodeClassifier) else model or self.model_name
        seed = self.random_state if random_state is None else random_state
        for parameter, is_kept, now, earlier in [
            ("strategy", kept, chosen.name, self.strategy.name),
            ("random_state", seed == self.random_state, seed, self.random_state),
            ("model", name == self.model_name, name, self.model_name),
        ]:
            if not is_kept:
                raise ParameterError(
                    f"`{parameter}` was {earlier} in the earlier rounds of this label log, not {now}.",
                    hint=f"Leave `{parameter}` out, or use another label log.",
                    parameter=parameter,
                    value=now,
                )

    def __repr__(self) -> str:
        labels = self.labels
        known = f"{len(labels):,} labels of {len(set(labels.values())):,} classes"
        return (
            f"ActiveLearner({self._strategy_name}, {type(self._settings).__name__}: {known}, "
            f"{len(self.asked):,} waiting, {len(self.skipped):,} skipped, {self.rounds:,} rounds)"
        )

    @property
    def _strategy_name(self) -> str:
        return self.strategy.name or type(self.strategy).__name__


def _describe_graph(graph: Graph) -> dict[str, Any]:
    names = None if graph.feature_names is None else "\0".join(graph.feature_names).encode()
    digest = "" if names is None else hashlib.blake2b(names, digest_size=8).hexdigest()
    return {"nodes": graph.n_nodes, "edges": graph.n_edges, "features": graph.n_features, "columns": digest}


def _check_graph(before: Mapping[str, Any], graph: Graph) -> None:
    """Refuse a graph with other features or fewer nodes or edges than the earlier rounds had."""
    now = _describe_graph(graph)
    if any(before[what] != now[what] for what in ("features", "columns")):
        message = f"The earlier rounds had other features: {before['features']:,} then, {now['features']:,} now."
        raise FileError(message, hint="Use the same columns of the same graph.")
    if any(before[what] > now[what] for what in ("nodes", "edges")):
        raise FileError("The graph of the earlier rounds had more nodes or edges.", hint="Use the same graph.")
