"""What estimates say of the predictions, as the page takes it: any part may be missing."""

from __future__ import annotations

from dataclasses import dataclass

from featprop.evaluate import Advice, AuditScore, Doubts, Estimate, Interval

__all__ = ["Findings"]


@dataclass(frozen=True)
class Findings:
    """What estimates say.

    Attributes
    ----------
    audit
        How good the predictions are by nodes drawn for checking.
    advice
        How good they are by the labels alone, and whether it is enough.
    doubts
        What to distrust.
    """

    audit: AuditScore | None = None
    advice: Advice | None = None
    doubts: Doubts | None = None

    @property
    def estimate(self) -> Estimate | None:
        """How good the predictions are by the labels alone."""
        return None if self.advice is None else self.advice.curve.now

    @property
    def accuracy(self) -> Interval | None:
        """The accuracy as well as it is known: by the audit if there is one."""
        best = self.audit or self.estimate
        return None if best is None else best.accuracy

    @property
    def known_by(self) -> str:
        """What the accuracy is known by."""
        return "by labels and graph" if self.audit is None else "by the audit"

    @property
    def expected(self) -> Interval | None:
        """What the accuracy would be with more labels, of the accuracy as well as it is known."""
        return self._expected(self.accuracy)

    @property
    def expected_by_labels(self) -> Interval | None:
        """What it would be of the accuracy by the labels alone, as a curve of such estimates goes on."""
        return self._expected(None if self.estimate is None else self.estimate.accuracy)

    def _expected(self, now: Interval | None) -> Interval | None:
        coming = None if self.advice is None else self.advice.curve.forecast
        return None if coming is None or now is None else coming.accuracy(now)

    @property
    def macro_f1(self) -> Interval | None:
        """Macro-F1 as well as it is known."""
        best = self.audit or self.estimate
        return None if best is None else best.macro_f1
