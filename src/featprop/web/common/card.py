"""Build the card of a node: its title and the values of its columns, formatted for people.

Images come first, then unique values, text, dates, numbers, categories, links, and missing values. Numbers and dates
come with their rank among all nodes, categories with their frequency. The text is not escaped.
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

from featprop.features.parsing import read_dates, read_lists
from featprop.graph import Graph
from featprop.web.common.columns import CardColumn, card_layout
from featprop.web.common.features import FeatureSummary, Picture, feature_row, picture_from_features, summarize_features
from featprop.web.common.formatting import (
    clean_line,
    clean_text,
    format_date,
    format_number,
    format_percent,
    format_range,
    format_value,
)
from featprop.web.common.image_files import MEDIA_TYPES, find_image

IMAGES_URL = "/images/"
"""Where the labelling page serves the image folder."""
MAX_TEXT_CHARS, MAX_TITLE_CHARS, MAX_VALUE_CHARS = 5000, 120, 500
MAX_FIELDS = 100
MAX_NUMBERS, MAX_WORDS = 8, 60
"""Numbers and words shown of the features."""
ORDER = ("image", "own", "text", "date", "number", "category", "flag", "vector", "link")
"""Order of the kinds of columns; constant columns and missing values come last."""


@dataclass(frozen=True)
class Field:
    """A line of a card.

    Attributes
    ----------
    name
        Column name.
    kind
        ``"text"``, ``"number"``, ``"date"``, ``"category"``, ``"flag"``, ``"link"``, ``"image"`` or ``"vector"``.
    text
        Formatted value, not escaped; empty if it is missing.
    note
        A remark, for example ``"higher than 83 % of nodes"``.
    place
        For numbers and dates, the share of nodes below this one.
    href
        Target of a link or source of an image: ``http:``, ``https:`` or below `IMAGES_URL`.
    """

    name: str
    kind: str
    text: str
    note: str = ""
    place: float | None = None
    href: str | None = None


@dataclass(frozen=True)
class Card:
    """The card of a node."""

    title: str  # name or id of the node
    fields: list[Field]  # lines of the card
    picture: str | None = None  # SVG element if the features are pixels: safe markup
    n_hidden: int = 0  # number of columns that are not shown


def build_card(graph: Graph, position: int, images: Path | None = None) -> Card:
    """Return the card of a node.

    The first card of a graph profiles its columns; after that, the cost does not depend on the number of nodes.
    """
    layout = card_layout(graph)
    title, from_column = _title(graph, position)
    fields: list[tuple[tuple[int, int], Field]] = []
    if from_column:
        fields.append(((1, -1), Field(layout.id, "text", _id_text(graph, position, MAX_VALUE_CHARS))))
    for place, column in enumerate(layout.columns):
        value = _value(graph, column.name, position)
        if column.name == layout.title and clean_line(format_value(value)) == title:
            continue
        field = _column_field(column, value, position, images)
        fields.append(((_rank(column, field), place), field))
    for name, start, stop in layout.features:
        summary = summarize_features(graph, start, stop)
        shown = _feature_fields(graph, position, name, summary)
        fields += [((_rank_of_kind(field.kind), len(fields) + more), field) for more, field in enumerate(shown)]
    picture = node_picture(graph, position)
    ordered = [field for _, field in sorted(fields, key=lambda pair: pair[0])]
    return Card(
        title,
        ordered[:MAX_FIELDS],
        None if picture is None else picture.svg('class="picture" role="img" aria-label="Features as a picture"'),
        max(0, len(ordered) - MAX_FIELDS),
    )


def node_title(graph: Graph, position: int) -> str:
    """Return the name of a node if the table has one, else its id."""
    return _title(graph, position)[0]


def node_picture(graph: Graph, position: int) -> Picture | None:
    """Return the features of a node as a picture; None if they are not pixels."""
    for _, start, stop in card_layout(graph).features:
        found = picture_from_features(graph, position, summarize_features(graph, start, stop))
        if found is not None:
            return found
    return None


def _title(graph: Graph, position: int) -> tuple[str, bool]:
    """Return the title of a node, and whether it comes from a column."""
    column = card_layout(graph).title
    value = None if column is None else _value(graph, column, position)
    text = clean_line(format_value(value), MAX_TITLE_CHARS)
    return (text, True) if text else (_id_text(graph, position, MAX_TITLE_CHARS), False)


def _id_text(graph: Graph, position: int, max_chars: int) -> str:
    name: Hashable = graph.ids[position]
    return clean_line(str(name), max_chars) or repr(name)


def _value(graph: Graph, column: str, position: int) -> Any:
    """Return one value of the table; times that Python cannot represent become text."""
    assert graph.table is not None
    scalar = graph.table.column(column)[position]
    try:
        value = scalar.as_py()
    except (ValueError, OverflowError, ImportError):
        return str(scalar)
    return None if isinstance(value, float) and math.isnan(value) else value


def _rank_of_kind(kind: str) -> int:
    return ORDER.index(kind)


def _rank(column: CardColumn, field: Field) -> int:
    if not field.text:
        return len(ORDER) + 1
    if column.is_constant:
        return len(ORDER)
    return _rank_of_kind(field.kind if field.kind in ("image", "link") else column.kind)


def _column_field(column: CardColumn, value: Any, position: int, images: Path | None) -> Field:
    """Return the field of a column."""
    name = clean_line(column.name, MAX_TITLE_CHARS) or "unnamed column"
    kind = "text" if column.kind == "own" else column.kind
    text = _format(column, value)
    if not text.strip():
        return Field(name, kind, "", "missing")
    if isinstance(value, str):
        if _is_link(value.strip()):
            return Field(name, "link", clean_text(value.strip(), MAX_VALUE_CHARS), href=value.strip())
        if Path(value.strip()).suffix.lower() in MEDIA_TYPES and images is not None:
            return _image_field(name, value.strip(), images)
    share = None if column.shares is None else float(column.shares[position])
    share = None if share is None or math.isnan(share) else share
    limit = MAX_TEXT_CHARS if kind == "text" else MAX_VALUE_CHARS
    cut = f"{len(text) - limit:,} more characters" if len(text) > limit else ""
    note = cut or ("same for all nodes" if column.is_constant else _note(kind, share))
    return Field(name, kind, clean_text(text, limit), note, share if kind in ("number", "date") else None)


def _note(kind: str, share: float | None) -> str:
    if share is None:
        return ""
    if kind == "number":
        return f"higher than {format_percent(share)} of nodes" if share else "lowest value"
    if kind == "date":
        return f"later than {format_percent(share)} of nodes" if share else "earliest date"
    return f"{format_percent(share)} of nodes"


def _image_field(name: str, value: str, images: Path) -> Field:
    """Return the field of an image, or the text of the table if there is no such file."""
    file = find_image(images, value)
    if file is None:
        return Field(name, "text", clean_text(value, MAX_VALUE_CHARS), "not in the image folder")
    inside = file.relative_to(images.resolve())
    return Field(name, "image", clean_text(value, MAX_VALUE_CHARS), href=IMAGES_URL + quote(inside.as_posix()))


def _is_link(text: str) -> bool:
    """Return whether text is exactly one web address."""
    if not re.fullmatch(r"https?://[^\s\x00-\x1f\x7f-\x9f\"'<>\\]+", text, re.IGNORECASE):
        return False
    try:
        return bool(urlsplit(text).hostname)
    except ValueError:
        return False


def _format(column: CardColumn, value: Any) -> str:
    if value is None:
        return ""
    if column.kind == "date":
        return _format_date(column, value)
    if column.kind == "vector":
        return _format_vector(value)
    if column.kind == "number" and isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return format_number(float(value))
    return format_value(value)


def _format_date(column: CardColumn, value: Any) -> str:
    """Format a date; text that is not a date stays unchanged."""
    if isinstance(value, dt.datetime | dt.date):
        return format_date(value)
    found = read_dates(pa.array([value]), column.form) if isinstance(value, str) else None
    if found is None or not np.isfinite(found.values[0]):
        return str(value)
    return format_date(dt.datetime(1970, 1, 1) + dt.timedelta(seconds=float(found.values[0])))


def _format_vector(value: Any) -> str:
    lists = read_lists(pa.array([value]), pa.float64())
    numbers = None if lists is None else lists[0].as_py()
    if numbers is None:
        return format_value(value)
    return format_range([each for each in numbers if each is not None])


def _feature_fields(graph: Graph, position: int, name: str, summary: FeatureSummary) -> list[Field]:
    """Return the fields of features that are shown instead of columns."""
    row = feature_row(graph, position, summary.start, summary.stop)
    names = graph.feature_names

    def feature_name(place: int) -> str:
        number = summary.start + place
        return clean_line(names[number], MAX_TITLE_CHARS) if names else f"feature {number}"

    if summary.kind == "picture":
        return []
    if summary.kind == "words":
        there = np.flatnonzero(row)
        rarity = np.log((1 + summary.document_counts.max()) / (1 + summary.document_counts[there]))
        best = there[np.argsort(-row[there] * (1 + rarity), kind="stable")].tolist()
        words = ", ".join(feature_name(place) if names else str(summary.start + place) for place in best[:MAX_WORDS])
        more = f", {len(best) - MAX_WORDS:,} more" if len(best) > MAX_WORDS else ""
        what = "words" if names else "non-zero features"
        note = f"{len(best):,} of {summary.width:,}, rarest first"
        return [Field(what, "text", words + more, note if best else "none")]
    every = summary.width <= MAX_NUMBERS + 4
    shown = np.arange(summary.width) if every else summary.most_unusual(row, MAX_NUMBERS)
    lines = [
        Field(
            feature_name(place),
            "number",
            format_number(float(row[place])),
            _note("number", share),
            share,
        )
        for place, share in zip(shown.tolist(), summary.places(row, shown).tolist(), strict=True)
    ]
    if every:
        return lines
    return [*lines, Field(name, "vector", format_range(row.tolist()), f"showing the {MAX_NUMBERS} most unusual")]
