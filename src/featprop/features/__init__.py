"""Columns of a table become features: profile them, encode them, weight them, save that as JSON, and replay it."""

from featprop.features.preprocessor import ColumnProfile, TablePreprocessor, profile
from featprop.features.profile import Kind, Reason
from featprop.features.targets import Leak, LeakReason, check_target, find_leaks, suggest_label

__all__ = [
    "ColumnProfile",
    "Kind",
    "Leak",
    "LeakReason",
    "Reason",
    "TablePreprocessor",
    "check_target",
    "find_leaks",
    "profile",
    "suggest_label",
]
