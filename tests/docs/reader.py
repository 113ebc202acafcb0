"""Run the code blocks of a page, and compare their output with what the page shows.

Files that a command reads and that do not exist are copied from `shelf` or from the checkout; sheets are filled in when
they are read. Data sets by name are small stand-ins, so nothing needs the network.
"""

import functools
import io
import re
import runpy
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tomllib
from collections.abc import Callable
from contextlib import closing, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer

from featprop.cli import app
from featprop.sources import GraphDescription
from tests.helpers import load_script

ROOT = Path(__file__).parents[2]
STAND_INS = ("cora", "citeseer", "pubmed")
SMALLER = {"1e6": "2e3", "1e7": "8e3", "0.0.0.0": "127.0.0.1"}
"""Replacements for numbers that would take long and for an address that would open the machine to others."""
UNUSED_RESULTS = ("citeseer.jsonl", "coauthor-cs.jsonl", "pubmed.jsonl")
"""Committed results that the report on a page does not need."""
SHOWN = ("text", "")
DIRECTIVE = re.compile(r"\{[a-z-]+\}")


@dataclass(frozen=True)
class Block:
    """A code block, with its first line and the number of its section."""

    page: Path
    line: int
    section: int
    language: str
    text: str


def blocks(page: Path) -> list[Block]:
    """Return all code blocks of a page except Sphinx directives."""
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
    """Return the first line shown that was not printed, in order.

    Processors differ in the last bit, so percentages may be off by three points and decimals by 5 %. Whole numbers,
    such as counts and ids, must be equal.
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
    """Split a text into words, with a percent sign at both ends of an interval."""
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
    """Return the module that makes the example tables and their true labels."""
    return load_script(ROOT / "examples" / "accounts.py")


class Reader:
    """Runs the code blocks of one page."""

    def __init__(self, run: Callable[..., Any], shelf: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.run, self.shelf, self.home, self.monkeypatch = run, shelf, home, monkeypatch
        self.names: dict[str, Any] = {"ask_a_person": accounts().made_tables()[2].__getitem__}
        self.printed = ""
        self.folder = home

    def start_section(self, section: int) -> None:
        """Change to a new folder that holds only the graph."""
        self.folder = self.home / f"section-{section}"
        self.folder.mkdir()
        self.monkeypatch.chdir(self.folder)
        self.fetch("my-graph")

    def fetch(self, name: str) -> None:
        """Copy a missing file from the shelf or from the checkout."""
        wanted = Path(name)
        sources = [place for place in (self.shelf / wanted, ROOT / wanted) if place.exists()]
        if wanted.is_absolute() or wanted.exists() or not sources or name in STAND_INS:
            return
        wanted.parent.mkdir(parents=True, exist_ok=True)
        if sources[0].is_dir():
            shutil.copytree(sources[0], wanted, ignore=shutil.ignore_patterns(*UNUSED_RESULTS))
        else:
            shutil.copy(sources[0], wanted)

    def run_block(self, block: Block) -> None:
        """Run a block."""
        where = f"{block.page.name}:{block.line}"
        if block.language in ("sh", "bash"):
            self.printed = "".join(self.run_line(line, where) for line in block.text.replace("\\\n", " ").splitlines())
        elif block.language == "python":
            exec(compile("\n" * block.line + block.text, block.page.name, "exec"), self.names)
        elif block.language == "toml":
            self._toml(block.text, where)
        elif block.language == "sql":
            with closing(sqlite3.connect(self.shelf / "my-graph.labels")) as log:
                for line in block.text.splitlines():
                    assert log.execute(line.partition(";")[0]).fetchall(), where
        else:
            assert block.language in SHOWN, f"{where}: unknown language {block.language}"

    def compare(self, block: Block) -> None:
        """Compare the output of the last commands with what the page shows."""
        missing = differs(block.text, self.printed)
        assert missing is None, f"{block.page.name}:{block.line} shows {missing!r}, printed was\n{self.printed}"

    def run_line(self, line: str, where: str) -> str:
        """Run one line of shell and return its output."""
        words = [SMALLER.get(word, word) for word in shlex.split(line, comments=True)]
        if not words:
            return ""
        run: Callable[[list[str], str], str] = getattr(self, f"_{words[0]}", self._shell)
        return run(words[1:] if run != self._shell else [line], where)

    def _featprop(self, words: list[str], where: str) -> str:
        outputs = {words[at + 1] for at, word in enumerate(words[:-1]) if word in ("--out", "--config")}
        for word in words:
            if not word.startswith("-") and word not in outputs:
                self.fetch(word)
        for at, word in enumerate(words):
            if word == "--labels" and words[at + 1].endswith(".csv"):
                accounts().fill(Path(words[at + 1]))
        if words[0] == "label":
            return self._label(words)
        if "--seeds" in words:
            words[words.index("--seeds") + 1] = "1"
        kept = words[words.index("--out") + 1] if words[:2] == ["experiments", "run"] else None
        if kept is not None:
            self.fetch(kept)
        result = self.run(*words)
        assert result.exit_code == 0, (where, words, result.output)
        if kept is not None:  # the next page continues from here
            shutil.copytree(kept, self.shelf / kept, dirs_exist_ok=True)
        return str(result.output)

    def _toml(self, text: str, where: str) -> None:
        """Check an entry point or a graph.toml; one whose first line names its file is, or becomes, that file."""
        content = tomllib.loads(text)
        if "project" in content:
            assert set(content["project"]["entry-points"]) <= {"featprop.strategies", "featprop.models"}, where
            return
        name = re.match(r"# (\S+\.toml)\n", text)
        file = Path(name[1]) if name else Path("shown.toml")
        if file.exists():
            assert tomllib.loads(file.read_text(encoding="utf-8")) == content, where
        file.write_text(text, encoding="utf-8")
        for address in GraphDescription.from_toml(file).attach.values():
            self.fetch(address.partition(":")[2])

    def _label(self, words: list[str]) -> str:
        """Check the arguments of the labelling page, which other tests start."""
        typer.main.get_command(app).commands["label"].make_context("label", words[1:])  # type: ignore[attr-defined]
        return ""

    def _python(self, words: list[str], where: str) -> str:
        """Run a script in this process."""
        self.monkeypatch.setattr(sys, "argv", [str(ROOT / words[0]), *words[1:]])
        self.monkeypatch.syspath_prepend(ROOT / "examples")
        with redirect_stdout(io.StringIO()) as printed:
            runpy.run_path(str(ROOT / words[0]), run_name="__main__")
        return printed.getvalue()

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
