"""How good predictions are, whether more labels are worth it, and what to distrust."""

from featprop.estimates.audit import AuditSample, draw_audit
from featprop.estimates.checked import AuditScore, ClassScore, score_audit
from featprop.estimates.intervals import LEVEL, Interval, wilson

__all__ = [
    "LEVEL",
    "AuditSample",
    "AuditScore",
    "ClassScore",
    "Interval",
    "draw_audit",
    "score_audit",
    "wilson",
]
