"""What the words in a label column mean: a class, a spelling of a class, a skip, or nothing.

A word that is written like a known class is that class. Spellings that `normalize_label` makes equal are one class: the
known one, or else the most frequent spelling. Nothing else is changed; probable typing errors are logged. ``NULL``,
``#N/A`` and similar words that programs write for an empty cell are no labels.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace

from featprop.errors import LabelError, ParameterError, first_five
from featprop.features.parsing import is_no_class
from featprop.ids import closest, is_visible, normalize_label
from featprop.labels.annotation import Annotation, Kind
from featprop.labels.rows import Rows
from featprop.sources.naming import name_of

log = logging.getLogger(__name__)

SKIP_WORDS: tuple[str, ...] = (
    *("skip", "?", "??", "n/a", "na", "-", "don't know", "dont know", "dk", "idk"),
    *("unsure", "not sure", "can't tell", "cannot tell"),
)
"""Words that mark a node as skipped, unless a class has that name."""
RARE_FACTOR = 5
"""A class with this many times fewer labels than another may be a misspelling of it."""
MIN_WORD_CHARS = 4
"""Length from which on a word can be recognised as a misspelling."""
MAX_WORDS_LISTED = 5


class Vocabulary:
    """The classes that words are compared with.

    Parameters
    ----------
    known
        Classes known so far, in groups of which the first takes precedence.
    allowed
        The only classes there may be; None if there may be others.
    skip_words
        Words for a skip, unless a class has that name.
    """

    def __init__(
        self,
        known: Sequence[Collection[Hashable]],
        allowed: Iterable[Hashable] | None = None,
        skip_words: Iterable[str] = SKIP_WORDS,
    ) -> None:
        self.allowed = None if allowed is None else parse_classes(allowed, [name for group in known for name in group])
        self.groups = known if self.allowed is None else [self.allowed]
        self.meant = list(known[0] if known else ()) if self.allowed is None else self.allowed
        self._meant = set(map(normalize_label, self.meant))
        self._skips = set(map(normalize_label, skip_words)) - self._meant

    def interpret(self, *sources: Rows) -> None:
        """Turn the words of files into classes, skips and blank rows, and note unknown classes, in place."""
        for rows in sources:
            self._sort_words(rows)
        of_text = {str(name): name for group in reversed(self.groups) for name in group}
        names = [[_parse(each.label, of_text, typed=rows.typed) for each in rows.annotations] for rows in sources]
        counts = Counter(name for each in names for name in each if name is not None)
        by_form = _by_form((*self.groups, counts), counts)
        read_as = {name: name if name in (self.allowed or ()) else by_form[normalize_label(name)] for name in counts}
        _log_merged(read_as, counts)
        for rows, found in zip(sources, names, strict=True):
            pairs = zip(rows.annotations, found, strict=True)
            rows.annotations = [each if name is None else replace(each, label=read_as[name]) for each, name in pairs]

    def _sort_words(self, rows: Rows) -> None:
        """Separate skips, empty cells and unknown classes from labels."""
        kept, empty = [], []
        for each in rows.annotations:
            is_cell, form = each.kind is Kind.CELL, normalize_label(each.label)
            if is_cell and form in self._skips:
                kept.append(replace(each, kind=Kind.SKIP, label=None, text=str(each.label)))
            elif is_cell and form not in self._meant and _is_empty(each.label):
                empty.append(each)
            elif each.label is not None and self.allowed is not None and form not in self._meant:
                rows.unknown_classes.append(each)
            else:
                kept.append(replace(each, kind=Kind.LABEL) if is_cell else each)
        rows.annotations = kept
        rows.blank += [each.node for each in empty]
        counts = Counter(each.label for each in empty)
        if counts:
            listed = ", ".join(f"{word!r} ({count:,})" for word, count in counts.most_common(MAX_WORDS_LISTED))
            more = ", …" if len(counts) > MAX_WORDS_LISTED else ""
            hint = "Name a word in `classes` if it is a class"
            log.warning("%s: cells that count as empty: %d (%s%s). %s", rows.path, counts.total(), listed, more, hint)

    def check_allowed(self, unknown: Sequence[Annotation]) -> None:
        """Refuse labels that are not among the allowed classes."""
        if not unknown or self.allowed is None:
            return
        listed = []
        for each in unknown:
            near = closest(each.label, self.allowed, cutoff=0.6)
            listed.append(f"{each.label!r} of node {each.node!r}{'' if near is None else f', closest to {near!r}'}")
        raise LabelError(
            f"Labels that are not among `classes`: {first_five(listed)}.",
            hint="Correct them, or name them in `classes`.",
            parameter="classes",
            value=unknown[0].label,
            choices=map(str, self.allowed),
            node=unknown[0].node,
        )


def parse_classes(allowed: Iterable[Hashable], known: Iterable[Hashable]) -> list[Hashable]:
    """Return named classes with the types they have: text is a known class, or else a number if it is one."""
    of_text = {str(name): name for name in known}
    named = [of_text.get(name, name_of(name)) if isinstance(name, str) else name for name in allowed]
    if not named:
        raise ParameterError("`classes` is empty.", hint="Name the classes there may be.", parameter="classes")
    return list(dict.fromkeys(named))


def match_known_classes(names: Iterable[Hashable], known: Collection[Hashable]) -> list[Hashable]:
    """Return class names in the spelling of a known class where they differ in spelling only, and log it."""
    texts, by_form = set(map(str, known)), _by_form((known,), Counter())
    named = [(name, name if str(name) in texts else by_form.get(normalize_label(name), name)) for name in names]
    others = [f"{name!r} is {meant!r}" for name, meant in named if str(name) != str(meant)]
    if others:
        log.info("The label log has these classes in another spelling, which stays: %s", ", ".join(others))
    return [meant for _, meant in named]


def warn_of_slips(
    labels: Mapping[Hashable, Hashable],
    meant: Collection[Hashable],
    before: Mapping[Hashable, int],
    own: Mapping[Hashable, int],
) -> None:
    """Log classes that look like a misspelling of another one, and classes with a single label.

    Parameters
    ----------
    labels
        Label of each node.
    meant
        Classes that are no misspellings.
    before, own
        Number of labels that classes have elsewhere: before these, and in the graph.
    """
    nodes_of: dict[Hashable, list[Hashable]] = {}
    for node, name in labels.items():
        nodes_of.setdefault(name, []).append(node)
    counts = Counter(labels.values()) | Counter(before) | Counter(own)
    slips = {name: _find_correct(name, counts, meant) for name in nodes_of if name not in meant}
    for name, right in slips.items():
        if right is not None:
            nodes = nodes_of[name]
            where = f"node {nodes[0]!r}" if len(nodes) == 1 else f"{len(nodes):,} nodes, first {nodes[0]!r}"
            log.warning("Label %r (%s) looks like a misspelling of %r (%d labels)", name, where, right, counts[right])
    alone = [
        f"{name!r} at node {nodes[0]!r}"
        for name, nodes in nodes_of.items()
        if len(nodes) == 1 and name not in before and slips.get(name) is None
    ]
    if alone:
        log.warning("Classes with a single label: %s", first_five(alone))


def _by_form(groups: Iterable[Iterable[Hashable]], counts: Counter[Hashable]) -> dict[str, Hashable]:
    """Return the name that stands for each normalised form: the most frequent of the first group that has one."""
    by_form: dict[str, Hashable] = {}
    for group in groups:
        for name in sorted(group, key=lambda name: -counts[name]):
            by_form.setdefault(normalize_label(name), name)
    return by_form


def _parse(label: Hashable | None, of_text: Mapping[str, Hashable], *, typed: bool) -> Hashable | None:
    """Return a word as the class that is written so, or else as a number or text, or with the type it has."""
    if typed or not isinstance(label, str):
        return label if label is None or label in of_text.values() else of_text.get(str(label), label)
    return of_text.get(label, name_of(label))


def _is_empty(word: Hashable) -> bool:
    """Return whether a word stands for an empty cell, or has no visible character."""
    return isinstance(word, str) and (is_no_class(word) or not is_visible(word))


def _log_merged(read_as: Mapping[Hashable, Hashable], counts: Counter[Hashable]) -> None:
    merged: dict[Hashable, list[str]] = {}
    for name, meant in read_as.items():
        if counts[name] and (name != meant or type(name) is not type(meant)):
            merged.setdefault(meant, []).append(f"{name!a} ({counts[name]:,})")
    for meant, others in merged.items():
        log.info("Spellings of one class: %s read as %r", ", ".join(others), meant)


def _find_correct(name: Hashable, counts: Counter[Hashable], meant: Collection[Hashable]) -> Hashable | None:
    """Return the class that a rare one is probably a misspelling of; None if none is.

    Words that differ in digits are not (``class 1``, ``class 2``), nor are parts of each other (``valid``,
    ``invalid``).
    """
    if not isinstance(name, str) or len(name) < MIN_WORD_CHARS:
        return None
    enough = 2 if counts[name] == 1 else RARE_FACTOR * counts[name]
    usual = [other for other in dict.fromkeys([*counts, *meant]) if counts[other] >= enough or other in meant]
    return closest(name, [other for other in usual if isinstance(other, str) and _may_be_meant(name, other)])


def _may_be_meant(word: str, other: str) -> bool:
    digits = [re.findall(r"\d+", each) for each in (word, other)]
    one, two = normalize_label(word), normalize_label(other)
    is_part = abs(len(one) - len(two)) > 1 and (one in two or two in one)
    return one != two and digits[0] == digits[1] and not is_part
