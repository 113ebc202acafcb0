"""Features in a separate file: items of each node, or further columns.

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

import pyarrow as pa
import pyarrow.compute as pc

from featprop.errors import FileError, quote_error
from featprop.sources.databases import identifier, reading
from featprop.sources.delimited import opened, table_suffix
from featprop.sources.description import GraphDescription, is_sql
from featprop.sources.naming import ID_NAMES, find_column
from featprop.sources.tables import Source, Tables

log = logging.getLogger(__name__)

ITEMS_COLUMN = "features"
ITEM_NAMES = ("feature", "item", "word", "token", "attribute", "feature_id", "item_id")
VALUE_NAMES = ("value", "count", "weight", "tfidf")


def join_features(tables: Tables, nodes: pa.Table, ids: pa.Array, description: GraphDescription) -> pa.Table:
    """Return the table of the nodes with the columns of the feature file."""
    spec = description.features
    assert spec is not None
    path = description.folder / spec
    entries = _read_json(path) if not is_sql(spec) and table_suffix(path) == ".json" else None
    source = tables.source(spec, "features") if entries is None else tables.arrow(entries, str(path))
    extra = _columns_of(tables, source)
    places = pc.index_in(pc.cast(ids, pa.string()), value_set=extra.column("id").combine_chunks().cast(pa.string()))
    missing = places.null_count
    if missing == len(ids):
        message = f"{spec} has features of none of the {len(ids):,} nodes."
        raise FileError(message, hint="Its ids must be those of the nodes.", path=spec)
    if missing:
        log.info("%s has no features of %s of %s nodes", spec, f"{missing:,}", f"{len(ids):,}")
    for name in extra.column_names:
        if name != "id":
            title = name if name not in nodes.column_names else f"{name}_2"
            nodes = nodes.append_column(title, extra.column(name).combine_chunks().take(places))
    return nodes


def _read_json(path: Path) -> pa.Table | None:
    """Return the node, the item and the value of each entry of a JSON object, None if the file is a table."""
    try:
        with opened(path) as file:
            content = json.loads(file.read())
        if not isinstance(content, dict) or not all(isinstance(items, list | dict) for items in content.values()):
            return None
        incomplete = [node for node, items in content.items() if isinstance(items, list) and None in items]
        if incomplete:
            raise ValueError(f"node {incomplete[0]!r} has an item without a value")
        entries = [
            (node, str(item), float(value))
            for node, items in content.items()
            for item, value in (items if isinstance(items, dict) else dict.fromkeys(items, 1)).items()
        ]
    except (TypeError, ValueError, RecursionError) as error:
        raise FileError(
            f"{path} must be a JSON object that maps each node to its items: {quote_error(error)}.", path=path
        ) from error
    nodes, items, values = zip(*entries, strict=True) if entries else ((), (), ())
    return pa.table({"id": pa.array(nodes, pa.string()), "item": pa.array(items, pa.string()), "value": values})


def _columns_of(tables: Tables, source: Source) -> pa.Table:
    """Return columns by id: one of items if there is a row per entry, or those of a table with a row per node."""
    columns = list(source.columns)
    node = find_column(columns, ID_NAMES, source.name) or columns[0]
    item = find_column(columns, ITEM_NAMES, source.name)
    value = find_column(columns, VALUE_NAMES, source.name)
    with reading(source.name):
        if item is None and len(columns) in (2, 3) and "[]" not in source.columns[columns[1]]:
            query = f"SELECT count(*) > count(DISTINCT {identifier(node)}) FROM {source.relation}"
            if tables.connection.execute(query).fetchall()[0][0]:
                item, value, *_ = [*(name for name in columns if name != node), None]
        if item is None:
            return tables.fetch(source).rename_columns(["id" if name == node else name for name in columns])
        number = "1.0" if value is None else f"CAST({identifier(value)} AS DOUBLE)"
        query = (
            f"SELECT id, map_from_entries(list({{'k': item, 'v': amount}} ORDER BY item)) AS {ITEMS_COLUMN} FROM ("
            f"SELECT CAST({identifier(node)} AS VARCHAR) AS id, CAST({identifier(item)} AS VARCHAR) AS item, "
            f"sum({number}) AS amount FROM {source.relation} GROUP BY ALL) WHERE item IS NOT NULL GROUP BY id"
        )
        return tables.connection.sql(query).to_arrow_table()
