"""From scores to probabilities that mean something.

    p = (1 - ε) softmax(τ s) + ε / C

The steepness τ (one over the temperature, Guo et al. 2017) is the likeliest one: that under which left-out labels are
least surprising (leave-one-out in the place of a validation set), each label counted by the nodes it stands for, since
those asked for are not like the rest; and a priori 8, give or take a third, as answers to least squares lie between 0
and 1. Ten labels that are all got right would make it infinite else. ε is the doubt that few labels leave, whatever
they say: as if one in four of the classes had one more label that was got wrong.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax

__all__ = ["USUAL", "Calibration"]

USUAL, SPREAD = 8.0, 0.35
"""The steepness before any label is seen, and how far its logarithm may be from that."""
DOUBT = 0.25
"""Labels got wrong that are added for each class."""
BOUNDS = (-1.0, 5.0)
"""Of the logarithm of the steepness."""


class Calibration(NamedTuple):
    """How scores become probabilities.

    Attributes
    ----------
    steepness
        τ.
    doubt
        ε.
    """

    steepness: float
    doubt: float

    @classmethod
    def of(cls, left_out: NDArray[np.float64], targets: NDArray[np.int64], weights: NDArray[np.float64]) -> Calibration:
        """Calibrate.

        Parameters
        ----------
        left_out
            The scores that each label got without itself, one column a class.
        targets
            Its class, an index of a column.
        weights
            How many nodes it stands for.
        """
        from scipy.optimize import minimize_scalar  # takes longer to load than all the rest of a prediction

        counted = len(targets) * weights / weights.sum()
        right = left_out[np.arange(len(targets)), targets]

        def surprise(power: float) -> float:
            steepness = np.exp(power)
            of_labels = counted @ (logsumexp(steepness * left_out, axis=1) - steepness * right)
            return float(of_labels + ((power - np.log(USUAL)) / SPREAD) ** 2 / 2)

        best = minimize_scalar(surprise, bounds=BOUNDS, method="bounded")
        added = DOUBT * left_out.shape[1]
        return cls(float(np.exp(best.x)), added / (len(targets) + added))

    def probabilities(self, logits: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the probabilities of scores that are multiplied by the steepness already."""
        flat = np.float32(self.doubt / logits.shape[1])
        return np.asarray(softmax(logits, axis=1) * np.float32(1 - self.doubt) + flat)
