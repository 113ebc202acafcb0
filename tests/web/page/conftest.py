"""A graph of payments, the labelling page in process, and the page on a real port."""

import asyncio
import random
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pytest

from featprop.graph import Graph
from featprop.labels import Annotation, LabelLog
from featprop.web.page.security import Guard, Tokens, allowed_hosts
from featprop.web.page.server import build_application, make_server
from featprop.web.page.session import Session
from featprop.web.page.startup import listen
from featprop.web.page.trainer import NO_RANKING, Ranking, Snapshot, compute_ranking, with_predictions

PORT = 8765
CLASSES = ("ok", "review", "fraud")


def payments(count: int = 60, **columns: list[Any]) -> Graph:
    """Accounts of three kinds that pay each other, with columns to read."""
    chance = random.Random(1)
    kinds = [place % 3 for place in range(count)]
    nodes = {
        "id": [f"n{place}" for place in range(count)],
        "name": [f"Account {place}" for place in range(count)],
        "about": [
            f"{['Pays rent', 'Pays at night', 'Pays everyone'][kind]} since {place}" for place, kind in enumerate(kinds)
        ],
        "amount": [round(100 * kind + chance.gauss(0, 20), 2) for kind in kinds],
        "speed": [round(10 * (kind == 2) + chance.gauss(0, 2), 2) for kind in kinds],
        **columns,
    }
    ends = [
        (place, (place + step) % count) for place in range(count) for step in (3, 6, 1) if step > 1 or place % 5 == 0
    ]
    ids = nodes["id"]
    edges = {"source": [ids[one] for one, _ in ends], "target": [ids[other] for _, other in ends]}
    return Graph.from_tables(pa.table(nodes), pa.table(edges))


@cache
def default_graph() -> Graph:
    return payments()


@cache
def first_ranking(wanted: int) -> Ranking:
    return compute_ranking(default_graph(), Snapshot({}, (), wanted))


def learn(session: Session) -> None:
    """Train here instead of in another process."""
    snapshot = session.snapshot()
    is_first = session.graph is default_graph() and not snapshot.labels and not snapshot.excluded
    session.take_ranking(first_ranking(snapshot.wanted) if is_first else compute_ranking(session.graph, snapshot))


class InProcess(httpx.BaseTransport):
    """Sends requests to an application in this process."""

    def __init__(self, app: Guard) -> None:
        self.transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        async def send() -> httpx.Response:
            answer = await self.transport.handle_async_request(request)
            return httpx.Response(answer.status_code, headers=answer.headers, content=await answer.aread())

        return asyncio.run(send())


class Caller(httpx.Client):
    """A client with a token or a cookie."""

    def __init__(self, app: Guard, headers: dict[str, str] | None = None, **options: Any) -> None:
        super().__init__(transport=InProcess(app), base_url=f"http://127.0.0.1:{PORT}", headers=headers, **options)

    def post(self, path: str, json: Any = None, **options: Any) -> httpx.Response:  # type: ignore[override]
        return super().post(path, json=json, **options)


class Page:
    """A session, its tokens and the application."""

    def __init__(self, graph: Graph, path: Path | None = None, *, images: Path | None = None, **options: Any) -> None:
        self.log = LabelLog(path)
        self.session = Session(graph, self.log, **{"classes": CLASSES, **options})
        learn(self.session)
        self.tokens = Tokens(self.session.annotators)
        self.images = images
        self.app = self.at("127.0.0.1", PORT)

    def at(self, host: str, port: int) -> Guard:
        """The application for a server at this address."""
        return build_application(
            self.session,
            self.tokens,
            hosts=allowed_hosts(host),
            port=port,
            images=self.images,
            next_command="featprop train g --labels g.labels",
        )

    def events(self) -> list[Annotation]:
        """All events except the names of the classes."""
        return [act for act in self.log.events() if act.kind != "classes"]

    def stranger(self, headers: dict[str, str] | None = None) -> Caller:
        """A client that sends only these headers."""
        return Caller(self.app, headers)

    def script(self, annotator: str = "") -> Caller:
        """A program with the token."""
        return Caller(self.app, {"Authorization": f"Bearer {self.tokens.of(annotator)}"})

    def browser(self, annotator: str = "") -> Caller:
        """A browser with the cookie, which sends Sec-Fetch-Site."""
        caller = Caller(self.app, {"Sec-Fetch-Site": "same-origin"})
        assert caller.get(f"/?token={self.tokens.of(annotator)}").status_code == 303
        return caller

    def close(self) -> None:
        self.session.close()
        self.log.close()


MakePage = Callable[..., Page]


@pytest.fixture
def make_page() -> Iterator[MakePage]:
    """Make the page on a graph (payments by default) and a log (in memory by default) with a first ranking."""
    made: list[Page] = []

    def make(graph: Graph | None = None, path: Path | None = None, **options: Any) -> Page:
        made.append(Page(default_graph() if graph is None else graph, path, **options))
        return made[-1]

    yield make
    for page in made:
        page.close()


@pytest.fixture
def page(make_page: MakePage) -> Page:
    return make_page()


@pytest.fixture
def script(page: Page) -> Caller:
    return page.script()


@pytest.fixture
def browser(page: Page) -> Caller:
    return page.browser()


def give_ranking(page: Any, **shares: list[float]) -> None:
    """Give the session a model that is sure of ok, except for these nodes and some far away that are surely fraud."""
    graph, labels = page.session.graph, page.session.log.labels()
    probabilities = np.tile(np.array([0.8, 0.1, 0.1], dtype=np.float32), (graph.n_nodes, 1))
    probabilities[32::3] = [0.1, 0.1, 0.8]
    for node, row in shares.items():
        probabilities[graph.positions([node])] = row
    labelled = graph.positions(labels)
    ranking = replace(
        NO_RANKING,
        nodes=np.arange(20),
        represents=np.full(20, 3),
        spares=np.arange(20, graph.n_nodes),
        classes=("ok", "review", "fraud"),
        labelled=labelled,
        held_out=probabilities[labelled],
    )
    page.session.take_ranking(with_predictions(ranking, graph, probabilities))


class Live:
    """The page on a real port."""

    def __init__(self, page: Page, host: str = "127.0.0.1", port: int = 0) -> None:
        self.page, self.host = page, host
        self.listener = listen(host, port)
        self.port = self.listener.getsockname()[1]
        self.root = f"http://{host}:{self.port}"
        self.server = make_server(page.at(host, self.port))
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.listener]})
        self.thread.start()

    def address(self, annotator: str = "") -> str:
        return f"{self.root}/?token={self.page.tokens.of(annotator)}"

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join()
        self.listener.close()


@pytest.fixture
def make_live(make_page: MakePage) -> Iterator[Callable[..., Live]]:
    """Make the page on a real port, with the arguments of `make_page` or an existing page."""
    made: list[Live] = []

    def make(*given: Any, host: str = "127.0.0.1", port: int = 0, page: Page | None = None, **options: Any) -> Live:
        made.append(Live(page or make_page(*given, **options), host, port))
        return made[-1]

    yield make
    for live in made:
        live.stop()
