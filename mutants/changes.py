"""Mutants: small changes of a source file that its tests should notice.

They change operators, comparisons, conditions, numbers, minima and maxima and bounds of slices, or remove statements.
Messages, annotations, decorators and assertions are not changed.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
COMPARISONS = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,), ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}  # fmt: skip
SWAPPED = {"min": "max", "minimum": "maximum", "argmin": "argmax", "any": "all", "floor": "ceil", "zeros": "ones"}
SWAPPED |= {new: old for old, new in SWAPPED.items()} | {"sum": "mean", "mean": "sum"}
DROPPED = ("sqrt", "abs", "log", "exp")
"""Functions that are replaced by their argument."""
SKIPPED = ast.Raise | ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom
SKIPPED_FIELDS = ("annotation", "returns", "decorator_list")


@dataclass(frozen=True)
class Mutant:
    """One change of a line of a file in ``src/featprop``."""

    module: str
    line: str
    change: str  # what is replaced and by what, numbered if the line allows it several times
    source: str  # the changed file

    @property
    def key(self) -> str:
        """Key that does not depend on the line number."""
        return f"{self.module}: {self.line}: {self.change}"


def find_mutants(module: str, source: str) -> list[Mutant]:
    """Return all mutants of one file."""
    text, lines = source.encode(), source.splitlines()
    starts = [0, *accumulate(map(len, text.splitlines(keepends=True)))]
    repeats, found = Counter[tuple[str, str]](), []
    for node, is_condition in _walk(ast.parse(source)):
        line = lines[node.lineno - 1].strip()
        start, end = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
        for new in [*([ast.UnaryOp(ast.Not(), node)] if is_condition else []), *_variants(node)]:
            written = ast.unparse(new)
            change = f"{ast.unparse(node)} → {written}"
            repeats[line, change] += 1
            if (repeat := repeats[line, change]) > 1:
                change += f" ({repeat})"
            if isinstance(new, ast.expr) and not isinstance(new, ast.Slice):
                written = f"({written})"
            found.append(Mutant(module, line, change, (text[:start] + written.encode() + text[end:]).decode()))
    return found


def _walk(parent: ast.AST) -> Iterator[tuple[Any, bool]]:
    """Yield every node that may change, and whether it is a condition."""
    for field, value in ast.iter_fields(parent):
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST) or isinstance(node, SKIPPED) or field in SKIPPED_FIELDS:
                continue
            if isinstance(node, ast.Expr) and ast.unparse(node).startswith("log."):
                continue
            if hasattr(node, "lineno"):
                yield node, field in ("test", "ifs")
            yield from _walk(node)


def _variants(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may stand in place of a node."""
    match node:
        case ast.BinOp(op=op) | ast.BoolOp(op=op) | ast.AugAssign(op=op) if type(op) in OPERATORS:
            yield _with(node, op=OPERATORS[type(op)]())
        case ast.Compare(ops=ops):
            for index, op in enumerate(ops):
                for other in COMPARISONS[type(op)]:
                    yield _with(node, ops=[*ops[:index], other(), *ops[index + 1 :]])
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            yield operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
            if value > 0:
                yield ast.Constant(value - 1)
        case ast.Constant(value=float(value)):
            yield ast.Constant(2 * value or 1.0)
        case ast.Call(func=ast.Attribute(attr=name) as func) if name in SWAPPED:
            yield _with(node, func=_with(func, attr=SWAPPED[name]))
        case ast.Call(func=ast.Name(id=name)) if name in SWAPPED:
            yield _with(node, func=ast.Name(SWAPPED[name]))
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=[argument]) if name in DROPPED:
            yield argument
        case ast.Call(func=ast.Attribute(value=value, attr="copy")):
            yield value
        case ast.Slice(lower=lower, upper=upper):
            if isinstance(lower, ast.Name | ast.BinOp):
                yield _with(node, lower=ast.BinOp(lower, ast.Add(), ast.Constant(1)))
            if isinstance(upper, ast.Name | ast.BinOp):
                yield _with(node, upper=ast.BinOp(upper, ast.Sub(), ast.Constant(1)))
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield ast.Return(ast.Constant(None))
    match node:
        case ast.AugAssign() | ast.Assign(targets=[ast.Subscript()]) | ast.Expr(value=ast.Call()):
            yield ast.Pass()
        case ast.Break() | ast.Continue():
            yield ast.Pass()


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed
