"""The results as a plain-text table."""

from __future__ import annotations

from featprop.demo.experiment import Comparison, Scores
from featprop.demo.findings import findings

__all__ = ["as_text", "score_text"]


def as_text(comparison: Comparison) -> str:
    """Return the finding and, per budget, both metrics of both strategies and the differences in points."""
    runs = f"mean ± std of {comparison.n_seeds} seeds" if comparison.n_seeds > 1 else "one seed"
    title = f"A GCN on the digits graph, scored on the nodes without a label (percent, {runs})"
    columns = ("FeatProp", "random", "points")
    lines = [
        f"{findings(comparison).headline}.",
        "",
        title,
        "",
        f"{'':>6}   {'accuracy':<33}   {'Macro-F1':<33}".rstrip(),
        f"{'labels':>6}" + 2 * "   {:<12} {:<12} {:>7}".format(*columns),
    ]
    for row, budget in enumerate(comparison.budgets):
        line = f"{budget:>6}"
        for metric in (comparison.accuracy, comparison.macro_f1):
            ours, theirs = metric["featprop"], metric["random"]
            gap = ours.mean[row] - theirs.mean[row]
            line += f"   {score_text(ours, row):<12} {score_text(theirs, row):<12} {gap:>+7.1f}"
        lines.append(line)
    return "\n".join(lines)


def score_text(scores: Scores, row: int) -> str:
    """Write the mean and the standard deviation of one budget; the mean alone where there is one seed only."""
    mean = f"{scores.mean[row]:.1f}"
    return f"{mean} ± {scores.deviation[row]:.1f}" if scores.percent.shape[1] > 1 else mean
