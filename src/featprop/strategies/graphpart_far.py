"""GraphPartFar: GraphPart that avoids nodes close to those already selected."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from featprop.strategies.graphpart import GraphPart
from featprop.strategies.registry import register_strategy

__all__ = ["GraphPartFar"]


@register_strategy("graphpart-far")
class GraphPartFar(GraphPart):
    """GraphPart with nodes near their centre and far from those already selected, in all parts.

    For a centre c, it selects the node that minimises ‖h - c‖ - min_{s selected or labelled} ‖h - h_s‖. For the first
    node, which the paper leaves open, the second term is 0.

    Parameters
    ----------
    parts, layers
        See `GraphPart`.
    """

    def worth(self, to_centre: NDArray[np.float32], to_taken: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the distance to the centre minus that to the nearest selected node."""
        return np.asarray(to_centre - to_taken)
