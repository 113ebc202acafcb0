"""A share that is known only so far: the likeliest value and an interval that holds it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from featprop.errors import ParameterError

__all__ = ["LEVEL", "Interval", "wilson"]

LEVEL = 0.9
"""How often an interval is to hold what it says."""


@dataclass(frozen=True)
class Interval:
    """A share, such as an accuracy, and how far it is known.

    Attributes
    ----------
    value
        The estimate, from 0 to 1.
    low, high
        The ends of the interval.
    level
        How often such intervals hold the true value.
    """

    value: float
    low: float
    high: float
    level: float = LEVEL

    @property
    def width(self) -> float:
        """The distance of the ends."""
        return self.high - self.low

    def holds(self, value: float) -> bool:
        """Say whether a value lies in it."""
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"{self.value:.0%} ({100 * self.low:.0f} to {self.high:.0%})"


def wilson(share: float, count: float, level: float = LEVEL) -> Interval:
    """Return the interval of Wilson (1927) for a share of independent draws.

        (p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)

    Parameters
    ----------
    share
        The share that was found, from 0 to 1.
    count
        Of how many draws; not a whole number where draws count for more or less than one.
    level
        How often the interval is to hold the true share.
    """
    if not 0 <= share <= 1:
        raise ParameterError("share", "must be from 0 to 1", share, "pass a share, not a percentage")
    if count <= 0:
        raise ParameterError("count", "must be above 0", count, "draw something first")
    from scipy.special import ndtri

    z = float(ndtri((1 + level) / 2))
    middle = share + z**2 / (2 * count)
    reach = z * np.sqrt(share * (1 - share) / count + z**2 / (4 * count**2))
    scale = 1 + z**2 / count
    return Interval(share, max(0.0, (middle - reach) / scale), min(1.0, (middle + reach) / scale), level)
