"""Estimate how good predictions are, whether more labels are worth it, and what to review."""

from featprop.evaluate.advice import Advice, Finding, advise
from featprop.evaluate.audit import AuditSample, add_to_audit, draw_audit
from featprop.evaluate.audit_scoring import AuditScore, ClassScore, score_audit
from featprop.evaluate.diagnostics import Diagnostics, Flag, diagnose
from featprop.evaluate.estimate import Estimate, estimate
from featprop.evaluate.intervals import LEVEL, Interval, wilson_interval
from featprop.evaluate.learning_curve import (
    Forecast,
    LearningCurve,
    Stability,
    StabilityStep,
    forecast,
    learning_curve,
)
from featprop.evaluate.novel_classes import NovelClass

__all__ = [
    "LEVEL",
    "Advice",
    "AuditSample",
    "AuditScore",
    "ClassScore",
    "Diagnostics",
    "Estimate",
    "Finding",
    "Flag",
    "Forecast",
    "Interval",
    "LearningCurve",
    "NovelClass",
    "Stability",
    "StabilityStep",
    "add_to_audit",
    "advise",
    "diagnose",
    "draw_audit",
    "estimate",
    "forecast",
    "learning_curve",
    "score_audit",
    "wilson_interval",
]
