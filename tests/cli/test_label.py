"""``featprop label`` as a person starts it: in a process of its own, on a real port."""

import contextlib
import importlib.util
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from featprop.cli.label import _listen, _log_of, _reachable
from featprop.labels import LabelLog

Start = Callable[..., "Started"]
NODES = "id,x,picture\n" + "".join(f"{node},{node % 3},a.png\n" for node in range(12))
EDGES = "source,target\n" + "".join(f"{node},{node + 1}\n" for node in range(11))


class Started:
    """A server in a process of its own."""

    def __init__(
        self, folder: Path, *arguments: str, python: Sequence[str] = ("-m", "featprop"), **environment: str
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *python, "label", *arguments],
            cwd=folder,
            env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines: list[str] = []

    def address(self) -> str:
        """The next address that is printed."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            if line.startswith("http://"):
                return line.strip()
        raise AssertionError(self.process.communicate()[1])

    def visit(self) -> httpx.Client:
        """Go to the next address that is printed."""
        return visiting(self.address())

    def close(self) -> None:
        """End it whatever it is at."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()

    def end(self, by: int = signal.SIGINT) -> tuple[int, str]:
        """Tell it to end, and return how it did and what it said."""
        self.process.send_signal(by)
        said = self.process.communicate(timeout=300)
        return self.process.returncode, said[1]


def visiting(address: str) -> httpx.Client:
    """Somebody who has an address."""
    place, _, token = address.partition("/?token=")
    return httpx.Client(base_url=place, timeout=300, headers={"Authorization": f"Bearer {token}"})


@pytest.fixture
def start(graph_folder: Path, tmp_path: Path) -> Iterator[Start]:
    made: list[Started] = []

    def begin(*arguments: str, **environment: str) -> Started:
        made.append(Started(tmp_path, "blobs", "--no-browser", "--port", "0", *arguments, **environment))
        return made[-1]

    yield begin
    for started in made:
        started.close()


def test_it_prints_an_address_takes_labels_and_goes_on_where_people_stopped(start: Start, tmp_path: Path) -> None:
    first = start("--classes", "a,b,c", "--budget", "5")
    with first.visit() as client:
        assert len(first.lines) == 1
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}", first.lines[0])
        node = client.get("/api/next").json()["node"]
        assert client.post("/api/labels", json={"node": node, "label": "b", "key": "1"}).status_code == 200
    code, said = first.end()
    assert code == 0
    assert "blobs.labels" in said
    assert "featprop train blobs --labels blobs.labels" in said
    assert "featprop export blobs.labels" in said
    assert "Traceback" not in said
    assert "token" not in said
    again = start("--classes", "A")
    with again.visit() as client:
        asked = client.get("/api/next").json()
        assert asked["node"] != node
        assert asked["classes"] == ["a", "b", "c"]
        assert client.get("/api/progress").json()["labelled"] == 1
        assert client.get("/api/progress").json()["budget"] is None
    assert again.lines != first.lines
    code, said = again.end(signal.SIGTERM)
    assert code == 0
    assert "'A' is 'a'" in said
    assert "featprop inspect blobs" in said
    assert "featprop train blobs --labels blobs.labels" in said
    with LabelLog(tmp_path / "blobs.labels") as log:
        assert log.labels() == {node: "b"}
        assert log.classes() == ["a", "b", "c"]


def test_one_server_at_a_time_has_a_log(start: Start, run: Callable[..., Any], tmp_path: Path) -> None:
    """Another server and an import are refused, also by another name of the file; when it has ended they go on."""
    server = start("--labels", "mine.labels", "--classes", "a,b")
    with server.visit() as client:
        (tmp_path / "link.labels").symlink_to(tmp_path / "mine.labels")
        for name in ("mine.labels", "link.labels"):
            refused = run("label", "blobs", "--no-browser", "--port", "0", "--labels", name)
            assert refused.exit_code == 2
            assert "mine.labels" in refused.stderr
        node = client.get("/api/next").json()["node"]
        (tmp_path / "more.csv").write_text(f"id,label\n{node},b\n", encoding="utf-8")
        refused = run("import", "mine.labels", "more.csv")
        assert refused.exit_code == 2
        assert "mine.labels" in refused.output
        assert client.post("/api/labels", json={"node": node, "label": "a", "key": "1"}).status_code == 200
        assert run("export", "mine.labels", "--out", "-").exit_code == 0
    server.end()
    assert run("import", "mine.labels", "more.csv").exit_code == 0
    with LabelLog(tmp_path / "mine.labels") as log:
        assert len(log.holding()) == 1
    assert start("--labels", "mine.labels").address()


@pytest.fixture(scope="module")
def open_to_all(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """A server for two people and every machine, with pictures, that shows nothing the model thinks."""
    folder = tmp_path_factory.mktemp("open")
    for name, text in ("nodes.csv", NODES), ("edges.csv", EDGES), ("a.png", "png"):
        (folder / name).write_text(text, encoding="utf-8")
    people = ["--annotator", "ada", "--annotator", "grace", "--overlap", "2"]
    shown = ["--classes", "left,right", "--images", ".", "--blind", "--host", "0.0.0.0"]
    server = Started(folder, ".", "--no-browser", "--port", "0", "--labels", "l.labels", *people, *shown)
    try:
        server.address(), server.address()
        yield server
    finally:
        server.close()


def test_each_annotator_has_an_address_under_their_name(open_to_all: Started) -> None:
    who, ada, other, grace = open_to_all.lines
    assert (who, other) == ("ada", "grace")
    assert ada != grace
    for address, name in ((ada, "ada"), (grace, "grace")):
        with httpx.Client(follow_redirects=True, timeout=300) as client:
            page = client.get(address)
            assert re.search(rf'<p class="who"[^>]*>{name}</p>', page.text)
            assert page.url.query == b""


def test_all_addresses_are_open_to_those_with_a_token(open_to_all: Started) -> None:
    assert "0.0.0.0" not in open_to_all.lines[-1]
    with visiting(open_to_all.lines[-1]) as client:
        assert client.get("/api/next").status_code == 200
        assert client.get("/api/next", headers={"Host": "evil.example"}).status_code == 400
        assert client.get("/api/next", headers={"Authorization": ""}).status_code == 401
        assert client.get("/images/a.png").content == b"png"
        assert 'data-prediction="hidden"' in client.get("/").text


def test_the_owner_manages_the_classes_of_the_command_line(open_to_all: Started) -> None:
    with visiting(open_to_all.lines[1]) as ada, visiting(open_to_all.lines[3]) as grace:
        assert grace.post("/api/classes", json={"name": "new"}).status_code == 403
        assert ada.post("/api/classes", json={"name": "other"}).json()["classes"] == ["left", "right", "other"]
        renamed = {"label": "other", "name": "further"}
        assert grace.post("/api/classes/rename", json=renamed).status_code == 403
        assert ada.post("/api/classes/rename", json=renamed).status_code == 200


def test_classes_of_a_table_have_keys_and_descriptions_and_moved_keys_are_told(start: Start, tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text("# How to\n\nLook *twice*. <script>alert(1)</script>\n", encoding="utf-8")
    (tmp_path / "classes.csv").write_text("name,key,description\nb,x,The second.\na,,\n", encoding="utf-8")
    first = start("--classes", "a,b")
    first.address()
    assert first.end()[0] == 0
    again = start("--classes", "classes.csv", "--guide", "guide.md")
    with again.visit() as client:
        page = client.get("/").text
        assert 'data-key="x"' in page
        assert client.get("/api/next").json()["classes"] == ["b", "a"]
        assert "The second." in client.get("/classes").text
        text = client.get("/help").text
        assert "<em>twice</em>" in text
        assert "<script>alert" not in text
    said = again.end()[1]
    assert re.search(r"\bb\b.*\bx\b.*\b2\b", said)


@pytest.mark.skipif(os.name != "posix", reason="there is no limit of open files")
def test_half_open_connections_do_not_lock_people_out(graph_folder: Path, tmp_path: Path) -> None:
    limited = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200)); import runpy, sys; "
    limited += "sys.argv[0] = 'featprop'; runpy.run_module('featprop', run_name='__main__')"
    server = Started(tmp_path, "blobs", "--no-browser", "--port", "0", "--classes", "a,b", python=["-c", limited])
    opened: list[socket.socket] = []
    try:
        address = httpx.URL(server.address())
        for _ in range(400):
            opened.append(socket.create_connection((address.host, address.port or 80), timeout=30))
            with contextlib.suppress(OSError):
                opened[-1].sendall(b"GET / HT")
        begun = time.monotonic()
        with visiting(str(address)) as client:
            assert client.get("/api/next").status_code == 200
            upgrade = {"Connection": "Upgrade", "Upgrade": "websocket"}
            assert client.get("/api/next", headers=upgrade).status_code == 200
        assert time.monotonic() - begun < 60
        code, said = server.end()
        assert code == 0
        assert not re.search("Traceback|accept|WebSocket", said)
    finally:
        for connection in opened:
            connection.close()
        server.close()


def test_an_address_of_another_family_and_the_classes_of_the_graph(start: Start) -> None:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
        host = "::1"
    except OSError:
        host = "127.0.0.2"
    server = start("--host", host)
    with server.visit() as client:
        assert server.lines[-1].startswith("http://[::1]:" if host == "::1" else "http://127.0.0.2:")
        assert client.get("/api/next").json()["classes"] == ["a", "b", "c"]


@pytest.mark.skipif(os.name != "posix", reason="the browser is a shell script")
def test_the_browser_is_opened_without_the_token_in_the_list_of_processes(start: Start, tmp_path: Path) -> None:
    browser = tmp_path / "browser.sh"
    browser.write_text('#!/bin/sh\necho "$1" > "$0.opened"\ncp "${1#file://}" "$0.page"\n', encoding="utf-8")
    browser.chmod(0o700)
    server = Started(tmp_path, "blobs", "--port", "0", BROWSER=f"{browser} %s")
    try:
        address = server.address()
        page = tmp_path / "browser.sh.page"
        until = time.monotonic() + 300
        while not page.exists() and time.monotonic() < until:
            time.sleep(0.05)
        opened = (tmp_path / "browser.sh.opened").read_text(encoding="utf-8").strip()
        assert opened.startswith("file://")
        assert address.partition("token=")[2] not in opened
        file = Path(opened.removeprefix("file://"))
        assert file.stat().st_mode & 0o077 == 0
        assert file.parent.stat().st_mode & 0o077 == 0
        time.sleep(0.1)
        assert f'content="0; url={address}"' in page.read_text(encoding="utf-8")
    finally:
        assert server.end()[0] == 0
    assert not file.exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--annotator", "ada", "--annotator", "ada"], "annotator"),
        (["--overlap", "2"], "overlap"),
        (["--images", "nowhere"], "nowhere"),
        (["--classes", ","], "classes"),
        (["--host", "no.such.host.invalid"], "no.such.host.invalid"),
        (["--labels", "blobs/nodes.csv"], "blobs/nodes.csv"),
        (["--classes", "blobs/nodes.csv"], "blobs/nodes.csv"),
        (["--classes", "keys.csv"], "keys.csv"),
        (["--guide", "nowhere.md"], "nowhere.md"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    run: Callable[..., Any], graph_folder: Path, arguments: list[str], sentence: str
) -> None:
    Path("keys.csv").write_text("name,key\na,1\nb,1\n", encoding="utf-8")
    result = run("label", "blobs", "--no-browser", "--port", "0", *arguments)
    assert result.exit_code == 2
    error = [line for line in result.output.splitlines() if line.startswith("Error: ")]
    assert len(error) == 1
    assert sentence in error[0]


def test_a_log_of_another_graph_is_refused(run: Callable[..., Any], graph_folder: Path, tmp_path: Path) -> None:
    with LabelLog(tmp_path / "blobs.labels") as log:
        log.tell({"somewhere else": "a"})
    result = run("label", "blobs", "--no-browser", "--port", "0")
    assert result.exit_code == 2
    assert "blobs.labels" in result.output
    assert "'somewhere else'" in result.output


@pytest.mark.parametrize("missing", ["fastapi", "python_multipart"])
def test_the_extra_is_named(
    run: Callable[..., Any], graph_folder: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    there = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == missing else there(name, *rest)
    )
    result = run("label", "blobs")
    assert result.exit_code == 2
    assert missing in result.output
    assert "featprop[label]" in result.output


@pytest.mark.parametrize(
    ("graph", "log"),
    [
        ("some/my-graph", "some/my-graph.labels"),
        ("some/v1.2/", "some/v1.2.labels"),
        ("g.npz", "g.labels"),
        ("cora", "cora.labels"),
    ],
)
def test_the_log_lies_log_of_the_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, graph: str, log: str) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("some/my-graph", "some/v1.2"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "g.npz").touch()
    assert _log_of(Path(graph)) == Path(log)
    monkeypatch.chdir(tmp_path / "some" / "my-graph")
    assert _log_of(Path()) == tmp_path / "some" / "my-graph.labels"
    with contextlib.suppress(OSError):
        shutil.rmtree(tmp_path / "some")


def test_answers_are_sent_without_delay() -> None:
    with _listen("127.0.0.1", 0) as listener:
        sender = socket.create_connection(listener.getsockname())
        accepted, _ = listener.accept()
        with sender, accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_the_address_that_others_open() -> None:
    assert _reachable("[::1]") == "[::1]"
    assert _reachable("0.0.0.0") not in ("0.0.0.0", "")
