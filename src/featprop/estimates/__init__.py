"""How good predictions are, whether more labels are worth it, and what to distrust."""

from featprop.estimates.audit import AuditSample, draw_audit
from featprop.estimates.checked import AuditScore, ClassScore, score_audit
from featprop.estimates.doubt import Doubt
from featprop.estimates.doubts import Doubts, doubts
from featprop.estimates.estimate import Estimate, estimate
from featprop.estimates.intervals import LEVEL, Interval, wilson
from featprop.estimates.unseen import UnseenGroup

__all__ = [
    "LEVEL",
    "AuditSample",
    "AuditScore",
    "ClassScore",
    "Doubt",
    "Doubts",
    "Estimate",
    "Interval",
    "UnseenGroup",
    "doubts",
    "draw_audit",
    "estimate",
    "score_audit",
    "wilson",
]
