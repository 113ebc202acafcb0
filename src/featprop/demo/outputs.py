"""The files of the demonstration: where they go, what they look like, and which existing ones may be replaced."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from featprop.errors import FileError
from featprop.graph import Graph
from featprop.io.atomic import replacing_file
from featprop.matrix import dense

__all__ = ["REPORT_OPENING", "Outputs"]

REPORT_OPENING = "<!doctype html><!-- featprop demo -->"
NODE_COLUMNS = ("id", *(f"p{pixel}" for pixel in range(64)))
EDGE_COLUMNS = ("source", "target")
LABEL_COLUMNS = ("id", "label")


@dataclass(frozen=True)
class Outputs:
    """The folder of one demonstration. Every file appears whole or not at all."""

    folder: Path

    @property
    def report(self) -> Path:
        """The page to look at."""
        return self.folder / "report.html"

    @property
    def graph(self) -> Path:
        """The digits in featprop's own folder format, without labels."""
        return self.folder / "graph"

    @property
    def labels(self) -> Path:
        """The true digits, for playing the annotator."""
        return self.folder / "graph-labels.csv"

    def check_replaceable(self) -> None:
        """Refuse to write over a file that does not begin as one of ours does."""
        if self.folder.exists() and not self.folder.is_dir():
            raise FileError(f"{self.folder}", "must be a folder", "a file", "choose another --out")
        for path, opening in {
            self.report: REPORT_OPENING,
            self.graph / "nodes.csv": ",".join(NODE_COLUMNS),
            self.graph / "edges.csv": ",".join(EDGE_COLUMNS),
            self.labels: ",".join(LABEL_COLUMNS),
        }.items():
            if path.exists() and not _begins_with(path, opening):
                found = "a file that featprop demo did not write" if path.is_file() else "something else"
                raise FileError(f"{path}", "must be new or from an earlier demo", found, "choose another --out")

    def write_graph(self, graph: Graph) -> None:
        """Write the nodes (id and pixels), the edges and, apart from them, the true labels."""
        ids = graph.ids.tolist()
        pixels = dense(graph.features).tolist()
        one_way = sp.coo_array(sp.triu(graph.adjacency))
        ends = (graph.ids[end].tolist() for end in one_way.coords)
        _write_csv(
            self.graph / "nodes.csv", NODE_COLUMNS, ((name, *row) for name, row in zip(ids, pixels, strict=True))
        )
        _write_csv(self.graph / "edges.csv", EDGE_COLUMNS, zip(*ends, strict=True))
        _write_csv(self.labels, LABEL_COLUMNS, zip(ids, graph.class_names(), strict=True))

    def write_report(self, page: str) -> None:
        """Write the page."""
        with replacing_file(self.report) as temporary:
            temporary.write_text(f"{REPORT_OPENING}\n{page}", encoding="utf-8")

    def guide(self, budget: int) -> str:
        """Say what was written and what to try on it."""
        return "\n".join(
            [
                f"Report: {self.report}",
                f"Graph:  {self.graph}, and its true labels in {self.labels}",
                f"Next:   featprop select {self.graph} --budget {budget} --out picks.csv",
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
        return file.readline().rstrip("\n") == opening
