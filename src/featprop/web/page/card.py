"""What a person reads of a node: its card.

Pictures come first, then what is the node's own, text, dates, numbers, categories, links, and what is missing. Numbers
and dates say where they lie among all nodes, categories how common they are. Nothing is escaped here: all of it is text
as the table has it, but for what no page can hold.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Hashable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import numpy as np
import pyarrow as pa

from featprop.errors import ParameterError
from featprop.features.parsing import read_dates, read_lists
from featprop.graph import Graph
from featprop.web.page.columns import ReadColumn, reading_of
from featprop.web.page.features import FeatureSummary, Picture, feature_row, picture_in, summary_of
from featprop.web.page.image_files import KINDS, image_file
from featprop.web.page.legible import legible, legible_line, percent
from featprop.web.page.written import day_in_words, number_in_words, span_in_words, written

__all__ = ["IMAGES", "Card", "Field", "card_of", "picture_of", "title_of"]

IMAGES = "/images/"
"""Where the page serves the declared folder of images."""
LONGEST_TEXT, LONGEST_TITLE, LONGEST_VALUE = 5000, 120, 500
"""Characters that are shown of a text, of a title, and of any other value."""
MOST_FIELDS = 100
UNUSUAL, MOST_WORDS = 8, 60
"""Numbers and words that are shown of features."""
ORDER = ("image", "own", "text", "date", "number", "category", "flag", "vector", "link")
"""Which kinds of columns come first; those that are the same everywhere, and missing values, come last."""


@dataclass(frozen=True)
class Field:
    """A line of a card.

    Attributes
    ----------
    name
        The column.
    kind
        ``"text"``, ``"number"``, ``"date"``, ``"category"``, ``"flag"``, ``"link"``, ``"image"`` or ``"vector"``.
    text
        What there is to read, not escaped; empty if the value is missing.
    note
        What to know about it, such as ``"higher than 83 % of the nodes"``.
    place
        The share of nodes below, of numbers and dates.
    href
        Where a link leads, or an image lies; only ever ``http:``, ``https:`` or below `IMAGES`.
    """

    name: str
    kind: str
    text: str
    note: str = ""
    place: float | None = None
    href: str | None = None


@dataclass(frozen=True)
class Card:
    """What a person reads of a node.

    Attributes
    ----------
    title
        What to call it.
    fields
        The lines, best first.
    picture
        An SVG element, if its features are pixels: markup made here, safe to put into a page.
    left_out
        How many columns are not shown, as there are too many.
    """

    title: str
    fields: list[Field]
    picture: str | None = None
    left_out: int = 0


def card_of(graph: Graph, position: int, images: Path | None = None) -> Card:
    """Return what a person reads of a node.

    The first card of a graph looks at all its columns; from then on a card takes no longer for more nodes.

    Parameters
    ----------
    graph
        The graph.
    position
        The node, 0 to n - 1.
    images
        The folder that images are served from; None if there is none.
    """
    _check(graph, position)
    reading = reading_of(graph)
    title, from_column = _title(graph, position)
    fields: list[tuple[tuple[int, int], Field]] = []
    if from_column:
        fields.append(((1, -1), Field(reading.id, "text", _id_text(graph, position, LONGEST_VALUE))))
    for place, column in enumerate(reading.columns):
        value = _value(graph, column.name, position)
        if column.name == reading.title and legible_line(written(value)) == title:
            continue
        field = _field(column, value, position, images)
        fields.append(((_rank(column, field), place), field))
    for name, start, stop in reading.features:
        summary = summary_of(graph, start, stop)
        shown = _of_features(graph, position, name, summary)
        fields += [((_rank_of_kind(field.kind), len(fields) + more), field) for more, field in enumerate(shown)]
    picture = picture_of(graph, position)
    ordered = [field for _, field in sorted(fields, key=lambda pair: pair[0])]
    return Card(
        title,
        ordered[:MOST_FIELDS],
        None if picture is None else picture.svg('class="picture" role="img" aria-label="The features as a picture"'),
        max(0, len(ordered) - MOST_FIELDS),
    )


def title_of(graph: Graph, position: int) -> str:
    """Return what to call a node: its name or title if the table has one, else its id."""
    return _title(graph, position)[0]


def picture_of(graph: Graph, position: int) -> Picture | None:
    """Return the picture that the features of a node are, None if they are none."""
    for _, start, stop in reading_of(graph).features:
        found = picture_in(graph, position, summary_of(graph, start, stop))
        if found is not None:
            return found
    return None


def _check(graph: Graph, position: int) -> None:
    if not 0 <= position < graph.n_nodes:
        raise ParameterError("position", f"must be 0 to {graph.n_nodes - 1:,}", position, "name a node of the graph")


def _title(graph: Graph, position: int) -> tuple[str, bool]:
    """Return what to call a node, and whether that is from a column."""
    column = reading_of(graph).title
    value = None if column is None else _value(graph, column, position)
    text = legible_line(written(value), LONGEST_TITLE)
    return (text, True) if text else (_id_text(graph, position, LONGEST_TITLE), False)


def _id_text(graph: Graph, position: int, most: int) -> str:
    name: Hashable = graph.ids[position]
    return legible_line(str(name), most) or repr(name)


def _value(graph: Graph, column: str, position: int) -> Any:
    """Return one value of the table; times that Python has no name for as text."""
    assert graph.table is not None
    scalar = graph.table.column(column)[position]
    try:
        value = scalar.as_py()
    except (ValueError, OverflowError, ImportError):
        return str(scalar)
    return None if isinstance(value, float) and math.isnan(value) else value


def _rank_of_kind(kind: str) -> int:
    return ORDER.index(kind)


def _rank(column: ReadColumn, field: Field) -> int:
    if not field.text:
        return len(ORDER) + 1
    if column.same:
        return len(ORDER)
    return _rank_of_kind(field.kind if field.kind in ("image", "link") else column.kind)


def _field(column: ReadColumn, value: Any, position: int, images: Path | None) -> Field:
    """Return the line of a column."""
    name = legible_line(column.name, LONGEST_TITLE) or "column without a name"
    kind = "text" if column.kind == "own" else column.kind
    text = _text(column, value)
    if not text.strip():
        return Field(name, kind, "", "not given")
    if isinstance(value, str):
        if _is_link(value.strip()):
            return Field(name, "link", legible(value.strip(), LONGEST_VALUE), href=value.strip())
        if Path(value.strip()).suffix.lower() in KINDS and images is not None:
            return _image(name, value.strip(), images)
    share = None if column.shares is None else float(column.shares[position])
    share = None if share is None or math.isnan(share) else share
    most = LONGEST_TEXT if kind == "text" else LONGEST_VALUE
    cut = f"{len(text) - most:,} more characters" if len(text) > most else ""
    note = cut or ("the same everywhere" if column.same else _note(kind, share))
    return Field(name, kind, legible(text, most), note, share if kind in ("number", "date") else None)


def _note(kind: str, share: float | None) -> str:
    if share is None:
        return ""
    if kind == "number":
        return f"higher than {percent(share)} of the nodes" if share else "none is lower"
    if kind == "date":
        return f"later than {percent(share)} of the nodes" if share else "none is earlier"
    return f"{percent(share)} of the nodes"


def _image(name: str, value: str, images: Path) -> Field:
    """Return the line of an image: the image if it is there, else what the table says."""
    file = image_file(images, value)
    if file is None:
        return Field(name, "text", legible(value, LONGEST_VALUE), "not in the folder of images")
    inside = file.relative_to(images.resolve())
    return Field(name, "image", legible(value, LONGEST_VALUE), href=IMAGES + quote(inside.as_posix()))


def _is_link(text: str) -> bool:
    """Say whether text is the address of a web page, and nothing else."""
    if not re.fullmatch(r"https?://[^\s\x00-\x1f\x7f-\x9f\"'<>\\]+", text, re.IGNORECASE):
        return False
    try:
        return bool(urlsplit(text).hostname)
    except ValueError:
        return False


def _text(column: ReadColumn, value: Any) -> str:
    """Return a value as a person reads it."""
    if value is None:
        return ""
    if column.kind == "date":
        return _date(column, value)
    if column.kind == "vector":
        return _vector(value)
    if column.kind == "number" and isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return number_in_words(float(value))
    return written(value)


def _date(column: ReadColumn, value: Any) -> str:
    """Return a date in words; text that is none as it is."""
    if isinstance(value, dt.datetime | dt.date):
        return day_in_words(value)
    found = read_dates(pa.array([value]), column.form) if isinstance(value, str) else None
    if found is None or not np.isfinite(found.values[0]):
        return str(value)
    return day_in_words(dt.datetime(1970, 1, 1) + dt.timedelta(seconds=float(found.values[0])))


def _vector(value: Any) -> str:
    """Return how many numbers a list has, and from where to where they go."""
    lists = read_lists(pa.array([value]), pa.float64())
    numbers = None if lists is None else lists[0].as_py()
    return written(value) if numbers is None else span_in_words([each for each in numbers if each is not None])


def _of_features(graph: Graph, position: int, name: str, summary: FeatureSummary) -> list[Field]:
    """Return the lines of features that stand for columns."""
    row = feature_row(graph, position, summary.start, summary.stop)
    named = graph.feature_names

    def called(place: int) -> str:
        number = summary.start + place
        return legible_line(named[number], LONGEST_TITLE) if named else f"feature {number}"

    if summary.kind == "picture":
        return []
    if summary.kind == "words":
        there = np.flatnonzero(row)
        rarity = np.log((1 + summary.common.max()) / (1 + summary.common[there]))
        best = there[np.argsort(-row[there] * (1 + rarity), kind="stable")].tolist()
        words = ", ".join(called(place) if named else str(summary.start + place) for place in best[:MOST_WORDS])
        more = f", {len(best) - MOST_WORDS:,} more" if len(best) > MOST_WORDS else ""
        what = "words" if named else "features that are not 0"
        note = f"{len(best):,} of {summary.width:,}, the most telling first"
        return [Field(what, "text", words + more, note if best else "none of them")]
    every = summary.width <= UNUSUAL + 4
    shown = np.arange(summary.width) if every else summary.unusual(row, UNUSUAL)
    lines = [
        Field(
            called(place),
            "number",
            number_in_words(float(row[place])),
            _note("number", share),
            share,
        )
        for place, share in zip(shown.tolist(), summary.places(row, shown).tolist(), strict=True)
    ]
    if every:
        return lines
    return [*lines, Field(name, "vector", span_in_words(row.tolist()), f"the {UNUSUAL} most unusual are shown")]
