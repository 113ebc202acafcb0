"""Import the annotations of a file into a label log: what fits is added, the rest is reported."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from featprop.errors import ParameterError, first_five
from featprop.graph import Graph
from featprop.ids import as_array
from featprop.labels.annotation import Annotation, Kind
from featprop.labels.classes import Vocabulary, warn_of_empty
from featprop.labels.log import Imported, LabelLog
from featprop.labels.reading import match_nodes
from featprop.labels.rows import Rows, read_rows
from featprop.labels.sheets import unescape_formula

log = logging.getLogger(__name__)


def import_labels(
    labels: LabelLog,
    path: str | os.PathLike[str],
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
    own_column = None if graph is None else graph.id_name
    rows = read_rows(Path(path), own_column)
    found, unknown_nodes = _match(rows, labels, graph)
    own: Sequence[Hashable] = () if graph is None else graph.classes
    before = Counter(each.label for each in labels.holding() if each.label is not None)
    vocabulary = Vocabulary([before, own], classes)
    cells = [each for each in found if each.kind is Kind.CELL]
    empty = {each.label for each in cells if vocabulary.is_empty(each.label)}
    n_empty = sum(each.label in empty for each in cells)
    warn_of_empty((each.label for each in cells if each.label in empty), str(path))
    resolved, unknown_classes = _resolve(found, vocabulary, empty, typed=rows.typed)
    people = _name_people(rows, annotator)
    named = [replace(each, annotator=people.get(each.annotator, each.annotator)) for each in resolved]
    kept, contradictions = _drop_contradictions(named)
    return replace(
        labels.add(kept),
        unanswered=len(rows.blank) + n_empty,
        unknown_nodes=unknown_nodes,
        unknown_classes=unknown_classes,
        unclear=(*rows.unclear, *contradictions),
    )


def _match(rows: Rows, labels: LabelLog, graph: Graph | None) -> tuple[list[Annotation], tuple[Hashable, ...]]:
    """Return the annotations with the ids of the graph, or else of the log, and the nodes that are unknown."""
    if graph is not None:
        ids = graph.ids
    else:
        ids = as_array([node for node in dict.fromkeys(each.node for each in labels.events()) if node is not None])
    matches = match_nodes((each.node for each in rows.annotations), ids, rows)
    unknown = dict.fromkeys(each.node for each in rows.annotations if each.node not in matches)
    if graph is None:
        is_escaped = rows.path.suffix.lower() not in (".json", ".jsonl", ".parquet")
        for name in unknown:
            matches[name] = unescape_formula(name) if is_escaped and isinstance(name, str) else name
        return [replace(each, node=matches[each.node]) for each in rows.annotations], ()
    return [replace(each, node=matches[each.node]) for each in rows.annotations if each.node in matches], tuple(unknown)


def _resolve(
    found: Sequence[Annotation], vocabulary: Vocabulary, empty: set[Hashable | None], *, typed: bool
) -> tuple[list[Annotation], tuple[Hashable, ...]]:
    """Return the annotations with classes and skips for words, and the labels that are not among the classes."""
    kept: list[Annotation] = []
    words: list[int] = []
    unknown: dict[Hashable, None] = {}
    for each in found:
        is_cell = each.kind is Kind.CELL
        if each.label is None:
            kept.append(each)
        elif is_cell and vocabulary.is_skip(each.label):
            kept.append(replace(each, kind=Kind.SKIP, label=None, text=str(each.label)))
        elif is_cell and each.label in empty:
            continue
        elif vocabulary.is_unknown(each.label):
            unknown[each.label] = None
        else:
            words.append(len(kept))
            kept.append(replace(each, kind=Kind.LABEL) if is_cell else each)
    labels = [kept[place].label for place in words]
    is_typed = [typed or not isinstance(label, str) for label in labels]
    for place, name in zip(words, vocabulary.resolve(labels, typed=is_typed), strict=True):
        kept[place] = replace(kept[place], label=name)
    return kept, tuple(unknown)


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
        log.warning("%s knows annotators by number only: %s", rows.path, first_five(numbered))
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
