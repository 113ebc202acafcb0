"""How good predictions are, whether more labels are worth it, and what to distrust."""

from featprop.estimates.advice import Advice, advice_of, advise
from featprop.estimates.audit import AuditSample, draw_audit
from featprop.estimates.change import Change, Step, change
from featprop.estimates.checked import AuditScore, ClassScore, score_audit
from featprop.estimates.doubt import Doubt
from featprop.estimates.doubts import Doubts, doubts
from featprop.estimates.estimate import Estimate, estimate
from featprop.estimates.intervals import LEVEL, Interval, wilson
from featprop.estimates.learning_curve import Forecast, LearningCurve, forecast, learning_curve
from featprop.estimates.unseen import UnseenGroup

__all__ = [
    "LEVEL",
    "Advice",
    "AuditSample",
    "AuditScore",
    "Change",
    "ClassScore",
    "Doubt",
    "Doubts",
    "Estimate",
    "Forecast",
    "Interval",
    "LearningCurve",
    "Step",
    "UnseenGroup",
    "advice_of",
    "advise",
    "change",
    "doubts",
    "draw_audit",
    "estimate",
    "forecast",
    "learning_curve",
    "score_audit",
    "wilson",
]
