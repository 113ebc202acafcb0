"""The sheet of an audit: nodes to label for checking, with what there is to read of them and nothing of a model."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from featprop.active.labelling_sheet import check_shown, shown_columns
from featprop.evaluate import AuditSample
from featprop.graph import Graph
from featprop.io.answers import AUDIT
from featprop.io.sheets import Place, significant, write_pick_table

__all__ = ["write_audit"]


def write_audit(
    path: str | os.PathLike[str] | BinaryIO,
    sample: AuditSample,
    graph: Graph,
    *,
    show: Sequence[str] = (),
    force: bool = False,
) -> None:
    """Write drawn nodes as a sheet with an empty label column at the end and what each stands for in ``audit``.

    Parameters
    ----------
    path
        The file, or a stream open for bytes.
    sample
        The nodes.
    graph
        The graph that they were drawn from.
    show
        Columns of the graph's table of nodes to show beside each.
    force
        Write over a sheet that a person typed into.
    """
    place: Place = Path(path) if isinstance(path, str | os.PathLike) else path
    check_shown(show, graph)
    columns: dict[str, pa.Array] = {AUDIT: significant(sample.weights), **shown_columns(show, graph, sample.positions)}
    write_pick_table(place, sample.nodes, columns, force=force)
