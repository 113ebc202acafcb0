"""Import the annotations of a file into a label log: add valid ones once, and report the others."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from featprop.graph import Graph
from featprop.ids import as_array, name_to_text, normalize_label
from featprop.labels.agreement import pool_audits
from featprop.labels.annotation import Annotation, Kind, time_to_text
from featprop.labels.classes import unify_spelling
from featprop.labels.log import LabelLog
from featprop.labels.reading import match_nodes
from featprop.labels.rows import read_rows

ANSWER_AT = """
SELECT 1 FROM events WHERE node = ? AND time = ? AND
CASE ? WHEN 'adjudicate' THEN kind = 'adjudicate' ELSE kind IN ('label', 'skip') AND annotator = ? END
"""
"""Whether there is or was an answer of a person to a node, or a verdict, of a time."""
SAME_EVENT = """
SELECT 1 FROM events WHERE key = ? OR
(node = ? AND time = ? AND kind = ? AND annotator = ? AND text = ? AND label IS ?)
"""
"""Whether an annotation is in the log, whatever its class is called now."""


@dataclass(frozen=True)
class Imported:
    """What happened to annotations from elsewhere."""

    taken: int = 0  # number of labels and verdicts added
    skipped: int = 0  # number of skips added
    notes: int = 0  # number of notes added
    audit: int = 0  # number of audited nodes added
    known_audit: int = 0  # number of audited nodes that the log has already or has labels of
    repeated: int = 0  # number of annotations that hold in the log already
    superseded: int = 0  # number of those imported before, or older than what the same person says now
    unanswered: int = 0  # number of nodes listed without an answer
    unknown_nodes: tuple[Hashable, ...] = ()  # nodes that are not in the graph
    unknown_classes: tuple[Hashable, ...] = ()  # labels that are not among the classes
    unclear: tuple[str, ...] = ()  # what else was left out, in a few words each

    @property
    def is_nothing(self) -> bool:
        """Whether nothing of the file is in the log."""
        answers = self.taken + self.skipped + self.notes + self.repeated + self.superseded
        return not answers + self.audit + self.known_audit


def import_labels(
    labels: LabelLog,
    path: str | os.PathLike[str],
    graph: Graph | None = None,
    classes: Collection[Hashable] | None = None,
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
        Annotator, if the file does not name one.
    """
    before = [each.label for each in labels.holding() if each.label is not None]
    named = set(map(normalize_label, before if classes is None else classes))
    rows = read_rows(Path(path), None if graph is None else graph.id_name, named)
    if graph is not None:
        match_nodes(rows, graph.ids)
    else:
        match_nodes(rows, as_array(list({each.node for each in labels.events() if each.node is not None})), keep=True)
    refused = unify_spelling([rows], before, () if graph is None else graph.classes, classes)
    found = [replace(each, annotator=each.annotator or annotator) for each in rows.annotations]
    kept, contradictions = _drop_contradictions(found)
    return replace(
        add_annotations(labels, kept),
        unanswered=len(rows.blank),
        unknown_nodes=tuple(rows.unknown_nodes),
        unknown_classes=tuple(dict.fromkeys(each.label for each in refused)),
        unclear=(*rows.unclear, *contradictions),
    )


def add_annotations(log: LabelLog, annotations: Iterable[Annotation]) -> Imported:
    """Add annotations from elsewhere to a label log, all or none, with their times.

    Adding the same annotations twice changes nothing, whatever happened in between: an annotation that was added once
    is not added again, nor is one that is older than what the same person says now. Uniform audits are pooled.
    """
    found = list(annotations)
    with log.transaction():
        drawn = {each.node: float(each.text) for each in found if each.kind is Kind.AUDIT}
        before = log.audit()
        closed = {*before, *log.released(), *log.labels()}
        new = {node: weight for node, weight in drawn.items() if node not in closed}
        log.draw_audit(pool_audits([before, new]))
        results = Counter((each.kind, _add(log, each)) for each in found if each.kind is not Kind.AUDIT)
    totals = Counter(result for _, result in results.elements())
    return Imported(
        taken=results[Kind.LABEL, "added"] + results[Kind.VERDICT, "added"],
        skipped=results[Kind.SKIP, "added"],
        notes=results[Kind.NOTE, "added"],
        audit=len(new),
        known_audit=len(drawn) - len(new),
        repeated=totals["repeated"],
        superseded=totals["superseded"],
    )


def _add(log: LabelLog, new: Annotation) -> str:
    """Add an answer, a verdict or a note, and return what happened to it."""
    before, time = log.find_earlier(new), new.time
    if new.says_same(before):
        return "repeated"
    row = (name_to_text(new.node), time and time_to_text(time), new.kind, new.annotator)
    if time is None or (before is not None and before.time == time):
        label = None if new.label is None else name_to_text(new.label)
        key = _content_key(new)
        is_known = bool(log.query(SAME_EVENT, key, *row, new.text, label))
        new = replace(new, time=None, key=key)  # without a time or edited in the file, so of now
    elif before is not None and before.time is not None and before.time > time:
        is_known = True
    else:
        is_known = new.kind is not Kind.NOTE and bool(log.query(ANSWER_AT, *row))
    if is_known:
        return "superseded"
    log.append(new)
    return "added"


def _content_key(new: Annotation) -> str:
    """Return a key that equal content always gets."""
    label = None if new.label is None else name_to_text(new.label)
    time = None if new.time is None else time_to_text(new.time)
    content = json.dumps([new.kind, name_to_text(new.node), label, new.text, new.annotator, time])
    return f"import {hashlib.blake2b(content.encode(), digest_size=16).hexdigest()}"


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
