"""The folder that rounds are kept in: what lies there, who may write to it, and the record of a learner.

``labels.sqlite`` is the label log, ``model/`` the model, ``learner.json`` the rest: what strategy and model carry on.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from featprop.errors import FeatpropError, FileError, quote_error
from featprop.graph import Graph
from featprop.io.locks import held_lock
from featprop.names import from_jsonable
from featprop.sources.native import foreign_entries

__all__ = [
    "LABELS",
    "MODEL",
    "RECORD",
    "alone_at",
    "asked_in",
    "check_is_latest",
    "check_may_hold_learner",
    "locked",
    "make_folder",
    "naming_damage",
    "read_record",
    "record_text",
]

RECORD = "learner.json"
LABELS = "labels.sqlite"
MODEL = "model"
LOCK = ".lock"
FORMAT = 1


@contextmanager
def alone_at(path: Path) -> Iterator[None]:
    """Keep other processes from asking and saving in a folder of rounds for the length of the block.

    A folder that was made for the block goes again when the block fails: all that was said is in the sheets still.
    """
    made = not path.exists()
    with locked(path):
        try:
            yield
        except BaseException:
            if made:
                shutil.rmtree(path, ignore_errors=True)
            raise


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other processes from saving in a folder of rounds, made if it is not there, for the length of the block."""
    check_may_hold_learner(path)
    make_folder(path)
    with held_lock(path / LOCK, f"{path}", cure="wait for it, or choose another folder"):
        yield


def check_is_latest(folder: Path, record: dict[str, Any]) -> None:
    """Refuse to save where the record is no longer the one that a learner has read or written last.

    Nodes that others were asked for would be asked for again, and what strategy and model carry on be lost.
    """
    if not (folder / RECORD).is_file():
        return
    with naming_damage(folder):
        there = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    if json.dumps(there) != json.dumps(record):
        rule, found = "must be as the learner left it", "rounds that somebody else has saved since"
        cure = "resume it, where all that was told is, and ask again; or save to another folder"
        raise FileError(f"{folder}", rule, found, cure)


def check_may_hold_learner(folder: Path) -> None:
    """Refuse a folder that holds anything but a saved learner."""
    if not folder.exists():
        return
    own = {RECORD, MODEL, LABELS, LOCK, *(f"{LABELS}{end}" for end in ("-wal", "-shm", "-journal", ".lock"))}
    strange = foreign_entries(folder, own) if folder.is_dir() else ["a file"]
    if strange:
        rule = "must be a new folder or one that holds a saved learner only"
        raise FileError(f"{folder}", rule, ", ".join(strange[:5]), "choose another folder")


def make_folder(folder: Path) -> None:
    """Make the folder if it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        cure = "choose a place you may write to"
        raise FileError(f"{folder}", "must be a folder to write to", error.strerror, cure) from error


def record_text(state: dict[str, Any], graph: Graph) -> str:
    """Return the state of a learner as the text of its record, which says what graph it is of."""
    record = {"format": FORMAT, "graph": _size(graph), "columns": _columns(graph), **state}
    return json.dumps(record, indent=1, ensure_ascii=False)


def read_record(folder: Path, graph: Graph) -> dict[str, Any]:
    """Read the record of a learner of this graph."""
    if not (folder / RECORD).is_file():
        found = f"no {RECORD}" if folder.is_dir() else "no such folder"
        raise FileError(f"{folder}", f"must be a saved learner with a {RECORD}", found, "save one there first")
    record: dict[str, Any] = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    if record["format"] != FORMAT:
        raise ValueError(f"format {record['format']}, not {FORMAT}")
    if record["columns"] != _columns(graph):
        rule, cure = "must be resumed with the columns it was saved with", "pass the same options about tables"
        raise FileError(f"{folder}", rule, "other features", cure)
    if not _has_grown(record["graph"], _size(graph)):
        rule, cure = "must be resumed with the graph it was saved with, or one that has grown", "use that graph"
        raise FileError(f"{folder}", rule, f"{_words(record['graph'])} then, {_words(_size(graph))} now", cure)
    return record


def asked_in(folder: Path) -> list[Hashable]:
    """Return the nodes that the rounds in a folder asked for and had no label of when they were saved last."""
    if not (folder / RECORD).is_file():
        return []
    with naming_damage(folder):
        return [*map(from_jsonable, json.loads((folder / RECORD).read_text(encoding="utf-8"))["asked"])]


@contextmanager
def naming_damage(folder: Path) -> Iterator[None]:
    """Say that the record is damaged, whatever goes wrong with it in the block."""
    try:
        yield
    except FeatpropError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError) as error:
        rule, found = f"must be undamaged beside {LABELS}, which holds the labels", f"this: {quote_error(error)}"
        raise FileError(f"{folder / RECORD}", rule, found, "mend it, or start anew with those labels") from error


def _size(graph: Graph) -> dict[str, int]:
    return {"nodes": graph.n_nodes, "edges": graph.n_edges, "features": graph.n_features}


def _has_grown(before: dict[str, int], now: dict[str, int]) -> bool:
    """Say whether a graph has the same features, and as many nodes and edges or more: positions and ids still hold."""
    return before["features"] == now["features"] and all(before[what] <= now[what] for what in ("nodes", "edges"))


def _columns(graph: Graph) -> str:
    """Return a digest of the names of the features; empty where they have none."""
    if graph.feature_names is None:
        return ""
    return hashlib.blake2b("\0".join(graph.feature_names).encode(), digest_size=8).hexdigest()


def _words(size: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in size.items())
