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
SOURCES = ("nodes", "edges", "features")
ROLES = ("id", "label", "source", "target", "weight")
NAMED = (*ROLES, "decimal", "ignore", "vocabulary")
"""Names under ``[columns]`` that are settings; any other is a column, whose kind it gives."""
SQL = re.compile(r"\s*(select|with|from)\b(?=.*\s)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class GraphDescription:
    """Description of the tables of a graph: the contents of a ``graph.toml``.

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
    source, target, weight
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
    ignore: tuple[str, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    decimal: str | None = None
    vocabulary: int | None = None
    weights: str = "mean"
    duplicates: str = "max"
    unknown: str = "error"
    only: str | None = None

    def __post_init__(self) -> None:
        for name in (*SOURCES, *ROLES, "decimal", "only", *CHOICES):
            value = getattr(self, name)
            if value is not None:
                _check(name, value, isinstance(value, str) and value != "", "text")
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise unknown_choice(name, getattr(self, name), choices)
        if self.decimal not in (None, ".", ","):
            raise unknown_choice("decimal", self.decimal, (".", ","))
        ignore: Any = self.ignore
        ignore = (ignore,) if isinstance(ignore, str) else ignore
        is_list = isinstance(ignore, list | tuple) and all(isinstance(each, str) for each in ignore)
        _check("ignore", ignore, is_list, "a list of texts")
        object.__setattr__(self, "ignore", tuple(ignore))
        if self.vocabulary is not None:
            is_count = isinstance(self.vocabulary, int) and self.vocabulary >= 1
            _check("vocabulary", self.vocabulary, is_count, "a whole number of at least 1")
        for name, address in self.attach.items():
            _check(name, address, isinstance(address, str), "text")
        for column, kind in self.kinds.items():
            if kind not in KINDS:
                raise unknown_choice(column, str(kind), KINDS)

    @classmethod
    def from_toml(cls, path: Path) -> GraphDescription:
        """Read a ``graph.toml``."""
        try:
            return cls(folder=path.parent, **_settings(tomllib.loads(path.read_text(encoding="utf-8-sig"))))
        except ParameterError as error:
            raise FileError(
                f"{path}: {error.message}", hint=error.hint, path=path, parameter=error.parameter, value=error.value
            ) from error
        except (OSError, ValueError, RecursionError) as error:
            raise FileError(f"{path} is not a valid TOML file: {quote_error(error)}.", path=path) from error

    def to_toml(self) -> str:
        """Return the text of a ``graph.toml`` that says the same."""
        usual = GraphDescription()
        columns = {name: getattr(self, name) for name in NAMED} | dict(self.kinds)
        graph = {
            name: getattr(self, name) for name in (*CHOICES, "only") if getattr(self, name) != getattr(usual, name)
        }
        sections = {"": {name: getattr(self, name) for name in SOURCES}, "attach": self.attach}
        text = ""
        for title, section in (sections | {"columns": columns, "graph": graph}).items():
            lines = [_toml_line(name, value) for name, value in section.items() if value]
            text += (f"\n[{title}]\n" if title and lines else "") + "".join(lines)
        return text


def is_sql(text: str) -> bool:
    """Return whether a source is a query rather than the path of a file."""
    return SQL.match(text) is not None


def _settings(content: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that the tables of a ``graph.toml`` set; unknown names under ``[columns]`` are columns."""
    sections = {name: content.pop(name, {}) for name in ("attach", "columns", "graph")}
    for name, section in sections.items():
        _check(name, section, isinstance(section, dict), "a table")
    graph, columns = sections["graph"], sections["columns"]
    for found, known in ((content, (*SOURCES, *sections)), (graph, (*CHOICES, "only"))):
        for name in found:
            if name not in known:
                raise unknown_choice("setting", name, known)
    named = {name: columns.pop(name) for name in NAMED if name in columns}
    return {"attach": sections["attach"], "kinds": columns, **content, **named, **graph}


def _check(name: str, value: Any, is_valid: bool, what: str) -> None:
    if not is_valid:
        raise ParameterError(f"`{name}` must be {what}, not {value!r}.", parameter=name, value=value)


def _toml_line(name: str, value: Any) -> str:
    """Return a line of TOML; JSON's texts, numbers and lists are among TOML's."""
    key = name if re.fullmatch("[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)
    return f"{key} = {json.dumps(value, ensure_ascii=False)}\n"
