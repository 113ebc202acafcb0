"""The values of options of commands, but for the commands of `LEFT_OUT` and the options of `LEFT_ALONE`."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

from fuzz import checks
from fuzz.case import Case, target
from fuzz.mutations.extremes import NUMBERS, TEXTS
from fuzz.running import command as whole_command

__all__ = ["LEFT_OUT", "VALID", "may_change"]

VALID = {
    ("audit",): ["graph", "--labels", "picks.csv", "--size", "3", "--out", "out.csv"],
    ("convert",): ["graph", "out"],
    ("export",): ["log.labels", "--out", "out"],
    ("import",): ["log.labels", "picks.csv"],
    ("inspect",): ["graph"],
    ("models",): [],
    ("predict",): ["graph", "--model", "ridge.safetensors", "--out", "out.csv"],
    ("report",): ["graph", "--labels", "picks.csv", "--out", "out.html"],
    ("select",): ["graph", "--budget", "2", "--out", "out.csv"],
    ("strategies",): [],
    ("train",): ["graph", "--labels", "picks.csv", "--out", "out"],
    ("datasets", "make"): ["--nodes", "40", "--edges", "90", "--features", "8", "--out", "out"],
    ("datasets", "stats"): ["digits"],
    ("experiments", "report"): ["results", "--out", "out"],
}
"""A command line of each command that ends by itself and needs no network."""
LEFT_OUT = {
    ("label",): "a server, to which the target http speaks",
    ("demo",): "trains for minutes, whatever it is given",
    ("datasets", "fetch"): "downloads; the target planetoid reads what somebody placed",
    ("experiments", "run"): "starts processes and runs for minutes; the target settings gives it its settings",
}
"""Commands that are not tried here, and why."""

INPUTS = ("graph", "log.labels", "picks.csv", "ridge.safetensors", "results", "run.toml")
WORDS = (
    *INPUTS, "out", "out.csv", "out.parquet", "out.html", "out.json", "out/x/y.csv", ".", "", "-", "--", "nowhere",
    "graph/nodes.csv", "n1", "amount", "about,label", "amount=number", "label=out", "=", "a=b=c", "layers=1",
    "layers=-1", "layers=nan", "layers=1e99", "ok,review", ",", ",,", "random", "featprop", "age", "ridge", "gcn", "sgc",
    "majority", "latest", "csv", "jsonl", "label-studio", "predicted", "mean", "raw", "none", "max", "sum", "count", "words",
    "gaussian", "cpu", "cuda", "cuda:99", "meta", "500MB", "1GB", "4TB", "-1GB", "1e400GB", "0B", "nanGB", "GB", "1KB",
)  # fmt: skip
MAY_CHANGE = {("import",): "log.labels", ("train",): "ridge.safetensors"}
"""The input that a command may change: it takes answers into a log, or puts another model in the place of one."""
LEFT_ALONE = {"--cluster", "--workers", "--help", "--install-completion", "--show-completion", "--nodes", "--edges"}
"""Options that start other processes or ask for any amount of work."""


@target("command line", 12)
def command_line(random: random.Random, seeds: Path, folder: Path) -> Case:
    """Give options values they may or may not have."""
    for name in INPUTS:
        copy = shutil.copytree if (seeds / name).is_dir() else shutil.copy
        copy(seeds / name, folder / name)
    command = random.choice(list(VALID))
    words = list(VALID[command])
    options = _options(command)
    for _ in range(random.choice([1, 1, 2, 3])):
        way = random.randrange(10)
        if way == 0 and words:
            words[random.randrange(len(words))] = _value(random)
        elif way == 1 and words:
            del words[random.randrange(len(words))]
        elif way == 2:
            words.insert(random.randrange(len(words) + 1), _value(random))
        elif way == 3:
            words.append(f"--{random.choice(['no-such', 'budge', 'out', 'Seed', 'x'])}")
        elif options:
            name, takes_value = random.choice(options)
            words += [name] + ([_value(random)] if takes_value and random.random() < 0.95 else [])
    words = [word.replace("\x00", "") for word in words]
    # whatever may be written is written below the folder of the case, which is thrown away
    check = checks.acts_kept("log.labels", seeds / "log.labels") if command == ("import",) else None
    return Case([*command, *words], changes=may_change(command, words), check=check)


def may_change(command: tuple[str, ...], words: list[str]) -> tuple[str, ...]:
    """Return the names in the folder that a command line may write to: new ones, and the one input it is there for."""
    named = [word for word in words if word and not word.startswith(("/", "."))]
    standard = {
        "audit.csv",
        "predictions.csv",
        "model.safetensors",
        "report.html",
        "labels.csv",
        "labels.jsonl",
        "labels.json",
    }
    new = {word.split("/")[0] for word in named} | standard | {"report", "figures", "tables", "out"}
    inputs = {MAY_CHANGE[command]} if command in MAY_CHANGE else set()
    if command == ("experiments", "report"):  # beside what is in a folder, if that is where it is told to go
        inputs = {f"{folder}/{part}" for folder in INPUTS for part in ("report.html", "figures", "tables")}
    return tuple(sorted(new - set(INPUTS) | inputs))


def _options(command: tuple[str, ...]) -> list[tuple[str, bool]]:
    found: Any = whole_command()
    for name in command:
        found = found.commands[name]
    return [
        (name, not getattr(param, "is_flag", False))
        for param in found.params
        for name in param.opts
        if name.startswith("-") and name not in LEFT_ALONE
    ]


def _value(random: random.Random) -> str:
    kind = random.random()
    if kind < 0.45:
        return random.choice(WORDS)
    return random.choice(TEXTS) if kind < 0.75 else str(random.choice(NUMBERS))
