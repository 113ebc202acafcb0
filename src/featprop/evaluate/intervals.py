"""A share with a confidence interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from featprop.errors import ParameterError

LEVEL = 0.9
"""Confidence level of all intervals."""


@dataclass(frozen=True)
class Interval:
    """A share, such as an accuracy, with a confidence interval."""

    value: float  # estimate, from 0 to 1
    low: float  # ends of the interval
    high: float
    level: float = LEVEL  # confidence level

    @property
    def width(self) -> float:
        """Width of the interval."""
        return self.high - self.low

    def contains(self, value: float) -> bool:
        """Return whether a value lies in the interval."""
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"{100 * self.value:.0f} % ({100 * self.low:.0f} to {100 * self.high:.0f} %)"


def wilson_interval(share: float, count: float, level: float = LEVEL) -> Interval:
    """Return the interval of Wilson (1927) for a share of independent draws.

        (p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)

    Parameters
    ----------
    share
        Observed share, from 0 to 1.
    count
        Number of draws; fractional for an effective sample size, infinite for a share that is known exactly.
    level
        Confidence level.
    """
    if not 0 <= share <= 1:
        raise ParameterError(f"`share` must be from 0 to 1, not {share}.", parameter="share", value=share)
    if count <= 0:
        raise ParameterError(f"`count` must be above 0, not {count}.", parameter="count", value=count)
    from scipy.special import ndtri

    z = float(ndtri((1 + level) / 2))
    middle = share + z**2 / (2 * count)
    reach = z * np.sqrt(share * (1 - share) / count + z**2 / (4 * count**2))
    scale = 1 + z**2 / count
    return Interval(share, max(0.0, (middle - reach) / scale), min(1.0, (middle + reach) / scale), level)
