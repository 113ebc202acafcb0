"""The label log: every act of a person in one SQLite file, never changed and never lost.

An act (label, correction, skip, verdict, undo, note, draw or release of an audit, naming of a class) is a row of the
table ``acts``; a trigger refuses to change or delete one. What holds now is a view: ``answers`` has the last act that
stands for each node and annotator, ``verdicts`` the last one that settled a node, ``audit`` the nodes that are drawn
for checking. Which label counts where people differ is said in `featprop.labels.agreement`, how the file is kept in
`featprop.labels.act_file`: an act is on the disk before the call returns. Every act has a key of its own: the same
act sent again under its key changes nothing, whatever was done in between, and another one under it is refused.

Nodes and labels are kept as JSON with their types (`featprop.names`).
"""

from __future__ import annotations

import datetime as dt
import os
import sqlite3
import uuid
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

from featprop.errors import FileError, LabelError, first_five
from featprop.io.audits import pooled
from featprop.labels.act_file import ActFile
from featprop.labels.acts import Act, NewAct, Outcome, Told, same
from featprop.labels.agreement import consensus
from featprop.names import name_to_text
from featprop.plain import is_missing

__all__ = ["LabelLog"]

GIVEN = frozenset({"label", "correct"})
"""Kinds of acts that give a label; which of them it is follows from what was said before."""
LAST_HELD = """
SELECT {} FROM standing AS held WHERE annotator = ? AND NOT (kind = 'adjudicate' AND EXISTS (
    SELECT 1 FROM standing WHERE node = held.node AND kind = held.kind AND number > held.number
)) ORDER BY number DESC LIMIT 1
"""
"""The last act of a person that holds: a verdict that somebody settled anew does not."""


class LabelLog(ActFile):
    """The acts of people on the nodes of a graph.

    Parameters
    ----------
    path
        The file, made if it is not there; None to keep the acts in memory.
    read_only
        Whether the file is only read: it may lie where nothing can be written.
    """

    def answer(
        self, node: Hashable, label: Hashable, *, annotator: str = "", turn: int = 0, key: str | None = None
    ) -> Outcome:
        """Take a label or, of somebody who has labelled the node before, another one."""
        _check_classes({node: label})

        def kind(before: Act | None) -> str:
            return "label" if before is None or before.kind == "skip" else "correct"

        return self._say(NewAct("label", annotator, node, label), turn, key, kind)

    def tell(
        self, labels: Mapping[Hashable, Hashable], *, annotator: str = "", turn: int = 0, keys: Mapping[Any, str] = {}
    ) -> None:
        """Take labels, all of them or none; a node the annotator has labelled otherwise is an error.

        Parameters
        ----------
        labels
            The class of each node.
        annotator
            Who says so.
        turn
            How many times nodes have been asked for.
        keys
            The key of each act, by node, where a repeated call must not write it again.
        """
        _check_classes(labels)
        with self._writing():
            for node, label in labels.items():
                act = NewAct("label", annotator, node, label)
                if self._was_sent(act, keys.get(node)):
                    continue
                before = self._answer(node, annotator)
                if before is not None and before.kind != "skip" and not same(before.label, label):
                    found, cure = f"{before.label!r} and {label!r} for node {node!r}", "call correct to change it"
                    raise LabelError("labels", "must give a node one label", found, cure)
                if before is None or before.kind == "skip" or node in keys:
                    self._write(act, turn, keys.get(node))

    def correct(
        self, node: Hashable, label: Hashable, *, annotator: str = "", turn: int = 0, key: str | None = None
    ) -> None:
        """Change the label the annotator gave a node."""
        _check_classes({node: label})
        with self._writing():
            act = NewAct("correct", annotator, node, label)
            if self._was_sent(act, key):
                return
            before = self._answer(node, annotator)
            if before is None or before.kind == "skip":
                raise LabelError(f"Node {node!r}", "must have a label to correct", "none", "call tell to give it one")
            if key is not None or not same(before.label, label):
                self._write(act, turn, key)

    def skip(
        self, node: Hashable, reason: str = "", *, annotator: str = "", turn: int = 0, key: str | None = None
    ) -> Outcome:
        """Say that a node cannot be labelled, and why; a label the annotator gave it no longer holds."""
        return self._say(NewAct("skip", annotator, node, text=reason), turn, key)

    def adjudicate(
        self, node: Hashable, label: Hashable, *, annotator: str = "", turn: int = 0, key: str | None = None
    ) -> Outcome:
        """Settle what a node is: this counts, whatever anybody answers, until it is undone or settled anew."""
        _check_classes({node: label})
        return self._say(NewAct("adjudicate", annotator, node, label), turn, key)

    def note(
        self, node: Hashable, text: str, *, annotator: str = "", turn: int = 0, key: str | None = None
    ) -> Act | None:
        """Write something down about a node and return it; None if it was sent before."""

        def write() -> Act | None:
            act = NewAct("note", annotator, node, text=text)
            return None if self._was_sent(act, key) else self._write(act, turn, key)

        return self._in_turn(write)

    def name_classes(self, classes: Iterable[Hashable], *, annotator: str = "") -> None:
        """Write down the classes that there may be, in their order, unless they stand in it so already."""
        named = list(classes)
        _check_classes(dict(enumerate(named)))
        with self._writing():
            if list(map(name_to_text, named)) != list(map(name_to_text, self.classes())):
                for label in named:
                    self._write(NewAct("class", annotator, None, label), 0, None)

    def undo(self, *, annotator: str = "", turn: int = 0, key: str | None = None) -> Act | None:
        """Take back the last act of the annotator that holds and return it; None if there is none."""

        def write() -> Act | None:
            for sent in self._select("SELECT {} FROM acts WHERE key = ?", key):
                self._was_sent(NewAct("undo", annotator, sent.node, undoes=sent.undoes), key)
                undone = self._select("SELECT {} FROM acts WHERE number = ?", sent.undoes)
                return undone[0] if undone else None
            last = self._select(LAST_HELD, annotator)
            if last:
                self._write(NewAct("undo", annotator, last[0].node, undoes=last[0].number), turn, key)
            elif key is not None:
                self._write(NewAct("undo", annotator, None), turn, key)
            return last[0] if last else None

        return self._in_turn(write)

    def outcome(self, node: Hashable) -> Outcome:
        """Return what all acts so far came to for a node."""
        return self._in_turn(lambda: self._outcome(node, None, self._held(node)))

    def draw_audit(self, weights: Mapping[Hashable, float], *, annotator: str = "", turn: int = 0) -> None:
        """Mark nodes that were drawn for checking, all of them or none: what people say of them is no label.

        Parameters
        ----------
        weights
            How many nodes each stands for. Of a node that is drawn already the new weight counts.
        annotator
            Who had them drawn.
        turn
            How many times nodes have been asked for.
        """
        with self._writing():
            before, labelled = self.audit(), self.labels()
            found = [repr(node) for node in weights if node in labelled]
            if found:
                rule, cure = "must be drawn from nodes without a label", "draw others"
                raise LabelError("An audit", rule, f"labels for {first_five(found)}", cure)
            for node, weight in weights.items():
                if before.get(node) != float(weight):
                    self._write(NewAct("audit", annotator, node, text=repr(float(weight))), turn, None)

    def release_audit(self, *, annotator: str = "", turn: int = 0) -> dict[Hashable, float]:
        """Make labels like any others of what was said of the audit, and return the nodes, which are one no more."""
        with self._writing():
            released = self.audit()
            if released:
                self._write(NewAct("release", annotator, None), turn, None)
            return released

    def audit(self) -> dict[Hashable, float]:
        """Return the nodes that are drawn for checking, and how many nodes each stands for."""
        return {act.node: float(act.text) for act in self._select("SELECT {} FROM audit ORDER BY number")}

    def released(self) -> set[Hashable]:
        """Return the nodes that were drawn for checking once and are no more."""
        drawn = {act.node for act in self._select("SELECT {} FROM acts WHERE kind = 'audit'")}
        return drawn - self.audit().keys()

    def audited(self) -> dict[Hashable, Hashable]:
        """Return the label of each node of the audit that has one: what counts as in `labels`."""
        drawn = self.audit()
        labels = consensus(self.holding()).labels if drawn else {}
        return {node: label for node, label in labels.items() if node in drawn}

    def take_over(self, told: Iterable[Told]) -> list[str]:
        """Take acts that happened elsewhere, all of them or none, with the times they have.

        Returns what became of each: ``"taken"``; ``"repeated"``, which is what holds already; or ``"superseded"``,
        which was said here before, or earlier than what holds, and stays as it is. A uniform audit becomes
        one with the uniform audit that is here (`featprop.io.audits`).
        """
        with self._writing():
            before = self.audit()
            became = [self._take_over(each) for each in told]
            drawn = self.audit()
            new = {node: weight for node, weight in drawn.items() if node not in before}
            for node, weight in pooled([before, new]).items():
                if drawn[node] != weight:
                    self._write(NewAct("audit", "", node, text=repr(weight)), 0, None)
            return became

    def acts(self) -> list[Act]:
        """Return everything that was ever done, in order."""
        return self._select("SELECT {} FROM acts ORDER BY number")

    def classes(self) -> list[Hashable]:
        """Return the classes: those that were named, in the order they were last, and all that were ever a label."""
        named: dict[str, Hashable] = {}
        for act in self._select("SELECT {} FROM acts WHERE kind = 'class' ORDER BY number"):
            named.pop(name_to_text(act.label), None)
            named[name_to_text(act.label)] = act.label
        used = "SELECT {} FROM acts WHERE number IN (SELECT min(number) FROM acts WHERE label NOT NULL GROUP BY label)"
        for act in self._select(f"{used} ORDER BY number"):
            named.setdefault(name_to_text(act.label), act.label)
        return list(named.values())

    def answers(self) -> list[Act]:
        """Return what holds now, an answer for each node and annotator, in the order the nodes first came up."""
        return self._in_order("SELECT * FROM answers")

    def holding_of(self, node: Hashable) -> list[Act]:
        """Return the answers and the verdict that hold now of one node; it takes no longer in a long log."""
        return list(self._held(node).values())

    def holding(self) -> list[Act]:
        """Return the answers and the verdicts that hold now, in the order the nodes first came up."""
        return self._in_order("SELECT * FROM answers UNION ALL SELECT * FROM verdicts")

    def labels(self) -> dict[Hashable, Hashable]:
        """Return the label of each node that has one: the verdict, or else what most annotators say, or the latest.

        Nodes of the audit are not among them (`audited`).
        """
        drawn = self.audit()
        return {node: label for node, label in consensus(self.holding()).labels.items() if node not in drawn}

    def skips(self) -> dict[Hashable, str]:
        """Return the nodes that cannot be labelled, as everybody says who answered, and why."""
        return consensus(self.holding()).skips

    def notes(self) -> list[tuple[Hashable, str]]:
        """Return what was written down about nodes."""
        return [(act.node, act.text) for act in self.acts() if act.kind == "note"]

    @property
    def last(self) -> int:
        """The number of the last act that says what a node is or is not, which notes and classes do not; 0 if none."""
        found = self._select("SELECT {} FROM acts WHERE kind NOT IN ('note', 'class') ORDER BY number DESC LIMIT 1")
        return found[0].number if found else 0

    def copy_to(self, path: str | os.PathLike[str]) -> None:
        """Write all acts to another file, which must not have acts that are not in this log.

        A file that says from its beginning on what this log says has none: it is of a program that was killed while it
        wrote, and has done everything again.
        """
        with self._lock:
            ours = self.acts()
            with LabelLog(path) as other:
                theirs = other.acts()
            strange = {act.key for act in theirs} - {act.key for act in ours}
            if strange and list(map(_content, theirs)) != list(map(_content, ours[: len(theirs)])):
                rule = "must be new or hold these acts"
                found = f"{len(strange):,} acts of people that are not among them"
                raise FileError(f"{path}", rule, found, "choose another place")
            target = sqlite3.connect(path)
            try:
                self._connection.backup(target)
            except sqlite3.Error as error:
                raise self._damaged(error, path) from error
            finally:
                target.close()

    def _in_order(self, acts: str) -> list[Act]:
        first = "(SELECT node AS name, min(number) AS first FROM acts GROUP BY node)"
        return self._select(f"SELECT {{}} FROM ({acts}) JOIN {first} ON name = node ORDER BY first, number")

    def _say(
        self, act: NewAct, turn: int, key: str | None, kind: Callable[[Act | None], str] = lambda _: ""
    ) -> Outcome:
        """Write an answer or a verdict, unless it holds already and has no key of its own.

        `kind` returns what the act is, given what the same person said before, where that decides it.
        """

        def write() -> Outcome:
            held = self._held(act.node)
            place = _place(act)
            before = held.get(place)
            if not self._was_sent(act, key) and (key is not None or not _says(before, act)):
                held[place] = self._write(act._replace(kind=kind(before) or act.kind), turn, key)
            return self._outcome(act.node, before, held)

        return self._in_turn(write)

    def _held(self, node: Hashable) -> dict[str | None, Act]:
        """Return the answers to a node by annotator, and the verdict by None."""
        query = "SELECT {} FROM standing WHERE node = ? ORDER BY number"
        return {_place(act): act for act in self._select(query, name_to_text(node))}

    def _outcome(self, node: Hashable, before: Act | None, held: Mapping[str | None, Act]) -> Outcome:
        """Return what an act came to, inside its transaction."""
        self._turn += 1
        return Outcome(node, before, tuple(held.values()), self._turn)

    def _take_over(self, told: Told) -> str:
        """Take an act that happened elsewhere, inside a transaction, and return what became of it."""
        if told.kind == "audit":
            return self._take_over_draw(told)
        query = "SELECT {} FROM acts WHERE node = ? AND annotator = ? AND kind != 'undo'"
        said = self._select(query, name_to_text(told.node), told.annotator)
        alike = [act for act in said if told.is_said_by(act)]
        if told.kind == "note":
            before = alike[0] if alike else None
        else:
            is_verdict = told.kind == "adjudicate"
            before = self._verdict(told.node) if is_verdict else self._answer(told.node, told.annotator)
        if before is not None and before.annotator == told.annotator and told.is_said_by(before):
            return "repeated"
        is_older = before is not None and told.time is not None and told.time < before.time
        if (
            is_older
            or self._select("SELECT {} FROM acts WHERE key = ?", told.key)
            or any(act.time == told.time for act in alike)
        ):
            return "superseded"
        is_correction = told.kind == "label" and before is not None and before.kind != "skip"
        was_edited = before is not None and before.time == told.time
        act = NewAct("correct" if is_correction else told.kind, told.annotator, told.node, told.label, told.text)
        self._write(act, 0, told.key, None if was_edited else told.time)
        return "taken"

    def _take_over_draw(self, told: Told) -> str:
        """Take that a node was drawn elsewhere, unless it is or was in the audit here, or has a label."""
        if self.audit().get(told.node) == float(told.text):
            return "repeated"
        was_drawn = self._select("SELECT {} FROM acts WHERE node = ? AND kind = 'audit'", name_to_text(told.node))
        if was_drawn or any(act.kind != "skip" for act in self.holding_of(told.node)):
            return "superseded"
        self._write(NewAct("audit", told.annotator, told.node, text=told.text), 0, told.key, told.time)
        return "taken"

    def _answer(self, node: Hashable, annotator: str) -> Act | None:
        which = "node = ? AND annotator = ? AND kind != 'adjudicate'"
        query = f"SELECT {{}} FROM standing WHERE {which} ORDER BY number DESC LIMIT 1"
        found = self._select(query, name_to_text(node), annotator)
        return found[0] if found else None

    def _verdict(self, node: Hashable) -> Act | None:
        query = "SELECT {} FROM standing WHERE node = ? AND kind = 'adjudicate' ORDER BY number DESC LIMIT 1"
        found = self._select(query, name_to_text(node))
        return found[0] if found else None

    def _was_sent(self, act: NewAct, key: str | None) -> bool:
        """Say whether this very act is there under its key already; another one under that key is an error."""
        if key is None:
            return False
        sent = self._connection.execute(
            "SELECT kind, annotator, node, label, text, undoes FROM acts WHERE key = ?", (key,)
        ).fetchone()
        if sent is None:
            return False
        row = act.row
        if sent[1:] != row[1:] or not (sent[0] == row[0] or {sent[0], row[0]} <= GIVEN):
            found = f"{key!r} for {sent[0]} of {sent[2]} and {act.kind} of {row[2]}"
            cure = "if you answered it already, change that under Your answers; a program makes a new key for each act"
            raise LabelError("The key of an act", "must be used once", found, cure)
        return True

    def _write(self, act: NewAct, turn: int, key: str | None, time: dt.datetime | None = None) -> Act:
        """Write one act, inside a transaction: one of now, or of another time."""
        now = (time or dt.datetime.now(dt.UTC)).astimezone(dt.UTC)
        when, name = now.replace(microsecond=now.microsecond // 1000 * 1000), key or uuid.uuid4().hex
        number = self._connection.execute(
            "INSERT INTO acts (key, time, round, kind, annotator, node, label, text, undoes) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (name, when.isoformat(timespec="milliseconds"), turn, *act.row),
        ).lastrowid
        assert number is not None
        return Act(number, name, when, act.annotator, turn, act.kind, act.node, act.label, act.text, act.undoes)


def _place(act: Act | NewAct) -> str | None:
    """Return by what an act replaces another one of its node: an answer by who gave it, a verdict by none."""
    return None if act.kind == "adjudicate" else act.annotator


def _content(act: Act) -> tuple[Any, ...]:
    """Return what an act says, whenever and under whatever key it was said."""
    return NewAct(act.kind, act.annotator, act.node, act.label, act.text, act.undoes).row


def _says(held: Act | None, act: NewAct) -> bool:
    """Say whether what holds says the same, of the same person."""
    if held is None or (held.kind == "skip") != (act.kind == "skip") or held.annotator != act.annotator:
        return False
    return same(held.label, act.label) and held.text == act.text


def _check_classes(labels: Mapping[Hashable, Hashable]) -> None:
    for node, label in labels.items():
        if is_missing(label):
            raise LabelError(f"The label of node {node!r}", "must be a class", repr(label), "leave the node out")
