"""The files of the demonstration: where they go, what they look like, and which existing ones may be replaced."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from featprop.errors import FileError
from featprop.experiments.results import STATISTICS
from featprop.files import replacing_file
from featprop.graph import Graph
from featprop.matrix import dense

__all__ = ["DemoFolder"]

NODE_COLUMNS = ("id", *(f"p{pixel}" for pixel in range(64)))
EDGE_COLUMNS = ("source", "target")
LABEL_COLUMNS = ("id", "label")


class DemoFolder:
    """The folder of one demonstration. Every file appears whole or not at all.

    Attributes
    ----------
    page
        To look at.
    graph
        The digits in featprop's own folder format, without labels.
    labels
        The true digits, for playing the annotator.
    results
        Those of its experiment, as every run leaves them.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.page, self.graph = folder, folder / "report.html", folder / "graph"
        self.labels, self.results = folder / "graph-labels.csv", folder / "results"

    def check_replaceable(self) -> None:
        """Refuse to write over a file that does not begin as one of ours does."""
        if self.folder.exists() and not self.folder.is_dir():
            raise FileError(f"{self.folder}", "must be a folder", "a file", "choose another --out")
        openings = {
            self.page: "<!doctype html><!-- featprop demo -->\n",
            self.graph / "nodes.csv": f"{','.join(NODE_COLUMNS)}\n",
            self.graph / "edges.csv": f"{','.join(EDGE_COLUMNS)}\n",
            self.labels: f"{','.join(LABEL_COLUMNS)}\n",
            self.results / STATISTICS: '{\n "',
            **dict.fromkeys(self.results.glob("*.jsonl"), '{"dataset":"'),
        }
        for path, opening in openings.items():
            if path.exists() and not _begins_with(path, opening):
                found = "a file that featprop demo did not write" if path.is_file() else "something else"
                raise FileError(f"{path}", "must be new or from an earlier demo", found, "choose another --out")

    def write_graph(self, graph: Graph) -> None:
        """Write the nodes (id and pixels), the edges and, apart from them, the true labels."""
        ids = graph.ids.tolist()
        ends = (graph.ids[end].tolist() for end in sp.coo_array(sp.triu(graph.adjacency)).coords)
        nodes = ((name, *row) for name, row in zip(ids, dense(graph.features).tolist(), strict=True))
        _write_csv(self.graph / "nodes.csv", NODE_COLUMNS, nodes)
        _write_csv(self.graph / "edges.csv", EDGE_COLUMNS, zip(*ends, strict=True))
        _write_csv(self.labels, LABEL_COLUMNS, zip(ids, graph.class_names(), strict=True))

    def write_page(self, page: str) -> None:
        """Write the page."""
        with replacing_file(self.page) as temporary:
            temporary.write_text(page, encoding="utf-8")

    def guide(self, budget: int) -> str:
        """Say what was written and what to try on it."""
        return "\n".join(
            [
                f"Report: {self.page}",
                f"Graph:  {self.graph}, and its true labels in {self.labels}",
                f"Next:   featprop select {self.graph} --budget {budget} --out picks.csv",
                f"Page:   featprop label {self.graph} --classes 0,1,2,3,4,5,6,7,8,9",
            ]
        )


def _write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with replacing_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def _begins_with(path: Path, opening: str) -> bool:
    if not path.is_file():
        return False
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(len(opening)) == opening
