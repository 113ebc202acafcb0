"""Ids that miss by the way they are written: ``161.0`` for 161, ``' A7 '`` for a007."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Hashable, Iterable, Sequence

__all__ = ["did_you_mean", "near_ids"]

WHOLE = re.compile(r"([-+]?)0*(\d+)(?:[.,]0*)?")
SURROUNDING = " \t\r\n\u00a0\ufeff'\"`‘’“”«»"
GUESSED = 50
"""How many ids at most are compared letter by letter with others."""
COMPARED = 500
"""How many others at most each of these is compared with."""
ALIKE = 2
"""How many letters at the beginning these must share."""
SIMILAR = 0.8
"""How alike two ids must be, from 0 to 1, for one to be a slip of the other."""


SHOWN = 3
LOOKED_AT = 1000
"""Unknown ids of which it is said what they stand for."""


def did_you_mean(unknown: Sequence[Hashable], known: Iterable[Hashable]) -> str | None:
    """Return advice on ids that are nearly known; None if there is none."""
    pairs = list(near_ids([name for name in unknown[:LOOKED_AT] if name is not None], known).items())
    if not pairs:
        return None
    if len(unknown) == 1:
        return f"did you mean {pairs[0][1]!r}?"
    told = ", ".join(f"{right!r} for {wrong!r}" for wrong, right in pairs[:SHOWN])
    return f"did you mean {told}{', …' if len(pairs) > SHOWN else ''}?"


def near_ids(unknown: Iterable[Hashable], known: Iterable[Hashable]) -> dict[Hashable, Hashable]:
    """Return the known id that each unknown one most likely stands for; nothing for one that has none or several.

    Ids that differ only in a ``.0``, padding, case, separators, quotes or surrounding spaces are found by a form they
    share, in time that grows with the number of ids. A few of the others, those with letters, are compared letter by
    letter with ids that begin alike.
    """
    ids = list(known)
    form_of = {node: _form(str(node)) for node in unknown}
    alike: dict[str, list[Hashable]] = {form: [] for form in form_of.values()}
    for node in ids:
        found = alike.get(_form(str(node)))
        if found is not None:
            found.append(node)
    near = {node: _closest(node, alike[form]) for node, form in form_of.items()}
    left = [node for node, form in form_of.items() if not alike[form] and any(map(str.isalpha, form))]
    near |= _similar(left[:GUESSED], ids)
    return {node: found for node, found in near.items() if found is not None}


def _form(text: str) -> str:
    """Return what is left of an id without the ways in which exports change it."""
    bare = _trimmed(text).casefold()
    if whole := WHOLE.fullmatch(bare):
        return ("-" if whole[1] == "-" else "") + whole[2]
    joined = re.sub(r"(?<=\w)[\s_-]+(?=\w)", "", bare)
    return re.sub(r"(?<!\d)0+(?=\d)", "", joined)


def _trimmed(text: str) -> str:
    return (text if text.isascii() else unicodedata.normalize("NFKC", text)).strip(SURROUNDING)


def _closest(node: Hashable, alike: list[Hashable]) -> Hashable | None:
    """Return the one that is written most alike, by ever looser rules; None if two are."""
    text = _trimmed(str(node))
    rules = (
        lambda other: other == text,
        lambda other: other.casefold() == text.casefold(),
        lambda other: bool(other),
    )
    for rule in rules:
        found = [other for other in alike if rule(_trimmed(str(other)))]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _similar(left: list[Hashable], ids: list[Hashable]) -> dict[Hashable, Hashable]:
    """Return the ids that are written much alike, among the first ones that begin with the same letters."""
    texts = {node: _trimmed(str(node)).casefold() for node in left}
    beginning_so: dict[str, dict[str, Hashable]] = {text[:ALIKE]: {} for text in texts.values()}
    for other in ids if left else ():
        text = str(other).casefold()
        compared = beginning_so.get(text[:ALIKE])
        if compared is not None and len(compared) < COMPARED:
            compared[text] = other
    near: dict[Hashable, Hashable] = {}
    for node, text in texts.items():
        compared = beginning_so[text[:ALIKE]]
        for best in difflib.get_close_matches(text, compared, n=1, cutoff=SIMILAR):
            near[node] = compared[best]
    return near
