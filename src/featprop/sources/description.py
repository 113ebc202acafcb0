"""``graph.toml``: where the tables of a graph are, what their columns mean, and how edges are combined.

docs/your-graph.md shows a whole file.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from featprop.errors import FileError, ParameterError, quote_error, unknown_choice

FILE_NAME = "graph.toml"
KINDS = ("number", "flag", "category", "date", "text", "vector", "ignore")
CHOICES = {
    "weights": ("mean", "raw", "none"),
    "duplicates": ("max", "sum", "count"),
    "unknown": ("error", "drop", "add"),
}
ROLES = ("id", "label", "source", "target", "weight", "edge_type")
MAX_WEIGHT = 3.4e38
SQL = re.compile(r"\s*(select|with|from)\b(?=.*\s)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class GraphDescription:
    """What a user says about the tables of a graph.

    Attributes
    ----------
    nodes, edges
        A file, a glob or a SQL query each; no nodes if the edges name them all.
    features
        A file with further features, one sparse group: see `featprop.sources.feature_files`.
    folder
        The folder that relative paths start from.
    attach
        Databases by name, as DuckDB attaches them.
    id, label
        Columns of the nodes; found by usual names if not given.
    source, target, weight, edge_type
        Columns of the edges; found by usual names if not given.
    ignore
        Columns, or patterns such as ``"w_*"``, that are not features.
    kinds
        Kinds of columns by name, one of `KINDS`.
    decimal
        Decimal mark of numbers that are text: ``"."`` or ``","``.
    vocabulary
        Most items kept of a group of items, such as the words of a text.
    weights
        ``"mean"`` divides edge weights by their mean, ``"raw"`` keeps them, ``"none"`` ignores them.
    duplicates
        How to combine the weights of duplicate edges: ``"max"``, ``"sum"`` or ``"count"``.
    unknown
        What to do with an edge whose end is not a node: ``"error"``, ``"drop"`` it or ``"add"`` the node.
    only
        SQL condition on the nodes to select, audit and predict; the others pass their features on.
    edge_types
        Weight of each edge type; an edge of weight 0 is dropped.
    """

    nodes: str | None = None
    edges: str | None = None
    features: str | None = None
    folder: Path = field(default_factory=Path)
    attach: Mapping[str, str] = field(default_factory=dict)
    id: str | None = None
    label: str | None = None
    source: str | None = None
    target: str | None = None
    weight: str | None = None
    edge_type: str | None = None
    ignore: tuple[str, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    decimal: str | None = None
    vocabulary: int | None = None
    weights: str = "mean"
    duplicates: str = "max"
    unknown: str = "error"
    only: str | None = None
    edge_types: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise unknown_choice(name, getattr(self, name), choices)
        for column, kind in self.kinds.items():
            if kind not in KINDS:
                error = unknown_choice("kind", kind, KINDS)
                raise ParameterError(
                    f"Unknown kind of column {column!r}: {kind!r}.",
                    hint=error.hint,
                    parameter=column,
                    value=kind,
                    choices=KINDS,
                )
        if self.decimal not in (None, ".", ","):
            raise unknown_choice("decimal", self.decimal, (".", ","))
        for name, weight in self.edge_types.items():
            if not isinstance(weight, int | float) or isinstance(weight, bool) or not 0 <= weight < MAX_WEIGHT:
                raise ParameterError(
                    f"The weight of edge type {name!r} must be a number of at least 0, not {weight!r}.",
                    parameter="edge_types",
                    value=weight,
                )
        object.__setattr__(self, "ignore", tuple(_texts(self.ignore, "ignore")))

    @classmethod
    def from_toml(cls, path: Path) -> GraphDescription:
        """Read a ``graph.toml``."""
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        except (OSError, ValueError, RecursionError) as error:
            raise FileError(f"{path} is not a valid TOML file: {quote_error(error)}.", path=path) from error
        try:
            return cls._from_content(content, path.parent)
        except ParameterError as error:
            raise FileError(
                f"{path}: {error.message}", hint=error.hint, path=path, parameter=error.parameter, value=error.value
            ) from error

    @classmethod
    def _from_content(cls, content: dict[str, Any], folder: Path) -> GraphDescription:
        columns = dict(_table(content, "columns"))
        settings: dict[str, Any] = {name: _text(columns, name) for name in (*ROLES, "decimal") if name in columns}
        settings["ignore"] = tuple(_texts(columns.get("ignore", ()), "ignore"))
        if "vocabulary" in columns:
            settings["vocabulary"] = _count(columns, "vocabulary")
        known = {*settings, "ignore"}
        settings["kinds"] = {name: _text(columns, name) for name in columns if name not in known}
        graph = _table(content, "graph")
        for name, value in graph.items():
            if name not in (*CHOICES, "only", "edge_types"):
                raise unknown_choice("graph", name, (*CHOICES, "only", "edge_types"))
            settings[name] = _table(graph, name) if name == "edge_types" else _text({name: value}, name)
        settings["attach"] = {name: _text(_table(content, "attach"), name) for name in _table(content, "attach")}
        sources = ("nodes", "edges", "features")
        for name in content:
            if name not in (*sources, "attach", "columns", "graph"):
                raise unknown_choice("setting", name, (*sources, "attach", "columns", "graph"))
        settings |= {name: _text(content, name) for name in sources if name in content}
        return cls(folder=folder, **settings)

    def to_toml(self) -> str:
        """Return the text of a ``graph.toml`` that says the same."""
        lines = [
            f"{name} = {_quoted(getattr(self, name))}" for name in ("nodes", "edges", "features") if getattr(self, name)
        ]
        if self.attach:
            lines += ["", "[attach]", *(f"{_key(name)} = {_quoted(place)}" for name, place in self.attach.items())]
        columns = [f"{name} = {_quoted(getattr(self, name))}" for name in (*ROLES, "decimal") if getattr(self, name)]
        columns += [f"ignore = [{', '.join(map(_quoted, self.ignore))}]"] if self.ignore else []
        columns += [f"vocabulary = {self.vocabulary}"] if self.vocabulary else []
        columns += [f"{_key(name)} = {_quoted(kind)}" for name, kind in self.kinds.items()]
        lines += ["", "[columns]", *columns] if columns else []
        usual = GraphDescription()
        graph = [
            f"{name} = {_quoted(getattr(self, name))}"
            for name in (*CHOICES, "only")
            if getattr(self, name) != getattr(usual, name)
        ]
        types = ", ".join(f"{_key(name)} = {weight!r}" for name, weight in self.edge_types.items())
        graph += [f"edge_types = {{ {types} }}"] if types else []
        lines += ["", "[graph]", *graph] if graph else []
        return "\n".join(lines) + "\n"


def is_sql(text: str) -> bool:
    """Return whether a source is a query rather than the path of a file."""
    return SQL.match(text) is not None


def _table(content: Mapping[str, Any], name: str) -> dict[str, Any]:
    table = content.get(name, {})
    if not isinstance(table, dict):
        raise ParameterError(f"[{name}] must be a table, not {table!r}.", parameter=name, value=table)
    return table


def _text(content: Mapping[str, Any], name: str) -> str:
    value = content[name]
    if not isinstance(value, str) or not value:
        raise ParameterError(f"{name} must be text, not {value!r}.", parameter=name, value=value)
    return value


def _texts(value: Any, name: str) -> list[str]:
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list | tuple) or not all(isinstance(each, str) for each in values):
        raise ParameterError(f"{name} must be a list of texts, not {value!r}.", parameter=name, value=value)
    return list(values)


def _count(content: Mapping[str, Any], name: str) -> int:
    value = content[name]
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ParameterError(
            f"{name} must be a whole number of at least 1, not {value!r}.", parameter=name, value=value
        )
    return value


def _quoted(text: str) -> str:
    """Return text as TOML quotes it; JSON's escapes are among TOML's."""
    return json.dumps(text, ensure_ascii=False)


def _key(name: str) -> str:
    return name if re.fullmatch("[A-Za-z0-9_-]+", name) else _quoted(name)
