"""What people answered: sheets, label logs, rounds, and the files of other tools."""

from __future__ import annotations

import itertools
import json
import random
import re
import shutil
from pathlib import Path

from fuzz import checks
from fuzz.case import Case, target
from fuzz.mutations.content import mutated_bytes
from fuzz.mutations.databases import mutate_database
from fuzz.mutations.extremes import extreme_text
from fuzz.mutations.parquet import mutated_parquet
from fuzz.mutations.tables import mutated_csv, mutated_rows, rows_of, written_csv
from fuzz.mutations.trees import mutated_json, mutated_tree
from fuzz.mutations.workbooks import mutated_workbook

__all__ = []


@target("sheet", 10)
def sheet(random: random.Random, seeds: Path, folder: Path) -> Case:
    """Change a filled sheet, or that of an audit."""
    shutil.copytree(seeds / "csv", folder / "graph")
    shutil.copy(seeds / "picks.csv", folder)
    name = random.choice(["picks.csv", "picks.csv", "audit.csv", "predictions.csv", "picks.xlsx", "picks.parquet"])
    content = (seeds / name).read_bytes()
    change = {".csv": mutated_csv, ".xlsx": mutated_workbook, ".parquet": mutated_parquet}[Path(name).suffix]
    changed = f"said{Path(name).suffix}"
    (folder / changed).write_bytes(change(random, content))
    labels = ["--labels", changed] + (["--labels", "picks.csv"] if name == "audit.csv" or random.random() < 0.3 else [])
    labels += random.choice([[], [], ["--classes", "ok,review,fraud"]])
    way = random.randrange(7)
    if way <= 2:
        audit = random.choice([[], [], ["--use-audit"]])
        return Case(
            ["train", "graph", *labels, *audit, "--out", "m.safetensors"],
            ("m.safetensors",),
            check=checks.model("m.safetensors"),
        )
    if way <= 4:
        rounds = ["--log", "rounds.labels"] if random.random() < 0.4 else []
        words = ["select", "graph", "--budget", "3", *labels, *rounds, "--show", "about", "--out", "out.csv"]
        return Case(words, ("out.csv", *rounds[1:]), check=checks.picks("out.csv", 3))
    if way == 5:
        words = ["audit", "graph", *labels, "--size", "4", "--out", "out.csv"]
        return Case(words, ("out.csv",), check=checks.picks("out.csv", 4))
    return Case(["report", "graph", "--labels", "picks.csv", "--audit", changed, "--out", "o.html"], ("o.html",))


@target("typed into", 4)
def typed_into(random: random.Random, seeds: Path, folder: Path) -> Case:
    """Change a file that stands where a command would write: what a person typed is never overwritten."""
    shutil.copytree(seeds / "csv", folder / "graph")
    shutil.copyfile(seeds / "ridge.safetensors", folder / "ridge.safetensors")
    name, words = random.choice(
        [
            ("picks.csv", ["select", "graph", "--budget", "2", "--out", "out.csv"]),
            ("audit.csv", ["audit", "graph", "--size", "2", "--out", "out.csv"]),
            ("predictions.csv", ["predict", "graph", "--model", "ridge.safetensors", "--out", "out.csv"]),
            ("report.html", ["report", "graph", "--out", "out.html"]),
        ]
    )
    content, place = (seeds / name).read_bytes(), f"out{Path(name).suffix}"
    if name == "predictions.csv" and random.random() < 0.5:
        content = content.replace(b"n7,", b"n7,typed", 1)
    if place == "out.csv" and random.random() < 0.75:
        rows = mutated_rows(random, rows_of(content))
        changed, cells = written_csv(random, rows), "\n".join(itertools.chain(*rows))
    else:
        changed = mutated_bytes(random, content)
        cells = changed.decode("utf-8", "replace")
    (folder / place).write_bytes(changed)
    is_typed = re.search("typed" if name == "predictions.csv" else "ok|review|fraud", cells)
    return Case(words, changes=() if is_typed and name != "report.html" else (place,))


@target("label log", 7)
def label_log(random: random.Random, seeds: Path, folder: Path) -> Case:
    """Change a label log, by SQL or by bytes."""
    shutil.copytree(seeds / "csv", folder / "graph")
    shutil.copy(seeds / "log.labels", folder)
    mutate_database(random, folder / "log.labels")
    shutil.copy(seeds / "bob.csv", folder)
    way = random.randrange(6)
    if way <= 2:
        form, out = random.choice([("csv", "out.csv"), ("jsonl", "out.jsonl"), ("label-studio", "out.json")])
        graph = random.choice([[], ["--graph", "graph"]])
        return Case(["export", "log.labels", "--format", form, *graph, "--out", out], (out,))
    if way == 3:
        words = ["import", "log.labels", "bob.csv", *random.choice([[], ["--graph", "graph"]])]
        return Case(words, changes=("log.labels",))
    if way == 4:
        return Case(["train", "graph", "--labels", "log.labels", "--out", "out"], ("out",), check=checks.model("out"))
    words = ["select", "graph", "--budget", "2", "--labels", "log.labels", "--out", "out.csv"]
    return Case(words, ("out.csv",), check=checks.picks("out.csv", 2))


@target("rounds", 7)
def rounds(random: random.Random, seeds: Path, folder: Path) -> Case:
    """Change a label log with recorded rounds."""
    shutil.copytree(seeds / "csv", folder / "graph")
    log = folder / "rounds.labels"
    shutil.copyfile(seeds / f"{random.choice(['rounds-featprop', 'rounds-anrmab'])}.labels", log)
    mutate_database(random, log)
    if random.random() < 0.2:
        return Case(["export", "rounds.labels", "--out", "out.csv"], ("out.csv",))
    words = ["select", "graph", "--budget", "3", "--log", "rounds.labels", "--out", "out.csv"]
    return Case(words, ("out.csv",), changes=("rounds.labels",), check=checks.picks("out.csv", 3))


@target("other tools", 8)
def other_tools(random: random.Random, seeds: Path, folder: Path) -> Case:
    """Change a file of Label Studio, doccano or another tool, and take it in."""
    shutil.copytree(seeds / "csv", folder / "graph")
    name = random.choice(["export.json", "export.json", "export.jsonl", "export.jsonl", "export.csv", "bob.csv"])
    content = (seeds / name).read_bytes()
    if name.endswith(".csv"):
        changed = mutated_csv(random, content)
    elif name.endswith(".json"):
        changed = mutated_json(random, content)
    elif random.random() < 0.3:
        changed = mutated_bytes(random, content)
    else:
        lines = [json.loads(line) for line in content.splitlines()]
        changed = "\n".join(json.dumps(line) for line in _list(mutated_tree(random, lines))).encode()
    file = (
        f"said{random.choice(['.json', '.jsonl', '.csv', '.txt', '']) if random.random() < 0.1 else Path(name).suffix}"
    )
    (folder / file).write_bytes(changed)
    options = random.choice(
        [[], ["--graph", "graph"], ["--classes", "ok,review"], ["--annotator", extreme_text(random)]]
    )
    options = [word.replace("\x00", "") for word in options]
    has_log = random.random() < 0.5
    if has_log:
        shutil.copy(seeds / "log.labels", folder)
        return Case(["import", "log.labels", file, *options], changes=("log.labels",))
    return Case(["import", "log.labels", file, *options], ("log.labels",))


def _list(tree: object) -> list[object]:
    return tree if isinstance(tree, list) else [tree]
