"""What the results say, in sentences that follow from the numbers whichever way they come out."""

from __future__ import annotations

import math

import numpy as np

from featprop.experiments.paper import BUDGETS, printed
from featprop.experiments.summary import Results, Runs

__all__ = ["findings", "worth_of_labels"]


def findings(results: Results) -> list[str]:
    """Return a headline and, for each data set, who comes first, who follows, and how FeatProp stands to the paper.

    They are of a GCN, or of the first model if there is none.
    """
    sentences = []
    wins: list[str] = []
    compared: list[str] = []
    model = next(
        (key for key, variant in results.models.items() if variant.name == "gcn"), next(iter(results.models), "")
    )
    for dataset, shown in results.datasets.items():
        runs = {name: results.runs("macro_f1", dataset, name, model, "paper") for name in results.strategies}
        means = {name: found for name, found in runs.items() if found and not math.isnan(found.mean)}
        if not means:
            continue
        order = sorted(means, key=lambda name: -means[name].mean)
        of_paper = [name for name in order if printed("macro_f1", "gcn", "paper", name, "cora")]
        if "featprop" in of_paper and len(of_paper) > 1:
            compared.append(shown.title)
            wins += [shown.title] if means["featprop"].mean >= means[of_paper[0]].mean - 1e-9 else []
        ranking = ", ".join(f"{results.strategies[name].title} {means[name].mean:.1f}" for name in order)
        paper = printed("macro_f1", model, "paper", "featprop", shown.name)
        beside = _beside_paper(paper.mean, means["featprop"]) if paper and "featprop" in means else ""
        sentences.append(f"{shown.title}, Macro-F1 of {results.models[model].title}: {ranking}.{beside}")
    if not sentences:
        return [f"{len(results.lines):,} cells", "No cells under the paper's protocol yet."]
    if not compared:
        return [f"{len(results.lines):,} cells, FeatProp not beside another strategy of the paper", *sentences]
    if len(compared) == 1:
        headline = f"FeatProp {'comes' if wins else 'does not come'} first on {compared[0]}"
    else:
        where = "every data set" if wins == compared else f"{len(wins)} of {len(compared)} data sets"
        headline = f"FeatProp comes first on {where}"
    headline += " among the strategies of the paper that were run"
    return [headline, *sentences]


def _beside_paper(paper: float, ours: Runs) -> str:
    if ours.budgets != BUDGETS:
        theirs, here = (", ".join(map(str, budgets)) for budgets in (BUDGETS, ours.budgets))
        return f" The paper prints {paper:.2f} for FeatProp over {theirs}; here it is {ours.mean:.2f} over {here}."
    return f" The paper prints {paper:.2f} for FeatProp; here it is {ours.mean:.2f} ({ours.mean - paper:+.2f})."


def worth_of_labels(default: Runs, random: Runs, paper: Runs) -> list[str]:
    """Return a headline and sentences on how many labels chosen at random those of our default are worth.

    Parameters
    ----------
    default
        The accuracy of our default strategy and model.
    random
        That of random choice and the same model, over the same budgets.
    paper
        That of the paper's FeatProp and GCN, over the same budgets.
    """
    budgets = default.budgets
    ours, theirs = default.curve().mean, random.curve().mean
    standing = (
        f"At equal budgets our default is ahead of random choice {_where_ahead(default, random)}, "
        f"and of the paper's FeatProp and GCN {_where_ahead(default, paper)}."
    )
    rows = range(len(budgets))
    reached = [(row, other) for row in rows for other in rows if ours[row] > theirs[other] and row <= other]
    if not reached:
        return ["featprop is not ahead of random choice in this run", standing]
    row, other = max(reached, key=lambda pair: budgets[pair[1]] / budgets[pair[0]])
    few, many = budgets[row], budgets[other]
    does = "teach more than" if few == many else "do the work of"
    return [
        f"{few} labels chosen by featprop {does} {many} chosen at random",
        f"With {few} labels that it asked for, our default gets {ours[row]:.1f} % of all other nodes right; with "
        f"{many} labels of nodes chosen at random the same model gets {theirs[other]:.1f} %.",
        standing,
    ]


def _where_ahead(ours: Runs, theirs: Runs) -> str:
    """Say at which budgets the first is ahead."""
    ahead = [str(budget) for budget in np.array(ours.budgets)[ours.curve().mean > theirs.curve().mean]]
    if len(ahead) in (0, len(ours.budgets)):
        return "at every budget" if ahead else "at no budget"
    return f"at {len(ahead)} of {len(ours.budgets)} budgets ({', '.join(ahead)} labels)"
