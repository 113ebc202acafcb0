"""Trees of values as JSON and TOML hold them: replaced by extremes, removed, repeated, reordered, moved."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

from fuzz.mutations.content import mutated_bytes
from fuzz.mutations.extremes import extreme, extreme_text

__all__ = ["mutated_json", "mutated_tree"]

ODD = (
    '{"a": 1, "a": 2}',
    "[" * 100_000,
    '{"a":' * 50_000,
    "NaN",
    "1e999",
    "[1, 2",
    "",
    "null",
    "0",
    "[]",
    "{}",
    '"\\ud800"',
)


def mutated_json(random: random.Random, content: bytes) -> bytes:
    """Return a JSON file with some changes of its values, or of its bytes."""
    kind = random.random()
    if kind < 0.2:
        return mutated_bytes(random, content)
    if kind < 0.23:
        return random.choice(ODD).encode()
    try:
        tree = json.loads(content)
    except (ValueError, RecursionError):  # an earlier change left no JSON
        return mutated_bytes(random, content)
    written = json.dumps(mutated_tree(random, tree), ensure_ascii=random.random() < 0.5)
    if random.random() < 0.1:
        written = written.replace(random.choice(["1", '"', "null", "true", "0"]), random.choice(ODD), 1)
    return written.encode("utf-8", "surrogatepass")


def mutated_tree(random: random.Random, tree: Any) -> Any:
    """Return a copy of a tree of values with one to four changes."""
    changed = [_copied(tree)]
    for _ in range(random.choice([1, 1, 1, 2, 4])):
        places = [(changed, 0), *_places(changed[0])]
        holder, key = random.choice(places)
        _change(random, holder, key, places)
    return changed[0] if changed else None


def _places(tree: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    waiting = [tree]
    while waiting:
        holder = waiting.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
        found += [(holder, key) for key in keys]
        waiting += [holder[key] for key in keys]
    return found


def _copied(value: Any) -> Any:
    """Return a copy; None of what an earlier change made too deep for one."""
    try:
        return copy.deepcopy(value)
    except RecursionError:
        return None


def _change(random: random.Random, holder: Any, key: Any, places: list[tuple[Any, Any]]) -> None:
    way = random.randrange(9)
    if way <= 3:
        holder[key] = extreme(random)
    elif way == 4 and (holder, key) != places[0]:
        del holder[key]
    elif way == 5:
        value = holder[key]
        if isinstance(value, list) and value:
            random.shuffle(value) if random.random() < 0.5 else value.extend(_copied(value[:3]) or ())
        elif isinstance(value, dict):
            value[extreme_text(random)] = extreme(random)
        elif isinstance(value, int | float):
            holder[key] = random.choice([-value, value + 1, value - 1, value * 1000, str(value), float(value)])
        else:
            holder[key] = [value]
    elif way == 6 and isinstance(holder, dict):
        holder[extreme_text(random)] = holder.pop(key)
    elif way == 7:
        other, place = random.choice(places)
        try:
            holder[key] = _copied(other[place])
        except (KeyError, IndexError):
            holder[key] = None
    else:
        holder[key] = {"a": holder[key]} if random.random() < 0.5 else [holder[key]] * 3
