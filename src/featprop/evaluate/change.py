"""What the last labels changed: the predictions of a model beside those of models of the first labels only.

Labels come in an order, so what a model of the first half of them says is known without having been kept: it is
trained again. (Labels that lie class by class, as in a sorted sheet, have lost their order: any other is taken.) Steps
are equal, a quarter of the labels each. How many predictions a step changes, and Cohen's kappa between the two models,
in which agreement by chance does not count, say how far the model has settled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from featprop.html import card, grid
from featprop.models import NodeClassifier
from featprop.progress import tracked
from featprop.sources import GraphLike

__all__ = ["STEPS", "Change", "Step", "change", "cohens_kappa", "earlier_models"]

STEPS = 4
"""Into how many equal steps the labels are cut."""
FEWEST_SWITCHES = 0.25
"""Labels whose class changes less often from one to the next, beside how often it would by chance, are sorted."""


@dataclass(frozen=True)
class Step:
    """What some labels changed.

    Attributes
    ----------
    before, after
        How many labels the two models know.
    changed
        The share of the nodes without a label that they predict differently.
    kappa
        Cohen's kappa of the two: 1 if they agree in all, 0 if no more than by chance.
    """

    before: int
    after: int
    changed: float
    kappa: float


@dataclass(frozen=True)
class Change:
    """What the last labels changed.

    Attributes
    ----------
    steps
        The equal steps, the last one last.
    last_half
        From the first half of the labels to all of them.
    """

    steps: tuple[Step, ...]
    last_half: Step

    def __str__(self) -> str:
        last = self.steps[-1]
        return (
            f"the last {last.after - last.before:,} labels changed {last.changed:.1%} of the predictions "
            f"(kappa {last.kappa:.2f})"
        )

    def _repr_html_(self) -> str:
        rows = [
            (f"{step.before:,} to {step.after:,}", f"{step.changed:.1%}", f"{step.kappa:.2f}") for step in self.steps
        ]
        return card("Change", [("in words", self)], grid(["labels", "predictions changed", "kappa"], rows))


def change(graph: GraphLike, model: NodeClassifier) -> Change | None:
    """Say what the last labels changed; None where the first half of them are of one class or too few to cut.

    Parameters
    ----------
    graph
        The graph that the model was fitted to.
    model
        A fitted model. The order of its labels, ``model.labelled_``, is that in which they came.
    """
    whole = model.fitting(graph)
    return change_between(whole, [*earlier_models(whole, model), model])


def earlier_models(graph: GraphLike, model: NodeClassifier) -> list[NodeClassifier]:
    """Return models of the first quarter, half and three quarters of the labels, those that two classes allow."""
    whole = model.fitting(graph).without_labels()
    given = _in_order(model.given_in(whole))
    sizes = sorted({len(given) * step // STEPS for step in range(1, STEPS)} - {0, len(given)})
    firsts = [dict(given[:size]) for size in sizes]
    usable = [first for first in firsts if len(set(first.values())) > 1]
    return [
        model.fresh().fit(whole, list(first), list(first.values()))
        for first in tracked(usable, "training on the first labels", len(usable))
    ]


def _in_order(given: Mapping[Hashable, Hashable]) -> list[tuple[Hashable, Hashable]]:
    """Return the labels as they came, or in any order where they are sorted by class."""
    labels = list(given.items())
    shares = np.array(list(Counter(given.values()).values())) / max(1, len(labels))
    expected = (len(labels) - 1) * (1 - np.sum(shares**2))
    switches = sum(one[1] != other[1] for one, other in pairwise(labels))
    if switches >= FEWEST_SWITCHES * expected:
        return labels
    return [labels[place] for place in np.random.default_rng(0).permutation(len(labels))]


def change_between(graph: GraphLike, models: list[NodeClassifier]) -> Change | None:
    """Say what changed from each model to the next, of more labels, and over the last half of the labels."""
    last = models[-1]
    whole = last.fitting(graph).without_labels()
    given = last.given_in(whole)
    halves = [model for model in models if len(model.labelled_) == len(given) * (STEPS // 2) // STEPS]
    if len(models) < 2 or not halves:
        return None
    code_of = {name: code for code, name in enumerate(last.classes_)}
    others = np.setdiff1d(whole.candidate_positions, whole.positions(given))

    def said(model: NodeClassifier) -> NDArray[np.intp]:
        codes = np.array([code_of[name] for name in model.classes_], dtype=np.intp)
        return np.asarray(codes[model.decision_function(whole).argmax(axis=1)][others])

    answers = [said(model) for model in models]
    sizes = [len(model.labelled_) for model in models]
    pairs = zip(range(len(models)), range(1, len(models)), strict=False)
    steps = [_step(sizes[one], sizes[other], answers[one], answers[other]) for one, other in pairs]
    half = models.index(halves[0])
    return Change(tuple(steps), _step(sizes[half], sizes[-1], answers[half], answers[-1]))


def _step(before: int, after: int, old: NDArray[np.intp], new: NDArray[np.intp]) -> Step:
    changed = float(np.mean(old != new)) if old.size else 0.0
    return Step(before, after, changed, cohens_kappa(old, new))


def cohens_kappa(one: NDArray[np.intp], other: NDArray[np.intp]) -> float:
    """Return (p - e) / (1 - e), with p the agreement found and e the one expected by chance; 1 where e is 1."""
    if not one.size:
        return 1.0
    n_classes = int(max(one.max(), other.max())) + 1
    shares = (np.bincount(each, minlength=n_classes) / len(each) for each in (one, other))
    expected = float(np.prod(list(shares), axis=0).sum())
    return 1.0 if expected >= 1 else (float(np.mean(one == other)) - expected) / (1 - expected)
