"""Mutants: small changes of a source file that its tests should detect.

They change operators, comparisons, conditions, numbers, minima and maxima and bounds of slices, or remove statements. A
change keeps all line numbers, so other functions, also compiled ones, do not change. Messages, annotations, decorators
and assertions are not changed.
"""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from mutants.core import CORE, LEFT_OUT, source_of

__all__ = ["Mutant", "all_mutants", "mutants_of", "sampled"]

OPERATORS = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
}
COMPARISONS = {
    ast.Lt: ("<", ("<=", ">=")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<=")),
    ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
}
SWAPPED = dict(
    pair
    for a, b in [
        ("min", "max"),
        ("minimum", "maximum"),
        ("argmin", "argmax"),
        ("any", "all"),
        ("floor", "ceil"),
        ("zeros", "ones"),
        ("sum", "mean"),
    ]
    for pair in ((a, b), (b, a))
)
DROPPED = ("sqrt", "abs", "log", "exp")
"""Functions that are replaced by their argument."""


@dataclass(frozen=True)
class Mutant:
    """One change.

    Attributes
    ----------
    module
        The file, in `src/featprop`.
    number
        Of the line.
    line
        What stands there, without the blanks around it.
    change
        What is replaced, and by what.
    repeat
        How many changes before it in the file have the same line and change.
    start, end, text
        The bytes of the file that are replaced, and the new ones.
    compiled
        Whether a compiled function changes, or a number that these may use.
    """

    module: str
    number: int
    line: str
    change: str
    repeat: int
    start: int
    end: int
    text: str
    compiled: bool

    @property
    def told(self) -> str:
        """The change, numbered if the line allows it several times."""
        return self.change + (f" ({self.repeat + 1})" if self.repeat else "")

    @property
    def key(self) -> str:
        """Key that does not depend on the line number."""
        return f"{self.module}: {self.line}: {self.told}"

    def applied(self, source: str) -> str:
        """Apply the change to the source."""
        given = source.encode()
        return (given[: self.start] + self.text.encode() + given[self.end :]).decode()


def all_mutants() -> list[Mutant]:
    """Return the mutants of the whole core, in order."""
    return [mutant for module in CORE for mutant in mutants_of(module, source_of(module), LEFT_OUT.get(module, ()))]


def sampled(mutants: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """Return a random sample, in order, that hardly changes when other mutants come and go."""
    draws = {mutant.key: hashlib.blake2b(f"{seed}:{mutant.key}".encode()).digest() for mutant in mutants}
    chosen = {mutant.key for mutant in sorted(mutants, key=lambda mutant: draws[mutant.key])[:count]}
    return [mutant for mutant in mutants if mutant.key in chosen]


def mutants_of(module: str, source: str, left_out: tuple[str, ...] = ()) -> list[Mutant]:
    """Return all mutants of one file."""
    text = _Text(source)
    repeats: Counter[tuple[str, str]] = Counter()
    found = []
    for (start, end), put, compiled in _walked(ast.parse(source), text, left_out, True):
        before = text.given[start:end].decode()
        number = text.given.count(b"\n", 0, start) + 1
        line = text.lines[number - 1].strip()
        change = f"{_short(before)} → {_short(put)}"
        padded = put + "\n" * (before.count("\n") - put.count("\n"))
        repeat = repeats[line, change]
        repeats[line, change] += 1
        mutant = Mutant(module, number, line, change, repeat, start, end, padded, compiled)
        if _compiles(mutant.applied(source)):
            found.append(mutant)
    return found


class _Text:
    """A source file and the positions of its syntax nodes."""

    def __init__(self, source: str) -> None:
        self.given = source.encode()
        self.lines = source.splitlines()
        self._starts = [0]
        for line in self.given.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return the bytes of a node."""
        return (
            self._starts[node.lineno - 1] + node.col_offset,  # type: ignore[attr-defined]
            self._starts[node.end_lineno - 1] + node.end_col_offset,  # type: ignore[attr-defined]
        )

    def of(self, node: ast.AST) -> str:
        """Return the characters of a node."""
        start, end = self.span(node)
        return self.given[start:end].decode()

    def between(self, left: ast.AST, right: ast.AST, token: str) -> tuple[int, int]:
        """Return the bytes of an operator between two operands."""
        after, until = self.span(left)[1], self.span(right)[0]
        start = self.given.index(token.encode(), after, until)
        return start, start + len(token)


def _walked(
    node: ast.AST, text: _Text, left_out: tuple[str, ...], compiled: bool
) -> Iterator[tuple[tuple[int, int], str, bool]]:
    """Yield the bytes to replace, the new text, and whether compiled code depends on it."""
    if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom | ast.AnnAssign):
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            yield from _walked(node.value, text, left_out, compiled)
        return
    if isinstance(node, ast.FunctionDef):
        if node.name in left_out:
            return
        compiled = any("njit" in ast.unparse(each) for each in node.decorator_list)
        children: list[ast.AST] = [*node.args.defaults, *(each for each in node.args.kw_defaults if each), *node.body]
    elif isinstance(node, ast.ClassDef):
        compiled, children = False, list(node.body)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and "log." in text.of(node):
        return
    else:
        children = list(ast.iter_child_nodes(node))
    for replaced, put in _changes(node, text):
        yield replaced, put, compiled
    for child in children:
        yield from _walked(child, text, left_out, compiled)


def _changes(node: ast.AST, text: _Text) -> Iterator[tuple[tuple[int, int], str]]:
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
        case ast.Call(func=func, args=args):
            yield from _changes_of_call(node, func, args, text)
        case ast.Slice():
            yield from _changes_of_slice(node, text)
        case ast.IfExp(test=test) | ast.If(test=test) | ast.While(test=test):
            yield text.span(test), f"not ({text.of(test)})"
        case ast.comprehension(ifs=tests):
            for test in tests:
                yield text.span(test), f"not ({text.of(test)})"
        case ast.AugAssign(target=target, op=op, value=value):
            if type(op) in OPERATORS:
                token, other = OPERATORS[type(op)]
                yield text.between(target, value, f"{token}="), f"{other}="
            yield text.span(node), "pass"
        case ast.Assign(targets=[ast.Subscript()]) | ast.Expr(value=ast.Call()) | ast.Break() | ast.Continue():
            yield text.span(node), "pass"
        case ast.Return(value=ast.expr()) if text.of(node) != "return None":
            yield text.span(node), "return None"


def _changes_of_call(
    node: ast.Call, func: ast.expr, args: list[ast.expr], text: _Text
) -> Iterator[tuple[tuple[int, int], str]]:
    name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
    if name in SWAPPED:
        _, end = text.span(func)
        yield (end - len(name), end), SWAPPED[name]
    if name in DROPPED and len(args) == 1:
        yield text.span(node), f"({text.of(args[0])})"
    if name == "copy" and isinstance(func, ast.Attribute):
        yield text.span(node), text.of(func.value)


def _changes_of_slice(node: ast.Slice, text: _Text) -> Iterator[tuple[tuple[int, int], str]]:
    """Shift bounds that are not numbers; numbers are changed elsewhere."""
    for bound, put in ((node.lower, "{} + 1"), (node.upper, "{} - 1"), (node.step, "1")):
        if bound is not None and not isinstance(bound, ast.Constant | ast.UnaryOp):
            yield text.span(bound), put.format(f"({text.of(bound)})")


def _short(text: str) -> str:
    return " ".join(text.split())


def _compiles(source: str) -> bool:
    try:
        compile(source, "mutant", "exec")
    except SyntaxError:
        return False
    return True
