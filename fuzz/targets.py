"""The targets of fuzzing: commands on damaged graphs, answers, models and command lines."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import typer
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from featprop.cli import app
from fuzz.case import Case, command, kept_events
from fuzz.damage import (
    cells,
    damaged_arrays,
    damaged_bytes,
    damaged_database,
    damaged_json,
    damaged_npy,
    damaged_table,
    texts,
    values,
)

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
ON_SHEET = (
    "train csv --labels filled.csv --out out.safetensors",
    "select csv --labels filled.csv --budget 3 --out out.csv",
    "select csv --labels filled.csv --budget 3 --out out.csv --log new.labels",
    "report csv --labels picks.csv --labels filled.csv --out out.html",
)
ON_LOG = (
    "export log.labels --format csv --out out",
    "export log.labels --format jsonl --out out",
    "export log.labels --format label-studio --out out",
    "import log.labels bob.csv",
    "train csv --labels log.labels --out out.safetensors",
    "select csv --log log.labels --budget 3 --out out.csv",
)
VALID = (
    *(line.format(graph="csv", budget=2) for line in COMMANDS),
    "audit csv --labels picks.csv --size 3 --out out.csv",
    "export log.labels --out out",
    "import log.labels picks.csv",
    "models",
    "strategies",
    "datasets stats digits",
)
"""A valid command line of each command; others download, serve or run for minutes."""
WORDS = (
    "csv", "log.labels", "picks.csv", "ridge.safetensors", "out", "out.csv", "out.parquet", "out.html", "out/x/y.csv",
    ".", "", "-", "--", "nowhere", "csv/nodes.csv", "n1", "amount", "about,label", "amount=number", "label=out", "=", "a=b=c",
    "layers=1", "layers=nan", "layers=1e99", "ok,review", ",,", "random", "featprop", "age", "ridge", "gcn", "jsonl", "label-studio", "mean", "raw", "none",
    "count", "cpu", "cuda:99", "meta", "500MB", "4TB", "-1GB", "1e400GB", "nanGB", "max-memory=1KB", "scratch=out",
)  # fmt: skip
NOT_TRIED = ("--help", "--install-completion", "--show-completion")
OWN = {"import": "log.labels", "train": "ridge.safetensors", "select": "log.labels"}
"""The input that a command is there to change."""


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


@st.composite
def sheets(draw: DrawFn, seeds: Path) -> Case:
    """Damage a filled sheet, an audit or corrected predictions, and use it."""
    name = draw(st.sampled_from(["picks.csv", "audit.csv", "predictions.csv", "export.csv"]))
    damaged, line = draw(damaged_table((seeds / name).read_bytes())), draw(st.sampled_from(ON_SHEET))
    classes = draw(st.sampled_from([(), ("--classes", "ok,review,fraud")]))
    return command(line, {"filled.csv": damaged}, *(() if line.startswith("report") else classes))


@st.composite
def label_logs(draw: DrawFn, seeds: Path) -> Case:
    """Damage a label log, and read it or add to it."""
    log = draw(damaged_database((seeds / "log.labels").read_bytes()))
    return command(draw(st.sampled_from(ON_LOG)), {"log.labels": log})


@st.composite
def other_tools(draw: DrawFn, seeds: Path) -> Case:
    """Damage a file of Label Studio, doccano or a spreadsheet, and import it into a log that keeps its events."""
    name = draw(st.sampled_from(["export.json", "export.jsonl", "export.csv", "bob.csv"]))
    content = (seeds / name).read_bytes()
    damaged = draw(damaged_table(content) if name.endswith("csv") else damaged_json(content))
    suffix = draw(st.sampled_from([Path(name).suffix] * 5 + [".txt", ".json", ""]))
    options = draw(st.sampled_from([(), ("--graph", "csv"), ("--classes", "ok,review")]))
    annotator = draw(texts).replace("\0", "")
    return command(
        f"import log.labels labels{suffix}", {f"labels{suffix}": damaged}, *options, "--annotator", annotator
    )


@st.composite
def saved_models(draw: DrawFn, seeds: Path) -> Case:
    """Damage the description, the header or the numbers of a model, and predict with it."""
    content = (seeds / f"{draw(st.sampled_from(['ridge', 'gcn']))}.safetensors").read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    header, numbers = json.loads(content[8 : 8 + length]), content[8 + length :]
    way = draw(st.sampled_from(["description", "description", "header", "bytes"]))
    if way == "description":
        description = draw(damaged_json(header["__metadata__"]["featprop"].encode()))
        header["__metadata__"]["featprop"] = description.decode(errors="replace")
    damaged = draw(damaged_json(json.dumps(header).encode())) if way == "header" else json.dumps(header).encode()
    whole = struct.pack("<Q", len(damaged)) + damaged + numbers
    model = draw(damaged_bytes(content)) if way == "bytes" else whole
    return command("predict csv --model model.safetensors --out out.csv", {"model.safetensors": model})


@st.composite
def command_lines(draw: DrawFn, seeds: Path) -> Case:  # noqa: ARG001
    """Change words of a valid command line: no input changes but the one that the command is there to change."""
    words = draw(st.sampled_from(VALID)).split()
    path, options = _command_of(words)
    words = words[len(path) :]
    for _ in range(draw(st.integers(1, 2))):
        way = draw(st.sampled_from(["option"] * 6 + ["replace", "drop", "insert", "unknown"]))
        at, value = draw(st.integers(0, len(words))), draw(st.sampled_from(WORDS) | cells).replace("\0", "")
        if way == "option" and options:
            option = draw(st.sampled_from(options))
            words += [option.opts[0]] if option.is_flag else [option.opts[0], value]
        elif way == "unknown":
            words.append(draw(st.sampled_from(["--no-such", "--budge", "--Seed", "-x"])))
        else:
            words[at : at + (way != "insert")] = [] if way == "drop" else [value]
    changes = (OWN[path[0]],) if path[0] in OWN else ()
    return Case((*path, *words), {}, None, changes, kept_events if path == ["import"] else None)


def _command_of(words: list[str]) -> tuple[list[str], list[Any]]:
    """Return the words that name a command, and its options."""
    command: Any = typer.main.get_command(app)
    path = []
    while hasattr(command, "commands"):
        path.append(words[len(path)])
        command = command.commands[path[-1]]
    return path, [each for each in command.params if each.opts[0].startswith("-") and each.opts[0] not in NOT_TRIED]


TARGETS: dict[str, Any] = {
    "tables": tables, "exchange": exchange_files, "npz": arrays, "native": converted_graphs, "description": descriptions,
    "sheet": sheets, "label-log": label_logs, "other-tools": other_tools, "model": saved_models,
    "command-line": command_lines,
}  # fmt: skip
