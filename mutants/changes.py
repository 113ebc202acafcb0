"""Mutants: small changes of a source file that its tests should notice.

They change operators, comparisons, conditions, numbers, minima and maxima and bounds of slices, or remove statements.
Messages, annotations, decorators and assertions are not changed.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

OPERATORS = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"), ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"), ast.Pow: ("**", "*"), ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&"),
}  # fmt: skip
COMPARISONS = {
    ast.Lt: ("<", ("<=", ">=")), ast.LtE: ("<=", ("<", ">")), ast.Gt: (">", (">=", "<=")), ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=",)), ast.NotEq: ("!=", ("==",)), ast.In: ("in", ("not in",)), ast.NotIn: ("not in", ("in",)),
    ast.Is: ("is", ("is not",)), ast.IsNot: ("is not", ("is",)),
}  # fmt: skip
PAIRS = (("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("any", "all"), ("floor", "ceil"),
         ("zeros", "ones"), ("sum", "mean"))  # fmt: skip
SWAPPED = dict(PAIRS) | {second: first for first, second in PAIRS}
DROPPED = ("sqrt", "abs", "log", "exp")
"""Functions that are replaced by their argument."""
SKIPPED = ast.Raise | ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom

Span = tuple[int, int]


@dataclass(frozen=True)
class Mutant:
    """One change.

    Attributes
    ----------
    module
        The file, in ``src/featprop``.
    line
        The line that changes, without the blanks around it.
    change
        What is replaced and by what, numbered if the line allows it several times.
    source
        The changed file.
    """

    module: str
    line: str
    change: str
    source: str

    @property
    def key(self) -> str:
        """Key that does not depend on the line number."""
        return f"{self.module}: {self.line}: {self.change}"


def find_mutants(module: str, source: str) -> list[Mutant]:
    """Return all mutants of one file."""
    text, repeats, found = _Text(source), Counter[tuple[str, str]](), []
    for (start, end), new in _walk(ast.parse(source), text):
        line = text.lines[text.content.count(b"\n", 0, start)].strip()
        change = f"{' '.join(text.content[start:end].decode().split())} → {' '.join(new.split())}"
        repeats[line, change] += 1
        if (repeat := repeats[line, change]) > 1:
            change += f" ({repeat})"
        changed = (text.content[:start] + new.encode() + text.content[end:]).decode()
        if _is_valid(changed):
            found.append(Mutant(module, line, change, changed))
    return found


class _Text:
    """A source file and the positions of its syntax nodes."""

    def __init__(self, source: str) -> None:
        self.content, self.lines = source.encode(), source.splitlines()
        self._starts = [0]
        for line in self.content.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def span(self, node: ast.AST) -> Span:
        """Return the bytes of a node."""
        return (
            self._starts[node.lineno - 1] + node.col_offset,  # type: ignore[attr-defined]
            self._starts[node.end_lineno - 1] + node.end_col_offset,  # type: ignore[attr-defined]
        )

    def of(self, node: ast.AST) -> str:
        """Return the characters of a node."""
        start, end = self.span(node)
        return self.content[start:end].decode()

    def between(self, left: ast.AST, right: ast.AST, token: str) -> Span:
        """Return the bytes of an operator between two operands."""
        start = self.content.index(token.encode(), self.span(left)[1], self.span(right)[0])
        return start, start + len(token)


def _walk(node: ast.AST, text: _Text) -> Iterator[tuple[Span, str]]:
    """Yield the bytes to replace and the new text, of a node and all below it."""
    if isinstance(node, SKIPPED) or (isinstance(node, ast.Expr) and text.of(node).startswith("log.")):
        return
    children = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.FunctionDef):
        children = [*node.args.defaults, *(each for each in node.args.kw_defaults if each), *node.body]
    elif isinstance(node, ast.ClassDef):
        children = list(node.body)
    elif isinstance(node, ast.AnnAssign):
        children = [node.value] if node.value else []
    yield from _changes(node, text)
    for child in children:
        yield from _walk(child, text)


def _changes(node: ast.AST, text: _Text) -> Iterator[tuple[Span, str]]:
    match node:
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            token, other = OPERATORS[type(op)]
            yield text.between(left, right, token), other
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            for a, op, b in zip([left, *comparators], ops, comparators, strict=False):
                token, others = COMPARISONS[type(op)]
                for other in others:
                    yield text.between(a, b, token), other
        case ast.BoolOp(op=op, values=values):
            token, other = ("and", "or") if isinstance(op, ast.And) else ("or", "and")
            for a, b in pairwise(values):
                yield text.between(a, b, token), other
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            yield text.span(node), f"({text.of(operand)})"
        case ast.Constant(value=bool(value)):
            yield text.span(node), str(not value)
        case ast.Constant(value=int(value)):
            yield text.span(node), str(value + 1)
            if value > 0:
                yield text.span(node), str(value - 1)
        case ast.Constant(value=float(value)):
            yield text.span(node), str(2 * value or 1.0)
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name) as func, args=args):
            end = text.span(func)[1]
            if name in SWAPPED:
                yield (end - len(name), end), SWAPPED[name]
            if name in DROPPED and len(args) == 1:
                yield text.span(node), f"({text.of(args[0])})"
            if name == "copy" and isinstance(func, ast.Attribute):
                yield text.span(node), text.of(func.value)
        case ast.Slice(lower=lower, upper=upper):
            for bound, shift in ((lower, "+ 1"), (upper, "- 1")):
                if bound is not None and not isinstance(bound, ast.Constant | ast.UnaryOp):
                    yield text.span(bound), f"({text.of(bound)}) {shift}"
        case ast.IfExp(test=test) | ast.If(test=test) | ast.While(test=test):
            yield text.span(test), f"not ({text.of(test)})"
        case ast.AugAssign() | ast.Assign(targets=[ast.Subscript()]) | ast.Expr(value=ast.Call()):
            yield text.span(node), "pass"
        case ast.Break() | ast.Continue():
            yield text.span(node), "pass"
        case ast.Return(value=ast.expr()) if text.of(node) != "return None":
            yield text.span(node), "return None"


def _is_valid(source: str) -> bool:
    try:
        compile(source, "mutant", "exec")
    except SyntaxError:
        return False
    return True
