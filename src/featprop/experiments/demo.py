"""The digits demonstration: our default beside random choice and the paper's method, with a page of its own."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from featprop.errors import FeatpropError, MissingExtraError

__all__ = ["run"]

BUDGETS = (10, 20, 40, 80)


def run(out: Path, seeds: int, budgets: tuple[int, ...] = BUDGETS) -> str:
    """Run the experiments, write its page and the digits as a graph folder, and return the results as text.

    Parameters
    ----------
    out
        The folder to write to; files of an earlier demonstration in it are replaced, its results are used again.
    seeds
        How many times each experiment is run.
    budgets
        The numbers of labels to compare at, ascending, among them the one whose picks the page shows.
    """
    for needed in ("jinja2", "matplotlib", "safetensors", "torch"):
        if find_spec(needed) is None:
            raise MissingExtraError("featprop demo", "demo", needed)

    from featprop.datasets import digits
    from featprop.experiments.demo_folder import DemoFolder
    from featprop.experiments.demo_page import SHOWN_BUDGET, WAYS, Demonstration
    from featprop.experiments.results import read_results
    from featprop.experiments.runner import run as run_cells
    from featprop.experiments.settings import Settings

    wanted = [
        Settings(["digits"], [way.strategy], models=[way.model], budgets=list(budgets), seeds=seeds)
        for way in WAYS.values()
    ]
    folder = DemoFolder(out)
    folder.check_replaceable()
    graph = digits()
    folder.write_graph(graph)
    outcome = run_cells(wanted, folder.results)
    if outcome.failures:
        cure = "run featprop demo again, it goes on from there"
        raise FeatpropError("The demonstration", "must run to its end", outcome.failures[0].reason, cure)
    demonstration = Demonstration(graph, read_results(folder.results), wanted)
    folder.write_page(demonstration.page())
    return f"{demonstration.text()}\n\n{folder.guide(SHOWN_BUDGET)}"
