"""Somebody who does what a page says: types its commands, runs its code, compares what is printed with what it shows.

Files a command reads and that are not there come from `shelf`, or from the checkout; sheets are filled when they are
read. Data sets by name are small stand-ins, so nothing needs the network.
"""

import functools
import importlib.util
import os
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import featprop as fp
from featprop.active.audit_sheet import write_audit
from featprop.labels import LabelLog
from featprop.models import MODELS
from featprop.sources.native import write_native
from featprop.strategies import STRATEGIES

ROOT = Path(__file__).parents[2]
STAND_INS = ("cora", "citeseer", "pubmed")
SMALLER = {"1e6": "2e3", "1e7": "8e3", "0.0.0.0": "127.0.0.1"}
"""What is typed in place of a number that would take long, and of an address that would open the machine to others."""
LEFT_OUT = ("citeseer.jsonl", "coauthor-cs.jsonl", "pubmed.jsonl")
"""Results that are committed and not needed to see that a report of them can be made."""
SHOWN = ("text", "")
DIRECTIVE = re.compile(r"\{[a-z-]+\}")


@dataclass(frozen=True)
class Block:
    """A block of code on a page, with the number of its first line and of the section it is in."""

    page: Path
    line: int
    section: int
    language: str
    text: str


def blocks(page: Path) -> list[Block]:
    """All blocks of a page that are not for Sphinx."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in re.finditer(r"^```(.*?)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE):
        before = text[: match.start()]
        section = len(
            re.findall(r"^## ", re.sub(r"^```.*?^```$", "", before, flags=re.DOTALL | re.MULTILINE), re.MULTILINE)
        )
        if not DIRECTIVE.match(match[1]):
            found.append(Block(page, before.count("\n") + 1, section, match[1], match[2]))
    return found


def differs(shown: str, printed: str) -> str | None:
    """The first line shown that was not printed, in order.

    Processors differ in the last bit: percentages of what was trained may be off by three points, decimals by a
    twentieth. Whole numbers, such as counts and the ids that were chosen, may not.
    """
    words, place = _words(printed), 0
    for line in shown.splitlines():
        wanted = _words(line)
        found = next((at for at in range(place, len(words)) if all(map(_alike, wanted, words[at:]))), None)
        if found is None or len(words) - found < len(wanted):
            return line
        place = found + len(wanted)
    return None


def _words(text: str) -> list[str]:
    """The words of a text, with a percent sign at both ends of an interval."""
    return re.sub(r"(\d)(?= to [\d.]+%)", r"\1%", text).split()


def _alike(shown: str, printed: str) -> bool:
    numbers = [re.fullmatch(r"\(?(-?[\d,]*\.?\d+)(%?)[).,;:]*", word) for word in (shown, printed)]
    if numbers[0] is None or numbers[1] is None or numbers[0][2] != numbers[1][2]:
        return shown == printed
    first, second = (float(number[1].replace(",", "")) for number in numbers if number is not None)
    apart = 3 if numbers[0][2] else 0.05 * abs(first) if "." in numbers[0][1] else 0
    return abs(first - second) <= apart


@functools.cache
def accounts() -> ModuleType:
    """The tables that pages speak of, and what an investigator would say."""
    spec = importlib.util.spec_from_file_location("accounts", ROOT / "examples" / "accounts.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What somebody has who comes to a page in the middle: the graph, filled sheets, a model, a label log."""
    place = tmp_path_factory.mktemp("shelf")
    nodes, edges, truth = accounts().made_tables()
    for folder, table in ("my-graph", nodes), ("labelled-graph", nodes.assign(label=nodes["id"].map(truth))):
        (place / folder).mkdir()
        table.to_csv(place / folder / "nodes.csv", index=False)
        edges.to_csv(place / folder / "edges.csv", index=False)
    (place / "more").mkdir()
    nodes.head(3).assign(id=[f"new-{number}" for number in range(3)]).to_csv(place / "more" / "nodes.csv", index=False)
    joined = edges.head(3).assign(**{edges.columns[0]: [f"new-{number}" for number in range(3)]})
    joined.to_csv(place / "more" / "edges.csv", index=False)
    graph = fp.read_graph(place / "my-graph")
    picks = fp.select(graph, 40)
    others = fp.select(graph, 40, labelled=picks)
    for name, chosen in ("picks.csv", picks), ("first.csv", picks), ("more.csv", others), ("second.csv", others):
        chosen.write(place / name)
        accounts().fill(place / name)
    write_audit(place / "audit.csv", fp.draw_audit(graph, 30, exclude=[*picks, *others]), graph)
    accounts().fill(place / "audit.csv")
    fp.save_model(fp.GraphRidge().fit(graph, picks, [truth[node] for node in picks]), place / "model")
    for name, chosen in ("my-graph.labels", picks), ("other.labels", others):
        with LabelLog(place / name) as log:
            log.tell({node: truth[node] for node in chosen})
    with LabelLog(place / "other.labels") as log:
        (place / "results.json").write_bytes(fp.export_labels(log, graph, "label-studio"))
    for name in ("cora.npz", "ms_academic_cs.npz", "ind.cora.x", "arxiv.zip"):
        (place / name).touch()
    draw = np.random.default_rng(0)
    known = np.arange(300) % 3
    near = (draw.random((300, 300)) < np.where(known[:, None] == known, 0.03, 0.002)).astype(float)
    small = fp.Graph.from_scipy(near, draw.normal(size=(300, 8)) + 2 * np.eye(3, 8)[known], labels=known)
    for name in STAND_INS:
        write_native(small, place / "cache" / "graphs" / name)
    return place


class Reader:
    """Somebody at a desk with one page."""

    def __init__(self, run: Callable[..., Any], shelf: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.run, self.shelf, self.home, self.monkeypatch = run, shelf, home, monkeypatch
        self.names: dict[str, Any] = {"ask_a_person": accounts().made_tables()[2].__getitem__}
        self.printed = ""
        self.desk = home

    def sit_down(self, section: int) -> None:
        """Clear the desk but for the graph."""
        self.desk = self.home / f"section-{section}"
        self.desk.mkdir()
        self.monkeypatch.chdir(self.desk)
        self.fetch("my-graph")

    def fetch(self, name: str) -> None:
        """Get a file that is not there from the shelf, or from the checkout."""
        wanted = Path(name)
        sources = [place for place in (self.shelf / wanted, ROOT / wanted) if place.exists()]
        if wanted.is_absolute() or wanted.exists() or not sources or name in STAND_INS:
            return
        wanted.parent.mkdir(parents=True, exist_ok=True)
        if sources[0].is_dir():
            shutil.copytree(sources[0], wanted, ignore=shutil.ignore_patterns(*LEFT_OUT))
        else:
            shutil.copy(sources[0], wanted)

    def do(self, block: Block) -> None:
        """Do what a block says."""
        where = f"{block.page.name}:{block.line}"
        if block.language in ("sh", "bash"):
            self.printed = "".join(self.type(line, where) for line in block.text.replace("\\\n", " ").splitlines())
        elif block.language == "python":
            exec(compile("\n" * block.line + block.text, block.page.name, "exec"), self.names)
        elif block.language == "toml":
            assert set(tomllib.loads(block.text)["project"]["entry-points"]) <= {
                "featprop.strategies",
                "featprop.models",
                "featprop.formats",
            }
        elif block.language == "sql":
            with closing(sqlite3.connect(self.shelf / "my-graph.labels")) as log:
                for line in block.text.splitlines():
                    assert log.execute(line.partition(";")[0]).fetchall(), where
        else:
            assert block.language in SHOWN, f"{where}: nobody knows what to do with {block.language}"

    def compare(self, block: Block) -> None:
        """Hold what the last commands printed against what the page shows."""
        missing = differs(block.text, self.printed)
        assert missing is None, f"{block.page.name}:{block.line} shows {missing!r}, printed was\n{self.printed}"

    def type(self, line: str, where: str) -> str:
        """Type a line into the shell and return what it prints."""
        words = [SMALLER.get(word, word) for word in shlex.split(line, comments=True)]
        if not words:
            return ""
        told: Callable[[list[str], str], str] = getattr(self, f"_{words[0]}", self._shell)
        return told(words[1:] if told != self._shell else [line], where)

    def _featprop(self, words: list[str], where: str) -> str:
        outputs = {words[at + 1] for at, word in enumerate(words[:-1]) if word in ("--out", "--config")}
        for word in words:
            if not word.startswith("-") and word not in outputs:
                self.fetch(word)
        for at, word in enumerate(words):
            if word == "--labels" and words[at + 1].endswith(".csv"):
                accounts().fill(Path(words[at + 1]))
        if words[0] == "label":
            return self._label(words, where)
        if "--seeds" in words:
            words[words.index("--seeds") + 1] = "1"
        kept = words[words.index("--out") + 1] if words[:2] == ["experiments", "run"] else None
        if kept is not None:
            self.fetch(kept)
        result = self.run(*words)
        assert result.exit_code == 0, (where, words, result.output)
        if kept is not None:  # the next page goes on where this one stopped
            shutil.copytree(kept, self.shelf / kept, dirs_exist_ok=True)
        return str(result.output)

    def _label(self, words: list[str], where: str) -> str:
        """Open the labelling page, and leave when it is there."""
        command = [sys.executable, "-m", "featprop", *words, "--no-browser", "--port", "0"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            assert any(line.startswith("http://") for line in server.stdout), (where, server.communicate())
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=300)
            assert server.returncode == 0, where
        finally:
            server.kill()
            server.communicate()
        return ""

    def _python(self, words: list[str], where: str) -> str:
        command = [sys.executable, str(ROOT / words[0]), *words[1:]]
        one = {
            "OMP_NUM_THREADS": "1",
            "NUMBA_NUM_THREADS": "1",
        }  # several that wait for each other are slow beside others
        done = subprocess.run(command, env={**os.environ, **one}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (where, done.stderr)
        return done.stdout

    def _make(self, words: list[str], where: str) -> str:
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        assert re.search(rf"^{words[0]}:", makefile, flags=re.MULTILINE), where
        return ""

    def _pip(self, words: list[str], where: str) -> str:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        asked = re.fullmatch(r"(?:\.|featprop)\[([a-z,]+)\]", words[1])
        assert asked is not None, where
        assert set(asked[1].split(",")) <= set(project["optional-dependencies"]), where
        return ""

    def _export(self, words: list[str], where: str) -> str:
        name, _, value = words[0].partition("=")
        self.monkeypatch.setenv(name, str(Path(value).expanduser()))
        return ""

    def _shell(self, lines: list[str], where: str) -> str:
        for word in shlex.split(lines[0], comments=True):
            for found in self.shelf.glob(word) if "*" in word else [self.shelf / word]:
                self.fetch(found.name)
        done = subprocess.run(["bash", "-ec", lines[0]], capture_output=True, text=True, check=False)
        assert done.returncode == 0, (where, done.stderr)
        return done.stdout


@pytest.fixture
def reader(run: Callable[..., Any], shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    """Somebody without a network, who has not read any page yet."""
    (tmp_path / "graphs").mkdir()
    shutil.copytree(shelf / "cache", tmp_path / "cache")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("FEATPROP_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("FEATPROP_DATA", raising=False)
    for registry in (STRATEGIES, MODELS):
        monkeypatch.setattr(registry, "classes", dict(registry.classes))
    return Reader(run, shelf, tmp_path, monkeypatch)


@pytest.fixture(scope="session")
def blocks_of() -> Callable[[Path], list[Block]]:
    """The blocks of a page."""
    return blocks


@pytest.fixture(scope="session")
def differs_in() -> Callable[[str, str], str | None]:
    """The line that is shown and was not printed."""
    return differs
