"""What the words in a label column mean: a class, one of several spellings of a class, or that somebody could not say.

A word that is written as a known class is that class. Words that differ in case, blanks, the zeros of a number or how
an umlaut is put together are one class: the known one, or else the spelling met most often. Nothing else is changed;
what looks like a slip is told. ``NULL``, ``#N/A`` and what else programs write for nothing is no label
(`featprop.features.missing`). The graph's own label column may be as untidy as any sheet: its classes lend their
spelling, and no more.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence

from featprop.errors import LabelError, ParameterError, first_five
from featprop.features.missing import is_no_class
from featprop.io.answers import Answer
from featprop.sources.naming import name_of
from featprop.spelling import closest, composed, form_of

__all__ = [
    "SKIP_WORDS",
    "as_known",
    "classes_of",
    "empty_words",
    "named_classes",
    "one_spelling",
    "skip_forms",
    "tell_of_slips",
]

log = logging.getLogger(__name__)

SKIP_WORDS: tuple[str, ...] = (
    *("skip", "?", "??", "n/a", "na", "-", "don't know", "dont know", "dk", "idk"),
    *("unsure", "not sure", "can't tell", "cannot tell"),
)
"""What people write where they cannot say, in any case; a class of that name is a class."""

RARE = 5
"""A class with so many times fewer labels than another, or with one, may be a misspelling of it."""
SHORTEST = 4
"""Letters of a word that can be told from a slip of another."""


def skip_forms(skip_words: Iterable[str], known: Iterable[Hashable]) -> set[str]:
    """Return the forms of the words for a node that cannot be labelled, but for those that are classes."""
    return {form_of(word) for word in skip_words} - {form_of(name) for name in known}


def empty_words(words: Iterable[Hashable], skips: Collection[str], known: Iterable[Hashable]) -> set[Hashable]:
    """Return those of the words that programs write where there is no label, but for the forms of skips and classes."""
    meant = {*skips, *map(form_of, known)}
    return {word for word in words if is_no_class(word) and form_of(word) not in meant}


def named_classes(allowed: Iterable[Hashable], known: Iterable[Hashable]) -> list[Hashable]:
    """Return the classes that may be, with the types they have: text is a known class or, if it is one, a number."""
    of_text = {str(name): name for name in known}
    named = [of_text.get(name, name_of(name)) if isinstance(name, str) else name for name in allowed]
    if not named:
        raise ParameterError("classes", "must name the classes there may be", "none", "name them: --classes a,b,c")
    return list(dict.fromkeys(named))


def classes_of(
    answers: Sequence[Answer], known: Sequence[Collection[Hashable]], allowed: Sequence[Hashable] | None
) -> list[Hashable]:
    """Return the class that each answer names.

    Parameters
    ----------
    answers
        What people wrote; none of it a skip.
    known
        Classes there are so far, in groups of which the first counts most.
    allowed
        The only classes there may be; None if there may be others.
    """
    groups = known if allowed is None else [allowed]
    of_text = {str(name): name for group in reversed(groups) for name in group}
    names = [_name(answer, of_text) for answer in answers]
    counts: Counter[Hashable] = Counter(names)
    of_form = _by_form((*groups, counts), counts)
    read_as = {name: name if name in (allowed or ()) else of_form[form_of(name)] for name in counts}
    if allowed is not None:
        _check_allowed(answers, [read_as[name] for name in names], allowed)
    _tell_merged(read_as, counts)
    return [read_as[name] for name in names]


def one_spelling(counts: Counter[Hashable], allowed: Sequence[Hashable] = ()) -> dict[Hashable, Hashable]:
    """Return as what each label of a log is read: of those written in several ways one, and it is said.

    Labels of a log have types: 1 and ``"1"`` are written alike, and stay two.

    Parameters
    ----------
    counts
        How often each is a label.
    allowed
        The only classes there may be, if there are such: another spelling of one of them is that one.
    """
    of_form = _by_form((allowed, counts), counts)
    read_as = {name: name if name in allowed else _unless_alike(name, of_form[form_of(name)]) for name in counts}
    _tell_merged(read_as, counts)
    return read_as


def as_known(names: Iterable[Hashable], known: Collection[Hashable]) -> list[Hashable]:
    """Return classes that somebody names, those that are only written otherwise than a known one as that; it is said.

    What is written like a known one stays as it is, whatever its type.
    """
    texts, of_form = set(map(str, known)), _by_form((known,), Counter())
    named = [(name, name if str(name) in texts else of_form.get(form_of(name), name)) for name in names]
    others = [f"{name!r} is {meant!r}" for name, meant in named if str(name) != str(meant)]
    if others:
        log.info("Classes that the label log knows in another spelling stay as they are there: %s", ", ".join(others))
    return [meant for _, meant in named]


def tell_of_slips(
    labels: Mapping[Hashable, Hashable],
    meant: Collection[Hashable],
    before: Mapping[Hashable, int],
    own: Mapping[Hashable, int],
) -> None:
    """Warn of classes that look like another one misspelt, and of those with one label.

    Parameters
    ----------
    labels
        The label of each node.
    meant
        Classes that are no slips.
    before, own
        How many labels classes have besides these: those told before, and the graph's own, which are not used.
    """
    nodes_of: dict[Hashable, list[Hashable]] = {}
    for node, name in labels.items():
        nodes_of.setdefault(name, []).append(node)
    counts = Counter(labels.values()) | Counter(before) | Counter(own)
    slips = {name: _misspelt(name, counts, meant) for name in nodes_of if name not in meant}
    for name, right in slips.items():
        if right is not None:
            nodes = nodes_of[name]
            where = f"node {nodes[0]!r}" if len(nodes) == 1 else f"{_labels(len(nodes))}, first at node {nodes[0]!r}"
            cure = "correct it if it is a slip; --classes refuses what you do not name"
            log.warning("Label %r (%s) is close to %r (%s): %s", name, where, right, _labels(counts[right]), cure)
    alone = [
        f"{name!r} at node {nodes[0]!r}"
        for name, nodes in nodes_of.items()
        if len(nodes) == 1 and name not in before and slips.get(name) is None
    ]
    if alone:
        cure = "label more nodes of it, or correct it if it is a slip"
        log.warning("Classes with one label only: %s: %s", first_five(alone), cure)


def _by_form(groups: Iterable[Iterable[Hashable]], counts: Counter[Hashable]) -> dict[str, Hashable]:
    """Return the name that stands for each form: of the first group that has one, the most frequent."""
    of_form: dict[str, Hashable] = {}
    for group in groups:
        for name in sorted(group, key=lambda name: -counts[name]):
            of_form.setdefault(form_of(name), name)
    return of_form


def _unless_alike(name: Hashable, other: Hashable) -> Hashable:
    return name if str(name) == str(other) else other


def _labels(count: int) -> str:
    return "1 label" if count == 1 else f"{count:,} labels"


def _name(answer: Answer, of_text: dict[str, Hashable]) -> Hashable:
    """Return a word as the class that is written so, or else as a number or text by itself, or with the type it has."""
    text = str(answer.written)
    if answer.is_typed:
        return answer.written if answer.written in of_text.values() else of_text.get(text, answer.written)
    return of_text.get(text, name_of(text))


def _check_allowed(answers: Sequence[Answer], classes: Sequence[Hashable], allowed: Sequence[Hashable]) -> None:
    strange = []
    for answer, name in zip(answers, classes, strict=True):
        if name not in allowed:
            near = closest(name, allowed, cutoff=0.6)
            hint = "" if near is None else f", closest {near!r}"
            strange.append(f"{name!r} of node {answer.node!r}{hint}")
    if strange:
        rule = f"must be among {', '.join(map(str, allowed))}"
        cure = "correct them, name the class in --classes too, or pass --skip WORD for a word that is no class"
        raise LabelError("Labels", rule, first_five(strange), cure)


def _tell_merged(read_as: dict[Hashable, Hashable], counts: Counter[Hashable]) -> None:
    merged: dict[Hashable, list[str]] = {}
    for name, meant in read_as.items():
        if counts[name] and (name != meant or type(name) is not type(meant)):
            looks_alike = isinstance(name, str) and composed(name) == composed(str(meant))
            merged.setdefault(meant, []).append(f"{ascii(name) if looks_alike else repr(name)} ({counts[name]:,})")
    for meant, others in merged.items():
        log.info("Labels written in several ways are one class: %s read as %r", ", ".join(others), meant)


def _misspelt(name: Hashable, counts: Counter[Hashable], meant: Collection[Hashable]) -> Hashable | None:
    """Return the class that a rare one is probably a misspelling of.

    Words that differ in digits are not, ``class 1`` and ``class 2``, nor those of which one holds the other: ``valid``
    and ``invalid``, ``male`` and ``female``.
    """
    if not isinstance(name, str) or len(name) < SHORTEST:
        return None
    enough = 2 if counts[name] == 1 else RARE * counts[name]
    usual = [other for other in dict.fromkeys([*counts, *meant]) if counts[other] >= enough or other in meant]
    return closest(name, [other for other in usual if isinstance(other, str) and _may_be_meant(name, other)])


def _may_be_meant(word: str, other: str) -> bool:
    digits = [re.findall(r"\d+", each) for each in (word, other)]
    one, two = form_of(word), form_of(other)
    is_part = abs(len(one) - len(two)) > 1 and (one in two or two in one)
    return one != two and digits[0] == digits[1] and not is_part


def told_no_classes(words: Iterable[Hashable]) -> str:
    """Write how many cells of labels hold no class, and how often each word is there."""
    counts = Counter(words)
    listed = ", ".join(f"{word!r} ({count:,})" for word, count in counts.most_common(5))
    return f"cells that count as no label: {counts.total():,}, {listed}{', …' if len(counts) > 5 else ''}"
