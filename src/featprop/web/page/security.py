"""Who may come in and what may be sent: tokens, Host, Origin, sizes, and the headers of every answer.

- A random token stands for each annotator. The address ``/?token=…`` is exchanged for a cookie that scripts in the page
  cannot read, and leads on to a clean address; a program sends the token as ``Authorization: Bearer …``. The cookie is
  ``SameSite=Lax``, not ``Strict``: people open their address from a mail or a chat, which is another site, and a
  browser would hold back a strict cookie on the way from there to the clean address. What Lax lets through, links that
  only read, shows nothing to the site that made them.
- The name a request calls the server by must be one of those it is bound to, or a foreign page could have its own name
  point here (DNS rebinding).
- A change must come from the page itself. Browsers say so in ``Sec-Fetch-Site`` or, towards plain addresses of a local
  network, in ``Origin``; a request with neither is no browser's and must bring the token.
- ``Referrer-Policy`` is ``no-referrer`` where the token is in the address, ``same-origin`` on pages, as with
  ``no-referrer`` browsers write ``Origin: null`` on the page's own forms.
"""

from __future__ import annotations

import ipaddress
import re
import secrets
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from featprop.errors import ParameterError
from featprop.web.page.replies import Refusal, refusal

__all__ = ["Guard", "Hosts", "Tokens", "cookie_name", "is_loopback", "is_unspecified"]

LARGEST = 64 * 1024
"""Bytes a request may bring; what people type is far less."""
TOKEN_BYTES = 32
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
READING = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""
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
    """A random token for each annotator, who is known by it.

    Parameters
    ----------
    annotators
        Their names; the empty one where there is one person without a name.
    """

    def __init__(self, annotators: Iterable[str]) -> None:
        self._tokens = {name: secrets.token_urlsafe(TOKEN_BYTES) for name in annotators}

    def of(self, annotator: str) -> str:
        """Return the token of an annotator."""
        return self._tokens[annotator]

    def annotator(self, token: str) -> str | None:
        """Return whose token this is, None if nobody's; it takes as long whatever was guessed right."""
        found = None
        for name, known in self._tokens.items():
            if secrets.compare_digest(known.encode(), token.encode("utf-8", "replace")):
                found = name
        return found

    def __repr__(self) -> str:
        return f"Tokens of {', '.join(map(repr, self._tokens))}"


@dataclass(frozen=True)
class Hosts:
    """The names by which a server may be called.

    Attributes
    ----------
    names
        Names and addresses, in small letters, without brackets.
    any_address
        Whether an address in digits is always right: nobody can have such a name point elsewhere.
    """

    names: frozenset[str]
    any_address: bool = False

    @classmethod
    def of(cls, host: str) -> Hosts:
        """Return the names of a server that is bound to `host`."""
        bare = _bare(host)
        address = _address(bare)
        if is_loopback(host):
            return cls(LOOPBACK | {str(address) if address else bare})
        if is_unspecified(host):
            own = socket.gethostname().lower()
            return cls(LOOPBACK | {own, f"{own}.local", socket.getfqdn().lower()}, any_address=True)
        if address is not None:
            return cls(frozenset({str(address)}))
        return cls(frozenset({bare, *_resolved(bare)}))

    def hold(self, header: str) -> bool:
        """Say whether a Host header names this server, whatever the port: a tunnel may have another."""
        found = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?", header)
        if found is None:
            return False
        name = _bare(found[1])
        address = _address(name)
        return (str(address) if address else name) in self.names or (self.any_address and address is not None)


class Guard:
    """What every request passes before the application sees it, and every answer on its way out.

    Parameters
    ----------
    app
        The application; it finds who asks in ``scope["annotator"]``.
    tokens
        Of the annotators.
    hosts
        The names by which the server may be called.
    port
        The port it listens on, by which the cookie is named: cookies do not tell ports apart.
    """

    def __init__(self, app: ASGIApp, tokens: Tokens, hosts: Hosts, port: int) -> None:
        self.app, self.tokens, self.hosts, self.cookie = app, tokens, hosts, cookie_name(port)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        answer = self._answer(scope, headers)
        body = b""
        if answer is None and scope["method"] not in READING:
            try:
                whole = await _whole_body(headers, receive)
            except Refusal as refused:
                answer = refusal(scope, refused)
            else:
                if whole is None:
                    return
                body = whole
        if answer is not None:
            await answer(scope, receive, send_guarded)
            return
        await self.app(scope, _replayed(body, receive), send_guarded)

    def _answer(self, scope: Scope, headers: Headers) -> Response | None:
        """Return what to answer at once, None if the request may go on."""
        if not self.hosts.hold(headers.get("host", "")):
            return refusal(scope, Refusal(403, _wrong_host(headers.get("host", ""))))
        if scope["path"].startswith("/static/") and scope["method"] in READING:
            return None
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token")
        if scope["path"] == "/" and scope["method"] == "GET" and given:
            return self._exchanged(scope, given[-1])
        bearer = _bearer(headers)
        annotator = self.tokens.annotator(bearer if bearer is not None else self._cookie_of(headers))
        if annotator is None:
            return refusal(scope, Refusal(401, _no_token()))
        if scope["method"] not in READING and bearer is None:
            stranger = _stranger(headers, scope["scheme"])
            if stranger:
                return refusal(scope, Refusal(403, _not_ours(stranger)))
        scope["annotator"] = annotator
        return None

    def _exchanged(self, scope: Scope, token: str) -> Response:
        if self.tokens.annotator(token) is None:
            return refusal(scope, Refusal(401, _no_token("another one")))
        answer = RedirectResponse("/", status_code=303, headers={"Referrer-Policy": "no-referrer"})
        answer.set_cookie(self.cookie, token, httponly=True, samesite="lax", path="/")
        return answer

    def _cookie_of(self, headers: Headers) -> str:
        for header in headers.getlist("cookie"):
            for pair in header.split(";"):
                try:
                    read = SimpleCookie(pair.strip())
                except CookieError:
                    continue
                if self.cookie in read:
                    return read[self.cookie].value
        return ""


def cookie_name(port: int) -> str:
    """Return what the cookie of the server at this port is called."""
    return f"featprop-{port}"


def is_loopback(host: str) -> bool:
    """Say whether a host to bind to is this machine alone."""
    bare = _bare(host)
    address = _address(bare)
    return bare == "localhost" or (address is not None and address.is_loopback)


def is_unspecified(host: str) -> bool:
    """Say whether a host to bind to stands for all addresses of this machine."""
    address = _address(_bare(host))
    return address is not None and address.is_unspecified


def _bare(host: str) -> str:
    return host.strip().removeprefix("[").removesuffix("]").lower()


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def _resolved(name: str) -> set[str]:
    """Return the addresses of a name; none where it cannot be looked up."""
    try:
        return {str(found[4][0]) for found in socket.getaddrinfo(name, None)}
    except OSError:
        return set()


def _bearer(headers: Headers) -> str | None:
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def _stranger(headers: Mapping[str, str], scheme: str) -> str:
    """Return what says that a change comes from elsewhere; nothing if it comes from our page."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None:
        return "" if site in ("same-origin", "none") else f"Sec-Fetch-Site: {site}"
    if origin is not None:
        return "" if origin.lower() == f"{scheme}://{headers.get('host', '')}".lower() else f"Origin: {origin}"
    return "neither Sec-Fetch-Site nor Origin"


async def _whole_body(headers: Headers, receive: Receive) -> bytes | None:
    """Read a body that is not too large, None if the sender went away before its end: half a form is no form.

    One that says it is too large, or turns out to be, is not read to its end.
    """
    said = headers.get("content-length", "0")
    if not said.isdecimal() or int(said) > LARGEST:
        raise Refusal(413, _too_large())
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if len(body) > LARGEST:
            raise Refusal(413, _too_large())
        if not message.get("more_body", False):
            break
    if len(body) != int(said) and "content-length" in headers:
        raise Refusal(400, _cut(len(body), said))
    return bytes(body)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the body that was read already, and then what comes."""
    is_given = False

    async def receive_again() -> Message:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again


def _wrong_host(found: str) -> ParameterError:
    rule = "must be one that it is bound to"
    return ParameterError("The name of this server", rule, repr(found[:100]), "use the address featprop label printed")


def _no_token(found: str = "none") -> ParameterError:
    cure = "open your address as featprop label printed it, or send the token as Authorization: Bearer"
    return ParameterError("A request", "must bring the token of an annotator", found, cure)


def _not_ours(found: str) -> ParameterError:
    cure = "use the page itself, or send the token as Authorization: Bearer"
    return ParameterError("A change", "must come from this page", found[:200], cure)


def _too_large() -> ParameterError:
    return ParameterError("A request", f"must have at most {LARGEST:,} bytes", "more", "send less")


def _cut(found: int, said: str) -> ParameterError:
    rule = f"must have the {int(said):,} bytes it says"
    return ParameterError("A request", rule, f"{found:,}", "send it again")
