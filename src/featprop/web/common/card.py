"""Build the card of a node: its title and the values of its columns, formatted for people.

The order is the same for all nodes: images, text, the other columns as in the table, and the id. Numbers and dates come
with their rank among all nodes, categories with their frequency. The class is left out; columns that make no feature
are not, as a name or an e-mail address helps a person. The text is not escaped.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup
from numpy.typing import NDArray
from scipy.stats import rankdata

from featprop.features import Kind, Reason
from featprop.features.encoders import DateEncoder, NumberEncoder
from featprop.features.parsing import as_text, find_date_form, find_decimal_mark, plain_array, read_dates, read_numbers
from featprop.features.profile import infer_kind
from featprop.graph import Graph
from featprop.web.common.features import FeatureSummary, Picture, summarize_features
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
IMAGE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".avif"})
"""SVG is not allowed, because an SVG file can run scripts."""
MAX_TEXT_CHARS, MAX_TITLE_CHARS, MAX_VALUE_CHARS = 5000, 120, 500
MAX_FIELDS = 100
SUMMARY_FIELDS, MAX_SUMMARY_CHARS = 3, 60
"""Columns of a node next to its name, and characters of each."""
MAX_WORDS = 60
"""Words shown of the features."""
MAX_GROUP_COLUMNS = 12
"""Columns of a group, and features without names, that are shown one by one."""
FIRST_KINDS = ("image", "text")
"""Kinds of fields that come first."""
NAME_COLUMN = re.compile(r".*(name|title|label)", re.IGNORECASE)
"""Columns with the names of the nodes, if nearly every value is unique."""
EPOCH = dt.datetime(1970, 1, 1)
PLAIN_NUMBER = re.compile(r"[-+.,\deE]+")
"""A number without currency or unit."""
LINK = re.compile(r"https?://[^\s\x00-\x1f\x7f-\x9f\"'<>\\]+", re.IGNORECASE)


@dataclass(frozen=True)
class Field:
    """A line of a card."""

    name: str  # column name
    kind: str  # `Kind`, or ``"code"`` for short text or codes that are unique to nearly every node, link or image
    text: str  # formatted value, not escaped; empty if it is missing
    note: str = ""  # a remark, for example ``"higher than 83 % of nodes"``
    place: float | None = None  # for numbers and dates, the share of nodes below this one
    href: str | None = None  # target of a link or source of an image: ``http:``, ``https:`` or below `IMAGES_URL`


@dataclass(frozen=True)
class Card:
    """The card of a node."""

    title: str  # name or id of the node
    fields: list[Field]  # lines of the card
    picture: Markup | None = None  # SVG element if the features are pixels
    n_hidden: int = 0  # number of columns that are not shown


@dataclass(frozen=True, eq=False)
class CardColumn:
    """A column of the node table."""

    name: str
    kind: str  # as in `Field`
    shares: NDArray[np.float32] | None = None  # of nodes below each number or date, or with the same category or flag
    values: NDArray[np.float64] | None = None  # numbers, or seconds since 1970 of dates


@dataclass(frozen=True, eq=False)
class CardLayout:
    """What the cards of a graph show."""

    columns: tuple[CardColumn, ...] = ()  # columns of the table, in its order
    title: str | None = None  # column with the names of the nodes; None if they go by their ids
    features: tuple[FeatureSummary, ...] = ()  # features that are shown instead of columns


def build_card(graph: Graph, position: int, images: Path | None = None) -> Card:
    """Return the card of a node.

    The first card of a graph profiles its columns; after that, the cost does not depend on the number of nodes.
    """
    layout = card_layout(graph)
    title = node_title(graph, position)
    fields: list[Field] = []
    for column in layout.columns:
        value = _value(graph, column.name, position)
        if column.name != layout.title or clean_line(format_value(value)) != title:
            fields.append(_column_field(column, value, position, images))
    for summary in layout.features:
        fields += _feature_fields(graph, position, summary)
    fields.sort(key=lambda field: FIRST_KINDS.index(field.kind) if field.kind in FIRST_KINDS else len(FIRST_KINDS))
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
    pictures = (each for each in card_layout(graph).features if each.kind == "picture")
    return next((each.picture(graph, position) for each in pictures), None)


def node_thumb(graph: Graph, position: int) -> Markup:
    """Return a small picture of a node; empty without one."""
    picture = node_picture(graph, position)
    return Markup() if picture is None else picture.svg('class="thumb" aria-hidden="true"')


def node_summary(graph: Graph, position: int, separator: str) -> str:
    """Return the first columns of a node in a few words; nothing if its features have no names."""
    if graph.table is None and graph.feature_names is None:
        return ""
    fields = [field for field in build_card(graph, position).fields if field.text and field.kind != "code"]
    return separator.join(
        f"{field.name}: {clean_line(field.text, MAX_SUMMARY_CHARS)}" for field in fields[:SUMMARY_FIELDS]
    )


def card_layout(graph: Graph) -> CardLayout:
    """Return what the cards of a graph show; computed once per graph."""
    found: CardLayout = graph.cache.get("columns a person reads", lambda: _compute_layout(graph))
    return found


def _compute_layout(graph: Graph) -> CardLayout:
    table, groups = graph.table, () if graph.preprocessor is None else graph.preprocessor.groups
    is_whole = table is None or graph.preprocessor is None
    summaries = [summarize_features(graph, "features", 0, graph.n_features)] if is_whole else []
    if table is None:
        return CardLayout(features=tuple(summaries))
    encoders, covered, start = {}, set(), 0
    for group in groups:
        stop, kind = start + len(group.feature_names), group.kind
        is_listed = len(group.columns) <= MAX_GROUP_COLUMNS and set(group.columns) <= set(table.column_names)
        if kind == Kind.VECTOR or (kind == Kind.GROUP and not is_listed):
            summary = summarize_features(graph, group.name, start, stop)
            if kind == Kind.GROUP or summary.kind == "picture":
                summaries.append(summary)
                covered |= set(group.columns)
        if kind != Kind.GROUP:
            encoders[group.name] = group.encoder
        start = stop
    columns = []
    for name in table.column_names:
        if name not in covered:
            values, encoder = plain_array(table.column(name)), encoders.get(name)
            found = infer_kind(name, values) if encoder is None else encoder.kind
            if found != Reason.EMPTY:
                shown = Kind.CATEGORY if found == Reason.CONSTANT else found
                columns.append(_read_column(name, shown, values, encoder))
    unique = (each.name for each in columns if each.kind in ("code", "text"))
    title = next((name for name in unique if NAME_COLUMN.fullmatch(name.strip())), None)
    return CardLayout(tuple(columns), title, tuple(summaries))


def _read_column(name: str, kind: Kind | Reason, values: pa.Array, encoder: object) -> CardColumn:
    if kind == Kind.NUMBER:
        decimal = encoder.decimal if isinstance(encoder, NumberEncoder) else find_decimal_mark(values).text
        numbers = read_numbers(values, decimal)
        return CardColumn(name, kind, shares=_shares_below(numbers), values=numbers)
    if kind == Kind.DATE:
        form = encoder.form if isinstance(encoder, DateEncoder) else find_date_form(values).text
        dates = read_dates(values, form)
        return CardColumn(name, kind, shares=_shares_below(dates), values=dates)
    if kind in (Kind.CATEGORY, Kind.FLAG):
        return CardColumn(name, kind, shares=_shares_alike(values))
    return CardColumn(name, kind if kind in (Kind.TEXT, Kind.VECTOR) else "code")


def _shares_below(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the share of numbers below each number."""
    below = rankdata(values, method="min", nan_policy="omit") - 1
    return np.asarray(below / max(1, np.count_nonzero(~np.isnan(values))), dtype=np.float32)


def _shares_alike(values: pa.Array) -> NDArray[np.float32] | None:
    """Return the share of values equal to each value; None for nested types."""
    text = as_text(values)
    if text is None:
        return None
    codes = pc.fill_null(text.dictionary_encode().indices, -1).to_numpy(zero_copy_only=False)
    counts = np.bincount(codes[codes >= 0])
    return np.asarray(np.append(counts / max(1, counts.sum()), np.nan)[codes], dtype=np.float32)


def _id_text(graph: Graph, position: int, max_chars: int) -> str:
    name = graph.ids[position]
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
        if LINK.fullmatch(value.strip()):
            return Field(name, "link", clean_text(value.strip(), MAX_VALUE_CHARS), href=value.strip())
        if Path(value.strip()).suffix.lower() in IMAGE_SUFFIXES and images is not None:
            return _image_field(name, value.strip(), images)
    share = math.nan if column.shares is None else float(column.shares[position])
    limit = MAX_TEXT_CHARS if column.kind in ("text", "code") else MAX_VALUE_CHARS
    note = f"{len(text) - limit:,} more characters" if len(text) > limit else _note(column.kind, share)
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
            if found.is_relative_to(root) and found.suffix.lower() in IMAGE_SUFFIXES and found.is_file():
                return found
    except (OSError, ValueError, RuntimeError):
        return None
    return None


def media_type(image: Path) -> str:
    """Return the media type of an image by its suffix."""
    return f"image/{image.suffix.lower().removeprefix('.').replace('jpg', 'jpeg')}"


def _format(column: CardColumn, value: Any, position: int) -> str:
    """Format a value by the kind of its column; text that is more than a number or date stays unchanged."""
    number = math.nan if column.values is None else float(column.values[position])
    if column.kind == "number" and math.isfinite(number) and PLAIN_NUMBER.fullmatch(str(value)):
        return format_number(number)
    if column.kind == "date" and math.isfinite(number):
        return format_date(EPOCH + dt.timedelta(seconds=number))
    if column.kind == "vector" and isinstance(value, list):
        return format_range([each for each in value if each is not None])
    return format_value(value)


def _feature_fields(graph: Graph, position: int, summary: FeatureSummary) -> list[Field]:
    """Return the fields of features that are shown instead of columns; none for a picture."""
    row = summary.row(graph, position)

    def name(place: int) -> str:
        number = summary.start + place
        return clean_line(graph.feature_names[number], MAX_TITLE_CHARS) if graph.feature_names else f"feature {number}"

    if summary.kind == "words":
        used = np.flatnonzero(row)
        rarest = used[np.argsort(-row[used] / np.maximum(summary.mean[used], 1e-9), kind="stable")].tolist()
        text = ", ".join(map(name, rarest[:MAX_WORDS]))
        text += f", {len(used) - MAX_WORDS:,} more" if len(used) > MAX_WORDS else ""
        note = f"{len(used):,} of {summary.width:,}, rarest first" if len(used) else "none"
        return [Field("words" if graph.feature_names else "non-zero features", "text", text, note)]
    if summary.kind == "numbers" and summary.width <= MAX_GROUP_COLUMNS:
        return [Field(name(place), "number", format_number(value)) for place, value in enumerate(row.tolist())]
    return [Field(summary.name, "vector", format_range(row.tolist()))] if summary.kind == "numbers" else []
