"""What estimates say of the predictions, as the page takes it: any part may be missing."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol

from featprop.estimates import Doubts, Estimate, Interval

__all__ = ["Findings"]


class ClassScore(Protocol):
    """How good the predictions are for one class."""

    @property
    def name(self) -> Hashable: ...
    @property
    def count(self) -> int: ...
    @property
    def recall(self) -> Interval: ...
    @property
    def precision(self) -> Interval: ...


class AuditScore(Protocol):
    """How good the predictions are by an audit."""

    @property
    def accuracy(self) -> Interval: ...
    @property
    def macro_f1(self) -> Interval | None: ...
    @property
    def classes(self) -> Sequence[ClassScore]: ...
    @property
    def size(self) -> int: ...
    @property
    def to_halve(self) -> int: ...


class LearningCurve(Protocol):
    """The accuracy over numbers of labels, and at one that is still to come."""

    @property
    def budgets(self) -> Sequence[int]: ...
    @property
    def accuracy(self) -> Sequence[Interval]: ...
    @property
    def forecast_budget(self) -> int: ...
    @property
    def forecast(self) -> Interval: ...


class Advice(Protocol):
    """Whether it is enough, and why."""

    @property
    def may_stop(self) -> bool: ...
    @property
    def headline(self) -> str: ...
    @property
    def reasons(self) -> Sequence[str]: ...
    @property
    def curve(self) -> LearningCurve | None: ...


@dataclass(frozen=True)
class Findings:
    """What estimates say.

    Attributes
    ----------
    estimate
        How good the predictions are by labels and graph.
    audit
        How good they are by nodes drawn for checking.
    advice
        Whether it is enough, with the learning curve.
    doubts
        What to distrust.
    """

    estimate: Estimate | None = None
    audit: AuditScore | None = None
    advice: Advice | None = None
    doubts: Doubts | None = None

    @property
    def accuracy(self) -> Interval | None:
        """The accuracy as well as it is known: by the audit if there is one."""
        best = self.audit or self.estimate
        return None if best is None else best.accuracy

    @property
    def macro_f1(self) -> Interval | None:
        """Macro-F1 as well as it is known."""
        best = self.audit or self.estimate
        return None if best is None else best.macro_f1
