"""GraphPartFar: GraphPart that keeps away from the nodes it has."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from featprop.strategies.graphpart import GraphPart
from featprop.strategies.registry import register_strategy

__all__ = ["GraphPartFar"]


@register_strategy("graphpart-far")
class GraphPartFar(GraphPart):
    """GraphPart with nodes near their centre and far from those taken already, in all parts.

    For a centre c it takes the node that minimises ‖h - c‖ - min_{s taken or labelled} ‖h - h_s‖. Where nothing is
    taken yet the paper does not say; the second term is then 0 for all.

    Parameters
    ----------
    parts, layers
        As in `GraphPart`.
    """

    def worth(self, to_centre: NDArray[np.float32], to_taken: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return what is made small: the distance to the centre less that to the nearest node taken."""
        return np.asarray(to_centre - to_taken)
