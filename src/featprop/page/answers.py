"""The answers that stand, in memory: reading a long log takes too long for a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

from featprop.labelling import Act, LabelLog
from featprop.labelling.agreement import Consensus, consensus

__all__ = ["Answers"]


class Answers:
    """What the log holds, by node; not thread-safe by itself.

    Parameters
    ----------
    log
        The log. Whoever writes to it says so (`reload`).
    """

    def __init__(self, log: LabelLog) -> None:
        self._log = log
        self._of: dict[Hashable, dict[str, Act]] = {}
        self._counts: Counter[str] = Counter()
        self._verdicts: dict[Hashable, Act] = {}
        self._standing: Consensus | None = None
        self._audited: dict[Hashable, Hashable] | None = None
        self.audit = log.audit()
        for act in log.holding():
            self._keep(act)

    def of(self, node: Hashable) -> dict[str, Act]:
        """Return the answers to a node, by annotator."""
        return self._of.get(node, {})

    def count(self, annotator: str) -> int:
        """Return how many nodes somebody has answered."""
        return self._counts[annotator]

    @property
    def nodes(self) -> list[Hashable]:
        """The nodes that have an answer, in the order they came up."""
        return list(self._of)

    @property
    def given(self) -> list[Act]:
        """The answers, without the verdicts."""
        return [act for acts in self._of.values() for act in acts.values()]

    @property
    def acts(self) -> list[Act]:
        """The answers and the verdicts."""
        return [*self.given, *self._verdicts.values()]

    @property
    def standing(self) -> Consensus:
        """What counts of all of them but for the audit; the same object until something changes."""
        if self._standing is None:
            self._standing = consensus(self.learnable)
        return self._standing

    @property
    def learnable(self) -> list[Act]:
        """The answers and the verdicts on nodes that are not of the audit."""
        return [act for act in self.acts if act.node not in self.audit]

    @property
    def audited(self) -> dict[Hashable, Hashable]:
        """The labels of the nodes of the audit; the same object until something changes."""
        if self._audited is None:
            self._audited = consensus(act for act in self.acts if act.node in self.audit).labels
        return self._audited

    def reload(self, node: Hashable) -> None:
        """Read what holds of a node now."""
        self._counts.subtract(self._of.pop(node, {}).keys())
        self._verdicts.pop(node, None)
        for act in self._log.holding_of(node):
            self._keep(act)
        self._standing = self._audited = None

    def _keep(self, act: Act) -> None:
        if act.kind == "adjudicate":
            self._verdicts[act.node] = act
        else:
            acts = self._of.setdefault(act.node, {})
            self._counts[act.annotator] += act.annotator not in acts
            acts[act.annotator] = act
