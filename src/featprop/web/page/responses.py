"""Error responses: JSON for programs, a page for people."""

from __future__ import annotations

import sqlite3

from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import Scope

from featprop.errors import FeatpropError, FileError, GraphError, LabelError, ParameterError
from featprop.web.common.templates import render_template

TITLES = {
    400: "Bad request",
    401: "Personal link needed",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    409: "Conflict",
    413: "Request too large",
    422: "Invalid input",
    500: "Internal server error",
    503: "Answers cannot be saved right now",
    507: "Disk full",
}
DISK_FULL_CODES = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE})


class Refusal(Exception):  # noqa: N818
    """An error with its HTTP status."""

    def __init__(self, status: int, error: FeatpropError) -> None:
        super().__init__(str(error))
        self.status, self.error = status, error


def refusal_for(error: FeatpropError) -> Refusal:
    """Return an error of the library with its HTTP status."""
    if isinstance(error, GraphError):
        return Refusal(404, error)
    if isinstance(error, LabelError):
        return Refusal(409, error)
    if isinstance(error, ParameterError):
        return Refusal(422, error)
    if isinstance(error, FileError):
        return Refusal(507 if getattr(error.__cause__, "sqlite_errorcode", None) in DISK_FULL_CODES else 503, error)
    return Refusal(500, error)


def error_response(scope: Scope, refusal: Refusal) -> Response:
    """Return the response to a refused request: JSON below ``/api/``, a page elsewhere."""
    message = refusal.error.spelled(str)
    if scope["path"].startswith("/api/"):
        content = {"error": message, "type": type(refusal.error).__name__, "parameter": refusal.error.parameter}
        return JSONResponse(content, refusal.status)
    title = TITLES.get(refusal.status, TITLES[500])
    page = render_template("web/page/templates/refusal.html.j2", title=title, sentence=message, status=refusal.status)
    return HTMLResponse(page, refusal.status)
