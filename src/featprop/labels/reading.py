"""Read what people said: sheets, label logs, exports of other tools, or the graph's own labels.

`read` is strict: what it cannot understand is an error. `import_labels` adds what fits to a label log and reports the
rest.
"""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featprop.errors import FileError, GraphError, LabelError, ParameterError, first_five, unknown_choice
from featprop.graph import Graph
from featprop.ids import as_array
from featprop.labels.agreement import Agreement, consensus, find_conflicts, measure_agreement, pool_audits
from featprop.labels.annotation import AUDIT, VOTES, Annotation, Kind, is_same
from featprop.labels.classes import SKIP_WORDS, Vocabulary, warn_of_slips
from featprop.labels.log import Imported, LabelLog
from featprop.labels.rows import Rows, read_id_rows, read_rows
from featprop.labels.sheets import unescape_formula
from featprop.sources.naming import name_of

logger = logging.getLogger(__name__)

ON_CONFLICT = ("error", "majority", "latest")
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
    agreement
        How far several people agree; None if no node has several answers.
    annotations
        Everything that was read, one record per answer, note and audited node.
    """

    labels: dict[Hashable, Hashable] = field(default_factory=dict)
    skips: dict[Hashable, str] = field(default_factory=dict)
    asked: list[Hashable] = field(default_factory=list)
    audit: dict[Hashable, float] = field(default_factory=dict)
    audited: dict[Hashable, Hashable] = field(default_factory=dict)
    agreement: Agreement | None = None
    annotations: tuple[Annotation, ...] = ()

    def __getitem__(self, node: Hashable) -> Hashable:
        return self.labels[node]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.labels)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def taken(self) -> list[Hashable]:
        """Nodes not to ask for again: labelled, skipped, already selected or in the audit."""
        return list(dict.fromkeys([*self.labels, *self.skips, *self.asked, *self.audit]))


def read(
    paths: PathLike | Sequence[PathLike],
    graph: Graph,
    *,
    known: Iterable[Hashable] = (),
    classes: Iterable[Hashable] | None = None,
    skip_words: Iterable[str] = (),
    on_conflict: str = "error",
    use_audit: bool = False,
    allow_empty: bool = False,
) -> Labels:
    """Read labels from one or several files.

    A file may be a table with the columns ``id`` and ``label`` (CSV, Excel, Parquet), a label log, an export of Label
    Studio (JSON, JSON_MIN, CSV) or of doccano (JSONL). A label that is written like a known class is that class;
    otherwise ``1`` is a number and ``007`` text. Spellings that differ in case, spaces or Unicode form are one class.

    Parameters
    ----------
    paths
        The file or files; none for the graph's own labels.
    graph
        The graph whose nodes are labelled.
    known
        Classes of earlier labels, each as often as it was used.
    classes
        The only classes there may be; any other label is an error.
    skip_words
        Further words for a node that cannot be labelled, besides ``skip``, ``?``, ``n/a`` and the like.
    on_conflict
        What to do if a node has different labels in several rows: ``"error"``, ``"majority"`` or ``"latest"``.
    use_audit
        Whether to return the labels of an audit like any others.
    allow_empty
        Whether to accept files without any label, which only list nodes to label.
    """
    if on_conflict not in ON_CONFLICT:
        raise unknown_choice("on_conflict", on_conflict, ON_CONFLICT)
    files = [Path(paths)] if isinstance(paths, str | os.PathLike) else [Path(path) for path in paths]
    sources = [_read_source(path, graph) for path in files] or [_own_rows(graph)]
    for rows in sources:
        _match(rows, graph.ids)
        if rows.unknown_nodes:
            graph.positions(rows.unknown_nodes, f"ids in {rows.path}")
    own = Counter(name for name in graph.class_names() if name is not None) if files else Counter[Hashable]()
    logged = [each.label for rows in sources if rows.is_log for each in rows.annotations]
    before = Counter([*known, *(label for label in logged if label is not None)])
    vocabulary = Vocabulary([before, own], classes, (*SKIP_WORDS, *skip_words))
    vocabulary.interpret(*sources)
    vocabulary.check_allowed([each for rows in sources for each in rows.unknown_classes])
    for rows in sources:
        _check_clear(rows)
        if rows.is_log:
            _count_votes(rows, on_conflict)
    annotations = [each for rows in sources for each in rows.annotations]
    found = _settle(annotations, on_conflict, files)
    warn_of_slips(found.labels, vocabulary.meant, before, own)
    answered = {*found.labels, *found.skips}
    asked = [node for rows in sources for node in _asked(rows, graph) if node not in answered]
    found = replace(found, asked=list(dict.fromkeys(asked)), annotations=tuple(annotations))
    if not found.labels and not found.skips and not (allow_empty and asked):
        names = " and ".join(map(str, files)) or "The graph"
        raise LabelError(f"{names} has no labels.", hint="Fill the label column.", path=files[0] if files else None)
    return found if use_audit else _split_audit(found, sources)


def import_labels(
    labels: LabelLog,
    path: PathLike,
    graph: Graph | None = None,
    classes: Iterable[Hashable] | None = None,
    *,
    annotator: str = "",
) -> Imported:
    """Import the annotations of a file into a label log.

    The file may have any format that `featprop.labels.read` accepts. Importing it twice changes nothing.

    Parameters
    ----------
    labels
        The label log.
    path
        The file.
    graph
        The graph: annotations of other nodes are left out. Without it, all are added.
    classes
        The classes there may be: other labels are left out.
    annotator
        Who answered, where the file does not say or has a number only.
    """
    rows = read_rows(Path(path), None if graph is None else graph.id_name)
    if graph is not None:
        _match(rows, graph.ids)
    else:
        nodes = dict.fromkeys(each.node for each in labels.events() if each.node is not None)
        _match(rows, as_array(list(nodes)), keep=True)
    before = Counter(each.label for each in labels.holding() if each.label is not None)
    vocabulary = Vocabulary([before, () if graph is None else graph.classes], classes)
    vocabulary.interpret(rows)
    people = _name_people(rows, annotator)
    found = [replace(each, annotator=people.get(each.annotator, each.annotator)) for each in rows.annotations]
    kept, contradictions = _drop_contradictions(found)
    return replace(
        labels.add(kept),
        unanswered=len(rows.blank),
        unknown_nodes=tuple(dict.fromkeys(rows.unknown_nodes)),
        unknown_classes=tuple(dict.fromkeys(each.label for each in rows.unknown_classes)),
        unclear=(*rows.unclear, *contradictions),
    )


def read_ids(path: PathLike, graph: Graph) -> list[Hashable]:
    """Read the distinct node ids of a table with an ``id`` column, in its order."""
    rows = read_id_rows(Path(path), graph.id_name)
    _match(rows, graph.ids)
    if rows.unknown_nodes:
        graph.positions(rows.unknown_nodes, f"ids in {path}")
    if not rows.blank:
        raise GraphError(f"{path} lists no nodes.", path=path, column="id")
    return list(dict.fromkeys(rows.blank))


def is_log(path: Path) -> bool:
    """Return whether a path is a label log, by its name or its first bytes."""
    if path.suffix == LOG_SUFFIX or not path.is_file():
        return path.suffix == LOG_SUFFIX
    with path.open("rb") as file:
        return file.read(len(SQLITE_HEADER)) == SQLITE_HEADER


def _read_source(path: Path, graph: Graph) -> Rows:
    """Read a file of any format; of a label log, the answers and verdicts that hold and the audit."""
    if not is_log(path):
        return read_rows(path, graph.id_name)
    if not path.is_file():
        raise FileError(f"There is no label log {path}.", path=path)
    with LabelLog(path, read_only=True) as log:
        draws = [Annotation(node, None, Kind.AUDIT, text=repr(weight)) for node, weight in log.audit().items()]
        return Rows(path, [*log.holding(), *draws], log.asked(), typed=True, is_log=True)


def _own_rows(graph: Graph) -> Rows:
    """Return the graph's own labels like those of a sheet that lists every node."""
    named = zip(graph.ids.tolist(), graph.class_names(), strict=True)
    cells = [Annotation(node, name, Kind.CELL) for node, name in named if name is not None]
    if not cells:
        raise LabelError("There are no labels: the graph has none, and `labels` is not given.", parameter="labels")
    return Rows(Path("graph"), cells, typed=True)


def _match(rows: Rows, ids: NDArray[Any], *, keep: bool = False) -> None:
    """Replace the nodes of a file by ids, and set those aside that stand for none, unless they are to be kept."""
    nodes = [*(each.node for each in rows.annotations), *rows.blank]
    matches = _match_nodes(nodes, ids, rows)
    if keep:
        escapes = rows.path.suffix.lower() not in (".json", ".jsonl", ".parquet")
        for name in set(nodes) - matches.keys():
            matches[name] = unescape_formula(name) if escapes and isinstance(name, str) else name
    rows.unknown_nodes = [name for name in dict.fromkeys(nodes) if name not in matches]
    rows.annotations = [replace(each, node=matches[each.node]) for each in rows.annotations if each.node in matches]
    rows.blank = [matches[node] for node in rows.blank if node in matches]


def _match_nodes(written: Iterable[Hashable], ids: NDArray[Any], rows: Rows) -> dict[Hashable, Hashable]:
    """Return the id that each written name stands for, without names that stand for none.

    A file without types may write the tuple ``(0, 1)`` as text. A name that could be two ids, such as the number 1 and
    the text 1, is an error.
    """
    names = dict.fromkeys(written)
    if ids.dtype.kind in "iu":
        numbers = {name: name_of(name) if isinstance(name, str) else name for name in names}
        whole = [number for number in numbers.values() if isinstance(number, int)]
        there = set(ids[np.isin(ids, whole)].tolist())
        return {name: number for name, number in numbers.items() if number in there and isinstance(number, int)}
    spellings = {name: {str(name), unescape_formula(str(name))} for name in names}
    texts = set().union(*spellings.values())
    by_id = {node: node for node in ids.tolist() if node in names}
    by_text: dict[str, list[Hashable]] = {}
    for node in ids.tolist():
        if (text := str(node)) in texts:
            by_text.setdefault(text, []).append(node)
    found: dict[Hashable, Hashable] = {}
    for name, spelled in spellings.items():
        alike = list(dict.fromkeys(node for text in spelled for node in by_text.get(text, ())))
        if rows.typed and name in by_id and is_same(by_id[name], name):
            found[name] = name
        elif len(alike) > 1:
            message = f"{name!r} in {rows.path} could be any of these nodes: {', '.join(map(repr, alike))}."
            raise GraphError(message, hint="Rename the nodes.", path=rows.path, node=name)
        elif alike or name in by_id:
            found[name] = alike[0] if alike else by_id[name]
    return found


def _check_clear(rows: Rows) -> None:
    """Refuse rows that could not be read."""
    if rows.unclear:
        raise LabelError(
            f"{rows.path} has rows that cannot be read: {first_five(rows.unclear)}.",
            hint="Correct them, or import the file into a label log, which leaves them out.",
            path=rows.path,
        )


def _count_votes(rows: Rows, on_conflict: str) -> None:
    """Leave one answer for each node of a label log, and none for ties."""
    counting = consensus(rows.annotations)
    ties = counting.ties if on_conflict != "latest" else frozenset()
    if ties:
        logger.warning("%s: as many people say one thing as another for %s", rows.path, first_five(list(ties)))
    draws = [each for each in rows.annotations if each.kind is Kind.AUDIT]
    drawn = {each.node for each in draws}
    answers = [
        Annotation(node, label, source=AUDIT if node in drawn else str(rows.path))
        for node, label in counting.labels.items()
        if node not in ties
    ]
    skips = [
        Annotation(node, None, Kind.SKIP, source=str(rows.path), text=reason) for node, reason in counting.skips.items()
    ]
    rows.annotations = [*answers, *skips, *draws]


def _asked(rows: Rows, graph: Graph) -> list[Hashable]:
    """Return the nodes a file lists without an answer, unless it is a table of all nodes."""
    listed = {*(each.node for each in rows.annotations), *rows.blank}
    return [] if len(listed) == graph.n_nodes and not (rows.is_ranked or rows.is_log) else rows.blank


def _settle(annotations: Sequence[Annotation], on_conflict: str, files: Sequence[Path]) -> Labels:
    """Return the label that counts for each node."""
    agreement = measure_agreement(annotations)
    if agreement is not None:
        logger.info("%s", agreement)
    counting, apart = consensus(annotations), find_conflicts(annotations)
    open_ = apart if on_conflict == "error" else {node: apart[node] for node in apart if node in counting.ties}
    if open_ and on_conflict != "latest":
        what = "No majority" if on_conflict == "majority" else "Different labels"
        listed = first_five([f"node {node!r}: {_list_votes(cast)}" for node, cast in open_.items()])
        raise LabelError(
            f"{what} in {' and '.join(map(str, files)) or 'the graph'}: {listed}.",
            hint="Keep one label of each node, or import the files into a label log, where the majority counts.",
            parameter="on_conflict",
            value=on_conflict,
            node=next(iter(open_)),
        )
    labels = dict(counting.labels)
    if on_conflict == "latest":
        labels |= {node: cast[-1].label for node, cast in apart.items()}
    if apart:
        listed = first_five([f"node {node!r}: {labels[node]!r}" for node in apart])
        logger.info("Different labels for one node, settled by %s: %s", on_conflict, listed)
    if counting.skips:
        skips = [f"{node!r}: {word}" for node, word in counting.skips.items()]
        logger.info("Skips, not labels: %s", first_five(skips))
    return Labels(labels, counting.skips, agreement=agreement)


def _list_votes(votes: Sequence[Annotation]) -> str:
    several = len({each.who for each in votes}) > 1
    named = dict.fromkeys(f"{each.label!r}{f' by {each.who}' if several and each.who else ''}" for each in votes)
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


def _name_people(rows: Rows, annotator: str) -> dict[str, str]:
    """Return the name of annotators that the file leaves out, or knows by a number."""
    numbered = sorted(rows.numbered)
    if annotator and len(numbered) > 1:
        raise ParameterError(
            f"`annotator` names one person, but {rows.path} has {len(numbered):,}, by number only.",
            hint="Export the file with their addresses (JSON), or leave `annotator` out.",
            parameter="annotator",
            value=annotator,
        )
    if numbered and not annotator:
        logger.warning("%s knows annotators by number only: %s", rows.path, first_five(numbered))
    return {"": annotator, **(dict.fromkeys(numbered, annotator) if annotator else {})}


def _drop_contradictions(found: Sequence[Annotation]) -> tuple[list[Annotation], list[str]]:
    """Drop different labels of one person for one node if no time says which is the last."""
    labels: dict[tuple[Kind, Hashable, str], dict[Hashable, None]] = {}
    for each in found:
        if each.time is None and each.label is not None:
            labels.setdefault((each.kind, each.node, each.annotator), {})[each.label] = None
    torn = {which: names for which, names in labels.items() if len(names) > 1}
    kept = [each for each in found if each.time is not None or (each.kind, each.node, each.annotator) not in torn]
    named = [
        f"node {node!r}: {' and '.join(map(repr, names))}{f' by {who}' if who else ''}"
        for (_, node, who), names in torn.items()
    ]
    return kept, named
