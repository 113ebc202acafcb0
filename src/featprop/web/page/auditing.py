"""The audit in a session: when to ask an audit question, and the score of the model so far."""

from __future__ import annotations

from collections.abc import Collection, Hashable

from featprop.evaluate import AuditScore
from featprop.evaluate.audit_scoring import score_predictions
from featprop.graph import Graph
from featprop.web.page.answers import Answers
from featprop.web.page.ranking import Ranking
from featprop.web.page.types import AuditProgress

AUDIT_INTERVAL = 5
"""Every fifth question of a person is an audit question."""
MIN_AUDIT_LABELS = 10
"""Audit labels needed for a score."""


def is_turn_of_audit(answered: int) -> bool:
    """Return whether the next question after `answered` answers is an audit question."""
    return answered % AUDIT_INTERVAL == AUDIT_INTERVAL - 1


class Auditing:
    """Score of the last model on the audit.

    Parameters
    ----------
    graph
        The graph.
    answers
        Answers so far.
    """

    def __init__(self, graph: Graph, answers: Answers) -> None:
        self._graph, self._answers = graph, answers
        self._last: tuple[Ranking | None, dict[Hashable, Hashable], AuditScore | None] = (None, {}, None)

    def progress(
        self, ranking: Ranking | None, learnt: Collection[Hashable], audited: dict[Hashable, Hashable]
    ) -> AuditProgress | None:
        """Return the progress of the audit and the score of the model, which `learnt` from other nodes."""
        drawn = self._answers.audit
        if not drawn:
            return None
        if self._last[0] is not ranking or self._last[1] is not audited:
            self._last = ranking, audited, self._scored(ranking, learnt, audited)
        return AuditProgress(len(drawn), len(audited), self._last[2])

    def _scored(
        self, ranking: Ranking | None, learnt: Collection[Hashable], audited: dict[Hashable, Hashable]
    ) -> AuditScore | None:
        if ranking is None or ranking.best is None or len(audited) < MIN_AUDIT_LABELS:
            return None
        return score_predictions(self._graph, ranking.classes, ranking.best, learnt, audited, self._answers.audit)
