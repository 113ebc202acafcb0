"""Rounds: ask for nodes, tell their labels, retrain, ask again.

An `ActiveLearner` is the whole state of such a dialogue, whoever conducts it: the command line, a web page or a
program. What people say is kept in a label log; what strategy and model carry on lies beside it in the same folder.
"""

from __future__ import annotations

import json
import logging
import os
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from featprop.active.choose import select
from featprop.active.picks import Selection
from featprop.active.saved_learner import (
    LABELS,
    MODEL,
    RECORD,
    check_is_latest,
    check_may_hold_learner,
    locked,
    make_folder,
    naming_damage,
    read_record,
    record_text,
)
from featprop.errors import LabelError
from featprop.evaluate import Advice, AuditSample, AuditScore, Doubts, Estimate, advise, doubts, estimate, score_audit
from featprop.evaluate.audit import add_to_audit
from featprop.graph import Graph
from featprop.html import bars, card
from featprop.io.atomic import replacing_file, restore_interrupted
from featprop.io.sheets import write_labels
from featprop.labels import LabelLog
from featprop.models import MODELS, NodeClassifier, get_model, load_model, model_of_seed, save_model
from featprop.names import from_jsonable, to_jsonable
from featprop.options import settings_of
from featprop.plain import is_series, labels_of_series, plain
from featprop.sources import GraphLike, as_graph
from featprop.strategies import DEFAULT_STRATEGY, STRATEGIES, Strategy, get_strategy

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ActiveLearner"]

log = logging.getLogger(__name__)


class ActiveLearner:
    """A graph, a strategy, a model, and what people have said of the nodes so far.

    A strategy that looks at a model has none to look at before the first labels: its first nodes are chosen by
    `featprop.strategies.DEFAULT_STRATEGY`, and the log says so.

    Parameters
    ----------
    graph
        The graph: a `Graph`, a PyG `Data`, a NetworkX graph or a path. Labels it carries are not looked at.
    strategy
        The name of a strategy, or one with options of its own.
    model
        What to train, or its name; `featprop.models.DEFAULT_MODEL` if not given. It is left as it is: one with its
        settings is fitted, anew whenever the labels have changed.
    seed
        The same seed and labels give the same nodes.

    Attributes
    ----------
    log
        The label log: every act so far.
    asked
        Ids of the nodes asked for that have no label yet.
    rounds
        How many times nodes were asked for.
    """

    def __init__(
        self,
        graph: GraphLike,
        strategy: str | Strategy = DEFAULT_STRATEGY,
        *,
        model: str | NodeClassifier | None = None,
        seed: int = 0,
    ) -> None:
        self.graph = as_graph(graph)
        self.strategy = get_strategy(strategy) if isinstance(strategy, str) else strategy
        self.seed = seed
        self.log = LabelLog()
        self.asked: list[Hashable] = []
        self.rounds = 0
        self._settings = model.fresh() if isinstance(model, NodeClassifier) else model_of_seed(seed, model)
        self._model: NodeClassifier | None = None
        self._model_saw = 0
        self._record: dict[str, Any] | None = None

    @property
    def labels(self) -> dict[Hashable, Hashable]:
        """The label of each node that has one, by id, in the order the nodes came up."""
        return self.log.labels()

    @property
    def audited(self) -> dict[Hashable, Hashable]:
        """The label of each node of the audit that has one: nothing learns from them."""
        return self.log.audited()

    @property
    def model_name(self) -> str:
        """The name of the model that is trained."""
        return MODELS.name_of(self._settings)

    @property
    def skipped(self) -> list[Hashable]:
        """Ids of the nodes nobody can label: they are not asked for again."""
        return list(self.log.skips())

    def ask(self, budget: int, candidates: Iterable[Hashable] | None = None) -> Selection:
        """Choose `budget` nodes to label, other than those labelled, asked for, skipped or in the audit already.

        Parameters
        ----------
        budget
            How many.
        candidates
            Ids of the nodes that may be chosen, if not all of the others may.
        """
        labels, strategy = self.labels, self.strategy
        if strategy.needs and not labels:
            strategy = get_strategy(DEFAULT_STRATEGY)
            what = f"{self._strategy_name} looks at a model and there are no labels yet"
            log.info("%s: these nodes are chosen by %s", what, DEFAULT_STRATEGY)
        several = len(set(labels.values())) > 1
        picks = select(
            self.graph,
            budget,
            strategy=strategy,
            labelled=list(labels),
            labels=list(labels.values()),
            exclude=[*self.asked, *self.skipped, *self.log.audit()],
            candidates=candidates,
            model=(self.model if several else self._settings) if strategy.looks_at_model() else None,
            seed=self.seed,
        )
        self.asked += picks.nodes.tolist()
        self.rounds += 1
        return picks

    def audit(self, size: int, *, by_predicted: bool = False) -> AuditSample:
        """Draw `size` nodes for checking the model: what is told of them is kept apart, and they are never asked for.

        Drawn again, more nodes are added to the audit.

        Parameters
        ----------
        size
            How many.
        by_predicted
            Draw the same number of each class that the model predicts, as near as can be.
        """
        model = self.model if by_predicted else None
        return add_to_audit(
            self.log, self.graph, size, exclude=self.asked, seed=self.seed, model=model, turn=self.rounds
        )

    def score_audit(self) -> AuditScore:
        """Say how good the model is on the nodes without a label, by what was told of the audit."""
        return score_audit(self.graph, self.model, self.audited, self.log.audit())

    def release_audit(self) -> None:
        """Take the labels of the audit as labels like any others: it checks the model no more."""
        self.log.release_audit(turn=self.rounds)

    def tell(self, labels: Mapping[Hashable, Hashable] | pd.Series[Any], *, annotator: str = "") -> None:
        """Take the labels of nodes, asked for or not; one that is labelled otherwise already is an error.

        Those of nodes of the audit go there (`audited`).

        Parameters
        ----------
        labels
            The class of each node by its id, or a pandas series of classes whose index is the ids; what is missing in a
            series is left out.
        annotator
            Who says so.
        """
        if is_series(labels):
            labels = labels_of_series(labels, self.graph.n_nodes, self.asked)
        if not isinstance(labels, Mapping):
            found = "None" if labels is None else f"an object of type {type(labels).__name__}"
            cure = "pass {node: label}, or frame.set_index('id')['label'] of a data frame"
            raise LabelError("Labels told", "must be a dict or a pandas Series by node id", found, cure)
        told = dict(zip(self._ids(labels, "nodes told"), plain(labels.values()), strict=True))
        self.log.tell(told, annotator=annotator, turn=self.rounds)
        self.asked = [node for node in self.asked if node not in told]

    def correct(self, node: Hashable, label: Hashable, *, annotator: str = "") -> None:
        """Change the label of a node that has one; where others gave it, this is one more answer, and most count."""
        (node,), (label,) = self._ids([node]), plain([label])
        ours = any(act.node == node and act.annotator == annotator for act in self.log.answers())
        if ours or node not in self.labels | self.audited:
            self.log.correct(node, label, annotator=annotator, turn=self.rounds)
        else:
            self.log.tell({node: label}, annotator=annotator, turn=self.rounds)

    def skip(self, *nodes: Hashable, reason: str = "", annotator: str = "") -> None:
        """Mark nodes that cannot be labelled; a label that the annotator gave one is dropped, that of others stays."""
        marked = self._ids(nodes)
        for node in marked:
            self.log.skip(node, reason, annotator=annotator, turn=self.rounds)
        self.asked = [node for node in self.asked if node not in marked]

    def undo(self, *, annotator: str = "") -> Hashable | None:
        """Take back the last label, correction or skip and return its node; None if there is nothing to take back.

        A node that has no answer left counts as asked for, unless it is one of the audit.
        """
        act = self.log.undo(annotator=annotator, turn=self.rounds)
        if act is None:
            return None
        if act.node not in {*(held.node for held in self.log.holding()), *self.asked, *self.log.audit()}:
            self.asked.append(act.node)
        return act.node

    def _ids(self, nodes: Iterable[Hashable], what: str = "nodes") -> list[Hashable]:
        """Return the nodes as the graph names them: 1.0, which equals 1, is the node 1."""
        ids: list[Hashable] = self.graph.ids[self.graph.positions(nodes, what)].tolist()
        return ids

    def retrain(self) -> NodeClassifier:
        """Fit the model to all labels and return it."""
        seen = self.log.last
        labels = self.labels
        self._model = self._settings.fresh().fit(self.graph, list(labels), list(labels.values()))
        self._model_saw = seen
        return self._model

    @property
    def model(self) -> NodeClassifier:
        """The model of the labels as they are now, trained if anything was said since the last time."""
        if self._model is not None and self._model_saw == self.log.last:
            return self._model
        return self.retrain()

    def predict(self) -> NDArray[Any]:
        """Return the likeliest class of every node, by name."""
        return self.model.predict(self.graph)

    def predict_proba(self) -> NDArray[np.float32]:
        """Return the probability of each class for every node; the columns are ``model.classes_``."""
        return self.model.predict_proba(self.graph)

    def estimate(self) -> Estimate:
        """Say how good the predictions are, as the labels tell (`featprop.estimate`)."""
        return estimate(self.graph, self.model)

    def advice(self) -> Advice:
        """Say whether more labels are worth it (`featprop.advise`)."""
        return advise(self.graph, self.model, self.score_audit().accuracy if self.audited else None)

    def doubts(self, limit: int = 20) -> Doubts:
        """Return what to distrust in the labels and predictions as they are now (`featprop.doubts`)."""
        return doubts(self.graph, self.model, limit)

    def write_labels(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the labels as they are now into a sheet (``id``, ``label``); one that is there only if forced."""
        write_labels(Path(path), self.labels, force=force)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state, and the model if it is trained, into a folder: a new one or that of these rounds.

        The label log is kept there from then on, so whatever is told later is on the disk at once. Rounds that
        somebody else has saved there since this learner was saved or resumed are an error, and stay.
        """
        text = self._text()
        with locked(Path(path)), self._writing(Path(path), text):
            pass

    @contextmanager
    def saving(self, path: str | os.PathLike[str]) -> Iterator[None]:
        """Save as `save` does, but for the last step, which comes when the block ends without error.

        So the nodes that were asked for count as asked for once whoever is to label them has been told: what is told
        in the block is told again if the process is killed before it ends.
        """
        with self._writing(Path(path), self._text()):
            yield

    def _text(self) -> str:
        """Return the record of the state, for `_writing`."""
        record = {
            "strategy": {"name": STRATEGIES.name_of(self.strategy), "options": settings_of(self.strategy)},
            "state": self.strategy.state(),
            "model": {"name": self.model_name, "settings": settings_of(self._settings)},
            "model_saw": self._model_saw,
            "seed": self.seed,
            "rounds": self.rounds,
            "asked": [to_jsonable(node) for node in self.asked],
        }
        return record_text(record, self.graph)

    @contextmanager
    def _writing(self, folder: Path, text: str) -> Iterator[None]:
        check_may_hold_learner(folder)
        make_folder(folder)
        if self.log.path is None or not (folder / LABELS).exists() or not self.log.path.samefile(folder / LABELS):
            self.log.copy_to(folder / LABELS)
            self.log.close()
            self.log = LabelLog(folder / LABELS)
        elif self._record is not None:
            check_is_latest(folder, self._record)
        if self._model is not None:
            save_model(self._model, folder / MODEL)
        with replacing_file(folder / RECORD) as temporary:
            temporary.write_text(text, encoding="utf-8")
            yield
        self._record = json.loads(text)

    @classmethod
    def resume(cls, path: str | os.PathLike[str], graph: GraphLike, *, device: str = "cpu") -> ActiveLearner:
        """Read what `save` wrote, for the same graph."""
        folder, graph = Path(path), as_graph(graph)
        with naming_damage(folder):
            return cls._restored(read_record(folder, graph), folder, graph, device)

    @classmethod
    def _restored(cls, record: dict[str, Any], folder: Path, graph: Graph, device: str) -> ActiveLearner:
        strategy = get_strategy(record["strategy"]["name"], **record["strategy"]["options"])
        strategy.restore(record["state"])
        model = get_model(record["model"]["name"], **record["model"]["settings"])
        learner = cls(graph, strategy, model=model, seed=int(record["seed"]))
        learner.rounds, learner._record = int(record["rounds"]), record
        learner.log = LabelLog(folder / LABELS)
        answered = {act.node for act in learner.log.holding()}
        learner.asked = [name for name in map(from_jsonable, record["asked"]) if name not in answered]
        known = [*learner.labels, *learner.asked, *learner.skipped, *learner.log.audit()]
        graph.positions(known, f"ids in {folder}")
        if "device" in learner._settings.get_params():
            learner._settings.set_params(device=device)
        restore_interrupted(folder / MODEL)
        if (folder / MODEL).is_dir():
            learner._model = load_model(folder / MODEL, device=device)
            learner._settings = learner._model.fresh()
            learner._model_saw = record["model_saw"]
        return learner

    @classmethod
    def at(
        cls,
        path: str | os.PathLike[str],
        graph: GraphLike,
        strategy: str | Strategy,
        *,
        model: NodeClassifier | None = None,
        seed: int = 0,
    ) -> ActiveLearner:
        """Take up the rounds kept in a folder, or start new ones there: with the labels, if only they were kept."""
        folder, graph = Path(path), as_graph(graph)
        check_may_hold_learner(folder)
        if (folder / RECORD).exists():
            return cls.resume(folder, graph)
        learner = cls(graph, strategy, model=model, seed=seed)
        if (folder / LABELS).exists():
            learner.log = LabelLog(folder / LABELS)
            known = [*learner.labels, *learner.skipped, *learner.log.audit()]
            learner.graph.positions(known, f"ids in {folder}")
        return learner

    def __repr__(self) -> str:
        labels = self.labels
        said = f"{len(labels):,} labels of {len(set(labels.values())):,} classes"
        return (
            f"ActiveLearner({self._strategy_name}, {type(self._settings).__name__}: {said}, "
            f"{len(self.asked):,} waiting, {len(self.skipped):,} skipped, {self.rounds:,} rounds)"
        )

    def _repr_html_(self) -> str:
        labels = self.labels
        facts = [
            ("graph", repr(self.graph)),
            ("strategy", self._strategy_name),
            ("model", repr(self._settings)),
            ("rounds", f"{self.rounds:,}"),
            ("audit", f"{len(self.audited):,} of {len(self.log.audit()):,} nodes labelled"),
        ]
        progress = [("labelled", len(labels)), ("waiting for a label", len(self.asked)), ("skipped", len(self.skipped))]
        classes = [(str(name), count) for name, count in Counter(labels.values()).most_common()]
        return card("ActiveLearner", facts, bars("nodes so far", progress), bars("labels by class", classes))

    @property
    def _strategy_name(self) -> str:
        return self.strategy.name or type(self.strategy).__name__
