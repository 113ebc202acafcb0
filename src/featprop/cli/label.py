"""``featprop label``."""

from __future__ import annotations

import shlex
import signal
import sys
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Annotated

import typer

from featprop.cli import options
from featprop.cli.application import app
from featprop.cli.console import showing_progress
from featprop.errors import FileError

NEEDED = ("h11", "starlette", "fastapi", "uvicorn", "jinja2", "python_multipart")
"""What the extra `label` installs."""


@app.command()
def label(
    graph: options.GraphPath,
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
    options.check_installed("label", "label", *NEEDED)
    from featprop.labels import LabelLog
    from featprop.web.page import startup
    from featprop.web.page.security import Tokens, allowed_hosts
    from featprop.web.page.server import build_application, make_server
    from featprop.web.page.session import Session
    from featprop.web.page.trainer import Worker

    people = startup.check_annotators(annotator or [])
    if images is not None and not images.is_dir():
        raise FileError(f"`images` is not a folder: {images}.", parameter="images", path=images)
    instructions = "" if guide is None else startup.read_text(guide, "guide")
    named = None if classes is None else startup.read_classes(options.split_names(classes))
    place = labels if labels is not None else _log_of(graph)
    training = shlex.join(["featprop", "train", f"{graph}", "--labels", f"{place}"])
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with ExitStack() as opened:
        listener = opened.enter_context(startup.listen(host, port))
        with showing_progress():
            is_new = not place.exists()
            log = opened.enter_context(LabelLog(place.resolve(), exclusive=True))
            worker = opened.enter_context(closing(Worker()))
            try:
                whole = options.read_graph(graph)
                session = Session(
                    whole,
                    log,
                    classes=startup.type_classes(named, whole.classes, log.classes()),
                    annotators=people,
                    overlap=overlap,
                    budget=budget,
                    audit=audit,
                    blind=blind,
                    open_classes=classes is None,
                    guide=instructions,
                    worker=worker,
                )
            except BaseException:
                if is_new:
                    log.discard()
                raise
            opened.enter_context(closing(session))
        for name, (old, new) in session.moved_keys.items():
            typer.echo(f"The key of {name} is now {new or 'none'}, not {old or 'none'}.", err=True)
        if log.audit():
            more = "every fifth question is one of them, and the budget does not count them"
            typer.echo(f"Nodes drawn for checking the model: {len(log.audit()):,}; {more}", err=True)
        bound, tokens = listener.getsockname()[1], Tokens(people)
        hosts = allowed_hosts(host)
        page = build_application(
            session,
            tokens,
            hosts=hosts,
            port=bound,
            images=images,
            graph_name=_log_of(graph).stem,
            next_command=training,
        )
        typer.echo("Selecting the first nodes", err=True)
        with showing_progress():
            session.start()
        with suppress(KeyboardInterrupt):
            typer.echo(f"Answers are saved in {place}. Press Ctrl-C to stop.", err=True)
            addresses = [f"http://{startup.reachable_host(host)}:{bound}/?token={tokens.of(name)}" for name in people]
            for name, address in zip(people, addresses, strict=True):
                typer.echo(f"{name}\n{address}" if name else address)
            sys.stdout.flush()
            if len(people) == 1 and not no_browser:
                opened.enter_context(startup.open_browser(addresses[0]))
            make_server(page).run(sockets=[listener])
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not interrupt the end
    typer.echo(f"Stopped. The answers are in {place}.", err=True)
    typer.echo(f"Train a model on them: {training}", err=True)
    typer.echo(f"Export them: {shlex.join(['featprop', 'export', f'{place}'])}", err=True)


def _log_of(graph: Path) -> Path:
    """Return where the label log of a graph is: next to it, or in this folder for the name of a data set."""
    if not graph.exists():
        return Path(f"{graph.name}.labels")
    if not graph.is_dir():
        return graph.with_suffix(".labels")
    folder = graph if graph.name not in ("", "..") else graph.resolve()
    return folder.with_name(f"{folder.name}.labels")
