"""``featprop label`` as a person starts it: in a separate process, on a real port."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from featprop.cli.label import _log_of
from featprop.labels import LabelLog
from tests.helpers import assert_refused

Start = Callable[..., "Started"]


class Started:
    """A server in a separate process."""

    def __init__(self, folder: Path, *arguments: str, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "featprop", "label", "blobs", "--port", "0", *arguments],
            cwd=folder,
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines: list[str] = []

    def address(self) -> str:
        """Return the next address that is printed."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            if line.startswith("http://"):
                return line.strip()
        raise AssertionError(self.process.communicate()[1])

    def visit(self) -> httpx.Client:
        """Return a client with the next address that is printed."""
        place, _, token = self.address().partition("/?token=")
        return httpx.Client(base_url=place, timeout=300, headers={"Authorization": f"Bearer {token}"})

    def end(self, by: int = signal.SIGINT) -> str:
        """Stop the server, which must succeed, and return its standard error."""
        self.process.send_signal(by)
        messages = self.process.communicate(timeout=300)[1]
        assert self.process.returncode == 0, messages
        return messages


@pytest.fixture
def start(graph_folder: Path, tmp_path: Path) -> Iterator[Start]:
    made: list[Started] = []

    def begin(*arguments: str, **environment: str) -> Started:
        made.append(Started(tmp_path, *([] if environment else ["--no-browser"]), *arguments, **environment))
        return made[-1]

    yield begin
    for started in made:
        started.process.kill()
        started.process.communicate()


def test_a_restarted_server_continues_where_people_stopped(start: Start, tmp_path: Path) -> None:
    first = start("--classes", "a,b,c", "--budget", "5")
    with first.visit() as client:
        assert len(first.lines) == 1
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}", first.lines[0])
        node = client.get("/api/next").json()["node"]
        assert client.post("/api/labels", json={"node": node, "label": "b", "key": "1"}).status_code == 200
    messages = first.end()
    assert "featprop train blobs --labels blobs.labels" in messages
    assert "featprop export blobs.labels" in messages
    assert "token" not in messages
    assert "Traceback" not in messages
    again = start("--classes", "A")
    with again.visit() as client:
        asked = client.get("/api/next").json()
        assert asked["node"] != node
        assert asked["classes"] == ["a", "b", "c"]
        progress = client.get("/api/progress").json()
        assert (progress["labelled"], progress["budget"]) == (1, None)
    assert again.lines != first.lines
    assert "'A' is 'a'" in again.end(signal.SIGTERM)
    with LabelLog(tmp_path / "blobs.labels") as log:
        assert log.labels() == {node: "b"}
        assert log.classes() == ["a", "b", "c"]


def test_a_log_belongs_to_one_server(start: Start, run: Callable[..., Any], tmp_path: Path) -> None:
    server = start("--labels", "mine.labels", "--classes", "a,b")
    with server.visit() as client:
        (tmp_path / "link.labels").symlink_to(tmp_path / "mine.labels")
        refused = run("label", "blobs", "--no-browser", "--port", "0", "--labels", "link.labels")
        assert refused.exit_code == 2
        assert "mine.labels" in refused.stderr
        node = client.get("/api/next").json()["node"]
        (tmp_path / "more.csv").write_text(f"id,label\n{node},b\n", encoding="utf-8")
        assert_refused(run("import", "mine.labels", "more.csv"), "mine.labels")
        assert client.post("/api/labels", json={"node": node, "label": "a", "key": "1"}).status_code == 200
        assert run("export", "mine.labels", "--out", "-").exit_code == 0
    server.end()
    assert run("import", "mine.labels", "more.csv").exit_code == 0


def test_several_people_on_every_address(start: Start, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_text("png")
    (tmp_path / "guide.md").write_text("# How to\n\nLook *twice*.\n", encoding="utf-8")
    (tmp_path / "classes.csv").write_text("name,key,description\nright,x,The second.\nleft,,\n", encoding="utf-8")
    people = ["--annotator", "ada", "--annotator", "grace", "--overlap", "2", "--host", "0.0.0.0"]
    shown = ["--classes", "classes.csv", "--guide", "guide.md", "--images", ".", "--blind"]
    server = start(*people, *shown)
    with server.visit() as ada, server.visit() as grace:
        assert server.lines[::2] == ["ada", "grace"]
        assert server.lines[1] != server.lines[3]
        assert "0.0.0.0" not in server.lines[1]
        for client, name in ((ada, "ada"), (grace, "grace")):
            page = client.get("/").text
            assert re.search(rf'<p class="who"[^>]*>{name}</p>', page)
            assert 'data-prediction="hidden"' in page
            assert 'data-key="x"' in page
        assert ada.get("/api/next").json()["classes"] == ["right", "left"]
        assert "<em>twice</em>" in ada.get("/help").text
        assert "The second." in ada.get("/classes").text
        assert ada.get("/images/a.png").content == b"png"
        assert ada.get("/api/next", headers={"Host": "evil.example"}).status_code == 400
        assert ada.get("/api/next", headers={"Authorization": ""}).status_code == 401
        assert grace.post("/api/classes", json={"name": "new"}).status_code == 403, "the first is the owner"
        assert ada.post("/api/classes", json={"name": "other"}).status_code == 200
    server.end()
    again = start("--classes", "other,left")
    with again.visit() as ada:
        assert ada.get("/help").status_code == 200
    assert re.search(r"\bleft\b.*\b1\b", again.end()), "a class whose key changed is named"


def test_ipv6_and_the_classes_of_the_graph(start: Start) -> None:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        pytest.skip("no IPv6")
    server = start("--host", "::1")
    with server.visit() as client:
        assert server.lines[-1].startswith("http://[::1]:")
        assert client.get("/api/next").json()["classes"] == ["a", "b", "c"]


def test_no_list_of_processes_has_the_token(start: Start, tmp_path: Path) -> None:
    browser = tmp_path / "browser.sh"
    browser.write_text('#!/bin/sh\necho "$1" > "$0.opened"\ncp "${1#file://}" "$0.page"\n', encoding="utf-8")
    browser.chmod(0o700)
    server = start(BROWSER=f"{browser} %s")
    address = server.address()
    page = tmp_path / "browser.sh.page"
    until = time.monotonic() + 300
    while not (page.exists() and address in page.read_text(encoding="utf-8")) and time.monotonic() < until:
        time.sleep(0.05)
    assert f'content="0; url={address}"' in page.read_text(encoding="utf-8")
    opened = (tmp_path / "browser.sh.opened").read_text(encoding="utf-8").strip()
    assert opened.startswith("file://")
    assert address.partition("token=")[2] not in opened
    file = Path(opened.removeprefix("file://"))
    assert (file.stat().st_mode | file.parent.stat().st_mode) & 0o077 == 0
    server.end()
    assert not file.exists()


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        (["--annotator", "ada", "--annotator", "ada"], "annotator"),
        (["--overlap", "2"], "overlap"),
        (["--images", "nowhere"], "nowhere"),
        (["--classes", ","], "classes"),
        (["--host", "no.such.host.invalid"], "no.such.host.invalid"),
        (["--labels", "blobs/nodes.csv"], "blobs/nodes.csv"),
        (["--labels", "other.labels", "--audit", "2"], "'somewhere else'"),
        (["--audit", "100000"], "100000"),
        (["--classes", "blobs/edges.csv"], "blobs/edges.csv"),
        (["--classes", "keys.csv"], "keys.csv"),
        (["--guide", "nowhere.md"], "nowhere.md"),
    ],
)
def test_bad_input(run: Callable[..., Any], graph_folder: Path, arguments: list[str], fact: str) -> None:
    Path("keys.csv").write_text("name,key\na,1\nb,1\n", encoding="utf-8")
    with LabelLog(Path("other.labels")) as log:
        log.tell({"somewhere else": "a"})
    result = run("label", "blobs", "--no-browser", "--port", "0", *arguments)
    assert result.exit_code == 2
    (error,) = [line for line in result.output.splitlines() if line.startswith("Error: ")]
    assert fact in error
    assert not Path("blobs.labels").exists()
    with LabelLog(Path("other.labels")) as log:
        assert not log.audit()


def test_misspelled_graph_leaves_no_log(run: Callable[..., Any]) -> None:
    assert run("label", "nowhere", "--no-browser", "--port", "0").exit_code == 2
    assert list(Path().glob("*.labels*")) == []


@pytest.mark.parametrize(
    ("graph", "log"),
    [
        ("some/my-graph", "some/my-graph.labels"),
        ("some/v1.2/", "some/v1.2.labels"),
        ("g.npz", "g.labels"),
        ("cora", "cora.labels"),
    ],
)
def test_the_log_is_next_to_the_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, graph: str, log: str) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("some/my-graph", "some/v1.2"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "g.npz").touch()
    assert _log_of(Path(graph)) == Path(log)
    monkeypatch.chdir(tmp_path / "some" / "my-graph")
    assert _log_of(Path()) == tmp_path / "some" / "my-graph.labels"
