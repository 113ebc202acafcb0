"""The JSON API: everything the page does, for programs.

An answer to a change is sent after the change is on the disk. Whatever is wrong is answered as ``{"error": …}``, with
one sentence and the status it has in HTTP.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import JSONResponse, Response

from featprop.evaluate import Advice, Interval
from featprop.names import to_jsonable
from featprop.web.page.addresses import node_address, node_in
from featprop.web.page.changes import Change, who
from featprop.web.page.desk import Desk
from featprop.web.page.downloads import download
from featprop.web.page.reports import AuditProgress, Progress, Question
from featprop.web.page.showing import Showing, jsonable_act, jsonable_prediction, jsonable_view

__all__ = ["api"]


def api(desk: Desk, showing: Showing, changes: dict[str, Change]) -> APIRouter:
    """Return the routes below ``/api``.

    Parameters
    ----------
    desk
        What does the work.
    showing
        What is shown of a node.
    changes
        What people can do.
    """
    routes = APIRouter(prefix="/api", default_response_class=JSONResponse)
    for name, change in changes.items():
        routes.add_api_route(
            f"/{name}", _endpoint(change), methods=["POST"], description=change.about, response_model=None
        )

    @routes.get("/next", response_model=None)
    def next_question(request: Request) -> JSONResponse:
        """Return what you are asked for, the same until you answer; null if nothing is left for you."""
        return JSONResponse(_asked(desk, desk.next(who(request))))

    @routes.get("/progress", response_model=None)
    def progress() -> JSONResponse:
        """Say how far the labelling is."""
        return JSONResponse(jsonable_progress(desk.progress()))

    @routes.get("/history")
    def history(request: Request, limit: Annotated[int, Query(ge=1, le=10_000)] = 50) -> dict[str, Any]:
        """Return your answers that stand, the newest first."""
        return {"answers": [jsonable_act(act) for act in desk.history(who(request), limit)]}

    @routes.get("/disagreements")
    def disagreements(request: Request) -> dict[str, Any]:
        """Return the nodes that people answered differently and nobody settled, but for those you may be asked."""
        return {
            "disagreements": [
                {
                    "node": to_jsonable(each.node),
                    "answers": {name: to_jsonable(label) for name, label in each.answers.items()},
                }
                for each in desk.disagreements(who(request))
            ]
        }

    @routes.get("/predictions")
    def predictions(
        limit: Annotated[int, Query(ge=1, le=10_000)] = 20, suggestion: bool | None = None
    ) -> dict[str, Any]:
        """Return predictions to look at: least sure, most contradicted; with --blind only with ?suggestion=true."""
        shown = not desk.blind if suggestion is None else suggestion
        found = {
            "doubtful": desk.doubtful(limit) if shown else [],
            "contradicted": desk.contradicted(limit) if shown else [],
        }
        return {
            name: [{"node": to_jsonable(node), **jsonable_prediction(prediction)} for node, prediction in pairs]
            for name, pairs in found.items()
        }

    @routes.get("/nodes/{name:path}", response_model=None)
    def node(request: Request, name: str, suggestion: bool | None = None) -> JSONResponse:
        """Return what there is to know of a node; with --blind what the model thinks comes with ?suggestion=true."""
        wanted = not desk.blind if suggestion is None else suggestion
        return JSONResponse(jsonable_view(showing.view(node_in(desk.graph, name), who(request), suggestion=wanted)))

    @routes.get("/export")
    def export(format: str = "csv") -> Response:
        """Return every answer as a file: csv, jsonl, label-studio, or label-studio-config."""
        return download(desk, format)

    return routes


def jsonable_progress(progress: Progress) -> dict[str, Any]:
    """Return progress as the API gives it."""
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
        "audit": None if progress.audit is None else jsonable_audit(progress.audit),
        "advice": None if progress.advice is None else jsonable_advice(progress.advice),
    }


def jsonable_audit(audit: AuditProgress) -> dict[str, Any]:
    """Return how far the audit is as the API gives it; intervals as value, low and high."""
    score = audit.score
    return {
        "size": audit.size,
        "answered": audit.answered,
        "accuracy": None if score is None else _interval(score.accuracy),
        "macro_f1": None if score is None else _interval(score.macro_f1),
        "to_halve": None if score is None else score.to_halve,
    }


def jsonable_advice(advice: Advice) -> dict[str, Any]:
    """Return how good the model is as the labels tell, and the advice, as the API gives it."""
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


def _endpoint(change: Change) -> Callable[..., JSONResponse]:
    """Return what answers a change that a program sends."""

    def answer(request: Request, body: Any) -> JSONResponse:
        return JSONResponse(change.do(who(request), body))

    answer.__annotations__["body"] = change.body
    return answer


def _asked(desk: Desk, question: Question | None) -> dict[str, Any]:
    classes = [to_jsonable(name) for name in desk.classes]
    if question is None:
        return {"node": None, "classes": classes}
    prediction = None if desk.blind else desk.prediction(question.node)
    return {
        "node": to_jsonable(question.node),
        "address": node_address(question.node),
        "rank": question.rank,
        "represents": question.represents,
        "why": question.why,
        "audit": question.is_audit,
        "prediction": None if prediction is None else jsonable_prediction(prediction),
        "classes": classes,
    }
