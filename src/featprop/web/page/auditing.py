"""The audit at the desk: when one of its nodes is asked for, and what it says of the model so far."""

from __future__ import annotations

from collections.abc import Collection, Hashable

from featprop.evaluate import AuditScore
from featprop.evaluate.checked import score_predictions
from featprop.graph import Graph
from featprop.web.page.answers import Answers
from featprop.web.page.ranking import Ranking
from featprop.web.page.reports import AuditProgress

__all__ = ["Auditing", "is_turn_of_audit"]

EVERY = 5
"""The fifth question of a person, the tenth and so on are of the audit."""
ENOUGH = 10
"""Labels of the audit from which on it is told what they say."""


def is_turn_of_audit(answered: int) -> bool:
    """Say whether somebody who has answered so many questions is asked for a node of the audit next."""
    return answered % EVERY == EVERY - 1


class Auditing:
    """What the audit says of the last model.

    Parameters
    ----------
    graph
        The graph.
    answers
        What people said.
    """

    def __init__(self, graph: Graph, answers: Answers) -> None:
        self._graph, self._answers = graph, answers
        self._last: tuple[Ranking | None, dict[Hashable, Hashable], AuditScore | None] = (None, {}, None)

    def progress(
        self, ranking: Ranking | None, learnt: Collection[Hashable], audited: dict[Hashable, Hashable]
    ) -> AuditProgress | None:
        """Say how far it is, and how good the model of a ranking is by what it has not `learnt` from."""
        drawn = self._answers.audit
        if not drawn:
            return None
        if self._last[0] is not ranking or self._last[1] is not audited:
            self._last = ranking, audited, self._scored(ranking, learnt, audited)
        return AuditProgress(len(drawn), len(audited), self._last[2])

    def _scored(
        self, ranking: Ranking | None, learnt: Collection[Hashable], audited: dict[Hashable, Hashable]
    ) -> AuditScore | None:
        if ranking is None or ranking.best is None or len(audited) < ENOUGH:
            return None
        return score_predictions(self._graph, ranking.classes, ranking.best, learnt, audited, self._answers.audit)
