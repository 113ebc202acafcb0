"""What was heard in a file, taken into a label log: of nodes that there are, of classes that there may be, once."""

from __future__ import annotations

import hashlib
import json
import logging
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from featprop.errors import ParameterError, first_five
from featprop.graph import Graph
from featprop.io.answers import Answer
from featprop.io.label_words import SKIP_WORDS, classes_of, empty_words, named_classes, skip_forms, told_no_classes
from featprop.labels.acts import Told
from featprop.labels.exchange.said import Heard, Said, written
from featprop.labels.log import LabelLog
from featprop.names import name_to_text
from featprop.spelling import form_of

__all__ = ["Imported", "take"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Imported:
    """What became of the answers in a file.

    Attributes
    ----------
    taken
        Labels and verdicts that were taken.
    skipped
        Skips that were taken: nodes that somebody could not label.
    notes
        Notes that were taken.
    audit, known_audit
        Nodes that were taken as drawn for checking, and those that the log had as such or did not take as such.
    repeated
        How much of it was in the log already.
    superseded
        How much of it was said before, or earlier than what the same person says now, and stays as it is in the log.
    unanswered
        How many nodes the file lists without an answer.
    unknown_nodes
        The nodes that the graph does not have.
    unknown_classes
        The labels that are no classes, as they are written.
    unclear
        What else was left out, in a few words each.
    """

    taken: int = 0
    skipped: int = 0
    notes: int = 0
    audit: int = 0
    known_audit: int = 0
    repeated: int = 0
    superseded: int = 0
    unanswered: int = 0
    unknown_nodes: tuple[Hashable, ...] = ()
    unknown_classes: tuple[Hashable, ...] = ()
    unclear: tuple[str, ...] = ()

    @property
    def is_nothing(self) -> bool:
        """Whether nothing of the file is in the log."""
        said = self.taken + self.skipped + self.notes + self.repeated + self.superseded
        return not said + self.audit + self.known_audit


def take(
    log: LabelLog, heard: Heard, graph: Graph | None, classes: Iterable[Hashable] | None, annotator: str
) -> Imported:
    """Take what was heard into a log; the arguments are those of `featprop.labels.exchange.import_labels`."""
    of_nodes, strange_nodes = _with_nodes(heard.said, log, graph)
    of_classes, strange_classes, n_empty = _with_classes(of_nodes, log, graph, classes)
    people = _people(heard.said, annotator)
    told = [_told(each, people.get(each[1].annotator, each[1].annotator)) for each in of_classes]
    told, contradictions = _without_contradictions(told)
    became = log.take_over(told)
    drawn = [what for each, what in zip(told, became, strict=True) if each.kind == "audit"]
    became_said = [what for each, what in zip(told, became, strict=True) if each.kind != "audit"]
    taken = Counter(each.kind for each, what in zip(told, became, strict=True) if what == "taken")
    return Imported(
        taken=taken["label"] + taken["adjudicate"],
        skipped=taken["skip"],
        notes=taken["note"],
        audit=drawn.count("taken"),
        known_audit=len(drawn) - drawn.count("taken"),
        repeated=became_said.count("repeated"),
        superseded=became_said.count("superseded"),
        unanswered=heard.unanswered + n_empty,
        unknown_nodes=strange_nodes,
        unknown_classes=strange_classes,
        unclear=(*heard.unclear, *contradictions),
    )


def _with_nodes(
    said: Sequence[Said], log: LabelLog, graph: Graph | None
) -> tuple[list[tuple[Hashable, Said]], tuple[Hashable, ...]]:
    """Return what was said with the node it is about, and the nodes that there are not.

    A node is found by its name, or else by how the name is written, if only one is written so: ``"7"`` may be 7.
    Without a graph, nodes that the log does not know are taken as they are.
    """
    known = graph.ids.tolist() if graph is not None else list(dict.fromkeys(act.node for act in log.acts()))
    by_name = {name: name for name in known if name is not None}
    by_text: dict[str, list[Hashable]] = {}
    for name in by_name:
        by_text.setdefault(str(name), []).append(name)
    found: list[tuple[Hashable, Said]] = []
    strange: dict[Hashable, None] = {}
    for each in said:
        alike = by_text.get(str(each.node).strip(), [])
        if each.node in by_name:
            found.append((by_name[each.node], each))
        elif len(alike) == 1:
            found.append((alike[0], each))
        elif graph is None:
            found.append((each.node, each))
        else:
            strange[each.node] = None
    return found, tuple(strange)


def _with_classes(
    said: Sequence[tuple[Hashable, Said]], log: LabelLog, graph: Graph | None, classes: Iterable[Hashable] | None
) -> tuple[list[tuple[Hashable, Said, Hashable | None]], tuple[Hashable, ...], int]:
    """Return what was said with the class that is meant, None for a skip or a note; labels that are no classes; blanks.

    Those are how many cells hold what programs write where there is no label.
    """
    before = Counter(act.label for act in log.holding() if act.label is not None)
    own = () if graph is None else graph.classes
    allowed = None if classes is None else named_classes(classes, [*own, *before])
    meant = before if allowed is None else allowed
    no_classes = skip_forms(SKIP_WORDS, meant)
    by_hand = [each.label for _, each in said if each.by_hand and each.label is not None]
    empty = empty_words(set(by_hand), no_classes, meant)
    n_empty = sum(label in empty for label in by_hand)
    if empty:
        told = told_no_classes(label for label in by_hand if label in empty)
        logger.warning("In the file, %s: name in --classes what is a class", told)
    forms = None if allowed is None else {form_of(name) for name in allowed}
    labels: list[int] = []
    kept: list[tuple[Hashable, Said, Hashable | None]] = []
    strange: dict[Hashable, None] = {}
    for node, each in said:
        if each.label is None or (each.by_hand and form_of(each.label) in no_classes):
            kept.append((node, each, None))
        elif each.by_hand and each.label in empty:
            continue
        elif forms is None or form_of(each.label) in forms:
            labels.append(len(kept))
            kept.append((node, each, each.label))
        else:
            strange[each.label] = None
    answers = [_answer(kept[place][1]) for place in labels]
    for place, name in zip(labels, classes_of(answers, [before, own], allowed), strict=True):
        kept[place] = (*kept[place][:2], name)
    return kept, tuple(strange), n_empty


def _people(said: Sequence[Said], annotator: str) -> dict[str, str]:
    """Return who is meant by a name that is none: nobody's, or the number that somebody has in another tool."""
    numbered = sorted({each.annotator for each in said if each.is_numbered})
    if annotator and len(numbered) > 1:
        cure = "export it with their addresses (JSON), or leave out --annotator"
        raise ParameterError("annotator", "must be one person", f"{len(numbered):,} in the file, by number only", cure)
    if numbered and not annotator:
        named = first_five(numbered)
        logger.warning("People are known by numbers only, and count as others than those of the log: %s", named)
    return {"": annotator, **(dict.fromkeys(numbered, annotator) if annotator else {})}


def _without_contradictions(told: Sequence[Told]) -> tuple[list[Told], list[str]]:
    """Take out different labels of one person for one node of which no time says which is the last, and name them."""
    labels: dict[tuple[str, Hashable, str], dict[Hashable, None]] = {}
    for each in told:
        if each.time is None and each.label is not None:
            labels.setdefault((each.kind, each.node, each.annotator), {})[each.label] = None
    torn = {which: names for which, names in labels.items() if len(names) > 1}
    kept = [each for each in told if each.time is not None or (each.kind, each.node, each.annotator) not in torn]
    named = [
        f"node {node!r}: {' and '.join(map(repr, names))}{f' of {who}' if who else ''}"
        for (_, node, who), names in torn.items()
    ]
    return kept, named


def _answer(said: Said) -> Answer:
    assert said.label is not None
    return Answer(said.node, said.label, said.annotator, is_typed=not isinstance(said.label, str))


def _told(heard: tuple[Hashable, Said, Hashable | None], who: str) -> Told:
    node, said, label = heard
    is_word = label is None and said.label is not None
    kind, text = ("skip", str(said.label)) if is_word else (said.kind, said.text)
    named = None if label is None else name_to_text(label)
    content = [kind, name_to_text(node), named, text, who, written(said.time), said.mark]
    digest = hashlib.blake2b(json.dumps(content).encode(), digest_size=16).hexdigest()
    return Told(kind, node, label, text, who, f"import {digest}", said.time)
