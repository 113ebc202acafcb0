"""Run the tests of one mutant in a separate process until one fails.

The process is forked after importing the libraries of the tests. featprop is imported from a copy of `src/` with the
changed file. A file whose compiled functions have not changed keeps its path, so that Numba's cache is used;
subprocesses of tests see a copy with the changed file.
"""

from __future__ import annotations

import gc
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from mutants.changes import Mutant
from mutants.core import ROOT, TESTS, source_of

__all__ = ["Running", "Trees", "load_libraries", "measured"]

LIBRARIES = (
    "hypothesis.extra.numpy",
    "kmedoids",
    "networkx",
    "numba",
    "pandas",
    "pyarrow.parquet",
    "scipy.optimize",
    "scipy.sparse.csgraph",
    "scipy.stats",
    "sklearn.cluster",
    "sklearn.kernel_ridge",
    "sklearn.metrics",
    "sklearn.utils.estimator_checks",
    "torch_geometric.nn",
    "typer.testing",
)
MEMORY = 16 * 2**30
"""Limit of the address space in bytes, because a mutant may allocate any number of rows."""
ENOUGH = 20.0
"""CPU seconds of tests, the fastest first, that a mutant must survive."""
PATIENCE, AT_LEAST = 3, 40
"""Time limit of a mutant: a multiple of the time of its tests, plus seconds for compilation."""
WAITING = 20
"""After this multiple of the limit in wall time, the mutant is considered to hang."""


def load_libraries() -> None:
    """Import the libraries of the tests before forking."""
    for name in LIBRARIES:
        importlib.import_module(name)
    gc.freeze()


class Trees:
    """Copies of `src/`: one unchanged, and one for each parallel process."""

    def __init__(self, folder: Path, places: int) -> None:
        self.original = folder / "src"
        self.changed = [folder / f"changed-{place}" / "src" for place in range(places)]
        for tree in (self.original, *self.changed):
            shutil.copytree(ROOT / "src", tree)

    def put(self, place: int, mutant: Mutant) -> Path:
        """Write the file of a mutant into a copy; return its path."""
        path = self.changed[place] / "featprop" / mutant.module
        path.write_text(mutant.applied(source_of(mutant.module)), encoding="utf-8")
        self._forget_compiled(path)
        return path

    def restore(self, place: int, module: str) -> None:
        """Restore the file in a copy."""
        path = self.changed[place] / "featprop" / module
        shutil.copyfile(self.original / "featprop" / module, path)
        self._forget_compiled(path)

    @staticmethod
    def _forget_compiled(path: Path) -> None:
        for each in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            each.unlink()


class Running:
    """The tests of a mutant, running in another process.

    Parameters
    ----------
    trees, place
        Where featprop is imported from.
    mutant
        What is changed; None to run the tests of the file as it is.
    module
        The file.
    tests, seconds
        The tests, and how long each of them takes, in seconds.
    folder
        Where the process writes what it found.
    """

    def __init__(
        self,
        trees: Trees,
        place: int,
        mutant: Mutant | None,
        module: str,
        tests: Sequence[str],
        seconds: dict[str, float],
        folder: Path,
    ) -> None:
        self.mutant, self.place, self._trees, self._folder, self._module = mutant, place, trees, folder, module
        self._limit = AT_LEAST + PATIENCE * int(sum(seconds.values())) if seconds else 3600
        folder.mkdir(parents=True)
        if mutant:
            trees.put(place, mutant)
        self.began = time.monotonic()
        self.process = os.fork()
        if self.process == 0:
            resource.setrlimit(resource.RLIMIT_CPU, (self._limit, self._limit))
            _run(trees, place, mutant, tests, seconds, folder)

    def outcome(self) -> dict[str, Any] | None:
        """Return the result and the test that failed; None while running."""
        ended, status = os.waitpid(self.process, os.WNOHANG)
        late = not ended and time.monotonic() - self.began > WAITING * self._limit
        if not ended and not late:
            return None
        if late:
            os.killpg(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
        elif os.WIFSIGNALED(status):
            late = os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)
        if self.mutant:
            self._trees.restore(self.place, self._module)
        seconds = round(time.monotonic() - self.began, 1)
        code = os.waitstatus_to_exitcode(status)
        found = "timed out" if late else "survived" if code == 0 else "killed"
        return {"outcome": found, "by": "" if late else self._killer(code), "seconds": seconds, "code": code}

    def _killer(self, code: int) -> str:
        if code == 0:
            return ""
        if code < 0:
            return f"signal {-code}"
        report = self._folder / "tests.json"
        failed = json.loads(report.read_text())["failed"] if report.exists() else []
        return failed[0] if failed else "import"


def measured(trees: Trees, module: str, tests: Sequence[str], folder: Path) -> dict[str, float]:
    """Return the time of each test without a change; all must pass."""
    running = Running(trees, 0, None, module, tests, {}, folder)
    while (found := running.outcome()) is None:
        time.sleep(0.2)
    if found["outcome"] != "survived":
        printed = (folder / "printed.txt").read_text()
        raise SystemExit(f"the tests of {module} fail when nothing is changed:\n{printed[-3000:]}")
    seconds: dict[str, float] = json.loads((folder / "tests.json").read_text())["seconds"]
    quickest = sorted(seconds, key=seconds.__getitem__)
    spent = accumulate(seconds[each] for each in quickest)
    return {test: seconds[test] for test, total in zip(quickest, spent, strict=True) if total <= ENOUGH}


def _run(
    trees: Trees, place: int, mutant: Mutant | None, tests: Sequence[str], seconds: dict[str, float], folder: Path
) -> None:
    """Run the tests in the forked process, and end it."""
    code = 3
    try:
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        printed = os.open(folder / "printed.txt", os.O_WRONLY | os.O_CREAT)
        os.dup2(printed, 1)
        os.dup2(printed, 2)
        os.chdir(ROOT)
        os.environ["PYTHONPATH"] = str(trees.changed[place] if mutant else trees.original)
        os.environ["PYTHONDONTWRITEBYTECODE"] = os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        sys.path.insert(0, str(trees.original))
        if mutant:
            sys.meta_path.insert(0, _Changed(trees, place, mutant))
        code = _tested(tests, seconds, folder)
        if code == 0 and not str(sys.modules["featprop"].__file__).startswith(str(trees.original)):
            print("featprop was imported from elsewhere")
            code = 3
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


def _tested(tests: Sequence[str], seconds: dict[str, float], folder: Path) -> int:
    asked = ["-q", "-p", "no:cacheprovider", "--tb=line", f"--basetemp={folder / 'temporary'}"]
    asked += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # hypothesis is imported before it
    watching = _Watching(seconds, folder / "tests.json")
    files = [str(TESTS / each) for each in tests if (TESTS / each).exists()]
    return int(pytest.main([*asked, *(["-x"] if seconds else []), *files], plugins=[watching]))


class _Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the file of a mutant."""

    def __init__(self, trees: Trees, place: int, mutant: Mutant) -> None:
        self._name = "featprop." + mutant.module.removesuffix(".py").replace("/", ".")
        tree = trees.changed[place] if mutant.compiled else trees.original
        self._path = str(tree / "featprop" / mutant.module)
        self._source = mutant.applied(source_of(mutant.module))

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:  # noqa: ARG002
        if name != self._name:
            return None
        return importlib.util.spec_from_file_location(name, self._path, loader=self)

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self._source, self._path, "exec"), module.__dict__)


class _Watching:
    """Run the fastest tests first, with fixed examples, and record failures."""

    def __init__(self, seconds: dict[str, float], report: Path) -> None:
        self._known, self._report = seconds, report
        self._seconds: dict[str, float] = {}
        self._failed: list[str] = []

    def pytest_collection(self) -> None:
        from hypothesis import Phase, settings

        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutants", deadline=None, database=None, derandomize=True, phases=phases)
        settings.load_profile("mutants")

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        if self._known:
            items[:] = sorted((item for item in items if item.nodeid in self._known), key=self._seconds_of)

    def _seconds_of(self, item: Any) -> float:
        return self._known[item.nodeid]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Any:
        began = time.process_time()
        found = yield
        self._seconds[item.nodeid] = time.process_time() - began
        return found

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self._failed.append(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self._report.write_text(json.dumps({"seconds": self._seconds, "failed": self._failed}))
