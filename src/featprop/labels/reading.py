"""Read what people said: sheets, label logs, exports of other tools, or the graph's own labels.

`read` is strict: a row it cannot interpret is an error. `featprop.labels.importing` adds what fits to a label log.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featprop.errors import FileError, GraphError, LabelError, first_five
from featprop.graph import Graph
from featprop.ids import normalize_label
from featprop.labels.agreement import consensus, describe_agreement, find_conflicts, pool_audits
from featprop.labels.annotation import VOTES, Annotation, Kind
from featprop.labels.classes import check_allowed, unify_spelling, warn_of_single_labels
from featprop.labels.log import LabelLog
from featprop.labels.rows import Rows, read_id_rows, read_rows
from featprop.sources.naming import name_of

logger = logging.getLogger(__name__)

LOG_SUFFIX = ".labels"
SQLITE_HEADER = b"SQLite format 3\0"

PathLike = str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class Labels(Mapping[Hashable, Hashable]):
    """The label of each labelled node, by id, and what else was read.

    Attributes
    ----------
    labels
        Label of each node that has one, without audited nodes.
    skips
        Skipped nodes, and the reason.
    asked
        Nodes that are listed without an answer: they have been asked for.
    audit
        Nodes drawn for an audit, answered or not, and how many nodes each stands for.
    audited
        Label of each audited node that has one.
    annotations
        Everything that was read, one record per answer, note and audited node.
    """

    labels: dict[Hashable, Hashable] = field(default_factory=dict)
    skips: dict[Hashable, str] = field(default_factory=dict)
    asked: list[Hashable] = field(default_factory=list)
    audit: dict[Hashable, float] = field(default_factory=dict)
    audited: dict[Hashable, Hashable] = field(default_factory=dict)
    annotations: tuple[Annotation, ...] = ()

    def __getitem__(self, node: Hashable) -> Hashable:
        return self.labels[node]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.labels)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def taken(self) -> list[Hashable]:
        """Nodes not to ask for again, as they are labelled, skipped, already selected or in the audit."""
        return list(dict.fromkeys([*self.labels, *self.skips, *self.asked, *self.audit]))


def read(
    paths: PathLike | Sequence[PathLike],
    graph: Graph,
    *,
    known: Iterable[Hashable] = (),
    classes: Collection[Hashable] | None = None,
    use_audit: bool = False,
    allow_empty: bool = False,
) -> Labels:
    """Read labels from one or several files.

    A file may be a table with the columns ``id`` and ``label`` (CSV, Excel, Parquet), a label log, an export of Label
    Studio (JSON) or of doccano (JSONL). A label that is written like a known class is that class;
    otherwise ``1`` is a number and ``007`` text. Spellings that differ in case, spaces or Unicode form are one class.
    Different labels for a node are an error; in a label log, the majority counts.

    Parameters
    ----------
    paths
        The file or files; none for the graph's own labels.
    graph
        The graph whose nodes are labelled.
    known
        Classes of earlier labels.
    classes
        The only classes there may be; any other label is an error.
    use_audit
        Whether to return the labels of an audit like any others.
    allow_empty
        Whether to accept files without any label, which only list nodes to label.
    """
    files = [Path(paths)] if isinstance(paths, str | os.PathLike) else [Path(path) for path in paths]
    logs = {path: _read_log(path, graph) for path in files if is_log(path)}
    known = [*known, *(each.label for rows in logs.values() for each in rows.annotations if each.label is not None)]
    named = set(map(normalize_label, known if classes is None else classes))
    sources = [logs.get(path) or _read_file(path, graph, named) for path in files] or [_own_rows(graph, named)]
    for rows in sources:
        _check_clear(rows, graph)
    own = graph.classes if files else ()
    check_allowed(unify_spelling(sources, known, own, classes), classes)
    annotations = [each for rows in sources for each in rows.annotations]
    labels, skips = _settle(annotations)
    warn_of_single_labels(labels, (*known, *own, *(classes or ())))
    listed = dict.fromkeys(node for rows in sources for node in _asked(rows, graph))
    asked = [node for node in listed if node not in labels and node not in skips]
    if not labels and not skips and not (allow_empty and asked):
        names = " and ".join(map(str, files)) or "The graph"
        raise LabelError(f"{names} has no labels.", hint="Fill the label column.", path=files[0] if files else None)
    found = Labels(labels, skips, asked, annotations=tuple(annotations))
    return found if use_audit else _split_audit(found, sources)


def read_ids(path: PathLike, graph: Graph) -> list[Hashable]:
    """Read the distinct node ids of a table with an ``id`` column, in its order."""
    rows = read_id_rows(Path(path), graph.id_name)
    match_nodes(rows, graph.ids)
    _check_clear(rows, graph)
    if not rows.blank:
        raise GraphError(f"{path} lists no nodes.", path=path, column="id")
    return list(dict.fromkeys(rows.blank))


def is_log(path: Path) -> bool:
    """Return whether a path is a label log, by its name or its first bytes."""
    if path.suffix == LOG_SUFFIX or not path.is_file():
        return path.suffix == LOG_SUFFIX
    with path.open("rb") as file:
        return file.read(len(SQLITE_HEADER)) == SQLITE_HEADER


def _read_file(path: Path, graph: Graph, named: Collection[str]) -> Rows:
    rows = read_rows(path, graph.id_name, named)
    match_nodes(rows, graph.ids)
    return rows


def _read_log(path: Path, graph: Graph) -> Rows:
    """Return the label that counts for each node of a label log, without ties, and its skips and audit."""
    if not path.is_file():
        raise FileError(f"There is no label log {path}.", path=path)
    with LabelLog(path, read_only=True) as log:
        counting, drawn, asked = log.consensus(), log.audit(), log.asked()
    if counting.ties:
        ties = first_five(list(counting.ties))
        logger.warning("%s: tied votes, which no model learns from: %s", path, ties)
    source = str(path)
    answers = [Annotation(node, label, source=source) for node, label in counting.sure.items()]
    skips = [Annotation(node, None, Kind.SKIP, source=source, text=why) for node, why in counting.skips.items()]
    draws = [Annotation(node, None, Kind.AUDIT, text=repr(weight)) for node, weight in drawn.items()]
    nodes = (*counting.labels, *counting.skips, *drawn, *asked)
    unknown = [node for node in nodes if not graph.has(node)]
    return Rows(path, annotations=[*answers, *skips, *draws], blank=asked, unknown_nodes=unknown)


def _own_rows(graph: Graph, named: Collection[str]) -> Rows:
    """Return the graph's own labels like those of a sheet that lists every node."""
    rows = Rows(Path("graph"), named)
    for node, name in zip(graph.ids.tolist(), graph.class_names(), strict=True):
        if name is not None:
            rows.add("", node, name, {}, is_cell=True)
    if not rows.annotations:
        raise LabelError("There are no labels: the graph has none, and `labels` is not given.", parameter="labels")
    return rows


def match_nodes(rows: Rows, ids: NDArray[Any], *, keep: bool = False) -> None:
    """Replace the names of nodes by ids, and set those aside that stand for none, unless they are to be kept."""
    nodes = list(dict.fromkeys([*(each.node for each in rows.annotations), *rows.blank]))
    written_like = _find_ids(nodes, ids)
    id_of: dict[Hashable, Hashable] = {}
    for name in nodes:
        alike = written_like.get(str(name), [name] if keep else [])
        if len(alike) > 1:
            message = f"{name!r} in {rows.path} could be any of these nodes: {', '.join(map(repr, alike))}."
            raise GraphError(message, hint="Rename the nodes.", path=rows.path, node=name)
        if alike:
            id_of[name] = alike[0]
        else:
            rows.unknown_nodes.append(name)
    rows.annotations = [replace(each, node=id_of[each.node]) for each in rows.annotations if each.node in id_of]
    rows.blank = [id_of[node] for node in rows.blank if node in id_of]


def _find_ids(names: Iterable[Hashable], ids: NDArray[Any]) -> dict[str, list[Hashable]]:
    """Return the ids that are written like each name: a file may write the tuple ``(0, 1)`` as text."""
    texts = set(map(str, names))
    if ids.dtype.kind in "iu":  # most graphs, and the largest
        numbers = [number for number in map(name_of, texts) if isinstance(number, int)]
        ids = ids[np.isin(ids, numbers)]
    found: dict[str, list[Hashable]] = {}
    for node in ids.tolist():
        if str(node) in texts:
            found.setdefault(str(node), []).append(node)
    return found


def _check_clear(rows: Rows, graph: Graph) -> None:
    """Refuse unknown nodes and rows that could not be read."""
    if rows.unknown_nodes:
        graph.positions(rows.unknown_nodes, f"ids in {rows.path}")
    if rows.unclear:
        raise LabelError(
            f"{rows.path} has rows that cannot be read: {first_five(rows.unclear)}.",
            hint="Correct them, or import the file into a label log, which leaves them out.",
            path=rows.path,
        )


def _asked(rows: Rows, graph: Graph) -> list[Hashable]:
    """Return the nodes a file lists without an answer, unless it is a table of all nodes."""
    listed = {*(each.node for each in rows.annotations), *rows.blank}
    return [] if len(listed) == graph.n_nodes else rows.blank


def _settle(annotations: Sequence[Annotation]) -> tuple[dict[Hashable, Hashable], dict[Hashable, str]]:
    """Return the label of each node and the skipped nodes; different labels of a node are an error."""
    conflicts = find_conflicts(annotations)
    if conflicts:
        listed = first_five([f"node {node!r}: {_list_votes(cast)}" for node, cast in conflicts.items()])
        raise LabelError(
            f"Different labels for a node: {listed}. {describe_agreement(annotations)}",
            hint="Keep one label of each node, or import the files into a label log, where the majority counts.",
            node=next(iter(conflicts)),
        )
    counting = consensus(annotations)
    if counting.skips:
        skips = [f"{node!r}: {word}" for node, word in counting.skips.items()]
        logger.info("Skips, not labels: %s", first_five(skips))
    return counting.labels, counting.skips


def _list_votes(votes: Sequence[Annotation]) -> str:
    named = dict.fromkeys(f"{each.label!r}{f' by {each.who}' if each.who else ''}" for each in votes)
    return " and ".join(named)


def _split_audit(found: Labels, sources: Sequence[Rows]) -> Labels:
    """Separate the labels of audited nodes from the others."""
    draws = [{each.node: float(each.text) for each in rows.annotations if each.kind is Kind.AUDIT} for rows in sources]
    audit = pool_audits(draws)
    if not audit:
        return found
    both = [
        repr(each.node)
        for rows, drawn in zip(sources, draws, strict=True)
        for each in rows.annotations
        if each.kind in VOTES and each.node in audit and each.node not in drawn
    ]
    if both:
        raise LabelError(
            f"Audited nodes are labelled in another file, too: {first_five(list(dict.fromkeys(both)))}.",
            hint="Remove their rows from one of the files.",
        )
    audited = {node: label for node, label in found.labels.items() if node in audit}
    labels = {node: label for node, label in found.labels.items() if node not in audit}
    logger.info("Audit: %d of %d nodes labelled; no model learns from them", len(audited), len(audit))
    asked = [node for node in found.asked if node not in audit]
    return replace(found, labels=labels, asked=asked, audit=audit, audited=audited)
