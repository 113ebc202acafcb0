"""What goes wrong as an answer: one sentence with the right status, as JSON for programs and as a page for people."""

from __future__ import annotations

import sqlite3

from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import Scope

from featprop.errors import FeatpropError, FileError, GraphError, LabelError, ParameterError
from featprop.web.drawing.templates import rendered

__all__ = ["Refusal", "refusal", "refusal_of"]

TITLES = {
    400: "This could not be read",
    401: "Open your own address",
    403: "This is not allowed",
    404: "There is no such thing here",
    405: "This cannot be done so",
    409: "This does not fit what was answered",
    413: "This is too large",
    422: "Something is not as it must be",
    500: "Something went wrong",
    503: "The answers cannot be written just now",
    507: "The disk is full",
}
FULL = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE})


class Refusal(Exception):  # noqa: N818
    """An answer that says what is wrong.

    Parameters
    ----------
    status
        Of HTTP.
    error
        What is wrong, in one sentence.
    """

    def __init__(self, status: int, error: FeatpropError) -> None:
        super().__init__(str(error))
        self.status, self.error = status, error


def refusal_of(error: FeatpropError) -> Refusal:
    """Return the answer to an error of the library."""
    if isinstance(error, GraphError):
        return Refusal(404, error)
    if isinstance(error, LabelError):
        return Refusal(409, error)
    if isinstance(error, ParameterError):
        return Refusal(422, error)
    if isinstance(error, FileError):
        return Refusal(507 if getattr(error.__cause__, "sqlite_errorcode", None) in FULL else 503, error)
    return Refusal(500, error)


def refusal(scope: Scope, told: Refusal) -> Response:
    """Return the answer to a request: JSON below ``/api/``, a page elsewhere."""
    if scope["path"].startswith("/api/"):
        return JSONResponse({"error": str(told.error)}, told.status)
    title = TITLES.get(told.status, TITLES[500])
    page = rendered("web/page/templates/refusal.html.j2", title=title, sentence=str(told.error), status=told.status)
    return HTMLResponse(page, told.status)
