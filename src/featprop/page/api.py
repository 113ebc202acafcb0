"""The JSON API: everything the page does, for programs.

An answer to a change is sent after the change is on the disk. Whatever is wrong is answered as ``{"error": …}``, with
one sentence and the status it has in HTTP.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from featprop.errors import ParameterError
from featprop.estimates import Interval
from featprop.names import to_jsonable
from featprop.page.addresses import named, node_address, node_in, node_of
from featprop.page.bodies import Heartbeat, Labelling, NewClass, Note, Skipping, Undoing
from featprop.page.desk import Desk
from featprop.page.downloads import download
from featprop.page.replies import Refusal
from featprop.page.reports import AuditProgress, Progress, Question
from featprop.page.showing import Showing, jsonable_act, jsonable_prediction, jsonable_view

__all__ = ["api", "check_may_add", "who"]


def who(request: Request) -> str:
    """Return who asks; the guard has found out."""
    name: str = request.scope["annotator"]
    return name


def check_may_add(annotator: str, adding: Collection[str]) -> None:
    """Refuse a new class of somebody who may not add one."""
    if annotator not in adding:
        found = repr(annotator) if annotator else "somebody else"
        error = ParameterError("A class", "must be added by those who may", found, "ask them, or skip with a reason")
        raise Refusal(403, error)


def api(desk: Desk, showing: Showing, adding: Collection[str]) -> APIRouter:
    """Return the routes below ``/api``.

    Parameters
    ----------
    desk
        What does the work.
    showing
        What is shown of a node.
    adding
        Who may add a class.
    """
    routes = APIRouter(prefix="/api")

    @routes.get("/next")
    def next_question(request: Request) -> dict[str, Any]:
        """Return what you are asked for, the same until you answer; null if nothing is left for you."""
        return _asked(desk, desk.next(who(request)))

    @routes.post("/labels")
    def label(request: Request, body: Labelling) -> dict[str, Any]:
        """Label a node, or change your label. The same key sent again changes nothing."""
        node = _node(desk, body.node)
        desk.label(who(request), node, named(body.label, "label"), body.key)
        return {"saved": "label", "node": to_jsonable(node)}

    @routes.post("/skips")
    def skip(request: Request, body: Skipping) -> dict[str, Any]:
        """Say that you cannot label a node, and why."""
        node = _node(desk, body.node)
        desk.skip(who(request), node, body.reason, body.key)
        return {"saved": "skip", "node": to_jsonable(node)}

    @routes.post("/undo")
    def undo(request: Request, body: Undoing) -> dict[str, Any]:
        """Take back your last answer; its node is asked again. Null if there is none."""
        return {"saved": "undo", "node": to_jsonable(desk.undo(who(request), body.key))}

    @routes.post("/notes")
    def note(request: Request, body: Note) -> dict[str, Any]:
        """Write something down about a node."""
        node = _node(desk, body.node)
        desk.note(who(request), node, body.text, body.key)
        return {"saved": "note", "node": to_jsonable(node)}

    @routes.post("/adjudications")
    def adjudicate(request: Request, body: Labelling) -> dict[str, Any]:
        """Settle what a node is where people disagree."""
        node = _node(desk, body.node)
        desk.adjudicate(who(request), node, named(body.label, "label"), body.key)
        return {"saved": "adjudication", "node": to_jsonable(node)}

    @routes.post("/heartbeat")
    def heartbeat(request: Request, body: Heartbeat) -> dict[str, Any]:
        """Keep your question; `held` is false if somebody else may have it by now. A late answer still counts."""
        return {"held": desk.heartbeat(who(request), _node(desk, body.node))}

    @routes.post("/classes")
    def add_class(request: Request, body: NewClass) -> dict[str, Any]:
        """Add a class, if you may."""
        check_may_add(who(request), adding)
        added = desk.add_class(body.name)
        return {"class": to_jsonable(added), "classes": [to_jsonable(name) for name in desk.classes]}

    @routes.get("/progress")
    def progress() -> dict[str, Any]:
        """Say how far the labelling is."""
        return jsonable_progress(desk.progress())

    @routes.get("/history")
    def history(request: Request, limit: Annotated[int, Query(ge=1, le=10_000)] = 50) -> dict[str, Any]:
        """Return your answers that stand, the newest first."""
        return {"answers": [jsonable_act(act) for act in desk.history(who(request), limit)]}

    @routes.get("/disagreements")
    def disagreements() -> dict[str, Any]:
        """Return the nodes that people answered differently and nobody has settled."""
        return {
            "disagreements": [
                {
                    "node": to_jsonable(each.node),
                    "answers": {name: to_jsonable(label) for name, label in each.answers.items()},
                }
                for each in desk.disagreements()
            ]
        }

    @routes.get("/predictions")
    def predictions(limit: Annotated[int, Query(ge=1, le=10_000)] = 20) -> dict[str, Any]:
        """Return predictions to look at: those the model is least sure of, and those the neighbours contradict."""
        found = {"doubtful": desk.doubtful(limit), "contradicted": desk.contradicted(limit)}
        return {
            name: [{"node": to_jsonable(node), **jsonable_prediction(prediction)} for node, prediction in pairs]
            for name, pairs in found.items()
        }

    @routes.get("/nodes/{name:path}")
    def node(request: Request, name: str, suggestion: bool | None = None) -> dict[str, Any]:
        """Return what there is to know of a node; with --blind what the model thinks comes with ?suggestion=true."""
        wanted = not desk.blind if suggestion is None else suggestion
        return jsonable_view(showing.view(node_in(desk.graph, name), who(request), suggestion=wanted))

    @routes.get("/export")
    def export(format: str = "csv") -> Response:  # noqa: A002
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
        "classes": [{"class": to_jsonable(name), "labels": count} for name, count in progress.classes.items()],
        "annotators": progress.annotators,
        "hours": {hour.isoformat(): count for hour, count in progress.hours.items()},
        "alpha": progress.alpha,
        "coverage": progress.coverage,
        "training": progress.training,
        "failure": progress.failure,
        "audit": None if progress.audit is None else jsonable_audit(progress.audit),
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


def _interval(interval: Interval) -> dict[str, float]:
    return {name: float(getattr(interval, name)) for name in ("value", "low", "high", "level")}


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


def _node(desk: Desk, value: Any) -> Hashable:
    return node_of(desk.graph, named(value, "node"))
