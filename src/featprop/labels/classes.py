"""What the words in a label column mean: a class, a spelling of a class, a skip, or nothing.

A word that is written like a known class is that class. Spellings that `normalize_label` makes equal are one class: the
known one, or else the most frequent spelling. ``NULL``, ``#N/A`` and similar words that programs write for an empty
cell are no labels.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from featprop.errors import LabelError, ParameterError, first_five
from featprop.features.parsing import is_no_class
from featprop.ids import closest, is_visible, normalize_label
from featprop.labels.annotation import Annotation, Kind
from featprop.sources.naming import name_of

if TYPE_CHECKING:
    from featprop.labels.rows import Rows

log = logging.getLogger(__name__)

SKIP_WORDS = frozenset(
    {
        *("skip", "?", "??", "n/a", "na", "-", "don't know", "dont know", "dk", "idk"),
        *("unsure", "not sure", "can't tell", "cannot tell"),
    }
)
"""Words that mark a node as skipped, unless a class has that name."""


def kind_of_word(word: Hashable, named: Collection[str]) -> Kind:
    """Return whether a word in a label column is a class, a skip or nothing; `named` are normalised class names."""
    form = normalize_label(word)
    if form in named:
        return Kind.LABEL
    if form in SKIP_WORDS:
        return Kind.SKIP
    return Kind.OPEN if is_no_class(word) or not is_visible(form) else Kind.LABEL


def unify_spelling(
    sources: Sequence[Rows],
    known: Iterable[Hashable],
    own: Iterable[Hashable] = (),
    allowed: Iterable[Hashable] | None = None,
) -> list[Annotation]:
    """Give the labels of files one spelling per class, in place, and return those that are not allowed.

    Parameters
    ----------
    sources
        The files.
    known
        Classes known so far, whose spelling takes precedence.
    own
        Classes of the graph, whose spelling comes next.
    allowed
        The only classes there may be; None if there may be others.
    """
    for rows in sources:
        if rows.empty:
            listed = first_five([f"{word!r} ({count:,})" for word, count in rows.empty.most_common()])
            log.warning("%s: cells that count as empty, unless `classes` names them: %s", rows.path, listed)
    counts = Counter(each.label for rows in sources for each in rows.annotations if each.label is not None)
    exact: dict[str, Hashable] = {}
    groups: tuple[Iterable[Hashable], ...] = (known, own, counts)
    if allowed is not None:
        groups = (parse_classes(allowed, [*known, *own]),)
        exact = {str(name): name for name in groups[0]}
    by_form, forms = _by_form(groups, counts), {name: normalize_label(name) for name in counts}
    read_as = {name: exact.get(str(name), by_form[form]) for name, form in forms.items() if form in by_form}
    _log_merged(read_as, counts)
    refused = []
    for rows in sources:
        found, rows.annotations = rows.annotations, []
        for each in found:
            if each.label is None:
                rows.annotations.append(each)
            elif each.label in read_as:
                rows.annotations.append(replace(each, label=read_as[each.label]))
            else:
                refused.append(each)
    return refused


def check_allowed(refused: Sequence[Annotation], allowed: Iterable[Hashable] | None) -> None:
    """Raise the error about labels that are not among the allowed classes, if there are any."""
    if not refused:
        return
    names = list(allowed or ())
    listed = []
    for each in refused:
        near = closest(each.label, names, cutoff=0.6)
        listed.append(f"{each.label!r} of node {each.node!r}{'' if near is None else f', closest to {near!r}'}")
    raise LabelError(
        f"Labels that are not among `classes`: {first_five(listed)}.",
        hint="Correct them, or name them in `classes`.",
        parameter="classes",
        value=refused[0].label,
        choices=map(str, names),
        node=refused[0].node,
    )


def parse_classes(allowed: Iterable[Hashable], known: Iterable[Hashable]) -> list[Hashable]:
    """Return named classes with the types they have: text is a known class, or else a number if it is one."""
    of_text = {str(name): name for name in known}
    named = [of_text.get(name, name_of(name)) if isinstance(name, str) else name for name in allowed]
    if not named:
        raise ParameterError("`classes` is empty.", hint="Name the classes there may be.", parameter="classes")
    return list(dict.fromkeys(named))


def check_distinct(classes: Iterable[Hashable]) -> None:
    """Refuse classes that files cannot distinguish."""
    written: dict[str, Hashable] = {}
    for name in classes:
        if str(name) in written:
            message = f"The classes {written[str(name)]!r} and {name!r} are written the same."
            raise LabelError(message, hint="Rename one of them and train again.", value=name)
        written[str(name)] = name


def match_known_classes(names: Iterable[Hashable], known: Collection[Hashable]) -> list[Hashable]:
    """Return class names in the spelling of a known class where they differ in spelling only, and log it."""
    texts, by_form = set(map(str, known)), _by_form((known,), Counter())
    named = [(name, name if str(name) in texts else by_form.get(normalize_label(name), name)) for name in names]
    others = [f"{name!r} is {meant!r}" for name, meant in named if str(name) != str(meant)]
    if others:
        log.info("The label log has these classes in another spelling, which stays: %s", ", ".join(others))
    return [meant for _, meant in named]


def warn_of_single_labels(labels: Mapping[Hashable, Hashable], known: Iterable[Hashable]) -> None:
    """Log classes with a single label that are not known: they may be misspelled."""
    counts = Counter([*labels.values(), *known])
    alone = [f"{name!r} at node {node!r}" for node, name in labels.items() if counts[name] == 1]
    if alone:
        log.warning("Classes with a single label, which may be misspelled: %s", first_five(alone))


def _by_form(groups: Iterable[Iterable[Hashable]], counts: Counter[Hashable]) -> dict[str, Hashable]:
    """Return the name that stands for each normalised form: the most frequent of the first group that has one."""
    by_form: dict[str, Hashable] = {}
    for group in groups:
        for name in sorted(group, key=lambda name: -counts[name]):
            by_form.setdefault(normalize_label(name), name)
    return by_form


def _log_merged(read_as: Mapping[Hashable, Hashable], counts: Counter[Hashable]) -> None:
    merged: dict[Hashable, list[str]] = {}
    for name, meant in read_as.items():
        if name != meant:
            merged.setdefault(meant, []).append(f"{name!a} ({counts[name]:,})")
    for meant, others in merged.items():
        log.info("Spellings of one class: %s read as %r", ", ".join(others), meant)
