"""What the labelling server needs before it starts: annotators, classes, a socket, and a browser at the page."""

from __future__ import annotations

import csv
import html
import os
import socket
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from featprop.errors import FileError, ParameterError, quote_error
from featprop.labels.classes import parse_classes
from featprop.labels.log import ClassEntry
from featprop.web.page.security import is_unspecified
from featprop.web.page.server import BACKLOG

MAX_NAME_CHARS = 100
"""Longest name of an annotator."""
TAKEN_KEYS = tuple("sunmcg/?")
"""Keys of the page that cannot be those of classes."""


def check_annotators(names: Sequence[str]) -> list[str]:
    """Return who labels: the names given, or one person without a name."""
    people = [" ".join(name.split()) for name in names]
    for name in people:
        if not (0 < len(name) <= MAX_NAME_CHARS and name.isprintable() and people.count(name) == 1):
            message = f"`annotator` must be different names of at most {MAX_NAME_CHARS} characters, not {name!r}."
            raise ParameterError(message, parameter="annotator", value=name)
    return people or [""]


def read_classes(classes: Sequence[str]) -> list[ClassEntry]:
    """Return classes given by name, or those of a table if a single ``.csv`` file is given."""
    if len(classes) != 1 or not classes[0].lower().endswith(".csv"):
        return [ClassEntry(name) for name in classes]
    rows = csv.DictReader(read_text(Path(classes[0]), "classes").splitlines())
    entries = [ClassEntry(*((row.get(part) or "").strip() for part in ClassEntry._fields)) for row in rows]
    keys = [each.key for each in entries if each.key]
    are_keys = all(len(key) == 1 and key not in TAKEN_KEYS and keys.count(key) == 1 for key in keys)
    if not are_keys or not any(each.name for each in entries):
        raise FileError(
            f"{classes[0]} is not a table of classes with the columns `name`, `key` and `description`.",
            hint=f"Keys are different single characters other than {', '.join(TAKEN_KEYS)}.",
            parameter="classes",
            path=classes[0],
        )
    return entries


def read_text(path: Path, parameter: str) -> str:
    """Return the text of a file that a parameter names."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"Cannot read {path}: {quote_error(error)}.", parameter=parameter, path=path) from error


def type_classes(named: list[ClassEntry] | None, own: Sequence[Any], known: Sequence[Any]) -> list[Any]:
    """Return the classes with the types they have in the log or else the graph; if none are named, the graph's own."""
    if named is None:
        return list(own)
    details = {str(each.name): each for each in named}
    names = parse_classes([each.name for each in named], [*own, *known])
    return [details[str(name)]._replace(name=name) if str(name) in details else name for name in names]


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; connections to it send without delay."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        message = f"Cannot listen at {host}:{port}: {error.strerror or error}."
        hint = "Choose another `port`, or 0 for a free one, or another `host`."
        raise ParameterError(message, hint=hint, parameter="port", value=port) from error
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def reachable_host(host: str) -> str:
    """Return how a browser calls this machine: by its own address if it listens at all of them."""
    name = _own_address(":" in host) if is_unspecified(host) else host
    return f"[{name}]" if ":" in name else name


def _own_address(is_ipv6: bool) -> str:
    """Return the address other machines see; nothing is sent to find out."""
    family, far = (socket.AF_INET6, "2001:db8::1") if is_ipv6 else (socket.AF_INET, "192.0.2.1")
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((far, 9))
            return str(probe.getsockname()[0])
        except OSError:
            return "::1" if is_ipv6 else "127.0.0.1"


@contextmanager
def open_browser(address: str) -> Iterator[None]:
    """Open the browser at a private file that redirects to the address, so that no list of processes has the token."""
    if sys.platform.startswith("linux") and not any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))):
        yield
        return
    with tempfile.TemporaryDirectory(prefix="featprop-", ignore_cleanup_errors=True) as folder:
        page = Path(folder) / "label.html"
        page.touch(mode=0o600)
        to = html.escape(address)
        page.write_text(
            f'<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
            f'<meta http-equiv="refresh" content="0; url={to}"><title>featprop</title><a href="{to}">Label</a>\n',
            encoding="utf-8",
        )
        threading.Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()
        yield
