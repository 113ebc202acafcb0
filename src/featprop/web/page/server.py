"""The application and the server of the labelling page."""

from __future__ import annotations

import logging
import socket
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, cast

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

import featprop
from featprop.errors import FeatpropError, FileError, ParameterError
from featprop.web.common.card import MEDIA_TYPES, find_image
from featprop.web.common.palette import class_stylesheet
from featprop.web.page.actions import build_actions
from featprop.web.page.api import build_api
from featprop.web.page.connections import BACKLOG, IDLE_TIMEOUT_S, TimedProtocol
from featprop.web.page.pages import build_pages
from featprop.web.page.responses import Refusal, error_response, refusal_for
from featprop.web.page.security import Guard, Tokens
from featprop.web.page.session import Session
from featprop.web.page.views import NodeViews

log = logging.getLogger(__name__)

STATIC = Path(__file__).parent / "static"
SHUTDOWN_TIMEOUT_S = 3
"""Time for running requests to finish when the server stops."""
ABOUT = (
    "The labelling page for programs. Send the token of an annotator as `Authorization: Bearer …`. "
    'Errors are returned as `{"error": …}`.'
)


def build_application(
    session: Session,
    tokens: Tokens,
    *,
    hosts: Sequence[str],
    port: int,
    images: Path | None = None,
    may_add: Collection[str] | None = None,
    next_command: str = "",
) -> Guard:
    """Return the labelling page as an ASGI application."""
    adders = {session.owner, *(session.annotators if may_add is None else may_add)} if session.open_classes else set()
    app = FastAPI(
        title="featprop label",
        version=featprop.__version__,
        description=ABOUT,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    views = NodeViews(session, images)
    actions = build_actions(session, adders)
    app.include_router(build_api(session, views, actions))
    app.include_router(build_pages(session, views, actions, adders, next_command))

    @app.get("/images/{path:path}", include_in_schema=False)
    def image(path: str) -> FileResponse:
        found = None if images is None else find_image(images, path)
        if found is None:
            raise Refusal(404, ParameterError(f"There is no image {path[:100]!r}.", parameter="path", value=path))
        headers = {"Cache-Control": "private, max-age=3600"}
        return FileResponse(found, media_type=MEDIA_TYPES[found.suffix.lower()], headers=headers)

    @app.get("/static/colours.css", include_in_schema=False)
    def colours() -> Response:
        return Response(class_stylesheet(), media_type="text/css", headers={"Cache-Control": "no-cache"})

    app.mount("/static", StaticFiles(directory=STATIC))
    app.add_exception_handler(FeatpropError, _on_error)
    app.add_exception_handler(Refusal, _on_refusal)
    app.add_exception_handler(RequestValidationError, _on_bad_request)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(ClientDisconnect, _on_disconnect)
    app.add_exception_handler(Exception, _on_bug)
    return Guard(app, tokens, hosts, port)


def serve(app: Guard, listener: socket.socket) -> None:
    """Serve requests at a listening socket until the process receives a signal to stop."""
    make_server(app).run(sockets=[listener])


def make_server(app: Guard) -> uvicorn.Server:
    """Return a server; it logs no requests, because the address of the first one contains the token."""
    config = uvicorn.Config(
        cast("Any", app),
        access_log=False,
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        http=TimedProtocol,
        backlog=BACKLOG,
        timeout_keep_alive=IDLE_TIMEOUT_S,
        timeout_graceful_shutdown=SHUTDOWN_TIMEOUT_S,
        lifespan="off",
        ws="none",
    )
    return uvicorn.Server(config)


def _on_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, FeatpropError)
    refusal = refusal_for(error)
    if refusal.status >= 500:
        log.error("%s", error)
    return error_response(request.scope, refusal)


def _on_refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return error_response(request.scope, error)


def _on_bad_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    hint = "Send a JSON object with Content-Type: application/json."
    if first["type"] == "json_invalid":
        message = f"The request is not valid JSON: {first['ctx']['error']} at character {first['loc'][-1]}."
        return error_response(request.scope, Refusal(400, ParameterError(message, hint=hint, parameter="body")))
    if first["loc"] == ("body",) and isinstance(first.get("input"), bytes | str):
        found = request.headers.get("content-type", "")
        message = f"The request is {found}, not JSON." if found else "The request has no Content-Type."
        refused = ParameterError(message, hint=hint, parameter="Content-Type", value=found)
        return error_response(request.scope, Refusal(400, refused))
    place = ".".join(str(part) for part in first["loc"][1:]) or "body"
    shown = "" if first["type"] == "missing" else f" (got {first.get('input')!r:.100})"
    message = f"Invalid `{place}`: {first['msg']}{shown}."
    refused = ParameterError(message, hint="See /api/openapi.json.", parameter=place, value=first.get("input"))
    return error_response(request.scope, Refusal(422, refused))


def _on_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    message = f"{error.detail.rstrip('.')}."
    if error.status_code == 404:
        message = f"There is nothing at {request.url.path[:100]}."
    refused = ParameterError(message, parameter="path", value=request.url.path)
    response = error_response(request.scope, Refusal(error.status_code, refused))
    response.headers.update(error.headers or {})
    return response


def _on_disconnect(request: Request, error: Exception) -> Response:  # noqa: ARG001
    return Response(status_code=400)  # nobody reads it


def _on_bug(request: Request, error: Exception) -> Response:
    message = f"Internal server error ({type(error).__name__})."
    hint = "See the terminal running `featprop label` for details."
    return error_response(request.scope, Refusal(500, FileError(message, hint=hint)))
