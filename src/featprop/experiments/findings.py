"""What the results say, in sentences that follow from the numbers whichever way they come out."""

from __future__ import annotations

import math

from featprop.experiments.paper import BUDGETS, printed, strategy_title, title_of
from featprop.experiments.summary import Results, Runs

__all__ = ["findings"]


def findings(results: Results) -> list[str]:
    """Return a headline and, for each data set, who comes first, who follows, and how FeatProp stands to the paper."""
    sentences = []
    wins: list[str] = []
    compared: list[str] = []
    for dataset in results.datasets:
        runs = {name: results.runs("macro_f1", dataset, name, "gcn", "paper") for name in results.strategies}
        means = {name: found for name, found in runs.items() if found and not math.isnan(found.mean)}
        if not means:
            continue
        order = sorted(means, key=lambda name: -means[name].mean)
        of_paper = [name for name in order if printed("macro_f1", "gcn", "paper", name, "cora")]
        if "featprop" in of_paper and len(of_paper) > 1:
            compared.append(dataset)
            wins += [dataset] if of_paper[0] == "featprop" else []
        ranking = ", ".join(f"{strategy_title(name)} {means[name].mean:.1f}" for name in order)
        sentences.append(f"{title_of(dataset)}, Macro-F1 of a GCN: {ranking}.{_beside_paper(dataset, means)}")
    if not sentences:
        return [f"{len(results.lines):,} cells", "No cells of a GCN under the paper's protocol yet."]
    if not compared:
        return [f"{len(results.lines):,} cells, FeatProp not beside another strategy of the paper", *sentences]
    if len(compared) == 1:
        headline = f"FeatProp {'comes' if wins else 'does not come'} first on {title_of(compared[0])}"
    else:
        where = "every data set" if wins == compared else f"{len(wins)} of {len(compared)} data sets"
        headline = f"FeatProp comes first on {where}"
    headline += " among the strategies of the paper that were run"
    return [headline, *sentences]


def _beside_paper(dataset: str, means: dict[str, Runs]) -> str:
    paper = printed("macro_f1", "gcn", "paper", "featprop", dataset)
    ours = means.get("featprop")
    if paper is None or ours is None:
        return ""
    gap = ours.mean - paper.mean
    if ours.budgets != BUDGETS:
        theirs, here = (", ".join(map(str, budgets)) for budgets in (BUDGETS, ours.budgets))
        return f" The paper prints {paper.mean:.2f} for FeatProp over {theirs}; here it is {ours.mean:.2f} over {here}."
    return f" The paper prints {paper.mean:.2f} for FeatProp; here it is {ours.mean:.2f} ({gap:+.2f})."
