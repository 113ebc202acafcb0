"""Graphs on disk: CSV, Parquet, workbooks, ``.npz``, converted folders."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

from fuzz import checks
from fuzz.case import Case, target
from fuzz.mutations.archives import mutated_archive
from fuzz.mutations.arrays import mutated_npy
from fuzz.mutations.content import mutated_bytes
from fuzz.mutations.parquet import mutated_parquet
from fuzz.mutations.tables import mutated_csv
from fuzz.mutations.trees import mutated_json
from fuzz.mutations.workbooks import mutated_workbook

__all__ = ["on_graph"]

COLUMNS = ("amount", "speed", "known", "country", "since", "about", "label")
KINDS = ("number", "flag", "category", "date", "text", "vector", "ignore")


def on_graph(random: random.Random, seeds: Path, folder: Path, graph: str, *, tables: bool) -> Case:
    """Return a command that reads the graph of that name in the folder."""
    if tables and (folder / graph).is_dir() and random.random() < 0.3:
        (folder / graph / "graph.toml").write_text(_description(random, folder / graph), encoding="utf-8")
    way = random.randrange(12)
    if way <= 2:
        return Case(["inspect", graph])
    if way <= 5:
        budget = random.choice([1, 2, 5])
        strategy = random.choice([[], [], [], ["--strategy", "featprop"], ["--strategy", "graphpart"]])
        words = ["select", graph, "--budget", str(budget), "--out", "out.csv", *strategy]
        return Case(words, ("out.csv",), check=checks.picks("out.csv", budget))
    if way <= 7:
        return Case(["convert", graph, "out"], ("out",), check=checks.converted("out"))
    shutil.copy(seeds / "picks.csv", folder)
    if way <= 9:
        labels = random.choice([[], ["--labels", "picks.csv"]])
        return Case(["train", graph, *labels, "--out", "out"], ("out",), check=checks.model("out"))
    if way == 10:
        shutil.copyfile(seeds / "ridge.safetensors", folder / "ridge.safetensors")
        words = ["predict", graph, "--model", "ridge.safetensors", "--out", "out.csv"]
        return Case(words, ("out.csv",), check=checks.predictions("out.csv"))
    return Case(["report", graph, "--labels", "picks.csv", "--out", "out.html"], ("out.html",))


def _description(random: random.Random, folder: Path) -> str:
    """Write a graph.toml for the tables of a folder."""
    lines = [f'{role} = "{path.name}"' for role in ("nodes", "edges") for path in folder.glob(f"{role}.*")]
    column = random.choice(COLUMNS)
    lines += random.choice(
        [
            ["[columns]", f"{column} = '{random.choice(KINDS)}'"],
            ["[columns]", f"ignore = ['{column}']"],
            ["[columns]", f"label = '{column}'"],
            ["[columns]", f"id = '{column}'"],
            ["[columns]", "weight = 'weight'"],
            ["[graph]", f"weights = '{random.choice(['mean', 'raw', 'none'])}'"],
            ["[graph]", f"duplicates = '{random.choice(['max', 'sum', 'count'])}'"],
            ["[graph]", f"unknown = '{random.choice(['error', 'drop', 'add'])}'"],
            ["[graph]", f"only = '{column} IS NOT NULL'"],
        ]
    )
    return "\n".join(lines) + "\n"


@target("csv", 14)
def csv(random: random.Random, seeds: Path, folder: Path) -> Case:
    """Change the tables of a folder of CSV files."""
    shutil.copytree(seeds / "csv", folder / "graph")
    for name in random.choice([["nodes"], ["nodes"], ["edges"], ["nodes", "edges"]]):
        path = folder / "graph" / f"{name}.csv"
        path.write_bytes(mutated_csv(random, path.read_bytes()))
    return on_graph(random, seeds, folder, "graph", tables=True)


@target("parquet", 10)
def parquet(random: random.Random, seeds: Path, folder: Path) -> Case:
    """Change the tables of a folder of Parquet files."""
    shutil.copytree(seeds / "parquet", folder / "graph")
    for name in random.choice([["nodes"], ["nodes"], ["edges"], ["nodes", "edges"]]):
        path = folder / "graph" / f"{name}.parquet"
        path.write_bytes(mutated_parquet(random, path.read_bytes()))
    return on_graph(random, seeds, folder, "graph", tables=True)


@target("workbook", 7)
def workbook(random: random.Random, seeds: Path, folder: Path) -> Case:
    """Change the workbooks of a folder."""
    shutil.copytree(seeds / "excel", folder / "graph")
    path = folder / "graph" / f"{random.choice(['nodes', 'edges'])}.xlsx"
    path.write_bytes(mutated_workbook(random, path.read_bytes()))
    return on_graph(random, seeds, folder, "graph", tables=True)


@target("npz", 9)
def npz(random: random.Random, seeds: Path, folder: Path) -> Case:
    """Change the arrays of a sparse-graph file, in one layout or the other."""
    content = (seeds / random.choice(["plain.npz", "plain.npz", "pickled.npz"])).read_bytes()
    changed = mutated_archive(random, content, lambda random, _, inside: mutated_npy(random, inside))
    (folder / "graph.npz").write_bytes(changed)
    return on_graph(random, seeds, folder, "graph.npz", tables=False)


@target("native", 12)
def native(random: random.Random, seeds: Path, folder: Path) -> Case:
    """Change files of a converted graph."""
    shutil.copytree(seeds / random.choice(["native", "native-sparse"]), folder / "graph")
    files = sorted(path for path in (folder / "graph").iterdir() if path.name != "checked.json")
    for _ in range(random.choice([1, 1, 1, 2])):
        path, content = (chosen := random.choice(files)), chosen.read_bytes()
        way = random.random()
        if way < 0.07:
            path.unlink()
            files.remove(path)
        elif way < 0.14:
            path.write_bytes(random.choice(files).read_bytes())
        elif path.suffix == ".json":
            path.write_bytes(mutated_json(random, content))
        elif path.suffix == ".npy" and content:
            path.write_bytes(mutated_npy(random, content))
        else:
            path.write_bytes(mutated_bytes(random, content))
    return on_graph(random, seeds, folder, "graph", tables=False)
