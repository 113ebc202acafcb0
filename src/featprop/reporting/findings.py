"""What estimates say of the predictions, as the page takes it: any part may be missing."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from featprop.estimates import Interval

__all__ = ["Findings"]


class ClassScore(Protocol):
    """How good the predictions are for one class."""

    @property
    def name(self) -> Hashable: ...  # noqa: D102
    @property
    def count(self) -> int: ...  # noqa: D102
    @property
    def recall(self) -> Interval: ...  # noqa: D102
    @property
    def precision(self) -> Interval: ...  # noqa: D102


class AuditScore(Protocol):
    """How good the predictions are by an audit."""

    @property
    def accuracy(self) -> Interval: ...  # noqa: D102
    @property
    def macro_f1(self) -> Interval | None: ...  # noqa: D102
    @property
    def classes(self) -> Sequence[ClassScore]: ...  # noqa: D102
    @property
    def size(self) -> int: ...  # noqa: D102
    @property
    def to_halve(self) -> int: ...  # noqa: D102


class Estimate(Protocol):
    """How good the predictions are by what labels and graph say."""

    @property
    def accuracy(self) -> Interval: ...  # noqa: D102
    @property
    def macro_f1(self) -> Interval | None: ...  # noqa: D102
    @property
    def source(self) -> str: ...  # noqa: D102
    @property
    def parts(self) -> Mapping[str, float]: ...  # noqa: D102
    @property
    def advice(self) -> str: ...  # noqa: D102


class LearningCurve(Protocol):
    """The accuracy over numbers of labels, and at one that is still to come."""

    @property
    def budgets(self) -> Sequence[int]: ...  # noqa: D102
    @property
    def accuracy(self) -> Sequence[Interval]: ...  # noqa: D102
    @property
    def forecast_budget(self) -> int: ...  # noqa: D102
    @property
    def forecast(self) -> Interval: ...  # noqa: D102


class Advice(Protocol):
    """Whether it is enough, and why."""

    @property
    def may_stop(self) -> bool: ...  # noqa: D102
    @property
    def headline(self) -> str: ...  # noqa: D102
    @property
    def reasons(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def curve(self) -> LearningCurve | None: ...  # noqa: D102


class Doubt(Protocol):
    """A node to look at, and why."""

    @property
    def position(self) -> int: ...  # noqa: D102
    @property
    def why(self) -> str: ...  # noqa: D102


class UnseenGroup(Protocol):
    """Nodes that are alike and like no label."""

    @property
    def nodes(self) -> Sequence[Hashable]: ...  # noqa: D102
    @property
    def size(self) -> int: ...  # noqa: D102
    @property
    def medoid(self) -> Hashable: ...  # noqa: D102
    @property
    def why(self) -> str: ...  # noqa: D102


class Doubts(Protocol):
    """What to distrust."""

    @property
    def least_sure(self) -> Sequence[Doubt]: ...  # noqa: D102
    @property
    def contradicted(self) -> Sequence[Doubt]: ...  # noqa: D102
    @property
    def far(self) -> Sequence[Doubt]: ...  # noqa: D102
    @property
    def unreached(self) -> Sequence[Doubt]: ...  # noqa: D102
    @property
    def unseen(self) -> Sequence[UnseenGroup]: ...  # noqa: D102
    @property
    def wrong_labels(self) -> Sequence[Doubt]: ...  # noqa: D102


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
