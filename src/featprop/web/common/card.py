"""Build the card of a node: its title and the values of its columns, formatted for people.

The order is the same for all nodes: images, text, the other columns as in the table, columns with the same value
everywhere, and the id. Numbers and dates come with their rank among all nodes, categories with their frequency. The
text is not escaped.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import numpy as np
import pyarrow as pa

from featprop.features.parsing import read_lists
from featprop.graph import Graph
from featprop.web.common.columns import CardColumn, FeatureRange, card_layout
from featprop.web.common.features import Picture, feature_row, picture_from_features, summarize_features
from featprop.web.common.formatting import (
    clean_line,
    clean_text,
    format_date,
    format_number,
    format_percent,
    format_range,
    format_value,
)

IMAGES_URL = "/images/"
"""Where the labelling page serves the image folder."""
MEDIA_TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".bmp": "image/bmp",
    ".avif": "image/avif",
}
"""Media type of each file extension. SVG is not allowed, because an SVG file can run scripts."""
MAX_TEXT_CHARS, MAX_TITLE_CHARS, MAX_VALUE_CHARS = 5000, 120, 500
MAX_FIELDS = 100
MAX_NUMBERS, MAX_WORDS = 8, 60
"""Numbers and words shown of the features."""
FIRST_KINDS = ("image", "text")
"""Kinds of fields that come first."""
EPOCH = dt.datetime(1970, 1, 1)
PLAIN_NUMBER = re.compile(r"[-+.,\deE]+")
"""A number without currency or unit."""


@dataclass(frozen=True)
class Field:
    """A line of a card."""

    name: str  # column name
    kind: (
        str  # ``"text"``, ``"code"``, ``"number"``, ``"date"``, ``"category"``, ``"flag"``, ``"link"``, ``"image"``, …
    )
    text: str  # formatted value, not escaped; empty if it is missing
    note: str = ""  # a remark, for example ``"higher than 83 % of nodes"``
    place: float | None = None  # for numbers and dates, the share of nodes below this one
    href: str | None = None  # target of a link or source of an image: ``http:``, ``https:`` or below `IMAGES_URL`


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
    title = node_title(graph, position)
    varied: list[Field] = []
    constant: list[Field] = []
    for column in layout.columns:
        value = _value(graph, column.name, position)
        if column.name != layout.title or clean_line(format_value(value)) != title:
            (constant if column.is_constant else varied).append(_column_field(column, value, position, images))
    for features in layout.features:
        varied += _feature_fields(graph, position, features)
    varied.sort(key=lambda field: FIRST_KINDS.index(field.kind) if field.kind in FIRST_KINDS else len(FIRST_KINDS))
    fields = [*varied, *constant]
    name = _id_text(graph, position, MAX_VALUE_CHARS)
    if clean_line(name, MAX_TITLE_CHARS) != title:
        fields.append(Field(graph.id_name, "code", name))
    picture = node_picture(graph, position)
    return Card(
        title,
        fields[:MAX_FIELDS],
        None if picture is None else picture.svg('class="picture" role="img" aria-label="Features as a picture"'),
        max(0, len(fields) - MAX_FIELDS),
    )


def node_title(graph: Graph, position: int) -> str:
    """Return the name of a node if the table has one, else its id."""
    column = card_layout(graph).title
    name = "" if column is None else clean_line(format_value(_value(graph, column, position)), MAX_TITLE_CHARS)
    return name or _id_text(graph, position, MAX_TITLE_CHARS)


def node_picture(graph: Graph, position: int) -> Picture | None:
    """Return the features of a node as a picture; None if they are not pixels."""
    for _, start, stop in card_layout(graph).features:
        found = picture_from_features(graph, position, summarize_features(graph, start, stop))
        if found is not None:
            return found
    return None


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


def _column_field(column: CardColumn, value: Any, position: int, images: Path | None) -> Field:
    """Return the field of a column."""
    name = clean_line(column.name, MAX_TITLE_CHARS) or "unnamed column"
    text = _format(column, value, position)
    if not text.strip():
        return Field(name, column.kind, "", "missing")
    if isinstance(value, str):
        if _is_link(value.strip()):
            return Field(name, "link", clean_text(value.strip(), MAX_VALUE_CHARS), href=value.strip())
        if Path(value.strip()).suffix.lower() in MEDIA_TYPES and images is not None:
            return _image_field(name, value.strip(), images)
    share = math.nan if column.shares is None else float(column.shares[position])
    limit = MAX_TEXT_CHARS if column.kind in ("text", "code") else MAX_VALUE_CHARS
    if len(text) > limit:
        note = f"{len(text) - limit:,} more characters"
    else:
        note = "same for all nodes" if column.is_constant else _note(column.kind, share)
    has_place = column.kind in ("number", "date") and not math.isnan(share)
    return Field(name, column.kind, clean_text(text, limit), note, share if has_place else None)


def _note(kind: str, share: float) -> str:
    if math.isnan(share):
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
        return Field(name, "code", clean_text(value, MAX_VALUE_CHARS), "not in the image folder")
    inside = file.relative_to(images.resolve())
    return Field(name, "image", clean_text(value, MAX_VALUE_CHARS), href=IMAGES_URL + quote(inside.as_posix()))


def find_image(images: Path, name: str) -> Path | None:
    """Return the path of an image, or None if it is missing or outside the folder (by ``..`` or a link)."""
    try:
        root = images.resolve(strict=True)
        for start in (root, root.parent):
            found = (start / name).resolve()
            if found.is_relative_to(root) and found.suffix.lower() in MEDIA_TYPES and found.is_file():
                return found
    except (OSError, ValueError, RuntimeError):
        return None
    return None


def _is_link(text: str) -> bool:
    """Return whether text is exactly one web address."""
    if not re.fullmatch(r"https?://[^\s\x00-\x1f\x7f-\x9f\"'<>\\]+", text, re.IGNORECASE):
        return False
    try:
        return bool(urlsplit(text).hostname)
    except ValueError:
        return False


def _format(column: CardColumn, value: Any, position: int) -> str:
    """Format a value by the kind of its column; text that is more than a number or date stays unchanged."""
    number = math.nan if column.values is None else float(column.values[position])
    if column.kind == "number" and math.isfinite(number) and PLAIN_NUMBER.fullmatch(str(value)):
        return format_number(number)
    if column.kind == "date" and math.isfinite(number) and isinstance(value, str):
        return format_date(EPOCH + dt.timedelta(seconds=number))
    if column.kind == "vector" and value is not None:
        lists = read_lists(pa.array([value]), pa.float64())
        numbers = None if lists is None else lists[0].as_py()
        if numbers is not None:
            return format_range([each for each in numbers if each is not None])
    return format_value(value)


def _feature_fields(graph: Graph, position: int, features: FeatureRange) -> Iterator[Field]:
    """Yield the fields of features that are shown instead of columns."""
    summary = summarize_features(graph, features.start, features.stop)
    row, names = feature_row(graph, position, summary), graph.feature_names
    if summary.kind == "words":
        used = np.count_nonzero(row)
        words = summary.most_unusual(row, MAX_WORDS).tolist()
        numbers = [summary.start + place for place in words]
        text = ", ".join(clean_line(names[number]) if names else str(number) for number in numbers)
        text += f", {used - MAX_WORDS:,} more" if used > MAX_WORDS else ""
        note = f"{used:,} of {summary.width:,}, rarest first" if used else "none"
        yield Field("words" if names else "non-zero features", "text", text, note)
    elif summary.kind == "numbers":
        has_all = summary.width <= MAX_NUMBERS + 4
        shown = np.arange(summary.width) if has_all else summary.most_unusual(row, MAX_NUMBERS)
        for place, share in zip(shown.tolist(), summary.shares_below(row, shown).tolist(), strict=True):
            number = summary.start + place
            name = clean_line(names[number], MAX_TITLE_CHARS) if names else f"feature {number}"
            yield Field(name, "number", format_number(float(row[place])), _note("number", share), share)
        if not has_all:
            note = f"showing the {MAX_NUMBERS} most unusual"
            yield Field(features.name, "vector", format_range(row.tolist()), note)
