"""What a person typed is never lost unasked: which files featprop may write over, and what it keeps of the others."""

from __future__ import annotations

import csv
import logging
import shutil
from collections.abc import Collection, Hashable, Sequence
from itertools import count
from pathlib import Path

import pyarrow as pa

from featprop.errors import FileError, ParameterError, first_five, overwriting
from featprop.files import replacing_file
from featprop.io.formulas import bare
from featprop.io.predictions import Predictions

__all__ = ["MADE_COLUMNS", "PREDICTION_SUFFIXES", "check_may_write", "make_way"]

log = logging.getLogger(__name__)

PREDICTION_SUFFIXES = (".csv", ".parquet")
"""What a table of predictions may end in."""

MADE_COLUMNS = ("represents", "spread", "prediction", "confidence", "neighbours", "audit")
"""What featprop says of the nodes in a sheet."""

NOT_OURS = "a file that featprop did not write"


def check_may_write(
    path: Path,
    *,
    force: bool,
    shown: Collection[str] = (),
    given: Collection[str] | None = None,
    asked: Collection[Hashable] = (),
    suffixes: Sequence[str] = (".csv",),
) -> None:
    """Refuse to write over a file unless featprop made it and no person has typed labels into it.

    Parameters
    ----------
    shown
        Columns of the nodes that the new sheet has too: a sheet with others would lose them.
    given
        The ids whose labels the new predictions keep, as they are written; None if that is not known yet.
    asked
        The ids that were asked for and have no label yet: a sheet that lists them is to be filled first.
    suffixes
        What the file may end in.
    """
    if path.suffix.lower() not in suffixes:
        rule = f"must end in {' or '.join(suffixes)}"
        raise ParameterError("out", rule, f"{path.name!r}", f"write to {path.stem}{suffixes[0]}")
    if path.is_dir():
        raise FileError(f"{path}", "must be a file", "a folder", "choose another place")
    if force or not path.exists():
        return
    found = _worth_keeping(path, shown, given, asked)
    if found:
        raise overwriting(path, found)


def make_way(
    path: Path,
    *,
    force: bool,
    shown: Collection[str] = (),
    given: Collection[str] | None = None,
    suffixes: Sequence[str] = (".csv",),
) -> None:
    """Refuse as `check_may_write` does; what is written over by force is first copied beside it, and that is said."""
    check_may_write(path, force=force, shown=shown, given=given, suffixes=suffixes)
    found = _worth_keeping(path, shown, given) if force and path.exists() else None
    if found:
        names = (f"{path.stem}-before{f'-{number}' if number > 1 else ''}{path.suffix}" for number in count(1))
        aside = next(place for place in map(path.with_name, names) if not place.exists())
        with replacing_file(aside) as temporary:
            shutil.copyfile(path, temporary)
        log.warning("%s, which is overwritten, held %s: it is kept as %s", path, found, aside)


def _worth_keeping(
    path: Path, shown: Collection[str], given: Collection[str] | None, asked: Collection[Hashable] = ()
) -> str | None:
    """Say what in an existing file must not be lost, or None if featprop can make it again."""
    if path.suffix.lower() == ".parquet":
        return None if _is_ours(path) else NOT_OURS
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        try:
            titles, *rows = csv.reader(file)
        except (csv.Error, ValueError):
            return NOT_OURS
    titles = list(map(bare, titles))
    if len(set(titles)) < len(titles):
        return NOT_OURS
    rows = [[*row, *[""] * (len(titles) - len(row))] for row in rows if row]
    if titles[:2] == ["rank", "id"] and titles[-1] == "label":
        strange = set(titles[2:-1]) - {*MADE_COLUMNS, *shown}
        if strange:
            return f"columns that this run does not write: {', '.join(sorted(strange))}"
        typed = [bare(row[1]) for row in rows if row[len(titles) - 1]]
        waiting = {bare(row[1]) for row in rows} & set(map(str, asked))
        if waiting and not typed:
            return (
                f"nodes that wait for a label, to be filled in and passed with --labels: {first_five(sorted(waiting))}"
            )
    elif Predictions.has_layout(titles):
        typed = _typed_into(titles, rows, given)
    else:
        return NOT_OURS
    return f"labels that a person typed: {first_five(typed)}" if typed else None


def _is_ours(path: Path) -> bool:
    """Say whether a Parquet file is a table of predictions, into which nobody types."""
    from pyarrow import parquet

    try:
        return Predictions.has_layout(parquet.read_schema(path).names)
    except (OSError, pa.ArrowException):
        return False


def _typed_into(titles: Sequence[str], rows: Sequence[Sequence[str]], given: Collection[str] | None) -> list[str]:
    """Return the ids of the predictions that a person changed, or whose label nobody would know any more."""
    columns = [pa.array([row[index] for row in rows], pa.string()) for index in range(len(titles))]
    predictions = Predictions.of(pa.table(columns, names=list(titles)))
    assert predictions is not None
    typed = []
    for number, row in enumerate(rows):
        (label, is_new), node = predictions.answer(number), bare(row[0])
        if is_new or not predictions.tells(number) or (label is not None and given is not None and node not in given):
            typed.append(node)
    return typed
