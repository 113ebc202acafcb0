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
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from featprop.web.page.responses import RequestError, error_response

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
    """Random tokens of the annotators, of whom a single one may have the empty name."""

    def __init__(self, annotators: Iterable[str]) -> None:
        self._tokens = {name: secrets.token_urlsafe(TOKEN_BYTES) for name in annotators}

    def of(self, annotator: str) -> str:
        """Return the token of an annotator."""
        return self._tokens[annotator]

    def annotator(self, token: str) -> str | None:
        """Return the annotator with this token, or None, in constant time."""
        given = token.encode("utf-8", "replace")
        found = [name for name, known in self._tokens.items() if secrets.compare_digest(known.encode(), given)]
        return found[0] if found else None


def allowed_hosts(host: str) -> list[str]:
    """Return the names and addresses that requests may use for a server bound to `host`; ports are ignored."""
    bare = host.strip().removeprefix("[").removesuffix("]").lower()
    address = _address(bare)
    names = {bare if address is None else str(address)}
    if is_unspecified(host):
        import psutil

        own = socket.gethostname().lower()
        names |= {own, f"{own}.local", socket.getfqdn().lower(), *LOOPBACK}
        found = [each for addresses in psutil.net_if_addrs().values() for each in addresses]
        names |= {each.address.split("%")[0] for each in found if each.family in (socket.AF_INET, socket.AF_INET6)}
    elif bare == "localhost" or (address is not None and address.is_loopback):
        names |= LOOPBACK
    return sorted(f"[{name}]" if ":" in name else name for name in names)


def is_unspecified(host: str) -> bool:
    """Return whether a host to bind to means all addresses of this machine."""
    address = _address(host.strip().removeprefix("[").removesuffix("]"))
    return address is not None and address.is_unspecified


class Guard:
    """ASGI middleware that checks every request and sets the security headers.

    The application finds the annotator in ``scope["annotator"]``. The name of the cookie has the port, because cookies
    ignore ports.
    """

    def __init__(self, app: ASGIApp, tokens: Tokens, hosts: Iterable[str], port: int) -> None:
        self.app, self.tokens, self.cookie = app, tokens, f"featprop-{port}"
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
        size = 0

        async def receive_limited() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > MAX_BODY_BYTES:
                raise HTTPException(413, f"A request may have at most {MAX_BODY_BYTES:,} bytes.")
            return message

        try:
            answer = self._answer(Request(scope))
        except RequestError as refusal:
            answer = error_response(scope, refusal, refusal.status)
        await (answer or self.app)(scope, receive_limited, send)

    def _answer(self, request: Request) -> Response | None:
        """Return the response to a request with a token; None if the request may pass."""
        headers, is_read = request.headers, request.method in SAFE_METHODS
        if request.url.path.startswith("/static/") and is_read:
            return None
        kind, _, bearer = headers.get("authorization", "").partition(" ")
        is_bearer = kind.lower() == "bearer"
        link = request.query_params.get("token") if request.url.path == "/" and request.method == "GET" else None
        annotator = self.tokens.annotator(
            link or (bearer.strip() if is_bearer else request.cookies.get(self.cookie, ""))
        )
        if annotator is None and request.url.path.startswith("/api/"):
            hint = "Send your token as Authorization: Bearer TOKEN."
            raise RequestError(401, "The request has no valid token.", hint=hint, parameter="token")
        if annotator is None:
            hint = "Ask whoever started featprop for it."
            raise RequestError(401, "This page needs your personal link.", hint=hint, parameter="token")
        if link:
            answer = RedirectResponse("/", status_code=303, headers={"Referrer-Policy": "no-referrer"})
            answer.set_cookie(self.cookie, link, httponly=True, samesite="lax", path="/")
            return answer
        if not is_read and not is_bearer and (foreign := _foreign_header(headers, request.url.scheme)):
            message = f"This change does not come from the labelling page ({foreign[:200]})."
            hint = "Use the page itself, or send your token as Authorization: Bearer TOKEN."
            raise RequestError(403, message, hint=hint, parameter="Origin", value=foreign)
        request.scope["annotator"] = annotator
        return None


def annotator_of(request: Request) -> str:
    """Return the annotator whose token came with the request."""
    name: str = request.scope["annotator"]
    return name


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def _foreign_header(headers: Headers, scheme: str) -> str:
    """Return the header that shows a change comes from another site; empty if it comes from the page."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None:
        return "" if site in ("same-origin", "none") else f"Sec-Fetch-Site: {site}"
    if origin is not None:
        return "" if origin.lower() == f"{scheme}://{headers.get('host', '')}".lower() else f"Origin: {origin}"
    return "neither Sec-Fetch-Site nor Origin"
