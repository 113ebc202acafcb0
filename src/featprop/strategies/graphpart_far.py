"""GraphPartFar: GraphPart that avoids the neighbourhood of selected nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from featprop.strategies.base import register_strategy
from featprop.strategies.graphpart import GraphPart


@register_strategy("graphpart-far")
class GraphPartFar(GraphPart):
    """GraphPart with nodes near their centre and far from nodes selected before, in all parts.

    For a centre c it selects the node that minimises ‖h - c‖ - min_{s selected or labelled} ‖h - h_s‖. The paper does
    not define the second term for the first node; here it is 0.

    Parameters
    ----------
    parts, layers
        As in `GraphPart`.
    """

    def objective(self, to_centre: NDArray[np.float32], to_selected: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return what to minimise: the distance to the centre less that to the nearest selected node."""
        return np.asarray(to_centre - to_selected)
