"""Features in a file of their own: items of each node, or further columns.

=========================================  =======================================================
``{"id": ["item", …]}``                    JSON: the items a node has
``{"id": {"item": value, …}}``             JSON: the value of each item
node, feature, value                       a table with a row for each entry; the value may be left out
id, a list in each row                     a Parquet or JSON table with ragged lists
id, other columns                          any other table: its columns join those of the nodes
=========================================  =======================================================

Items become one sparse group; `featprop.features` chooses the vocabulary and weights the group.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from featprop.errors import FileError, quote_error
from featprop.sources.databases import identifier, reading
from featprop.sources.description import GraphDescription, is_sql
from featprop.sources.naming import ID_NAMES, find_column
from featprop.sources.tables import Source, Tables, opened, table_suffix

log = logging.getLogger(__name__)

ITEMS_COLUMN = "features"
ITEM_NAMES = ("feature", "item", "word", "token", "attribute", "feature_id", "item_id")
VALUE_NAMES = ("value", "count", "weight", "tfidf")
ITEMS_TYPE = pa.map_(pa.string(), pa.float64())


def join_features(tables: Tables, nodes: pa.Table, ids: pa.Array, description: GraphDescription) -> pa.Table:
    """Return the table of the nodes with the columns of the feature file."""
    spec = description.features
    assert spec is not None
    path = description.folder / spec
    if not is_sql(spec) and table_suffix(path) == ".json" and (found := _items_of_json(path)) is not None:
        extra = found
    else:
        extra = _items_of_table(tables, tables.source(spec, "features"))
    keys = pc.cast(ids, pa.string())
    places = pc.index_in(keys, value_set=extra.column("id").combine_chunks().cast(pa.string()))
    missing = places.null_count
    if missing == len(ids):
        raise FileError(
            f"{spec} has features of none of the {len(ids):,} nodes.",
            hint="Its ids must be those of the nodes.",
            path=spec,
        )
    if missing:
        log.info("%s has no features of %s of %s nodes", spec, f"{missing:,}", f"{len(ids):,}")
    for name in extra.column_names:
        if name == "id":
            continue
        title = name if name not in nodes.column_names else f"{name}_2"
        nodes = nodes.append_column(title, extra.column(name).combine_chunks().take(places))
    return nodes


def _items_of_json(path: Path) -> pa.Table | None:
    """Return the items of each node of a JSON object, None if the file is a table."""
    try:
        with opened(path) as file:
            content = json.loads(file.read())
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path} is not valid JSON: {quote_error(error)}.", path=path) from error
    if not isinstance(content, dict) or not all(isinstance(value, list | dict) for value in content.values()):
        return None
    items = [_items(value, node, path) for node, value in content.items()]
    return pa.table({"id": pa.array(content, pa.string()), ITEMS_COLUMN: pa.array(items, ITEMS_TYPE)})


def _items(value: list[Any] | dict[str, Any], node: str, path: Path) -> list[tuple[str, float]]:
    try:
        if isinstance(value, dict):
            return [(str(item), float(number)) for item, number in value.items()]
        return [(item, 1.0) for item in dict.fromkeys(_item(each) for each in value)]
    except (TypeError, ValueError) as error:
        raise FileError(
            f"{path} has features of node {node!r} that are no items: {quote_error(error)}.", path=path
        ) from error


def _item(value: Any) -> str:
    if isinstance(value, list | dict) or value is None:
        raise ValueError(f"{value!r}")
    return str(value)


def _items_of_table(tables: Tables, source: Source) -> pa.Table:
    """Return columns by id: items of triples, or the columns of a table with a row per node."""
    columns = list(source.columns)
    node = find_column(columns, ID_NAMES, source.name) or columns[0]
    item = find_column(columns, ITEM_NAMES, source.name)
    value = find_column(columns, VALUE_NAMES, source.name)
    if item is None and len(columns) in (2, 3) and "[]" not in source.columns[columns[1]]:
        names = [name for name in columns if name != node]
        query = f"SELECT count(*) > count(DISTINCT {identifier(node)}) FROM {source.relation}"
        with reading(source.name):
            if tables.connection.execute(query).fetchall()[0][0]:
                item, value = names[0], names[1] if len(names) == 2 else None
    if item is None:
        return tables.fetch(source).rename_columns(["id" if name == node else name for name in columns])
    number = "1.0" if value is None else f"CAST({identifier(value)} AS DOUBLE)"
    query = (
        f"SELECT id, map_from_entries(list({{'k': item, 'v': amount}} ORDER BY item)) AS {ITEMS_COLUMN} FROM ("
        f"SELECT CAST({identifier(node)} AS VARCHAR) AS id, CAST({identifier(item)} AS VARCHAR) AS item, "
        f"sum({number}) AS amount FROM {source.relation} GROUP BY ALL) WHERE item IS NOT NULL GROUP BY id"
    )
    with reading(source.name):
        return tables.connection.execute(query).to_arrow_table()
