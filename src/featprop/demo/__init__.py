"""The digits demonstration: FeatProp beside random choice, from selection to a page to look at."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from featprop.errors import MissingExtraError, ParameterError

__all__ = ["run"]

BUDGETS = (10, 20, 40, 80)
SHOWN_BUDGET = 40
"""The budget whose picks the report shows."""


def run(out: Path, seeds: int, budgets: tuple[int, ...] = BUDGETS) -> str:
    """Run the experiment, write the report and the digits as a graph folder, and return the results as text.

    Parameters
    ----------
    out
        The folder to write to; files of an earlier demonstration in it are replaced.
    seeds
        How many times each experiment is run.
    budgets
        The numbers of labels to compare at, ascending.
    """
    if seeds < 1:
        raise ParameterError("seeds", "must be at least 1", seeds, "the default of featprop demo is 5")
    for needed in ("matplotlib", "safetensors", "torch"):
        if find_spec(needed) is None:
            raise MissingExtraError("featprop demo", "demo", needed)

    from featprop.datasets import digits
    from featprop.demo.experiment import compare
    from featprop.demo.outputs import Outputs
    from featprop.demo.report import render
    from featprop.demo.summary import as_text
    from featprop.selection import select

    outputs = Outputs(out)
    outputs.check_replaceable()
    graph = digits()
    outputs.write_graph(graph)
    comparison = compare(graph, budgets, seeds)
    picks = select(graph, SHOWN_BUDGET)
    random_picks = select(graph, SHOWN_BUDGET, strategy="random", seed=0)
    outputs.write_report(render(graph, comparison, picks, random_picks))
    return f"{as_text(comparison)}\n\n{outputs.guide(SHOWN_BUDGET)}"
