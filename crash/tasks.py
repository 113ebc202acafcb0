"""What is done in a process of its own, beside commands: what scripts, servers and runs of experiments do."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from crash.children import featprop_command
from crash.graphs import label_of
from crash.inputs import Inputs

__all__ = ["answer", "append_results", "choose_at_address", "go_on", "lines_of_results", "save_learner", "with_inputs"]

LINES = Path(__file__).parents[1] / "experiments" / "default" / "results" / "acm.jsonl"
ACTS = 12


def with_inputs(given: tuple[Callable[[Inputs, Path], None], Inputs, Path]) -> None:
    """Call a function that reads inputs and writes to a folder."""
    function, inputs, folder = given
    function(inputs, folder)


def save_learner(inputs: Inputs, folder: Path) -> None:
    """Do as a script does that asks and tells with a label log."""
    import featprop as fp

    with fp.LabelLog(folder / "rounds.labels", exclusive=True) as log:
        learner = fp.ActiveLearner(fp.read_graph(inputs.graph), log=log)
        if learner.rounds == 0:
            learner.ask(10)
        learner.tell({int(node): label_of(node) for node in learner.asked})


def go_on(inputs: Inputs, folder: Path) -> None:
    """Do as a script does that continues with a label log, tells more and asks again."""
    import featprop as fp

    with fp.LabelLog(folder / "rounds.labels", exclusive=True) as log:
        learner = fp.ActiveLearner(fp.read_graph(inputs.graph), log=log)
        learner.tell({node: label_of(node) for node in learner.asked})
        learner.skip(239, reason="torn")
        learner.ask(5)


def lines_of_results() -> list[Any]:
    """Return the lines that `append_results` appends: some of a real run."""
    from featprop.experiments.results import Result

    return [Result.from_json(line) for line in LINES.read_text(encoding="utf-8").splitlines()[:8]]


def append_results(folder: Path) -> None:
    """Append lines as a run of experiments does, those that are not there yet."""
    from featprop.experiments.results import appending, read_results

    with appending(folder / "results") as appender:
        appender.record({"acm": {"nodes": 3025}})
        there = {result.cell for result in read_results(folder / "results")}
        for result in lines_of_results():
            if result.cell not in there:
                appender.append([result])


def answer(folder: Path) -> None:
    """Take answers as a server does, each under its key."""
    from featprop.labels import LabelLog

    with LabelLog(folder / "people.labels") as log:
        log.name_classes(["a", "b"])
        for number in range(ACTS):
            log.answer(number, "ab"[number % 2], annotator="ada", key=f"key {number}")
        log.skip(99, "torn", annotator="ada", key="skipped")
        log.note(99, "look again", annotator="ada", key="noted")


def choose_at_address(given: tuple[str, str, str]) -> None:
    """Choose nodes of a converted graph at an address, of which the cache keeps a copy."""
    cache, address, out = given
    os.environ["FEATPROP_CACHE"] = cache
    featprop_command(["select", address, "--budget", "5", "--out", out])
