"""What is disturbed: each work with the state before it, what it does, and what a reader finds in its folder.

Each thing that a reader finds must be as before the work or as after it, whenever it was killed; and all of them as
after it once the same work was done again.
"""

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from crash.children import featprop_command
from crash.downloads import fetch
from crash.graphs import label_of
from crash.inputs import Inputs, featprop_quietly
from crash.looks import (
    acts_in,
    doubled_acts,
    doubled_lines,
    fetched_in,
    file_in,
    graph_in,
    learner_in,
    model_in,
    results_in,
    rounds_in,
)
from crash.tasks import answer, append_results, choose_at_address, go_on, save_learner, with_inputs

__all__ = ["WORKS", "Work"]

FIRST_NEW, NEW = 240, 30
"""The first id that is not in the graph yet, and how many nodes are added to it."""


@dataclass(frozen=True)
class Work:
    """Something that is killed.

    Attributes
    ----------
    name
        For the table.
    prepare
        Makes the state before it.
    task
        The function that does it in a process of its own, and its argument.
    look
        Returns what a reader finds in its folder.
    doubled
        Returns how many things are there twice that should be there once.
    repeatable
        Whether doing it again when it is done changes nothing.
    keeps
        Where it keeps what the next run goes on from when it was refused; that one removes it.
    """

    name: str
    prepare: Callable[[Inputs, Path], None]
    task: Callable[[Inputs, Path], tuple[Callable[..., None], Any]]
    look: Callable[[Inputs, Path], Mapping[str, Any]]
    doubled: Callable[[Path], int] = field(default=lambda _: 0)
    repeatable: bool = True
    keeps: str = ""


def _nothing(_: Inputs, __: Path) -> None:
    pass


def _command(*words: str) -> Callable[[Inputs, Path], tuple[Callable[..., None], Any]]:
    def task(inputs: Inputs, folder: Path) -> tuple[Callable[..., None], Any]:
        return featprop_command, [word.format(folder=folder, **vars(inputs)) for word in words]

    return task


def _before(*words: str) -> Callable[[Inputs, Path], None]:
    def prepare(inputs: Inputs, folder: Path) -> None:
        featprop_quietly([word.format(folder=folder, **vars(inputs)) for word in words])

    return prepare


def _saved_before(inputs: Inputs, folder: Path) -> None:
    import featprop as fp

    save_learner(inputs, folder)
    with fp.LabelLog(folder / "rounds.labels") as log:
        fp.ActiveLearner(fp.read_graph(inputs.graph), log=log).ask(6)


def _one_round(inputs: Inputs, folder: Path) -> None:
    """Choose a first sheet with ``--log``, and type labels into it."""
    sheet = folder / "first.csv"
    words = ["select", str(inputs.graph), "--budget", "12", "--log", str(folder / "rounds.labels"), "--out", str(sheet)]
    featprop_quietly(words)
    with sheet.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows({**row, "label": label_of(int(row["id"]))} for row in rows)


def _address(inputs: Inputs, folder: Path) -> tuple[Callable[..., None], Any]:
    return choose_at_address, (str(folder / "cache"), inputs.converted.as_uri(), str(folder / "picks.csv"))


def _saving(function: Callable[[Inputs, Path], None]) -> Callable[[Inputs, Path], tuple[Callable[..., None], Any]]:
    return lambda inputs, folder: (with_inputs, (function, inputs, folder))


WORKS = [
    Work(
        "convert",
        _nothing,
        _command("convert", "{graph}", "{folder}/out"),
        partial(graph_in, "out"),
        repeatable=False,
    ),
    Work(
        "convert --force",
        _before("convert", "{other}", "{folder}/out"),
        _command("convert", "{graph}", "{folder}/out", "--force"),
        partial(graph_in, "out"),
    ),
    Work(
        "train",
        _before("train", "{other}", "--labels", "{labels}", "--out", "{folder}/model.safetensors"),
        _command("train", "{graph}", "--labels", "{labels}", "--out", "{folder}/model.safetensors", "--force"),
        model_in,
    ),
    Work(
        "select",
        _before("select", "{other}", "--budget", "9", "--out", "{folder}/picks.csv"),
        _command(
            *("select", "{graph}", "--budget", "12", "--out", "{folder}/picks.csv", "--force"),
            *("--compute", "scratch={folder}/scratch"),
        ),
        partial(file_in, "picks.csv"),
    ),
    Work(
        "predict",
        _before("predict", "{other}", "--model", "{model}", "--out", "{folder}/predictions.csv"),
        _command("predict", "{graph}", "--model", "{model}", "--out", "{folder}/predictions.csv", "--force"),
        partial(file_in, "predictions.csv"),
    ),
    Work(
        "learner save",
        _nothing,
        _saving(save_learner),
        partial(learner_in, "rounds.labels"),
        partial(doubled_acts, "rounds.labels"),
    ),
    Work(
        "learner again",
        _saved_before,
        _saving(go_on),
        partial(learner_in, "rounds.labels"),
        partial(doubled_acts, "rounds.labels"),
        repeatable=False,
    ),
    Work(
        "select --log",
        _one_round,
        _command(
            *("select", "{graph}", "--budget", "6", "--labels", "{folder}/first.csv"),
            *("--log", "{folder}/rounds.labels", "--out", "{folder}/more.csv", "--force"),
        ),
        rounds_in,
        partial(doubled_acts, "rounds.labels"),
        repeatable=False,
    ),
    Work("results", _nothing, lambda _, folder: (append_results, folder), results_in, doubled_lines),
    Work(
        "label log",
        _nothing,
        lambda _, folder: (answer, folder),
        acts_in,
        partial(doubled_acts, "people.labels"),
    ),
    Work("address", _nothing, _address, partial(file_in, "picks.csv")),
    Work(
        "download",
        _nothing,
        lambda inputs, folder: (fetch, (str(folder / "cache"), inputs.address)),
        fetched_in,
        keeps="cache/raw/",
    ),
]
