"""Audits that were drawn one after another, read as one.

A node of a uniform draw of n out of N stands for N / n. Draws of 30 and then of 90 from the rest are, taken together, a
uniform draw of 120, so every node of them stands for as many. Left as they were written, the 30 would count for as much
as the 90, and the audit for less than its nodes tell.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

__all__ = ["pooled"]


def pooled(draws: Sequence[Mapping[Hashable, float]]) -> dict[Hashable, float]:
    """Return how many nodes each of several draws stands for, given that of each by itself.

    Draws whose nodes all stand for as many are uniform, and become one; those of the same number are parts of one. In
    any other, such as a draw by what is predicted, the weights stay. Of a node in two draws the later one counts.
    """
    uniform: dict[float, set[Hashable]] = {}
    for draw in filter(_is_uniform, draws):
        uniform.setdefault(next(iter(draw.values())), set()).update(draw)
    if len(uniform) > 1:
        weight = _weight_of_all(uniform)
        draws = [dict.fromkeys(draw, weight) if _is_uniform(draw) else draw for draw in draws]
    return {node: weight for draw in draws for node, weight in draw.items()}


def _is_uniform(draw: Mapping[Hashable, float]) -> bool:
    return len(set(draw.values())) == 1


def _weight_of_all(uniform: Mapping[float, set[Hashable]]) -> float:
    """Return N / n of all draws, by weight, together.

    N is what the last draw had to choose from and what was drawn before it, whatever got a label in between; or, if
    none was kept out of the others, what each had to choose from.
    """
    drawn: set[Hashable] = set()
    n_open: list[int] = []
    for weight, nodes in sorted(uniform.items(), key=lambda draw: -draw[0] * len(draw[1])):
        n_open.append(round(weight * len(nodes)) + len(drawn))
        drawn |= nodes
    return max(min(n_open), len(drawn)) / len(drawn)
