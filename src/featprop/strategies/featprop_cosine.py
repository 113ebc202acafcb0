"""FeatProp by cosine distance: propagated features scaled to unit length."""

from __future__ import annotations

from featprop.compute.points import Points
from featprop.strategies.context import QueryContext
from featprop.strategies.featprop import FeatProp
from featprop.strategies.registry import register_strategy


@register_strategy("featprop-cosine")
class FeatPropCosine(FeatProp):
    """K-Medoids on the rows of S^K X scaled to unit length, so that only their direction counts.

    The distance between unit rows is ‖u - v‖ = sqrt(2 - 2 cos). A row of zeros, of a node whose whole neighbourhood has
    no features, stays zero and is at distance 1 from all others.

    Parameters
    ----------
    layers, clustering
        As in `FeatProp`.
    """

    reference = "this project; after Wu et al. 2019"

    def points(self, context: QueryContext) -> Points:
        """Return the rows of S^K X, each of length 1."""
        return context.points(self.layers, unit=True)
