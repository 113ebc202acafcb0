"""The result of a selection: the nodes to label, and how well they represent the graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from featprop.errors import MissingExtraError
from featprop.graph import Graph
from featprop.models import NodeClassifier
from featprop.propagation import BOUND_LAYERS, Coverage, coverage

if TYPE_CHECKING:
    import pandas as pd

    from featprop.labels.sheets import Output


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """The nodes to label, in the order they were picked, and how well they represent the graph.

    The coverage is computed when it is first used. Iterating yields the ids, so a selection can be passed wherever
    nodes are expected.

    Attributes
    ----------
    nodes
        Ids of the picked nodes.
    positions
        Their positions in the graph.
    labelled
        Positions of the nodes that were labelled before.
    """

    nodes: NDArray[Any]
    positions: NDArray[np.intp]
    labelled: NDArray[np.intp]
    _graph: Graph

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.nodes.tolist())

    def to_table(self) -> pa.Table:
        """Return the picks as an Arrow table with `rank`, `id`, `represents` and `spread`, best first.

        Ids without an Arrow type, such as tuples, become text.
        """
        nodes = self.nodes.tolist()
        try:
            ids = pa.array(nodes)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            ids = pa.array(map(str, nodes), pa.string())
        return pa.table({**self._columns(), "id": ids})

    def to_frame(self) -> pd.DataFrame:
        """Return the picks as a pandas data frame with `rank`, `id`, `represents` and `spread`, best first."""
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingExtraError("A data frame", "pandas", "pandas") from error
        return pd.DataFrame(self._columns())

    def write(
        self,
        out: Output,
        *,
        show: Sequence[str] = (),
        labels: Mapping[Hashable, Hashable] = {},
        model: NodeClassifier | None = None,
        force: bool = False,
    ) -> None:
        """Write a labelling sheet: one row per node, best first, with an empty label column for a person to fill.

        Parameters
        ----------
        out
            CSV file or stream to write.
        show
            Columns of the graph's node table to include.
        labels
            Labels so far: those of the neighbours are counted in a column.
        model
            A fitted model, whose predictions are included.
        force
            Whether to overwrite an existing file; labels in it are first copied to ``NAME.bak``.
        """
        from featprop.labels.sheets import round_numbers, take_columns, write_sheet

        shown = take_columns(show, self._graph, self.positions)
        columns = {"represents": pa.array(self.represents), "spread": round_numbers(self.spread)}
        predicted: Sequence[Hashable] | None = None
        if model is not None:
            probabilities = model.predict_proba(self._graph)
            best = probabilities.argmax(axis=1)
            predicted = [model.class_names_[code] for code in best.tolist()]
            columns["prediction"] = pa.array([str(predicted[node]) for node in self.positions.tolist()], pa.string())
            confidence = np.round(probabilities[self.positions, best[self.positions]].astype(float), 4)
            columns["confidence"] = round_numbers(confidence)
        if labels:
            columns["neighbours"] = pa.array(self._describe_neighbours(labels, predicted), pa.string())
        write_sheet(out, self.nodes, columns | shown, force=force)

    def _describe_neighbours(
        self, labels: Mapping[Hashable, Hashable], predicted: Sequence[Hashable] | None
    ) -> list[str]:
        """Count the labels of each pick's neighbours, or the predictions if none has a label."""
        known = dict(zip(self._graph.positions(labels).tolist(), labels.values(), strict=True))
        adjacency, described = self._graph.adjacency, []
        for node in self.positions.tolist():
            around = adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]].tolist()
            labelled = [known[other] for other in around if other in known]
            if labelled or not around:
                described.append(_count(labelled) or "none")
            elif predicted is not None:
                described.append(f"predicted: {_count([predicted[other] for other in around])}")
            else:
                described.append(f"{len(around):,} without a label")
        return described

    def _columns(self) -> dict[str, NDArray[Any]]:
        ranks = np.arange(1, len(self) + 1)
        return {"rank": ranks, "id": self.nodes, "represents": self.represents, "spread": self.spread}

    @cached_property
    def _coverage(self) -> Coverage:
        return coverage(self._graph, np.concatenate([self.positions, self.labelled]), BOUND_LAYERS)

    @property
    def represents(self) -> NDArray[np.int64]:
        """Number of nodes that each pick is the nearest pick of, itself included.

        A node that is nearer to a labelled node counts for that one.
        """
        return np.bincount(self._coverage.nearest, minlength=len(self))[: len(self)]

    @property
    def spread(self) -> NDArray[np.float64]:
        """Mean distance of the nodes that each pick represents."""
        nearest, distances = self._coverage.nearest, self._coverage.distances
        return np.bincount(nearest, weights=distances, minlength=len(self))[: len(self)] / self.represents

    @property
    def mean_distance(self) -> float:
        """Mean distance of a node to the nearest pick or labelled node (Theorem 1)."""
        return self._coverage.mean_distance

    @property
    def max_distance(self) -> float:
        """Largest distance of a node to the nearest pick or labelled node (Theorem 2)."""
        return self._coverage.max_distance

    @property
    def nearest(self) -> NDArray[np.intp]:
        """Index of the pick that represents each node, -1 if a labelled node does."""
        return np.where(self._coverage.nearest < len(self), self._coverage.nearest, -1)

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self.nodes[:5].tolist()))
        return f"Selection({len(self):,} of {self._graph.n_nodes:,} nodes: {shown}{', …' if len(self) > 5 else ''})"


def _count(names: Sequence[Hashable]) -> str:
    """Write how often each name occurs, the most frequent first."""
    counts = sorted(Counter(names).items(), key=lambda item: (-item[1], str(item[0])))
    return ", ".join(f"{count:,} {name}" for name, count in counts)
