"""How good predictions are, whether more labels are worth it, and what to distrust."""

from featprop.estimates.doubt import Doubt
from featprop.estimates.doubts import Doubts, doubts
from featprop.estimates.intervals import LEVEL, Interval, wilson
from featprop.estimates.unseen import UnseenGroup

__all__ = ["LEVEL", "Doubt", "Doubts", "Interval", "UnseenGroup", "doubts", "wilson"]
