"""How good predictions are, whether more labels are worth it, and what to distrust."""

from featprop.evaluate.advice import Advice, advice_of, advise
from featprop.evaluate.audit import AuditSample, draw_audit
from featprop.evaluate.change import Change, Step, change
from featprop.evaluate.checked import AuditScore, ClassScore, score_audit
from featprop.evaluate.doubt import Doubt
from featprop.evaluate.doubts import Doubts, doubts
from featprop.evaluate.estimate import Estimate, estimate
from featprop.evaluate.intervals import LEVEL, Interval, wilson
from featprop.evaluate.learning_curve import Forecast, LearningCurve, forecast, learning_curve
from featprop.evaluate.unseen import UnseenGroup

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
