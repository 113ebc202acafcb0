"""Graphs on disk: tables, descriptions, files of other programs, arrays, converted folders, public data sets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from fuzz.case import Case
from fuzz.checks import command
from fuzz.damage import damaged_arrays, damaged_bytes, damaged_json, damaged_npy, damaged_table, values

DESCRIPTION = {
    "nodes": "nodes.csv", "edges": "SELECT source, target, weight FROM 'edges.csv'", "columns.id": "id",
    "columns.label": "label", "columns.ignore": ["since"], "columns.country": "category", "graph.weights": "mean",
    "graph.duplicates": "max", "graph.unknown": "error", "graph.only": "amount > 0",
}  # fmt: skip
QUERIES = (
    "SELECT", "SELECT 1", "SELECT * FROM nodes", "SELECT NULL AS id", "SELECT * FROM 'nodes.csv'; DROP TABLE nodes",
    "COPY (SELECT 1) TO 'stolen.csv'", "SELECT * FROM 'nodes.csv'; COPY (SELECT 1) TO 'stolen.csv'",
    "EXPORT DATABASE 'stolen'", "ATTACH 'stolen.db'", "CREATE TABLE t AS SELECT 1", "INSTALL httpfs", "LOAD httpfs",
    "SET memory_limit = '1B'", "PRAGMA database_list", "SELECT getenv('HOME') AS id", "FROM 'no-such-*.csv'",
    "SELECT * FROM read_csv('nodes.csv', no_such = 1)", "SELECT id, id FROM 'nodes.csv'", "SELECT [1, 2] AS id",
    "SELECT {'a': 1} AS id", "SELECT error('stop') AS id", "FROM 'http://127.0.0.1:9/nodes.csv'", "SELECT 1 AS \"\"",
    "SELECT source, target, -1e308 AS weight FROM 'edges.csv'", "SELECT source, target, 'x' AS weight FROM 'edges.csv'",
    "WITH t AS (SELECT 1 AS source, 2 AS target) SELECT * FROM t", "1 = 1) OR (1 = 1", "amount > 0; SELECT 1",
)  # fmt: skip


COMMANDS = (
    "inspect {graph}",
    "select {graph} --budget {budget} --out out.csv",
    "convert {graph} out",
    "train {graph} --labels picks.csv --out out.safetensors",
    "predict {graph} --model ridge.safetensors --out out.csv",
    "report {graph} --labels picks.csv --out out.html",
)


def on_graph(graph: str, files: dict[str, bytes | None]) -> SearchStrategy[Case]:
    """Run a command that reads a graph."""
    lines = st.builds(str.format, st.sampled_from(COMMANDS), graph=st.just(graph), budget=st.integers(1, 4))
    return lines.map(lambda line: command(line, files))


@st.composite
def tables(draw: DrawFn, seeds: Path) -> Case:
    """Damage one table, or both, of a folder of CSV or Parquet files or workbooks."""
    suffix = draw(st.sampled_from([".csv", ".csv", ".parquet", ".xlsx"]))
    files: dict[str, bytes | None] = {}
    for name in ("nodes", "edges"):
        content = (seeds / "csv" / f"{name}.csv").read_bytes()
        files[f"csv/{name}.csv"] = None
        files[f"csv/{name}{suffix}"] = draw(damaged_table(content, suffix))
    return draw(on_graph("csv", files))


@st.composite
def descriptions(draw: DrawFn, seeds: Path) -> Case:  # noqa: ARG001
    """Damage a ``graph.toml``, or give it hostile SQL: nothing is written but what the command writes."""
    tree: dict[str, Any] = dict(DESCRIPTION)
    key = draw(st.sampled_from(["nodes", "edges", "graph.only", *DESCRIPTION, "graph.other", "attach.shop"]))
    tree[key] = draw(st.sampled_from(QUERIES) | st.sampled_from(QUERIES) | values)
    content = "".join(f"{name} = {json.dumps(value)}\n" for name, value in tree.items()).encode()
    damaged = draw(damaged_bytes(content)) if draw(st.integers(0, 5)) == 0 else content
    return draw(on_graph("csv", {"csv/graph.toml": damaged}))


@st.composite
def exchange_files(draw: DrawFn, seeds: Path) -> Case:
    """Damage a file of another program."""
    name = draw(st.sampled_from(["graph.graphml", "graph.gml", "graph.edgelist", "graph.json"]))
    content = (seeds / name).read_bytes()
    damaged = draw(damaged_json(content) if name.endswith("json") else damaged_bytes(content))
    return draw(on_graph(name, {name: damaged}))


@st.composite
def arrays(draw: DrawFn, seeds: Path) -> Case:
    """Damage the arrays of a ``.npz`` file."""
    content = (seeds / "plain.npz").read_bytes()
    return draw(on_graph("graph.npz", {"graph.npz": draw(damaged_arrays(content))}))


@st.composite
def converted_graphs(draw: DrawFn, seeds: Path) -> Case:
    """Damage, remove or swap files of a converted graph with dense or sparse features."""
    graph = draw(st.sampled_from(["native", "native-sparse"]))
    names = sorted(path.name for path in (seeds / graph).iterdir() if path.name != "checked.json")
    name = draw(st.sampled_from(names))
    content = (seeds / graph / name).read_bytes()
    damage = {".json": damaged_json, ".npy": damaged_npy}.get(Path(name).suffix, damaged_bytes)
    other = (seeds / graph / draw(st.sampled_from(names))).read_bytes()
    damaged = draw(st.one_of(damage(content), damage(content), damaged_bytes(content), st.sampled_from([None, other])))
    return draw(on_graph(graph, {f"{graph}/{name}": damaged}))


TARGETS: dict[str, Any] = {
    "tables": tables, "exchange": exchange_files, "npz": arrays, "native": converted_graphs,
    "description": descriptions,
}  # fmt: skip
