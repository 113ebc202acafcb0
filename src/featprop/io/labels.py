"""Filled sheets as labels: one label a node, of classes that somebody meant."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from featprop.errors import LabelError, first_five
from featprop.graph import Graph
from featprop.io.agreement import Agreement, agreement_of, check_on_conflict, settled
from featprop.io.answers import Answer, Answers, read_answers
from featprop.io.audits import pooled
from featprop.io.label_words import (
    SKIP_WORDS,
    classes_of,
    empty_words,
    named_classes,
    skip_forms,
    tell_of_slips,
    told_no_classes,
)
from featprop.spelling import form_of

__all__ = ["LabelSheet", "labels_of", "read_labels"]

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class LabelSheet:
    """What people have said of nodes.

    Attributes
    ----------
    nodes, labels
        The ids with a label and the label of each.
    blank
        The ids that are listed without an answer: they were asked for.
    skipped
        The ids that somebody could not label and nobody did, and the word for it.
    annotators
        Who gave the answer that counts, where a sheet says so.
    agreement
        How far several people agree; None if no node has answers of several.
    audit
        The ids that were drawn for checking, answered or not, and how many nodes each stands for.
    audited
        The label of each of them that has one: these are not among `labels`.
    """

    nodes: list[Hashable] = field(default_factory=list)
    labels: list[Hashable] = field(default_factory=list)
    blank: list[Hashable] = field(default_factory=list)
    skipped: dict[Hashable, str] = field(default_factory=dict)
    annotators: dict[Hashable, str] = field(default_factory=dict)
    agreement: Agreement | None = None
    audit: dict[Hashable, float] = field(default_factory=dict)
    audited: dict[Hashable, Hashable] = field(default_factory=dict)


@dataclass(frozen=True)
class _Words:
    """What words are known to mean: the only classes there may be, if that is said, those meant, and forms of skips."""

    allowed: list[Hashable] | None
    meant: list[Hashable]
    skips: set[str]

    @classmethod
    def of(
        cls,
        before: Mapping[Hashable, int],
        own: Mapping[Hashable, int],
        allowed: Iterable[Hashable] | None,
        skip_words: Iterable[str],
    ) -> _Words:
        permitted = None if allowed is None else named_classes(allowed, [*own, *before])
        meant = list(before) if permitted is None else permitted
        return cls(permitted, meant, skip_forms(skip_words, meant))

    def is_skip(self, kind: str, written: Hashable) -> bool:
        """Say whether somebody could not answer: by the kind of the answer or, if that is not said, by its word."""
        return kind == "skip" if kind else form_of(written) in self.skips


def read_labels(
    paths: Sequence[Path],
    graph: Graph,
    classes: Iterable[Hashable] = (),
    *,
    allowed: Iterable[Hashable] | None = None,
    skip_words: Iterable[str] = SKIP_WORDS,
    on_conflict: str = "error",
    use_audit: bool = False,
    may_be_blank: bool = False,
    logs: Mapping[Path, LabelSheet] = {},
) -> LabelSheet:
    """Read one or several tables with the columns ``id`` and ``label`` into one set of labels.

    A label that is written as one of the `classes` known so far, or of the graph's own, is that one, whatever its type.
    Any other is a number or text by itself, so a class has one name in every sheet: ``1`` is 1, ``007`` is text. Case,
    blanks and the zeros of ``1.0`` make no other class. What was merged, left out or looks like a slip is in the log.
    Several audits are one (`featprop.io.audits`).

    Parameters
    ----------
    paths
        The tables. In one of predictions the rows count that a person corrected, and the labels `given` before.
    graph
        The graph whose nodes they are.
    classes
        The classes of the labels so far, each as often as it is a label.
    allowed
        The only classes there may be, if there may be no others.
    skip_words
        What somebody writes who cannot say, unless it is one of `classes` or `allowed`.
    on_conflict
        What counts where a node has different labels: ``"error"``, ``"majority"`` or ``"latest"``.
    use_audit
        Whether the labels of an audit are labels like any others.
    may_be_blank
        Whether sheets that nobody has filled yet are read too, which say what was asked for.
    logs
        What counts in those of the paths that are label logs: one answer a node each, and classes known so far.
    """
    check_on_conflict(on_conflict)
    tables = [_logged(logs[path], path, graph) if path in logs else read_answers(path, graph) for path in paths]
    what = " and ".join(str(path) for path in paths)
    own = Counter(name for name in graph.class_names() if name is not None)
    before = Counter([*classes, *(label for told in logs.values() for label in told.labels)])
    words = _Words.of(before, own, allowed, skip_words)
    tables = _without_empty(tables, words, what)
    answers = [answer for table in tables for answer in table.answers]
    if not answers and not (may_be_blank and any(table.blank for table in tables)):
        raise _nothing(tables, what)
    for remark in filter(None, (table.remark for table in tables)):
        log.info("%s", remark)
    sheet = _sheet(answers, before, own, words, on_conflict, what)
    labelled = set(sheet.nodes)
    skips = {node: word for told in logs.values() for node, word in told.skipped.items() if node not in labelled}
    sheet = replace(sheet, skipped=skips | sheet.skipped)
    answered = {*labelled, *sheet.skipped}
    blank = dict.fromkeys(node for table in tables for node in table.blank)
    sheet = replace(sheet, blank=[node for node in blank if node not in answered])
    return sheet if use_audit else _without_audit(sheet, tables)


def _logged(told: LabelSheet, path: Path, graph: Graph) -> Answers:
    """Return what counts in a label log as a table would say it; its skips have reasons, and are no words to read."""
    labels = {**dict(zip(told.nodes, told.labels, strict=True)), **told.audited}
    graph.positions(labels, f"ids in {path}")
    answers = [Answer(node, label, str(path), is_typed=True) for node, label in labels.items()]
    return Answers(answers, told.blank, audit=told.audit)


def _without_empty(tables: Sequence[Answers], words: _Words, what: str) -> list[Answers]:
    """Take out of tables what programs write where there is no label, and say so: such a row was left empty."""
    unsaid = [answer for table in tables for answer in table.answers if not answer.kind]
    empty = empty_words({answer.written for answer in unsaid}, words.skips, words.meant)
    if not empty:
        return list(tables)
    told = told_no_classes(answer.written for answer in unsaid if answer.written in empty)
    log.warning("%s: %s: name in --classes what is a class", what, told)
    cleared = []
    for table in tables:
        gone = [not answer.kind and answer.written in empty for answer in table.answers]
        kept = [answer for answer, is_empty in zip(table.answers, gone, strict=True) if not is_empty]
        left = [answer.node for answer, is_empty in zip(table.answers, gone, strict=True) if is_empty]
        cleared.append(replace(table, answers=kept, blank=[*table.blank, *([] if table.lists_all else left)]))
    return cleared


def _without_audit(sheet: LabelSheet, tables: Sequence[Answers]) -> LabelSheet:
    """Take what was said of the nodes of an audit out of the labels."""
    audit = pooled([table.audit for table in tables])
    if not audit:
        return sheet
    others = dict.fromkeys(
        answer.node for table in tables for answer in table.answers if answer.node not in table.audit
    )
    both = [repr(node) for node in others if node in audit]
    if both:
        rule, cure = "must be in no other sheet of labels", "take their rows out of one of the sheets"
        raise LabelError("Nodes of an audit", rule, f"{first_five(both)} that are", cure)
    labels = dict(zip(sheet.nodes, sheet.labels, strict=True))
    audited = {node: label for node, label in labels.items() if node in audit}
    kept = {node: label for node, label in labels.items() if node not in audit}
    told = f"{len(audited):,} of {len(audit):,} nodes labelled"
    log.info("Nothing learns from an audit, and its nodes are not chosen: %s", told)
    blank = [node for node in sheet.blank if node not in audit]
    return replace(sheet, nodes=list(kept), labels=list(kept.values()), blank=blank, audit=audit, audited=audited)


def labels_of(
    graph: Graph, *, allowed: Iterable[Hashable] | None = None, skip_words: Iterable[str] = SKIP_WORDS
) -> LabelSheet:
    """Read the graph's own labels like those of a sheet; the arguments are those of `read_labels`."""
    named = zip(graph.ids.tolist(), graph.class_names(), strict=True)
    answers = [Answer(node, name, None, is_typed=True) for node, name in named if name is not None]
    if not answers:
        found = "no --labels, and no label in the graph's own label column"
        raise LabelError("Training", "must have labels", found, "pass --labels picks.csv")
    words = _Words.of({}, {}, allowed, skip_words)
    (table,) = _without_empty([Answers(answers, [], lists_all=True)], words, "The graph")
    return _sheet(table.answers, {}, {}, words, "error", "The graph")


def _sheet(
    answers: Sequence[Answer],
    before: Mapping[Hashable, int],
    own: Mapping[Hashable, int],
    words: _Words,
    on_conflict: str,
    what: str,
) -> LabelSheet:
    """Return what answers say, given how many labels classes have from before and in the graph; see `read_labels`."""
    is_skip = {said: words.is_skip(*said) for said in {(answer.kind, answer.written) for answer in answers}}
    told = [answer for answer in answers if not is_skip[answer.kind, answer.written]]
    said = list(zip(told, classes_of(told, [before, own], words.allowed), strict=True))
    agreement = agreement_of(said)
    if agreement is not None:
        log.info("%s", agreement)
    counts, settlements = settled(said, on_conflict, what)
    if settlements:
        log.info("Different labels for one node, settled by %s: %s", on_conflict, first_five(settlements))
    labels = {node: name for node, (_, name) in counts.items()}
    tell_of_slips(labels, words.meant, before, own)
    unable = [answer for answer in answers if is_skip[answer.kind, answer.written]]
    skips = {answer.node: answer for answer in unable if answer.node not in labels}
    skipped = {node: str(answer.written) for node, answer in skips.items()}
    if skipped:
        log.info("Skips, not labels: %s", first_five([f"{node!r}: {word}" for node, word in skipped.items()]))
    people = {node: answer.annotator for node, (answer, _) in counts.items()}
    people |= {node: answer.annotator for node, answer in skips.items()}
    annotators = {node: name for node, name in people.items() if name}
    return LabelSheet(list(labels), list(labels.values()), [], skipped, annotators, agreement)


def _nothing(tables: Iterable[Answers], what: str) -> LabelError:
    predictions = sum(table.n_predictions for table in tables)
    if predictions:
        rule, found = "must hold labels that a person gave", f"{predictions:,} predictions and none of them corrected"
        cure = "correct the label column where the model is wrong, or pass the sheet that was filled"
        return LabelError(what, rule, found, cure)
    return LabelError(what, "must have at least one label filled in", "none", "fill the label column")
