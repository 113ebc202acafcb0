"""FeatProp on unit-length rows: nodes are close if their propagated features point in the same direction."""

from __future__ import annotations

from featprop.compute.points import Points
from featprop.strategies.base import register_strategy
from featprop.strategies.context import QueryContext
from featprop.strategies.featprop import FeatProp


@register_strategy("featprop-cosine")
class FeatPropCosine(FeatProp):
    """K-Medoids on the rows of S^K X scaled to unit length, so that only direction counts.

    The distance is that of FeatProp, ‖u - v‖ = sqrt(2 - 2 cos), between unit rows. A row of zeros, which belongs to a
    node without features in its neighbourhood, stays zero and has distance 1 to all others.

    Parameters
    ----------
    layers, clustering
        See `FeatProp`.
    """

    reference = "this project; after Wu et al. 2019"

    def points(self, context: QueryContext) -> Points:
        """Return the rows of S^K X, each of length 1."""
        return context.points(self.layers, unit=True)
