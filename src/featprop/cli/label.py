"""``featprop label``."""

from __future__ import annotations

import csv
import html
import importlib.util
import os
import shlex
import signal
import socket
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from featprop.cli.application import app, read
from featprop.cli.console import showing_progress
from featprop.cli.options import GraphArgument, split_names
from featprop.errors import FileError, MissingExtraError, ParameterError, quote_error

if TYPE_CHECKING:
    from featprop.labels.log import ClassEntry

NEEDED = ("h11", "fastapi", "uvicorn", "jinja2", "python_multipart")
"""What the extra `label` installs."""
MAX_NAME_CHARS = 100
"""Longest name of an annotator."""
BACKLOG = 64
TAKEN_KEYS = tuple("sunmcg/?")
"""Keys of the page that cannot be those of classes."""


@app.command()
def label(
    graph: GraphArgument,
    budget: Annotated[
        int | None,
        typer.Option(
            "--budget", "-b", min=1, help="Number of labels wanted, without those of an audit.", show_default="no limit"
        ),
    ] = None,
    audit: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Draw N random nodes to check the model: every fifth question, without predictions.",
            show_default="none",
        ),
    ] = 0,
    classes: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B,… or FILE.csv",
            help="Classes in the order of their keys, or a table of them (name, key, description). By default, "
            "annotators add them as they go; otherwise only the owner may add more.",
        ),
    ] = None,
    guide: Annotated[
        Path | None, typer.Option(metavar="FILE.md", help="Instructions for annotators, in Markdown.")
    ] = None,
    annotator: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A person who labels, with a personal address. Repeatable. The first one is the owner, who manages "
            "classes, settles disagreements and downloads answers.",
        ),
    ] = None,
    overlap: Annotated[
        int, typer.Option(min=1, help="Number of people asked for each shared node; a fifth of all nodes is shared.")
    ] = 1,
    labels: Annotated[
        Path | None, typer.Option(help="Label log to continue or create.", show_default="GRAPH.labels")
    ] = None,
    blind: Annotated[bool, typer.Option("--blind", help="Hide predictions until the annotator asks for them.")] = False,
    images: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder of the pictures that a column names.")
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen at; 0.0.0.0 accepts other machines.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at; 0 takes a free one.")] = 8765,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open the browser.")] = False,
) -> None:
    """Label nodes in the browser, one key per answer, while a model selects the next node.

    Prints a personal address with a token for each annotator. Every answer is saved before the next node appears, and a
    restarted server continues where you stopped. Press Ctrl-C to stop.

    Example: `featprop label my-graph/ --budget 100 --classes ok,review,fraud`
    """
    for needed in NEEDED:
        if importlib.util.find_spec(needed) is None:
            raise MissingExtraError("featprop label", "label", needed)
    from featprop.labels import LabelLog
    from featprop.web.page.security import Tokens, allowed_hosts
    from featprop.web.page.server import build_application, serve
    from featprop.web.page.session import Session
    from featprop.web.page.trainer import Worker

    people = _people(annotator)
    if images is not None and not images.is_dir():
        raise FileError(f"`images` is not a folder: {images}.", parameter="images", path=images)
    instructions = "" if guide is None else _read_text(guide, "guide")
    named = None if classes is None else _named(classes)
    place = labels if labels is not None else _log_of(graph)
    training = shlex.join(["featprop", "train", f"{graph}", "--labels", f"{place}"])
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with ExitStack() as opened:
        listener = opened.enter_context(_listen(host, port))
        with showing_progress():
            log = opened.enter_context(LabelLog(place.resolve(), exclusive=True))
            worker = opened.enter_context(closing(Worker()))
            whole = read(graph)
            if budget is not None and budget > whole.n_nodes:
                typer.echo(f"--budget {budget:,} is more than the graph has nodes: {whole.n_nodes:,}.", err=True)
            session = Session(
                whole,
                log,
                classes=_classes(named, whole.classes, log.classes()),
                annotators=people,
                overlap=overlap,
                budget=budget,
                audit=audit,
                blind=blind,
                open_classes=classes is None,
                guide=instructions,
                worker=worker,
            )
            opened.enter_context(closing(session))
        for name, (old, new) in session.moved_keys.items():
            typer.echo(f"The key of {name} is now {new or 'none'}, not {old or 'none'}.", err=True)
        if len(session.classes) == 1:
            typer.echo(f"There is only one class, {session.classes[0]}: the model needs two.", err=True)
        if session.audit:
            more = "every fifth question is one of them, and the budget does not count them"
            typer.echo(f"Nodes drawn for checking the model: {len(session.audit):,}; {more}", err=True)
        bound, tokens = listener.getsockname()[1], Tokens(people)
        hosts = allowed_hosts(host)
        page = build_application(session, tokens, hosts=hosts, port=bound, images=images, next_command=training)
        typer.echo("Selecting the first nodes", err=True)
        with showing_progress():
            session.start()
        with suppress(KeyboardInterrupt):
            typer.echo(f"Answers are saved in {place}. Press Ctrl-C to stop.", err=True)
            addresses = [f"http://{_reachable(host)}:{bound}/?token={tokens.of(name)}" for name in people]
            for name, address in zip(people, addresses, strict=True):
                typer.echo(f"{name}\n{address}" if name else address)
            sys.stdout.flush()
            if len(people) == 1 and not no_browser:
                opened.enter_context(_open_browser(addresses[0]))
            serve(page, listener)
    typer.echo(f"Stopped. The answers are in {place}.", err=True)
    typer.echo(f"Train a model on them: {training}", err=True)
    typer.echo(f"Export them: {shlex.join(['featprop', 'export', f'{place}'])}", err=True)


def _people(annotator: list[str] | None) -> list[str]:
    """Return who labels: the names given, or one person without a name."""
    people = [" ".join(name.split()) for name in annotator or []]
    for name in people:
        if not name or len(name) > MAX_NAME_CHARS or not name.isprintable() or people.count(name) > 1:
            message = f"`annotator` must be different names of at most {MAX_NAME_CHARS} characters, not {name[:200]!r}."
            raise ParameterError(message, parameter="annotator", value=name)
    return people or [""]


def _named(classes: list[str]) -> list[ClassEntry]:
    """Return the classes that the option names, or those in its table."""
    from featprop.labels.log import ClassEntry

    if len(classes) != 1 or not classes[0].lower().endswith(".csv"):
        return [ClassEntry(name) for name in split_names(classes)]
    rows = list(csv.DictReader(_read_text(Path(classes[0]), "classes").splitlines()))
    if not rows or "name" not in rows[0]:
        message = f"{classes[0]} has no classes: it needs a column `name`, and may have `key` and `description`."
        raise FileError(message, parameter="classes", path=classes[0])
    entries = [ClassEntry(*((row.get(part) or "").strip() for part in ClassEntry._fields)) for row in rows]
    keys = [each.key for each in entries if each.key]
    wrong = [key for key in keys if len(key) != 1 or keys.count(key) > 1 or key in TAKEN_KEYS]
    if wrong:
        message = f"{classes[0]} has a key that is not a single free character: {wrong[0]!r}."
        hint = f"Keys must differ, and {', '.join(TAKEN_KEYS)} have other uses."
        raise FileError(message, hint=hint, parameter="classes", path=classes[0])
    return entries


def _read_text(path: Path, parameter: str) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"Cannot read {path}: {quote_error(error)}.", parameter=parameter, path=path) from error


def _classes(named: list[ClassEntry] | None, own: tuple[Any, ...], known: list[Any]) -> list[Any]:
    """Return the classes with the types they have in the log or else the graph; if none are named, the graph's own."""
    from featprop.labels.classes import parse_classes

    if named is None:
        return list(own)
    names = parse_classes([each.name for each in named], [*own, *known])
    details = {str(each.name): each for each in reversed(named)}
    return [details[str(name)]._replace(name=name) if str(name) in details else name for name in names]


def _log_of(graph: Path) -> Path:
    """Return where the label log of a graph is: next to it, or in this folder for the name of a data set."""
    if not graph.exists():
        return Path(f"{graph.name}.labels")
    if not graph.is_dir():
        return graph.with_suffix(".labels")
    folder = graph if graph.name not in ("", "..") else graph.resolve()
    return folder.with_name(f"{folder.name}.labels")


def _listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; connections to it send without delay."""
    address = _without_brackets(host)
    try:
        family = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((address, port), family=family, backlog=BACKLOG)
    except OSError as error:
        message = f"Cannot listen at {host}:{port}: {error.strerror or error}."
        hint = "Choose another `port`, or 0 for a free one, or another `host`."
        raise ParameterError(message, hint=hint, parameter="port", value=port) from error
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _reachable(host: str) -> str:
    """Return how a browser calls this machine: its own address where it listens at all of them."""
    from featprop.web.page.security import is_unspecified

    name = _own_address(":" in host) if is_unspecified(host) else _without_brackets(host)
    return f"[{name}]" if ":" in name else name


def _without_brackets(host: str) -> str:
    return host.removeprefix("[").removesuffix("]")


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
def _open_browser(address: str) -> Iterator[None]:
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
