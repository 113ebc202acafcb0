"""The application and the server of the labelling page."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, cast

import h11
import uvicorn
from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles
from uvicorn.protocols.http.h11_impl import H11Protocol

import featprop
from featprop.web.common.card import find_image, media_type
from featprop.web.common.palette import class_stylesheet
from featprop.web.page.api import build_api
from featprop.web.page.pages import build_pages
from featprop.web.page.responses import add_error_handlers
from featprop.web.page.security import Guard, Tokens
from featprop.web.page.session import Session
from featprop.web.page.views import NodeViews

STATIC = Path(__file__).parent / "static"
SHUTDOWN_TIMEOUT_S = 3
"""Time for running requests to finish when the server stops."""
REQUEST_TIMEOUT_S = 10.0
"""Time for a whole request, head and body, to arrive."""
IDLE_TIMEOUT_S = 75
"""Time a connection stays open between two requests."""
BACKLOG = 64
"""Connections accepted at once."""
MAX_CONNECTIONS, RESERVED_FILES = 4096, 100
"""Connections that may be open, and open files that are not connections."""
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
    graph_name: str = "",
    next_command: str = "",
) -> Guard:
    """Return the labelling page as an ASGI application."""
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
    app.include_router(build_api(session, views))
    app.include_router(build_pages(session, views, graph_name, next_command))

    @app.get("/images/{path:path}", include_in_schema=False)
    def image(path: str) -> FileResponse:
        found = None if images is None else find_image(images, path)
        if found is None:
            raise HTTPException(404)
        headers = {"Cache-Control": "private, max-age=3600"}
        return FileResponse(found, media_type=media_type(found), headers=headers)

    @app.get("/static/colours.css", include_in_schema=False)
    def colours() -> Response:
        return Response(class_stylesheet(), media_type="text/css", headers={"Cache-Control": "no-cache"})

    app.mount("/static", StaticFiles(directory=STATIC))
    add_error_handlers(app)
    return Guard(app, tokens, hosts, port)


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


class TimedProtocol(H11Protocol):
    """HTTP with time limits.

    A connection closes unless a whole request arrives in time. When there are too many connections, the one that has
    waited longest for the rest of its request closes, or else the new one; so no one can lock people out by opening
    connections.
    """

    _deadline: asyncio.TimerHandle | None = None
    _waiting: ClassVar[dict[TimedProtocol, None]] = {}
    """Connections without a whole request, oldest first."""

    def connection_made(self, transport: Any) -> None:
        """Start the time limit, and make room if there are too many connections."""
        super().connection_made(transport)
        self._expect_request()
        if len(self.connections) > max_connections():
            oldest = next(iter(self._waiting))
            oldest._stop_waiting()
            oldest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the time limit."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Stop the time limit when the request is whole, or start it at the first bytes of the next one."""
        super().data_received(data)
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._stop_waiting()
        elif self._deadline is None:
            self._expect_request()

    def _expect_request(self) -> None:
        self._deadline = self.loop.call_later(REQUEST_TIMEOUT_S, self._expire)
        self._waiting[self] = None

    def _stop_waiting(self) -> None:
        self._waiting.pop(self, None)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _expire(self) -> None:
        self._stop_waiting()
        self.transport.close()

    def _unsupported_upgrade_warning(self) -> None:
        """Refuse WebSockets quietly: the request is answered like any other."""


def max_connections() -> int:
    """Return how many connections may be open, given the limit of open files."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return min(MAX_CONNECTIONS, max(8, limit - BACKLOG - RESERVED_FILES))
