"""The options by which commands read labels, and where their tables go."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Sequence

    from featprop.graph import Graph
    from featprop.io.labels import LabelSheet
    from featprop.labels import Act

__all__ = [
    "STANDARD_OUTPUT",
    "ClassesOption",
    "LogArgument",
    "OnConflictOption",
    "SkipOption",
    "check_place",
    "counted",
    "listed",
    "log_at",
    "place_of",
    "read_sheets",
]

LABELS = "Your labels"

ClassesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--classes",
        metavar="A,B,…",
        help="The classes there may be: any other label is an error.",
        rich_help_panel=LABELS,
    ),
]
SkipOption = Annotated[
    list[str] | None,
    typer.Option(
        "--skip",
        metavar="WORD",
        help="A further word for a node that cannot be labelled, besides skip, ?, n/a, don't know and the like. "
        "Repeatable.",
        rich_help_panel=LABELS,
    ),
]
OnConflictOption = Annotated[
    str,
    typer.Option(
        "--on-conflict",
        metavar="RULE",
        help="What to do where a node has different labels: error, majority, or latest for the last sheet and row.",
        rich_help_panel=LABELS,
    ),
]

LogArgument = Annotated[
    Path,
    typer.Argument(
        metavar="LOG",
        help="A label log, such as my-graph.labels, or a folder of select --rounds.",
        show_default=False,
    ),
]

STANDARD_OUTPUT = Path("-")
LOG = ".labels"
"""How the name of a label log ends that `featprop label` begins."""
SQLITE = b"SQLite format 3\0"
"""What every label log begins with, whatever its name."""


def counted(count: int, what: str) -> str:
    """Write how many there are of something: ``"1 label"``, ``"2,000 labels"``."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def log_at(path: Path) -> Path:
    """Return the file of a label log, which is in the folder where rounds are kept."""
    from featprop.active.saved_learner import LABELS
    from featprop.errors import FileError

    if not path.is_dir():
        return path
    if not (path / LABELS).is_file():
        rule, found = "must be a label log or a folder of select --rounds", f"a folder without {LABELS}"
        raise FileError(f"{path}", rule, found, "check the path")
    return path / LABELS


def listed(values: Iterable[str] | None) -> list[str]:
    """Return the names of an option that takes several, with commas or repeated."""
    named = [name.strip() for value in values or () for name in value.split(",")]
    return list(dict.fromkeys(name for name in named if name))


def read_sheets(
    paths: list[Path] | None,
    graph: Graph,
    so_far: Collection[Hashable],
    classes: list[str] | None,
    skip: list[str] | None,
    on_conflict: str,
    *,
    use_audit: bool = False,
    may_be_blank: bool = False,
) -> LabelSheet:
    """Read label sheets and logs, or the graph's own labels where there are none, as the options say."""
    from featprop.io.label_words import SKIP_WORDS
    from featprop.io.labels import labels_of, read_labels

    allowed, skip_words = None if classes is None else listed(classes), [*SKIP_WORDS, *(skip or [])]
    logs = {path: _counting(path, graph, allowed, use_audit=use_audit) for path in paths or () if _is_log(path)}
    if not paths:
        sheet = labels_of(graph, allowed=allowed, skip_words=skip_words)
    elif len(paths) == len(logs) == 1:
        sheet = logs[paths[0]]
        sheet = sheet if may_be_blank and sheet.blank else _with_labels(paths[0], sheet)
    else:
        sheet = read_labels(
            paths,
            graph,
            so_far,
            allowed=allowed,
            skip_words=skip_words,
            on_conflict=on_conflict,
            use_audit=use_audit,
            may_be_blank=may_be_blank,
            logs=logs,
        )
    return sheet


def _is_log(path: Path) -> bool:
    """Say whether a path is a label log or a folder of rounds, which has one."""
    from featprop.active.saved_learner import LABELS

    if path.is_dir():
        return (path / LABELS).is_file()
    if path.suffix == LOG or not path.is_file():
        return path.suffix == LOG
    with path.open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE


def _counting(place: Path, graph: Graph, allowed: list[str] | None, *, use_audit: bool) -> LabelSheet:
    """Return what counts in a label log, and what the rounds of a folder asked for that has no answer yet."""
    from featprop.active.saved_learner import asked_in
    from featprop.errors import FileError
    from featprop.io.labels import LabelSheet
    from featprop.labels import LabelLog
    from featprop.labels.agreement import consensus
    from featprop.labels.counting import what_counts

    path = log_at(place)
    if not path.is_file():
        raise FileError(f"{path}", "must be a label log", "no such file", "check the path")
    with LabelLog(path, read_only=True) as log:
        holding, classes, audit = log.holding(), log.classes(), {} if use_audit else log.audit()
    holding = _spelt(holding, classes, allowed, path)
    counts = what_counts([act for act in holding if act.node not in audit], graph)
    audited = consensus(act for act in holding if act.node in audit).labels
    labels, skips, answered = counts.labels, counts.skips, {act.node for act in holding}
    asked = [node for node in asked_in(place) if node not in answered]
    return LabelSheet(list(labels), list(labels.values()), asked, skips, audit=audit, audited=audited)


def _spelt(holding: list[Act], classes: list[Hashable], allowed: list[str] | None, path: Path) -> list[Act]:
    """Return what holds in a log with one spelling of each of its classes, which must be among those allowed."""
    from featprop.errors import LabelError
    from featprop.io.label_words import named_classes, one_spelling

    permitted = None if allowed is None else named_classes(allowed, classes)
    counts = Counter(dict.fromkeys(classes, 0))
    counts.update(act.label for act in holding if act.label is not None)
    read_as = one_spelling(counts, permitted or ())
    strange = [] if permitted is None else [name for name in classes if read_as[name] not in permitted]
    if strange:
        raise LabelError(f"{path}", "must have labels of --classes", repr(strange[0]), "name it there, or correct it")
    return [
        act if act.label is None or act.label == (meant := read_as[act.label]) else replace(act, label=meant)
        for act in holding
    ]


def _with_labels(path: Path, sheet: LabelSheet) -> LabelSheet:
    """Refuse a label log without a label, where it is all there is."""
    from featprop.errors import LabelError

    if not sheet.nodes:
        raise LabelError(f"{path}", "must have at least one label", "none", "label nodes with featprop label")
    return sheet


def check_place(
    out: Path,
    *,
    force: bool,
    shown: Collection[str] = (),
    asked: Collection[Hashable] = (),
    suffixes: Sequence[str] = (".csv",),
) -> None:
    """Refuse an output that must not be written; ``-`` is standard output, which may."""
    from featprop.io.overwriting import check_may_write

    if out != STANDARD_OUTPUT:
        check_may_write(out, force=force, shown=shown, asked=asked, suffixes=suffixes)


def place_of(out: Path) -> Path | BinaryIO:
    """Return the file to write, or standard output for ``-``."""
    return sys.stdout.buffer if out == STANDARD_OUTPUT else out
