"""The JSON API of the labelling page.

A change is on disk before its response is sent. Errors are ``{"error": …, "type": …, "parameter": …}`` with an HTTP
status.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import JSONResponse, Response

from featprop.evaluate import Advice, Interval
from featprop.ids import to_jsonable
from featprop.web.page.actions import Action, annotator_of, check_owner, to_json_question
from featprop.web.page.addresses import find_node
from featprop.web.page.downloads import download
from featprop.web.page.session import Session
from featprop.web.page.types import AuditProgress, Progress
from featprop.web.page.views import NodeViews, to_json_act, to_json_prediction, to_json_view


def build_api(session: Session, views: NodeViews, actions: dict[str, Action]) -> APIRouter:
    """Return the routes below ``/api``."""
    routes = APIRouter(prefix="/api", default_response_class=JSONResponse)
    for name, action in actions.items():
        routes.add_api_route(
            f"/{name}", _endpoint(action), methods=["POST"], description=action.about, response_model=None
        )

    @routes.get("/next", response_model=None)
    def next_question(request: Request) -> JSONResponse:
        """Return your question, the same until you answer; the node is null if nothing is left for you."""
        return JSONResponse(to_json_question(session, session.next(annotator_of(request))))

    @routes.get("/progress", response_model=None)
    def progress(request: Request) -> JSONResponse:
        """Return the progress of the labelling; the owner sees the answers of each person."""
        return JSONResponse(to_json_progress(session.progress(annotator_of(request))))

    @routes.get("/history")
    def history(request: Request, limit: Annotated[int, Query(ge=1, le=10_000)] = 50) -> dict[str, Any]:
        """Return your current answers, newest first."""
        return {"answers": [to_json_act(act) for act in session.history(annotator_of(request), limit)]}

    @routes.get("/disagreements")
    def disagreements(request: Request) -> dict[str, Any]:
        """Return the nodes people disagree on, except those still in your queue. For the owner of the session."""
        check_owner(session, annotator_of(request))
        return {
            "disagreements": [
                {
                    "node": to_jsonable(each.node),
                    "answers": {name: to_jsonable(label) for name, label in each.answers.items()},
                }
                for each in session.disagreements(annotator_of(request))
            ]
        }

    @routes.get("/predictions")
    def predictions(
        limit: Annotated[int, Query(ge=1, le=10_000)] = 20, suggestion: bool | None = None
    ) -> dict[str, Any]:
        """Return the least certain and most contradicted predictions; in a blind session add ?suggestion=true."""
        shown = not session.blind if suggestion is None else suggestion
        found = {
            "least_certain": session.least_certain(limit) if shown else [],
            "contradicted": session.contradicted(limit) if shown else [],
        }
        return {
            name: [{"node": to_jsonable(node), **to_json_prediction(prediction)} for node, prediction in pairs]
            for name, pairs in found.items()
        }

    @routes.get("/nodes/{name:path}", response_model=None)
    def node(request: Request, name: str, suggestion: bool | None = None) -> JSONResponse:
        """Return a node; in a blind session add ?suggestion=true for its prediction."""
        wanted = not session.blind if suggestion is None else suggestion
        return JSONResponse(
            to_json_view(views.view(find_node(session.graph, name), annotator_of(request), suggestion=wanted))
        )

    @routes.get("/export")
    def export(request: Request, format: str = "csv") -> Response:
        """Return all answers as a file: csv, jsonl, label-studio, or label-studio-config. For the owner."""
        check_owner(session, annotator_of(request))
        return download(session, format)

    return routes


def to_json_progress(progress: Progress) -> dict[str, Any]:
    """Return the progress as JSON."""
    return {
        "nodes": progress.nodes,
        "labelled": progress.labelled,
        "skipped": progress.skipped,
        "budget": progress.budget,
        "seen": progress.seen,
        "classes": [{"class": to_jsonable(name), "labels": count} for name, count in progress.classes],
        "annotators": progress.annotators,
        "hours": {hour.isoformat(): count for hour, count in progress.hours.items()},
        "disagreements": progress.disagreements,
        "alpha": progress.alpha,
        "coverage": progress.coverage,
        "training": progress.training,
        "failure": progress.failure,
        "audit": None if progress.audit is None else to_json_audit(progress.audit),
        "advice": None if progress.advice is None else to_json_advice(progress.advice),
    }


def to_json_audit(audit: AuditProgress) -> dict[str, Any]:
    """Return the progress of the audit as JSON."""
    score = audit.score
    return {
        "size": audit.size,
        "answered": audit.answered,
        "accuracy": None if score is None else _interval(score.accuracy),
        "macro_f1": None if score is None else _interval(score.macro_f1),
        "to_halve": None if score is None else score.to_halve,
    }


def to_json_advice(advice: Advice) -> dict[str, Any]:
    """Return the advice as JSON."""
    now = advice.curve.now
    return {
        "labels": now.n_labels,
        "accuracy": _interval(now.accuracy),
        "macro_f1": _interval(now.macro_f1),
        "may_stop": advice.may_stop,
        "headline": advice.headline,
        "reasons": list(advice.reasons),
    }


def _interval(interval: Interval) -> dict[str, float]:
    return {name: float(getattr(interval, name)) for name in ("value", "low", "high", "level")}


def _endpoint(action: Action) -> Callable[..., JSONResponse]:
    """Return the endpoint of an action."""

    def answer(request: Request, body: Any) -> JSONResponse:
        return JSONResponse(action.run(annotator_of(request), body))

    answer.__annotations__["body"] = action.body
    return answer
