"""What people wrote into tables: of which node, what, and who, before anybody asks what the words mean.

Any table with the columns ``id`` and ``label`` will do. In one that featprop wrote as predictions the labels are the
model's, but for the rows that a person changed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from featprop.errors import GraphError, LabelError
from featprop.graph import Graph
from featprop.io.formulas import bare
from featprop.io.predictions import Predictions
from featprop.sources.naming import ID_NAMES, find_column, name_of, names_in, no_column
from featprop.sources.tables import read_table

__all__ = ["AUDIT", "Answer", "Answers", "audit_weights", "read_answers", "read_ids"]


@dataclass(frozen=True)
class Answer:
    """What one row says.

    Attributes
    ----------
    node
        The id, as the graph has it.
    written
        The label as it stands there, text without blanks around it; with the type it has where there are types.
    who
        The annotator the row names, or else the table; None of a label that is only kept there from before.
    annotator
        The annotator the row names; empty where it names nobody.
    is_typed
        Whether the table tells text and numbers apart, as Parquet does.
    kind
        What the row says it is, as those of an export of the label log do, whatever its word: ``"label"``, ``"skip"``,
        or ``"adjudicate"``, which settles what others answered; empty where the word tells.
    """

    node: Hashable
    written: Hashable
    who: str | None
    annotator: str = ""
    is_typed: bool = False
    kind: str = ""

    @property
    def is_verdict(self) -> bool:
        """Whether it settles what others answered."""
        return self.kind == "adjudicate"


AUDIT = "audit"
"""The column that says how many nodes one of an audit stands for."""


@dataclass(frozen=True)
class Answers:
    """What one table says.

    Attributes
    ----------
    answers
        What was written.
    blank
        The nodes whose rows were left empty, where that means anything: not in a table of all the nodes.
    remark
        What a person should know of the table, if anything.
    n_predictions
        How many predictions it holds; 0 for a table of any other kind.
    audit
        The nodes that were drawn for checking, answered or not, and how many nodes each stands for.
    lists_all
        Whether it has a row for every node, so that one without a label means nothing.
    """

    answers: list[Answer]
    blank: list[Hashable]
    remark: str = ""
    n_predictions: int = 0
    audit: dict[Hashable, float] = field(default_factory=dict)
    lists_all: bool = False


def read_answers(path: Path, graph: Graph) -> Answers:
    """Read a table of labels."""
    table = read_table(path)
    id_column, label_column = _id_column(table, graph, path), _column_named(table, ("label",), path)
    nodes = _nodes(table, id_column, graph, path)
    written = [
        _stripped(value)
        for value in names_in(table.column(label_column), label_column, f"{path}", typed=_is_typed(path)).to_pylist()
    ]
    annotators, kinds = _texts(table, "annotator", path), _texts(table, "kind", path)
    written = ["skip" if kind == "skip" and word is None else word for kind, word in zip(kinds, written, strict=True)]
    filled = [row for row in range(len(nodes)) if nodes[row] is not None or written[row] is not None]
    graph.positions([nodes[row] for row in filled], f"ids in {path}")
    predictions = Predictions.of(table, label_column)
    if predictions is not None:
        predictions.check(f"{path}")
        return _corrections(predictions, nodes, annotators, filled, path)
    answers, blank = [], []
    for row in filled:
        node, label, annotator = nodes[row], written[row], annotators[row]
        if label is not None:
            kind = _kind(kinds[row], label)
            answers.append(Answer(node, label, annotator or str(path), annotator, _is_typed(path), kind))
        elif kinds[row] != "note":
            blank.append(node)
    lists_all = "rank" not in table.column_names and len({nodes[row] for row in filled}) == graph.n_nodes
    weights = audit_weights(_texts(table, AUDIT, path), f"{path}")
    audit = {nodes[row]: weight for row in filled if (weight := weights[row]) is not None}
    unmarked = sum(weights[row] is None and written[row] is not None for row in filled)
    remark = ""
    if AUDIT in table.column_names and unmarked:
        remark = f"{path}: {unmarked:,} rows have nothing in the column {AUDIT}, so they are labels to learn from"
    return Answers(answers, [] if lists_all else blank, remark, audit=audit, lists_all=lists_all)


def audit_weights(texts: Sequence[str], what: str) -> list[float | None]:
    """Return how many nodes each row stands for, None where it is not one of an audit.

    A column without any number is somebody's own. In any other a word or a zero is an error: a label of the audit
    must not become one that a model learns from because a cell was damaged.
    """
    weights = [_positive(text) for text in texts]
    strange = [text for text, weight in zip(texts, weights, strict=True) if text and weight is None]
    if not any(weight is not None for weight in weights):
        return [None] * len(texts)
    if strange:
        rule, cure = "must hold numbers above 0 or nothing", "mend it, or rename the column if it is your own"
        raise LabelError(f"The column {AUDIT} of {what}", rule, repr(strange[0]), cure)
    return weights


def _positive(text: str) -> float | None:
    """Read a number above 0, with a point or a comma as a spreadsheet may have left it."""
    try:
        number = float(text.replace(",", ".", 1))
    except ValueError:
        return None
    return number if 0 < number < float("inf") else None


def _corrections(
    predictions: Predictions,
    nodes: Sequence[Hashable | None],
    annotators: Sequence[str],
    rows: Iterable[int],
    path: Path,
) -> Answers:
    """Return what people changed in a table of predictions, and the labels it keeps from before."""
    answers, corrected, kept, total = [], 0, 0, 0
    for row in rows:
        total += 1
        word, is_new = predictions.answer(row)
        if word is not None:
            corrected, kept = corrected + is_new, kept + (not is_new)
            who = annotators[row] or str(path)
            answers.append(Answer(nodes[row], word, who if is_new else None, annotators[row]))
    remark = f"{path} holds predictions: a person corrected {corrected:,} of {total:,}"
    if kept:
        remark += f" and had given {kept:,} labels before"
    return Answers(answers, [], f"{remark}; only these count as labels", total, lists_all=True)


def read_ids(path: Path, graph: Graph) -> list[Hashable]:
    """Read the nodes that a table with an ``id`` column lists, each once, in its order."""
    table = read_table(path)
    nodes = _nodes(table, _id_column(table, graph, path), graph, path)
    listed = [node for node in nodes if node is not None]
    if not listed:
        raise GraphError(f"{path}", "must list at least one node", "none", "fill the id column")
    graph.positions(listed, f"ids in {path}")
    return list(dict.fromkeys(listed))


def _id_column(table: pa.Table, graph: Graph, path: Path) -> str:
    """Return the column that names nodes: called as in the graph's own table, or as usual."""
    own = graph.id_name
    return own if own in table.column_names else _column_named(table, ID_NAMES, path)


def _column_named(table: pa.Table, usual: Sequence[str], path: Path) -> str:
    found = find_column(table, usual, f"{path}")
    if found is None:
        raise no_column(table, usual[0], f"{path}", f"name a column {usual[0]}")
    return found


def _texts(table: pa.Table, title: str, path: Path) -> list[str]:
    """Return what a column says of each row, empty text where it says nothing or is not there."""
    name = find_column(table, (title,), f"{path}")
    if name is None:
        return [""] * table.num_rows
    return ["" if text is None else bare(str(text)).strip() for text in table.column(name).to_pylist()]


def _kind(said: str, word: str | int) -> str:
    """Return what an answer is by the column ``kind``; empty text where its word tells: a skip has no label."""
    return said if said in ("label", "adjudicate") or (said == word == "skip") else ""


def _stripped(value: str | int | None) -> str | int | None:
    return bare(value).strip() or None if isinstance(value, str) else value


def _is_typed(path: Path) -> bool:
    """Say whether a file tells text from numbers."""
    return path.suffix.lower() == ".parquet"


def _nodes(table: pa.Table, title: str, graph: Graph, path: Path) -> list[Hashable | None]:
    """Return the ids of the graph that are written so, with the types they have there: ``(0, 1)`` may be a tuple.

    Parquet has types: a value that is an id of the graph is that one. Whatever else is written like two ids of the
    graph, the number 1 and the text 1, or a formula with a ' before it and one without, is an error. What is no id
    comes back as it is, nothing as None.
    """
    written = names_in(table.column(title), title, f"{path}", typed=_is_typed(path)).to_pylist()
    if graph.ids.dtype.kind in "iu":
        return [name_of(name) if isinstance(name, str) else name for name in written]
    values = table.column(title).to_pylist()
    known = {node: node for node in graph.ids.tolist()} if _is_typed(path) else {}
    wanted = {text for name in written if name is not None for text in (str(name), bare(str(name)))}
    stands_for: dict[str, list[Hashable]] = {}
    for node in graph.ids.tolist():
        if (text := str(node)) in wanted:
            stands_for.setdefault(text, []).append(node)
    nodes: list[Hashable | None] = []
    for value, name in zip(values, written, strict=True):
        spellings = dict.fromkeys((str(name), bare(str(name))))
        alike = [node for text in spellings for node in stands_for.get(text, ())] or [name]
        possible = [known[value]] if value in known else alike
        if name is not None and len(possible) > 1:
            found = f"{name}, which is {' and '.join(map(repr, possible))}"
            raise GraphError(f"ids in {path}", "must stand for one id of the graph each", found, "rename the nodes")
        nodes.append(None if name is None else possible[0])
    return nodes
