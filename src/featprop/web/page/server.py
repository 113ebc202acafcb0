"""The server of the labelling page: the application, its files, and what becomes of errors."""

from __future__ import annotations

import logging
import socket
from collections.abc import Collection
from pathlib import Path
from typing import Any, cast

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

import featprop
from featprop.errors import FeatpropError, FileError, ParameterError
from featprop.web.page.api import api
from featprop.web.page.changes import changes
from featprop.web.page.class_marks import style
from featprop.web.page.desk import Desk
from featprop.web.page.pages import pages
from featprop.web.page.pictures import picture
from featprop.web.page.replies import Refusal, refusal, refusal_of
from featprop.web.page.security import Guard, Hosts, Tokens
from featprop.web.page.showing import Showing

__all__ = ["application", "serve"]

log = logging.getLogger(__name__)

STATIC = Path(__file__).parent / "static"
KEPT = {"Cache-Control": "no-cache"}
"""For what may be kept by a browser that asks whether it is still true."""
GRACE = 3
"""Seconds that requests under way have when the server ends."""
ABOUT = (
    "What the labelling page does, for programs. Send the token of an annotator as `Authorization: Bearer …`. "
    'Whatever is wrong is answered as `{"error": …}`.'
)


def application(
    desk: Desk,
    tokens: Tokens,
    *,
    hosts: Hosts,
    port: int,
    images: Path | None = None,
    adding: Collection[str] | None = None,
) -> Guard:
    """Return the labelling page as an ASGI application.

    Parameters
    ----------
    desk
        What does the work; it has been started.
    tokens
        Of the annotators.
    hosts
        The names by which the server may be called.
    port
        Where it listens.
    images
        The only folder whose pictures are shown.
    adding
        Who may add a class; everybody if not given, if the desk lets them.
    """
    may_add = frozenset(desk.annotators if adding is None else adding) if desk.open_classes else frozenset()
    app = FastAPI(
        title="featprop label",
        version=featprop.__version__,
        description=ABOUT,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    showing = Showing(desk, images)
    able = changes(desk, may_add)
    app.include_router(api(desk, showing, able))
    app.include_router(pages(desk, showing, able, may_add))

    @app.get("/images/{path:path}", include_in_schema=False)
    def image(path: str) -> FileResponse:
        return picture(images, path)

    @app.get("/static/colours.css", include_in_schema=False)
    def colours() -> Response:
        return Response(style(), media_type="text/css", headers=KEPT)

    app.mount("/static", StaticFiles(directory=STATIC))
    app.add_exception_handler(FeatpropError, _on_error)
    app.add_exception_handler(Refusal, _on_refusal)
    app.add_exception_handler(RequestValidationError, _on_bad_request)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(Exception, _on_bug)
    return Guard(app, tokens, hosts, port)


def serve(app: Guard, listener: socket.socket) -> None:
    """Answer requests at a socket that listens, until the process is told to end.

    There is no log of requests: the address of the first one has the token.
    """
    config = uvicorn.Config(
        cast("Any", app),
        access_log=False,
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE,
        lifespan="off",
        ws="none",
    )
    uvicorn.Server(config).run(sockets=[listener])


def _on_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, FeatpropError)
    told = refusal_of(error)
    if told.status >= 500:
        log.error("%s", error)
    return refusal(request.scope, told)


def _on_refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return refusal(request.scope, error)


def _on_bad_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        found = f"{first['ctx']['error']} at letter {first['loc'][-1]}"
        told = ParameterError("The request", "must be JSON", found, "send Content-Type: application/json and an object")
        return refusal(request.scope, Refusal(400, told))
    if first["loc"] == ("body",) and isinstance(first.get("input"), bytes | str):
        found = request.headers.get("content-type") or "no Content-Type"
        told = ParameterError("The request", "must be a JSON object", found, "send Content-Type: application/json")
        return refusal(request.scope, Refusal(400, told))
    place = ".".join(str(part) for part in first["loc"][1:]) or "The request"
    found = "nothing" if first["type"] == "missing" else f"{first.get('input')!r:.100}"
    rule = f"must be as the API says: {first['msg'][:1].lower()}{first['msg'][1:]}"
    told = ParameterError(place, rule, found, "see /api/openapi.json")
    return refusal(request.scope, Refusal(422, told))


def _on_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    what, found = f"{request.method} {request.url.path[:100]}", str(error.detail).lower()
    told = ParameterError(what, "must be something this server does", found, "see the help, or /api/openapi.json")
    answer = refusal(request.scope, Refusal(error.status_code, told))
    answer.headers.update(error.headers or {})
    return answer


def _on_bug(request: Request, error: Exception) -> Response:
    cure = "look at what featprop label printed, and try again"
    told = FileError("This request", "must not fail", type(error).__name__, cure)
    return refusal(request.scope, Refusal(500, told))
