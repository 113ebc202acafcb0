"""Answers from and for other tools: Label Studio, doccano, spreadsheets.

One function each way. What is written can be read again: an export taken into an empty log holds there as it did here,
and taken into the log that it came from it changes nothing.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path

from featprop.errors import FeatpropError, FileError, ParameterError, first_five, overwriting, unknown_choice
from featprop.graph import Graph
from featprop.io.label_words import named_classes
from featprop.labels.agreement import consensus
from featprop.labels.counting import guesses
from featprop.labels.exchange import jsonl, label_studio, sheets
from featprop.labels.exchange.description import Description
from featprop.labels.exchange.json_files import check_size, read_objects
from featprop.labels.exchange.said import Heard, said_in
from featprop.labels.exchange.taking import Imported, take
from featprop.labels.log import LabelLog

__all__ = [
    "FORMATS",
    "Imported",
    "check_format",
    "check_may_export",
    "export_labels",
    "import_labels",
    "label_studio_config",
    "read_results",
]

log = logging.getLogger(__name__)

FORMATS = {"csv": ".csv", "jsonl": ".jsonl", "label-studio": ".json"}
"""The formats, and how names of files of each end."""
TABLES = (".csv", ".tsv", ".txt", ".xlsx", ".parquet")


def export_labels(
    labels: LabelLog,
    graph: Graph | None = None,
    format: str = "csv",  # noqa: A002
    *,
    nodes: Sequence[Hashable] = (),
    guess: Callable[[Hashable], label_studio.Guess | None] | None = None,
) -> bytes:
    """Return all that holds in a label log, as another tool reads it.

    Parameters
    ----------
    labels
        The log.
    graph
        The graph whose nodes they are, for formats that show something of a node.
    format
        ``"csv"``, a sheet with a row for each answer; ``"jsonl"``, the same as doccano reads it; ``"label-studio"``, a
        task for each node, with the answers and what a model holds of it.
    nodes
        Nodes to list besides, which nobody has answered yet.
    guess
        What a model holds of a node, something with a `label` and a `confidence`; if it is not given and there is a
        graph, the default model is trained on the labels.
    """
    check_format(format)
    if graph is not None:
        nodes = graph.ids[graph.positions(nodes)].tolist()
        graph.positions({act.node for act in labels.acts() if act.node is not None}, "nodes in the label log")
    said, audit = said_in(labels, nodes), labels.audit()
    if format == "csv":
        return sheets.sheet(said, audit)
    if format == "jsonl":
        return jsonl.lines(said, Description(graph), audit)
    sure = consensus(labels.holding()).sure
    known = {node: label for node, label in sure.items() if node not in audit}
    if guess is None and graph is not None:
        guess = guesses(graph, known)
    return label_studio.tasks(said, Description(graph), guess, f"featprop, {len(known):,} labels", audit)


def label_studio_config(
    labels: LabelLog, graph: Graph | None = None, classes: Iterable[Hashable] | None = None
) -> bytes:
    """Return the labelling configuration of Label Studio, XML, for what `export_labels` writes.

    Parameters
    ----------
    labels, graph
        As in `export_labels`.
    classes
        The classes to choose from, in their order; those of the log are added in the order they have on the page. If
        none are given, and the log has none, those of the graph.
    """
    used = labels.classes()
    own = () if graph is None else graph.classes
    given = [] if classes is None else named_classes(classes, [*own, *used])
    return label_studio.configuration(list(dict.fromkeys([*given, *used])) or own)


def import_labels(
    labels: LabelLog,
    path: str | os.PathLike[str] | Heard,
    graph: Graph | None = None,
    classes: Iterable[Hashable] | None = None,
    *,
    annotator: str = "",
) -> Imported:
    """Take the answers in a file into a label log: what can be taken is, at once, and the rest is reported.

    The file may be an export of Label Studio (JSON, JSON_MIN or CSV), of doccano (JSONL) or of featprop, or any table
    with the columns ``id`` and ``label``. The same file taken twice changes nothing, whatever was said in between: an
    answer that was taken once is not taken again, nor is one that is older than what the same person says now.

    Parameters
    ----------
    labels
        The log.
    path
        The file, or what `read_results` read in it.
    graph
        The graph whose nodes they are: other nodes are not taken. Without one, all are.
    classes
        The classes there may be: other labels are not taken. If not given, all are.
    annotator
        Who answered, where the file does not say, or says it by a number only.
    """
    heard = path if isinstance(path, Heard) else read_results(Path(path))
    return take(labels, heard, graph, classes, annotator)


def read_results(path: Path) -> Heard:
    """Return what a file says; one that cannot be read is an error, before any log is touched."""
    return _hear(path)[0]


def check_format(name: str) -> None:
    """Refuse a format that there is not."""
    if name not in FORMATS:
        raise unknown_choice("format", name, FORMATS)


def check_may_export(labels: LabelLog, path: Path, format: str, *, force: bool) -> None:  # noqa: A002
    """Refuse to write an export over a file unless it is one whose answers are all in the log.

    Parameters
    ----------
    labels
        The log.
    path
        The file.
    format
        The format of the export.
    force
        Write over it whatever it holds.
    """
    check_format(format)
    if path.suffix.lower() != FORMATS[format]:
        rule, cure = f"must end in {FORMATS[format]} for the format {format}", f"write to {path.stem}{FORMATS[format]}"
        raise ParameterError("out", rule, repr(path.name), cure)
    if path.is_dir():
        raise FileError(f"{path}", "must be a file", "a folder", "choose another place")
    if force or not path.exists():
        return
    found = _worth_keeping(labels, path)
    if found:
        raise overwriting(path, found)


def _worth_keeping(labels: LabelLog, path: Path) -> str | None:
    """Say what in an existing file must not be lost, or None if all of it is in the log."""
    try:
        heard, is_ours = _hear(path)
    except FeatpropError:
        return "a file that featprop did not write"
    if not is_ours or heard.unclear:
        return "a file that featprop did not write"
    kinds = {"correct": "label"}
    known = {
        (str(act.node), kinds.get(act.kind, act.kind), str(act.label), act.text, act.annotator, act.time)
        for act in labels.acts()
    }
    drawn = {str(act.node) for act in labels.acts() if act.kind == "audit"}
    new = [
        f"{each.kind} of node {each.node}"
        for each in heard.said
        if not (each.kind == "audit" and str(each.node) in drawn)
        and (str(each.node), each.kind, str(each.label), each.text, each.annotator, each.time) not in known
    ]
    return f"answers that are not in the label log: {first_five(new)}" if new else None


def _hear(path: Path) -> tuple[Heard, bool]:
    """Return what a file says, and whether featprop wrote it as an export."""
    check_size(path)
    heard = Heard()
    if path.suffix.lower() in TABLES:
        return heard, sheets.hear(path, heard)
    is_ours = True
    for number, thing in enumerate(read_objects(path), 1):
        where = f"number {number:,}"
        if label_studio.hear(thing, heard, where):
            is_ours = is_ours and label_studio.is_ours(thing)
        else:
            jsonl.hear(thing, heard, where)
            is_ours = is_ours and jsonl.is_ours(thing)
    return heard, is_ours
