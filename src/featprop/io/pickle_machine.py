"""What the operations of a pickle leave on its stack, done one by one with no more than they need.

Python's own unpickler calls what a file names, hashes keys that take longer than the age of the world to hash (a tuple
that holds a tuple twice, and so on sixty times), and makes room for a memo as long as the file says. Here only the
operations that numbers, texts, lists, dictionaries and arrays need are known. Each takes about as long, and as much
memory, as its own bytes.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable, Hashable, Mapping
from typing import Any

__all__ = ["Kept", "PickleForbiddenError", "ran"]

LARGEST_KEY = 1 << 63
"""Numbers up to here differ in their hash, all but a few."""

MOST_ARGUMENTS = 3
"""No name that arrays need is called with more. Each call keeps a copy of them, also where many calls share them."""


class PickleForbiddenError(Exception):
    """A pickle asks for something that it may not have."""


class Kept:
    """What a name of a pickle stands for: it keeps what it is given and does nothing with it."""

    def __init__(self, *arguments: Any) -> None:
        self.arguments = arguments
        self.state: Any = None
        self.items: dict[Hashable, Any] = {}


def ran(content: bytes, names: Mapping[tuple[str, str], type[Kept]]) -> Any:
    """Return the value that a pickle leaves: of plain types, or one of the classes that stand for `names`.

    Parameters
    ----------
    content
        The pickle.
    names
        The classes that may be called, by module and name; any other raises a `PickleForbiddenError`.
    """
    machine = _Machine(names)
    for operation, argument, _ in pickletools.genops(content):
        if operation.name == "STOP":
            return machine.stack.pop()
        if operation.name in _CONSTANTS:
            machine.stack.append(_CONSTANTS[operation.name])
        elif operation.name in _PUSHES:
            machine.stack.append(argument)
        elif operation.name in _STEPS:
            _STEPS[operation.name](machine, argument)
        elif operation.name in _CALLS:
            raise PickleForbiddenError(f"a call by {operation.name}")
        elif operation.name not in _IGNORED:
            raise ValueError(f"the operation {operation.name}")
    raise ValueError("no end")


class _Machine:
    def __init__(self, names: Mapping[tuple[str, str], type[Kept]]) -> None:
        self.names = names
        self.stack: list[Any] = []
        self.marked: list[list[Any]] = []
        self.memo: dict[int, Any] = {}

    def mark(self, _: Any) -> None:
        self.marked.append(self.stack)
        self.stack = []

    def since_mark(self) -> list[Any]:
        found, self.stack = self.stack, self.marked.pop()
        return found

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def pop(self, _: Any) -> None:
        if self.stack:
            self.stack.pop()
        else:
            self.since_mark()

    def put(self, place: int | None) -> None:
        self.memo[len(self.memo) if place is None else place] = self.stack[-1]

    def get(self, place: int) -> None:
        self.stack.append(self.memo[place])

    def tuple_of(self, count: int) -> None:
        self.stack[len(self.stack) - count :] = [tuple(self.stack[len(self.stack) - count :])]

    def list_of_marked(self, _: Any) -> None:
        found = self.since_mark()
        self.push(found)

    def tuple_of_marked(self, _: Any) -> None:
        found = tuple(self.since_mark())
        self.push(found)

    def dict_of_marked(self, _: Any) -> None:
        found = self.since_mark()
        self.push({})
        self.set_items(found)

    def append(self, values: list[Any]) -> None:
        if type(self.stack[-1]) is not list:
            raise ValueError("items of something that is no list")
        self.stack[-1].extend(values)

    def set_items(self, values: list[Any]) -> None:
        holder = self.stack[-1].items if isinstance(self.stack[-1], Kept) else self.stack[-1]
        if type(holder) is not dict or len(values) % 2:
            raise ValueError("keys of something that is no dictionary")
        for key, value in zip(values[::2], values[1::2], strict=True):
            is_number = isinstance(key, float) or (isinstance(key, int) and abs(key) < LARGEST_KEY)
            if not (key is None or is_number or isinstance(key, str | bytes)):
                raise ValueError("a key that is no text and no number")
            holder[key] = value

    def name(self, module: Any, name: Any) -> None:
        if not (isinstance(module, str) and isinstance(name, str)):
            raise ValueError("a name that is no text")
        if (module, name) not in self.names:
            raise PickleForbiddenError(f"a call of {module}.{name}")
        self.stack.append(self.names[module, name])

    def call(self, _: Any) -> None:
        arguments, called = self.stack.pop(), self.stack.pop()
        if not isinstance(called, type) or type(arguments) is not tuple:
            raise ValueError("a call of something that is no name")
        if len(arguments) > MOST_ARGUMENTS:
            raise ValueError(f"a call with {len(arguments):,} arguments")
        self.stack.append(called(*arguments))

    def build(self, _: Any) -> None:
        state = self.stack.pop()
        if not isinstance(self.stack[-1], Kept):
            raise ValueError("a state of something that has none")
        self.stack[-1].state = state


_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
_PUSHES = frozenset({
    "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT", "STRING", "BINSTRING",
    "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "UNICODE", "SHORT_BINUNICODE", "BINUNICODE",
    "BINUNICODE8",
})  # fmt: skip
_IGNORED = frozenset({"PROTO", "FRAME"})
_CALLS = frozenset({"INST", "OBJ", "NEWOBJ_EX", "EXT1", "EXT2", "EXT4", "PERSID", "BINPERSID"})
"""Other ways to have something called that a file names."""
_STEPS: dict[str, Callable[[_Machine, Any], Any]] = {
    "MARK": _Machine.mark,
    "POP": _Machine.pop,
    "POP_MARK": lambda machine, _: machine.since_mark(),
    "DUP": lambda machine, _: machine.push(machine.stack[-1]),
    "PUT": _Machine.put,
    "BINPUT": _Machine.put,
    "LONG_BINPUT": _Machine.put,
    "MEMOIZE": _Machine.put,
    "GET": _Machine.get,
    "BINGET": _Machine.get,
    "LONG_BINGET": _Machine.get,
    "EMPTY_LIST": lambda machine, _: machine.push([]),
    "LIST": _Machine.list_of_marked,
    "APPEND": lambda machine, _: machine.append([machine.stack.pop()]),
    "APPENDS": lambda machine, _: machine.append(machine.since_mark()),
    "EMPTY_DICT": lambda machine, _: machine.push({}),
    "DICT": _Machine.dict_of_marked,
    "SETITEM": lambda machine, _: machine.set_items([machine.stack.pop(-2), machine.stack.pop()]),
    "SETITEMS": lambda machine, _: machine.set_items(machine.since_mark()),
    "TUPLE": _Machine.tuple_of_marked,
    "TUPLE1": lambda machine, _: machine.tuple_of(1),
    "TUPLE2": lambda machine, _: machine.tuple_of(2),
    "TUPLE3": lambda machine, _: machine.tuple_of(3),
    "GLOBAL": lambda machine, argument: machine.name(*argument.split(" ", 1)),
    "STACK_GLOBAL": lambda machine, _: machine.name(machine.stack.pop(-2), machine.stack.pop()),
    "REDUCE": _Machine.call,
    "NEWOBJ": _Machine.call,
    "BUILD": _Machine.build,
}
