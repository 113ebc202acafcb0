"""Error responses: JSON for programs, a page for people."""

from __future__ import annotations

import logging
import sqlite3
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import Scope

from featprop.errors import FeatpropError, FileError, GraphError, LabelError, ParameterError
from featprop.web.common.templates import render_template
from featprop.web.page.session import NotAllowedError

log = logging.getLogger(__name__)

STATUS = {NotAllowedError: 403, GraphError: 404, LabelError: 409, ParameterError: 422, FileError: 503}
DISK_FULL_CODES = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE})


class RequestError(ParameterError):
    """An error with its HTTP status."""

    def __init__(self, status: int, message: str, **fields: Any) -> None:
        super().__init__(message, **fields)
        self.status = status


def error_response(scope: Scope, error: FeatpropError, status: int) -> Response:
    """Return the response to a refused request: JSON below ``/api/``, a page elsewhere."""
    message = error.spelled(str)
    if scope["path"].startswith("/api/"):
        content = {"error": message, "type": type(error).__name__, "parameter": error.parameter}
        return JSONResponse(content, status)
    values = {"title": HTTPStatus(status).phrase, "sentence": message, "status": status}
    return HTMLResponse(render_template("web/page/templates/refusal.html.j2", **values), status)


def add_error_handlers(app: FastAPI) -> None:
    """Answer every error of the application with an error response."""

    @app.exception_handler(FeatpropError)
    def refuse(request: Request, error: FeatpropError) -> Response:
        status = next((code for kind, code in STATUS.items() if isinstance(error, kind)), 500)
        if isinstance(error, RequestError):
            status = error.status
        if isinstance(error, FileError) and getattr(error.__cause__, "sqlite_errorcode", None) in DISK_FULL_CODES:
            status = 507
        if status >= 500:
            log.error("%s", error)
        return error_response(request.scope, error, status)

    @app.exception_handler(RequestValidationError)
    @app.exception_handler(ValidationError)
    def refuse_input(request: Request, error: RequestValidationError | ValidationError) -> Response:
        first = error.errors()[0]
        place = ".".join(part for part in first["loc"] if isinstance(part, str) and part not in ("body", "query"))
        if not place:
            hint = "Send one with Content-Type: application/json."
            refused = ParameterError("The request body is not a JSON object.", hint=hint, parameter="body")
            return error_response(request.scope, refused, 400)
        shown = "" if first["type"] == "missing" else f" (got {first['input']!r:.100})"
        message = f"Invalid `{place}`: {first['msg']}{shown}."
        refused = ParameterError(message, hint="See /api/openapi.json.", parameter=place, value=first["input"])
        return error_response(request.scope, refused, 422)

    @app.exception_handler(HTTPException)
    def refuse_request(request: Request, error: HTTPException) -> Response:
        path, message = request.url.path, f"{error.detail.rstrip('.')}."
        if error.status_code == 404:
            message = f"There is nothing at {path[:100]}."
        refused = ParameterError(message, parameter="path", value=path)
        response = error_response(request.scope, refused, error.status_code)
        response.headers.update(error.headers or {})
        return response

    @app.exception_handler(ClientDisconnect)
    def hang_up(request: Request, error: ClientDisconnect) -> Response:  # noqa: ARG001
        return Response(status_code=400)  # the client has gone

    @app.exception_handler(Exception)
    def report_bug(request: Request, error: Exception) -> Response:
        hint = "See the terminal running `featprop label` for details."
        bug = FeatpropError(f"Internal server error ({type(error).__name__}).", hint=hint)
        return error_response(request.scope, bug, 500)
