"""The answers that stand, in memory: reading a long log takes too long for a page."""

from __future__ import annotations

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
        self._verdicts: dict[Hashable, Act] = {}
        self._standing: Consensus | None = None
        for act in log.holding():
            self._keep(act)

    def of(self, node: Hashable) -> dict[str, Act]:
        """Return the answers to a node, by annotator."""
        return self._of.get(node, {})

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
        """What counts of all of them; the same object until something changes."""
        if self._standing is None:
            self._standing = consensus(self.acts)
        return self._standing

    def reload(self, node: Hashable) -> None:
        """Read what holds of a node now."""
        self._of.pop(node, None)
        self._verdicts.pop(node, None)
        for act in self._log.holding_of(node):
            self._keep(act)
        self._standing = None

    def _keep(self, act: Act) -> None:
        if act.kind == "adjudicate":
            self._verdicts[act.node] = act
        else:
            self._of.setdefault(act.node, {})[act.annotator] = act
