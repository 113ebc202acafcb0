"""Read labels: sheets, label logs, exports of other tools, or the graph's own labels, in one call."""

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

from featprop.errors import FileError, GraphError, LabelError, first_five, unknown_choice
from featprop.graph import Graph
from featprop.labels.agreement import Agreement, consensus, measure_agreement, pool_audits
from featprop.labels.annotation import Annotation, Kind, is_same
from featprop.labels.classes import SKIP_WORDS, Vocabulary, unify_spellings, warn_of_empty, warn_of_slips
from featprop.labels.log import LabelLog
from featprop.labels.rows import AUDIT, Rows, read_rows
from featprop.labels.rows import read_ids as _read_id_rows
from featprop.labels.sheets import unescape_formula
from featprop.sources.naming import name_of

log = logging.getLogger(__name__)

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
    own = Counter(name for name in graph.class_names() if name is not None)
    sources = [_read_source(path, graph, classes, on_conflict) for path in files] or [_read_own(graph)]
    from_logs = [each.label for source in sources if source.is_log for each in source.rows.annotations]
    before = Counter([*known, *(label for label in from_logs if label is not None)])
    vocabulary = Vocabulary([before, {} if not files else own], classes, (*SKIP_WORDS, *skip_words))
    resolved = [_resolve(source, graph, vocabulary) for source in sources]
    annotations = _resolve_classes(resolved, vocabulary)
    found = _settle(annotations, on_conflict, files)
    warn_of_slips(found.labels, vocabulary.meant, before, own if files else {})
    answered = {*found.labels, *found.skips}
    asked = dict.fromkeys(node for source in resolved for node in source.asked if node not in answered)
    found = replace(found, asked=list(asked), annotations=tuple(annotations))
    if not found.labels and not found.skips and not (allow_empty and asked):
        raise _no_labels(files)
    return found if use_audit else _split_audit(found, resolved)


def read_ids(path: PathLike, graph: Graph) -> list[Hashable]:
    """Read the distinct node ids of a table with an ``id`` column, in its order."""
    rows = _read_id_rows(Path(path), _own_id_column(graph))
    matches = match_nodes(rows.blank, graph.ids, rows)
    _check_known(rows, matches, graph)
    found = [matches[node] for node in rows.blank]
    if not found:
        raise GraphError(f"{path} lists no nodes.", path=path, column="id")
    return list(dict.fromkeys(found))


def is_log(path: Path) -> bool:
    """Return whether a path is a label log, by its name or its first bytes."""
    if path.suffix == LOG_SUFFIX or not path.is_file():
        return path.suffix == LOG_SUFFIX
    with path.open("rb") as file:
        return file.read(len(SQLITE_HEADER)) == SQLITE_HEADER


@dataclass
class _Source:
    """The rows of a file with nodes matched, and the nodes it asks for."""

    rows: Rows
    asked: list[Hashable] = field(default_factory=list)
    audit: dict[Hashable, float] = field(default_factory=dict)
    is_log: bool = False


def _read_source(path: Path, graph: Graph, classes: Iterable[Hashable] | None, on_conflict: str) -> _Source:
    return _read_log(path, classes, on_conflict) if is_log(path) else _Source(read_rows(path, _own_id_column(graph)))


def _read_log(path: Path, classes: Iterable[Hashable] | None, on_conflict: str) -> _Source:
    """Read what counts in a label log: one label per node, ties left out, and one spelling of each class."""
    if not path.is_file():
        raise FileError(f"There is no label log {path}.", path=path)
    with LabelLog(path, read_only=True) as opened:
        holding, audit, asked, known = opened.holding(), opened.audit(), opened.asked(), opened.classes()
    counts = Counter(dict.fromkeys(known, 0))
    counts.update(each.label for each in holding if each.label is not None)
    allowed = () if classes is None else Vocabulary([known], classes).meant
    spelled = unify_spellings(counts, allowed)
    held = [each if each.label is None else replace(each, label=spelled[each.label]) for each in holding]
    counting = consensus(held)
    ties = counting.ties if on_conflict != "latest" else frozenset()
    if ties:
        log.warning("%s: as many people say one thing as another for %s", path, first_five(list(ties)))
    rows = Rows(path, typed=True)
    source = str(path)
    for node, label in counting.labels.items():
        if node not in ties:
            rows.annotations.append(Annotation(node, label, source=AUDIT if node in audit else source))
    for node, reason in counting.skips.items():
        rows.annotations.append(Annotation(node, None, Kind.SKIP, source=source, text=reason))
    for node, weight in audit.items():
        rows.annotations.append(Annotation(node, None, Kind.AUDIT, text=repr(weight)))
    return _Source(rows, asked, is_log=True)


def _read_own(graph: Graph) -> _Source:
    """Return the graph's own labels like those of a sheet that lists every node."""
    named = zip(graph.ids.tolist(), graph.class_names(), strict=True)
    rows = Rows(Path("graph"), typed=True)
    rows.annotations = [Annotation(node, name, Kind.CELL) for node, name in named if name is not None]
    if not rows.annotations:
        raise LabelError("There are no labels: the graph has none, and `labels` is not given.", parameter="labels")
    return _Source(rows)


def _resolve(source: _Source, graph: Graph, vocabulary: Vocabulary) -> _Source:
    """Match the nodes of a source with the graph, and turn empty words into blank rows."""
    rows = source.rows
    matches = match_nodes([*(each.node for each in rows.annotations), *rows.blank], graph.ids, rows)
    _check_known(rows, matches, graph)
    empty = [each for each in rows.annotations if each.kind is Kind.CELL and vocabulary.is_empty(each.label)]
    warn_of_empty((each.label for each in empty), str(rows.path))
    dropped = set(map(id, empty))
    kept = [replace(each, node=matches[each.node]) for each in rows.annotations if id(each) not in dropped]
    blank = [*(matches[node] for node in rows.blank), *(matches[each.node] for each in empty)]
    listed = {*(each.node for each in kept), *blank}
    lists_all = not rows.is_ranked and len(listed) == graph.n_nodes
    audit = {each.node: float(each.text) for each in kept if each.kind is Kind.AUDIT}
    asked = source.asked if source.is_log else [] if lists_all else blank
    return _Source(replace(rows, annotations=kept), asked, audit, source.is_log)


def match_nodes(written: Iterable[Hashable], ids: NDArray[Any], rows: Rows) -> dict[Hashable, Hashable]:
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
    by_id = {node: node for node in ids.tolist() if node in names}
    texts = {text for name in names for text in (str(name), unescape_formula(str(name)))}
    by_text: dict[str, list[Hashable]] = {}
    for node in ids.tolist():
        if (text := str(node)) in texts:
            by_text.setdefault(text, []).append(node)
    found: dict[Hashable, Hashable] = {}
    for name in names:
        if rows.typed and name in by_id and is_same(by_id[name], name):
            found[name] = name
            continue
        spellings = dict.fromkeys((str(name), unescape_formula(str(name))))
        alike = list(dict.fromkeys(node for text in spellings for node in by_text.get(text, ())))
        if len(alike) > 1:
            message = f"{name!r} in {rows.path} could be any of these nodes: {', '.join(map(repr, alike))}."
            raise GraphError(message, hint="Rename the nodes.", path=rows.path, node=name)
        if alike:
            found[name] = alike[0]
        elif name in by_id:
            found[name] = by_id[name]
    return found


def _check_known(rows: Rows, matches: Mapping[Hashable, Hashable], graph: Graph) -> None:
    written = dict.fromkeys([*(each.node for each in rows.annotations), *rows.blank])
    unknown: list[Hashable] = [name for name in written if name not in matches]
    if rows.missing_ids:
        unknown.append(None)
    if unknown:
        graph.positions(unknown, f"ids in {rows.path}")


def _resolve_classes(sources: Sequence[_Source], vocabulary: Vocabulary) -> list[Annotation]:
    """Return all annotations with the class or skip that each word means."""
    annotations: list[Annotation] = []
    words: list[int] = []
    typed: list[bool] = []
    for source in sources:
        for each in source.rows.annotations:
            if each.kind is Kind.CELL and vocabulary.is_skip(each.label):
                annotations.append(replace(each, kind=Kind.SKIP, label=None, text=str(each.label)))
                continue
            if each.label is not None:
                words.append(len(annotations))
                typed.append(source.rows.typed)
            annotations.append(replace(each, kind=Kind.LABEL) if each.kind is Kind.CELL else each)
    labels = [annotations[place].label for place in words]
    if not all(source.is_log for source in sources):  # a log has one spelling of each class, and types
        labels = vocabulary.resolve(labels, typed=typed)
    for place, name in zip(words, labels, strict=True):
        annotations[place] = replace(annotations[place], label=name)
    vocabulary.check_allowed([annotations[place] for place in words])
    return annotations


def _settle(annotations: Sequence[Annotation], on_conflict: str, files: Sequence[Path]) -> Labels:
    """Return the label that counts for each node."""
    agreement = measure_agreement(annotations)
    if agreement is not None:
        log.info("%s", agreement)
    counting, apart = consensus(annotations), disagreements_of_rows(annotations)
    open_ = apart if on_conflict == "error" else {node: apart[node] for node in apart if node in counting.ties}
    if open_ and on_conflict != "latest":
        what = "No majority" if on_conflict == "majority" else "Different labels"
        listed = first_five([f"node {node!r}: {_list_votes(votes)}" for node, votes in open_.items()])
        raise LabelError(
            f"{what} in {' and '.join(map(str, files)) or 'the graph'}: {listed}.",
            hint="Keep one label of each node, or import the files into a label log, where the majority counts.",
            parameter="on_conflict",
            value=on_conflict,
            node=next(iter(open_)),
        )
    labels = dict(counting.labels)
    if on_conflict == "latest":
        labels |= {node: votes[-1].label for node, votes in apart.items()}
    if apart:
        listed = first_five([f"node {node!r}: {labels[node]!r}" for node in apart])
        log.info("Different labels for one node, settled by %s: %s", on_conflict, listed)
    if counting.skips:
        skips = [f"{node!r}: {word}" for node, word in counting.skips.items()]
        log.info("Skips, not labels: %s", first_five(skips))
    return Labels(labels, counting.skips, agreement=agreement)


def disagreements_of_rows(annotations: Sequence[Annotation]) -> dict[Hashable, list[Annotation]]:
    """Return the votes of each node that has different labels: verdicts if there are any, else answers."""
    votes: dict[Hashable, list[Annotation]] = {}
    for kind in (Kind.VERDICT, Kind.LABEL):
        of_kind: dict[Hashable, list[Annotation]] = {}
        for each in annotations:
            if each.kind is kind and each.node not in votes:
                of_kind.setdefault(each.node, []).append(each)
        votes |= of_kind
    order = dict.fromkeys(each.node for each in annotations)
    return {node: votes[node] for node in order if node in votes and len({each.label for each in votes[node]}) > 1}


def _list_votes(votes: Sequence[Annotation]) -> str:
    several = len({each.who for each in votes}) > 1
    named = dict.fromkeys(f"{each.label!r}{f' by {each.who}' if several and each.who else ''}" for each in votes)
    return " and ".join(named)


def _split_audit(found: Labels, sources: Sequence[_Source]) -> Labels:
    """Separate the labels of audited nodes from the others."""
    audit = pool_audits([source.audit for source in sources])
    if not audit:
        return found
    both = dict.fromkeys(
        each.node
        for source in sources
        for each in source.rows.annotations
        if each.kind in (Kind.LABEL, Kind.VERDICT, Kind.CELL, Kind.SKIP)
        and each.node in audit
        and each.node not in source.audit
    )
    if both:
        raise LabelError(
            f"Audited nodes are labelled in another file, too: {first_five([repr(node) for node in both])}.",
            hint="Remove their rows from one of the files.",
            node=next(iter(both)),
        )
    audited = {node: label for node, label in found.labels.items() if node in audit}
    labels = {node: label for node, label in found.labels.items() if node not in audit}
    log.info("Audit: %d of %d nodes labelled; no model learns from them", len(audited), len(audit))
    asked = [node for node in found.asked if node not in audit]
    return replace(found, labels=labels, asked=asked, audit=audit, audited=audited)


def _no_labels(files: Sequence[Path]) -> LabelError:
    names = " and ".join(map(str, files)) or "The graph"
    return LabelError(f"{names} has no labels.", hint="Fill the label column.", path=files[0] if files else None)


def _own_id_column(graph: Graph | None) -> str | None:
    return None if graph is None else graph.id_name
