"""Rounds: ask for nodes, tell their labels, retrain, ask again.

An `ActiveLearner` is the whole state of such a dialogue, whoever conducts it: the command line, a web page or a
program. It is saved as JSON beside the model, and resumed where it stopped.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from featprop.errors import FeatpropError, FileError, LabelError, MissingExtraError, ParameterError, reason
from featprop.graph import Graph, is_missing, plain
from featprop.io.atomic import replacing_folder
from featprop.selection import Selection, select
from featprop.strategies import Strategy, get_strategy, settings_of

if TYPE_CHECKING:
    from featprop.models import NodeClassifier

__all__ = ["ActiveLearner"]

RECORD = "learner.json"
MODEL = "model"
FORMAT = 1


class ActiveLearner:
    """A graph, a strategy, a model, and what people have said of the nodes so far.

    Parameters
    ----------
    graph
        The graph. Labels it carries are not looked at.
    strategy
        The name of a strategy, or one with options of its own.
    model
        The model to train, a `GCN` if not given; it is fitted anew whenever the labels have changed.
    seed
        Of the first round; every later one counts on from it. The same seed and labels give the same nodes.

    Attributes
    ----------
    labels
        The label of each node that has one, by id, in the order told.
    asked
        Ids of the nodes asked for that have no label yet.
    barred
        Ids of the nodes nobody can label: they are not asked for again.
    rounds
        How many times nodes were asked for.
    """

    def __init__(
        self,
        graph: Graph,
        strategy: str | Strategy = "featprop",
        *,
        model: NodeClassifier | None = None,
        seed: int = 0,
    ) -> None:
        self.graph = graph
        self.strategy = get_strategy(strategy) if isinstance(strategy, str) else strategy
        self.seed = seed
        self.labels: dict[Hashable, Hashable] = {}
        self.asked: list[Hashable] = []
        self.barred: list[Hashable] = []
        self.rounds = 0
        self._model = model
        self._is_current = False

    def ask(self, budget: int, candidates: Iterable[Hashable] | None = None) -> Selection:
        """Choose `budget` nodes to label, other than those labelled, asked for or barred already.

        Parameters
        ----------
        budget
            How many.
        candidates
            Ids of the nodes that may be chosen, if not all of the others may.
        """
        picks = select(
            self.graph,
            budget,
            strategy=self.strategy,
            labelled=list(self.labels),
            labels=list(self.labels.values()),
            exclude=[*self.asked, *self.barred],
            candidates=candidates,
            model=self._model_to_ask() if self.strategy.needs else None,
            seed=self.seed + self.rounds,
        )
        self.asked += picks.nodes.tolist()
        self.rounds += 1
        return picks

    def tell(self, labels: Mapping[Hashable, Hashable]) -> None:
        """Take the labels of nodes, asked for or not; one that is labelled otherwise already is an error."""
        told = dict(zip(plain(labels), plain(labels.values()), strict=True))
        self.graph.positions(told, "nodes told")
        _check_classes(told)
        for node, label in told.items():
            if self.labels.get(node, label) != label:
                found, cure = f"{self.labels[node]!r} and {label!r} for node {node!r}", "call correct to change it"
                raise LabelError("labels", "must give a node one label", found, cure)
        self._take({**self.labels, **told})
        self.asked = [node for node in self.asked if node not in told]
        self.barred = [node for node in self.barred if node not in told]

    def correct(self, node: Hashable, label: Hashable) -> None:
        """Change the label of a node that has one."""
        node, label = plain([node, label])
        if node not in self.labels:
            self.graph.positions([node])
            raise LabelError(f"Node {node!r}", "must have a label to correct", "none", "call tell to give it one")
        _check_classes({node: label})
        self._take({**self.labels, node: label})

    def cannot_label(self, *nodes: Hashable) -> None:
        """Mark nodes that nobody can label; a label such a node has is dropped."""
        marked = plain(nodes)
        self.graph.positions(marked)
        self._take({node: label for node, label in self.labels.items() if node not in marked})
        self.asked = [node for node in self.asked if node not in marked]
        self.barred = list(dict.fromkeys([*self.barred, *marked]))

    def _model_to_ask(self) -> NodeClassifier | None:
        """Return the model of the labels; of one class only, which teaches nothing, a fresh one of its kind."""
        if len(set(self.labels.values())) > 1:
            return self.model
        fresh = copy.deepcopy(self._model)
        if fresh is not None:
            fresh.network = None
        return fresh

    def retrain(self) -> NodeClassifier:
        """Fit the model to all labels and return it."""
        if self._model is None:
            try:
                from featprop.models import GCN
            except ModuleNotFoundError as error:
                raise MissingExtraError("ActiveLearner.retrain", "train", error.name or "torch") from error
            self._model = GCN(seed=self.seed)
        self._model.fit(self.graph, list(self.labels), list(self.labels.values()))
        self._is_current = True
        return self._model

    @property
    def model(self) -> NodeClassifier:
        """The model of the labels as they are now, trained if they have changed."""
        if self._is_current and self._model is not None:
            return self._model
        return self.retrain()

    def predict(self) -> NDArray[Any]:
        """Return the likeliest class of every node, by name."""
        return self.model.predict(self.graph)

    def predict_proba(self) -> NDArray[np.float32]:
        """Return the probability of each class for every node; the columns are ``model.classes``."""
        return self.model.predict_proba(self.graph)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state, and the model if it is trained, into a folder, in place of a state that is there."""
        folder = Path(path)
        check_may_hold_learner(folder)
        record = {
            "format": FORMAT,
            "graph": _size(self.graph),
            "strategy": self._described_strategy(),
            "state": self.strategy.state(),
            "seed": self.seed,
            "rounds": self.rounds,
            "labels": [list(pair) for pair in self.labels.items()],
            "asked": self.asked,
            "barred": self.barred,
            "model_is_current": self._is_current,
        }
        try:
            text = json.dumps(record, indent=1, ensure_ascii=False)
        except TypeError as error:
            raise LabelError(
                "Labels", "must be text or numbers to be saved", reason(error), "use such names"
            ) from error
        with replacing_folder(folder) as temporary:
            (temporary / RECORD).write_text(text, encoding="utf-8")
            if self._model is not None and self._model.network is not None:
                from featprop.models import save_model

                save_model(self._model, temporary / MODEL)

    @classmethod
    def resume(cls, path: str | os.PathLike[str], graph: Graph, *, device: str = "cpu") -> ActiveLearner:
        """Read what `save` wrote, for the same graph."""
        folder = Path(path)
        if not (folder / RECORD).is_file():
            found = f"no {RECORD}" if folder.is_dir() else "no such folder"
            raise FileError(f"{folder}", f"must be a saved learner with a {RECORD}", found, "save one there first")
        try:
            record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
            if record["format"] != FORMAT:
                raise ValueError(f"format {record['format']}, not {FORMAT}")
            if record["graph"] != _size(graph):
                rule, cure = "must be resumed with the graph it was saved with", "use that graph"
                raise FileError(f"{folder}", rule, f"{_words(record['graph'])} then, {_words(_size(graph))} now", cure)
            return cls._restored(record, folder, graph, device)
        except FeatpropError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
            rule, found = "must be an undamaged learner of this version", f"this: {reason(error)}"
            raise FileError(f"{folder}", rule, found, "start anew") from error

    @classmethod
    def _restored(cls, record: dict[str, Any], folder: Path, graph: Graph, device: str) -> ActiveLearner:
        strategy = get_strategy(record["strategy"]["name"], **record["strategy"]["options"])
        strategy.restore(record["state"])
        learner = cls(graph, strategy, seed=int(record["seed"]))
        learner.rounds = int(record["rounds"])
        learner.labels = dict(record["labels"])
        learner.asked, learner.barred = list(record["asked"]), list(record["barred"])
        graph.positions([*learner.labels, *learner.asked, *learner.barred], f"ids in {folder}")
        if (folder / MODEL).is_dir():
            from featprop.models import load_model

            learner._model = load_model(folder / MODEL, device=device)
            learner._is_current = bool(record["model_is_current"])
        return learner

    def _described_strategy(self) -> dict[str, Any]:
        if not self.strategy.name:
            found = type(self.strategy).__name__
            raise ParameterError("strategy", "must be registered under a name to be saved", found, "register it")
        name, options = settings_of(self.strategy)
        return {"name": name, "options": options}

    def _take(self, labels: dict[Hashable, Hashable]) -> None:
        if labels != self.labels:
            self.labels, self._is_current = labels, False


def check_may_hold_learner(folder: Path) -> None:
    """Refuse to replace a folder that holds anything but a saved learner."""
    if not folder.exists():
        return
    strange = sorted({entry.name for entry in folder.iterdir()} - {RECORD, MODEL}) if folder.is_dir() else ["a file"]
    if strange:
        rule = "must be a new folder or one that holds a saved learner only"
        raise FileError(f"{folder}", rule, ", ".join(strange[:5]), "choose another folder")


def _check_classes(told: Mapping[Hashable, Hashable]) -> None:
    for node, label in told.items():
        if is_missing(label):
            raise LabelError(f"The label of node {node!r}", "must be a class", repr(label), "leave the node out")


def _size(graph: Graph) -> dict[str, int]:
    return {"nodes": graph.n_nodes, "edges": graph.n_edges, "features": graph.n_features}


def _words(size: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in size.items())
