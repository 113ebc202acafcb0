"""How good predictions are, whether more labels are worth it, and what to distrust."""

from featprop.estimates.estimate import Estimate, estimate
from featprop.estimates.intervals import LEVEL, Interval, wilson

__all__ = ["LEVEL", "Estimate", "Interval", "estimate", "wilson"]
