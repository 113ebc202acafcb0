"""Several answers for one node: whether people agree, and which one counts where they do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from featprop.errors import LabelError, first_five, unknown_choice
from featprop.io.answers import Answer

__all__ = ["ON_CONFLICT", "Agreement", "agreement_of", "check_on_conflict", "leaders", "settled"]

ON_CONFLICT = ("error", "majority", "latest")
SHOWN = 3

Said = tuple[Answer, Hashable]
"""An answer and the class it names."""


@dataclass(frozen=True)
class Agreement:
    """How far people, or sheets that name nobody, agree.

    Attributes
    ----------
    n_nodes
        How many nodes have answers of several.
    n_alike
        How many of these have one label from all.
    kappas
        Cohen's kappa of each pair, 1 for the same answers and 0 for what chance would give; without pairs that share no
        node, and those that used one and the same class only.
    """

    n_nodes: int
    n_alike: int
    kappas: Mapping[tuple[str, str], float]

    def __str__(self) -> str:
        nodes = "1 node has" if self.n_nodes == 1 else f"{self.n_nodes:,} nodes have"
        told = f"{nodes} several answers, {self.n_alike:,} of them one label ({self.n_alike / self.n_nodes:.0%})"
        if not self.kappas:
            return told
        mean = sum(self.kappas.values()) / len(self.kappas)
        pairs = [f"{kappa:.2f} of {one} and {other}" for (one, other), kappa in self.kappas.items()]
        if len(pairs) == 1:
            return f"{told}, Cohen's kappa {pairs[0]}"
        listed = f" ({', '.join(pairs)})" if len(pairs) <= SHOWN else f" of {len(pairs):,} pairs"
        return f"{told}, mean Cohen's kappa {mean:.2f}{listed}"


def agreement_of(said: Sequence[Said]) -> Agreement | None:
    """Measure how far those agree who answered for the same nodes; None if nobody did."""
    answers: dict[Hashable, dict[str, Hashable]] = {}
    for answer, name in said:
        if answer.who is not None and not answer.is_verdict:
            answers.setdefault(answer.node, {})[answer.who] = name
    shared = [given for given in answers.values() if len(given) > 1]
    if not shared:
        return None
    alike = sum(len(set(given.values())) == 1 for given in shared)
    people = dict.fromkeys(who for given in shared for who in given)
    pairs = {pair: _kappa(*pair, shared) for pair in combinations(people, 2)}
    return Agreement(len(shared), alike, {pair: kappa for pair, kappa in pairs.items() if kappa is not None})


def _kappa(one: str, other: str, shared: Sequence[Mapping[str, Hashable]]) -> float | None:
    from sklearn.metrics import cohen_kappa_score

    both = [(given[one], given[other]) for given in shared if one in given and other in given]
    codes: dict[Hashable, int] = {}
    pairs = [tuple(codes.setdefault(name, len(codes)) for name in pair) for pair in both]
    if len(codes) < 2:
        return None
    return float(cohen_kappa_score(*zip(*pairs, strict=True)))


def check_on_conflict(rule: str) -> None:
    """Refuse a rule that there is not."""
    if rule not in ON_CONFLICT:
        raise unknown_choice("on-conflict", rule, ON_CONFLICT)


def settled(said: Sequence[Said], rule: str, what: str) -> tuple[dict[Hashable, Said], list[str]]:
    """Return for each node the answer that counts, and what was settled.

    Parameters
    ----------
    said
        The answers, later ones last.
    rule
        Of different answers, where nobody settled them by a verdict, ``"latest"`` takes the last and ``"majority"``
        what most people said, each of whom has one vote for a label; ``"error"`` is one.
    what
        What was read, for the error.
    """
    of_node: dict[Hashable, list[Said]] = {}
    for each in said:
        of_node.setdefault(each[0].node, []).append(each)
    counts: dict[Hashable, Said] = {}
    open_, told = [], []
    for node, all_answers in of_node.items():
        answers = [pair for pair in all_answers if pair[0].is_verdict] or all_answers
        name: Hashable | None = answers[-1][1]
        is_split = len({given for _, given in answers}) > 1
        if is_split and rule != "latest":
            name = _majority(answers) if rule == "majority" else None
        if name is None:
            open_.append(_told(node, answers))
            continue
        counts[node] = [pair for pair in answers if pair[1] == name][-1]
        if is_split:
            told.append(f"node {node!r}: {name!r}")
    if open_ and rule == "error":
        cure = "keep one of them, or pass --on-conflict majority or latest"
        raise LabelError(what, "must give a node one label", first_five(open_), cure)
    if open_:
        cure = "settle them in the sheets, or pass --on-conflict latest"
        raise LabelError(what, "must have a majority for each node", f"a tie at {first_five(open_)}", cure)
    return counts, told


def _majority(answers: Sequence[Said]) -> Hashable | None:
    """Return the label that most people gave a node, None for a tie."""
    first, *others = leaders(name for _, name in {(answer.who, name) for answer, name in answers})
    return None if others else first


def leaders(votes: Iterable[Hashable]) -> list[Hashable]:
    """Return what has the most votes: several where there is a tie."""
    counts = Counter(votes)
    most = max(counts.values())
    return [name for name, count in counts.items() if count == most]


def _told(node: Hashable, answers: Sequence[Said]) -> str:
    people = {answer.who for answer, _ in answers}
    each = dict.fromkeys(
        f"{name!r} of {answer.who}" if answer.who is not None and len(people) > 1 else repr(name)
        for answer, name in answers
    )
    return f"node {node!r}: {' and '.join(each)}"
