"""Access control: tokens, Host and Origin checks, request sizes, and security headers.

- Each annotator has a random token. ``/?token=…`` sets an HttpOnly cookie and redirects to a clean address; programs
  send the token as ``Authorization: Bearer …``. The cookie is ``SameSite=Lax``, because people open their link from a
  mail or a chat, and browsers withhold a strict cookie on the redirect that follows. Lax lets only links through,
  which read, and the site that made the link sees nothing.
- The Host header must name the server, which prevents DNS rebinding (Starlette's `TrustedHostMiddleware`).
- Changes must come from the page itself. Browsers say so in ``Sec-Fetch-Site`` or, for plain addresses of a local
  network, in ``Origin``; a request with neither does not come from a browser and needs the token in a header.
- ``Referrer-Policy`` is ``no-referrer`` where the token is in the address and ``same-origin`` on pages, because with
  ``no-referrer`` browsers send ``Origin: null`` with the page's own forms.
"""

from __future__ import annotations

import ipaddress
import secrets
import socket
from collections.abc import Iterable, Mapping
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from featprop.errors import ParameterError
from featprop.web.page.responses import Refusal, error_response

MAX_BODY_BYTES = 1 << 20
"""An id may be long."""
TOKEN_BYTES = 32
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Tokens:
    """Random tokens of the annotators.

    Parameters
    ----------
    annotators
        Names of the annotators; the empty name for a single unnamed one.
    """

    def __init__(self, annotators: Iterable[str]) -> None:
        self._tokens = {name: secrets.token_urlsafe(TOKEN_BYTES) for name in annotators}

    def of(self, annotator: str) -> str:
        """Return the token of an annotator."""
        return self._tokens[annotator]

    def annotator(self, token: str) -> str | None:
        """Return the annotator with this token, or None, in constant time."""
        found = None
        for name, known in self._tokens.items():
            if secrets.compare_digest(known.encode(), token.encode("utf-8", "replace")):
                found = name
        return found

    def __repr__(self) -> str:
        return f"Tokens of {', '.join(map(repr, self._tokens))}"


def allowed_hosts(host: str) -> list[str]:
    """Return the names and addresses that requests may use for a server bound to `host`; ports are ignored."""
    bare = _bare(host)
    address = _address(bare)
    names = {bare if address is None else str(address)}
    if is_unspecified(host):
        import psutil

        own = socket.gethostname().lower()
        names |= {own, f"{own}.local", socket.getfqdn().lower()}
        families = (socket.AF_INET, socket.AF_INET6)
        found = [each for addresses in psutil.net_if_addrs().values() for each in addresses]
        names |= {each.address.split("%")[0] for each in found if each.family in families}
    elif address is None:
        names |= _resolve(bare)
    if is_loopback(host) or is_unspecified(host):
        names |= LOOPBACK
    return sorted(f"[{name}]" if ":" in name else name for name in names)


class Guard:
    """ASGI middleware that checks every request and sets the security headers.

    Parameters
    ----------
    app
        Application; it finds the annotator in ``scope["annotator"]``.
    tokens
        Tokens of the annotators.
    hosts
        Host names the server accepts (`allowed_hosts`).
    port
        Port of the server, part of the name of the cookie because cookies ignore ports.
    """

    def __init__(self, app: ASGIApp, tokens: Tokens, hosts: Iterable[str], port: int) -> None:
        self.app, self.tokens, self.cookie = app, tokens, cookie_name(port)
        self._trusted = TrustedHostMiddleware(self._check, [*hosts], www_redirect=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request or pass it on."""

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._trusted(scope, receive, send_guarded)

    async def _check(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        answer = self._answer(scope, headers)
        declared = headers.get("content-length", "0")
        if answer is None and (not declared.isdecimal() or int(declared) > MAX_BODY_BYTES):
            answer = error_response(scope, Refusal(413, _too_large()))
        if answer is not None:
            await answer(scope, receive, send)
            return
        size = 0

        async def receive_limited() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > MAX_BODY_BYTES:
                raise HTTPException(413, str(_too_large()))
            return message

        await self.app(scope, receive_limited, send)

    def _answer(self, scope: Scope, headers: Headers) -> Response | None:
        """Return the response to a refused request or a token; None if the request may pass."""
        if scope["path"].startswith("/static/") and scope["method"] in SAFE_METHODS:
            return None
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token")
        if scope["path"] == "/" and scope["method"] == "GET" and given:
            return self._exchange_token(scope, given[-1])
        bearer = _bearer(headers)
        cookie = HTTPConnection(scope).cookies.get(self.cookie, "")
        annotator = self.tokens.annotator(bearer if bearer is not None else cookie)
        if annotator is None:
            return error_response(scope, Refusal(401, _no_token(scope)))
        if scope["method"] not in SAFE_METHODS and bearer is None:
            foreign = _foreign_header(headers, scope["scheme"])
            if foreign:
                return error_response(scope, Refusal(403, _foreign_change(foreign)))
        scope["annotator"] = annotator
        return None

    def _exchange_token(self, scope: Scope, token: str) -> Response:
        if self.tokens.annotator(token) is None:
            return error_response(scope, Refusal(401, _no_token(scope)))
        answer = RedirectResponse("/", status_code=303, headers={"Referrer-Policy": "no-referrer"})
        answer.set_cookie(self.cookie, token, httponly=True, samesite="lax", path="/")
        return answer


def cookie_name(port: int) -> str:
    """Return the cookie name of the server at a port."""
    return f"featprop-{port}"


def is_loopback(host: str) -> bool:
    """Return whether a host to bind to is only reachable from this machine."""
    bare = _bare(host)
    address = _address(bare)
    return bare == "localhost" or (address is not None and address.is_loopback)


def is_unspecified(host: str) -> bool:
    """Return whether a host to bind to means all addresses of this machine."""
    address = _address(_bare(host))
    return address is not None and address.is_unspecified


def _bare(host: str) -> str:
    return host.strip().removeprefix("[").removesuffix("]").lower()


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def _resolve(name: str) -> set[str]:
    """Return the addresses of a host name; none if the lookup fails."""
    try:
        return {str(found[4][0]) for found in socket.getaddrinfo(name, None)}
    except OSError:
        return set()


def _bearer(headers: Headers) -> str | None:
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def _foreign_header(headers: Mapping[str, str], scheme: str) -> str:
    """Return the header that shows a change comes from another site; empty if it comes from the page."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None:
        return "" if site in ("same-origin", "none") else f"Sec-Fetch-Site: {site}"
    if origin is not None:
        return "" if origin.lower() == f"{scheme}://{headers.get('host', '')}".lower() else f"Origin: {origin}"
    return "neither Sec-Fetch-Site nor Origin"


def _no_token(scope: Scope) -> ParameterError:
    if scope["path"].startswith("/api/"):
        return ParameterError(
            "The request has no valid token.", hint="Send your token as Authorization: Bearer TOKEN.", parameter="token"
        )
    return ParameterError(
        "This page needs your personal link.", hint="Ask whoever started featprop for it.", parameter="token"
    )


def _foreign_change(header: str) -> ParameterError:
    return ParameterError(
        f"This change does not come from the labelling page ({header[:200]}).",
        hint="Use the page itself, or send your token as Authorization: Bearer TOKEN.",
        parameter="Origin",
        value=header,
    )


def _too_large() -> ParameterError:
    return ParameterError(f"A request may have at most {MAX_BODY_BYTES:,} bytes.", parameter="Content-Length")
