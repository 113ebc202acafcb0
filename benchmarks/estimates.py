"""Measure the error of estimates without an audit, and the cost of following the advice.

    python benchmarks/estimates.py [--into docs/how-good-measured.md]      # makes the tables from the results
    python benchmarks/estimates.py --run [--graphs cora acm] [--parts estimate advice]

The nodes are those of the committed experiments (`experiments/default/results`, model ridge); a seed with the same
nodes as another is skipped. The truth is the accuracy on all nodes without a label.

estimate  `fp.evaluate.estimate` compared with the truth, eight strategies, budgets 10 to 160.
advice    the first 40, 60, 80 and 120 of the 160 nodes of the default and of random selection: the advice of
          `fp.evaluate.advise`, the accuracy of the model, and its accuracy with all 160, on the nodes outside the 160.
"""

from pathlib import Path

import numpy as np
from doubts import DEFAULT, GRAPHS, picks
from pages import of, percent, run_parts, table
from sklearn.metrics import f1_score

import featprop as fp
from featprop.datasets import resolve
from featprop.evaluate import Stability, StabilityStep, forecast

ROOT = Path(__file__).parent.parent
LINES = ROOT / "experiments" / "estimates" / "estimates.jsonl"
STRATEGIES = [
    DEFAULT, "random", "featprop", "featprop-cosine", "graphpart-far", "grain-ball", "grain-nn", "herding",
]  # fmt: skip
BUDGETS = [10, 20, 40, 80, 160]
STEPS = [40, 60, 80, 120, 160]
LAST = STEPS[-1]
SETS = 3
"""Maximum number of distinct sets of nodes of each strategy and budget."""
ENOUGH = 40
"""Number of labels from which the target applies."""


def estimated(name, graph, classes, known):
    """Yield estimates and the truth."""
    for strategy in STRATEGIES:
        for budget in BUDGETS:
            for seed, nodes in list(picks(name, strategy, budget)[0].items())[-SETS:]:
                positions = graph.positions(nodes)
                labels = classes[positions].tolist()
                if len(set(labels)) < 2:
                    continue
                model = fp.GraphRidge().fit(graph, nodes, labels)
                others = np.setdiff1d(known, positions)
                predicted = model.predict(graph)[others]
                found = fp.evaluate.estimate(graph, model)
                yield {
                    "strategy": strategy,
                    "budget": budget,
                    "seed": seed,
                    "accuracy": float(np.mean(predicted == classes[others])),
                    "macro_f1": float(f1_score(classes[others], predicted, average="macro", zero_division=0)),
                    "estimate": [found.accuracy.value, found.accuracy.low, found.accuracy.high],
                    "estimate_f1": [found.macro_f1.value, found.macro_f1.low, found.macro_f1.high],
                    "held_out": found.cv_accuracy,
                }


def advised(name, graph, classes, known):
    """Yield the advice with more and more of the 160 labels, and the accuracy of the model."""
    for strategy in (DEFAULT, "random"):
        for seed, nodes in list(picks(name, strategy, LAST)[0].items())[-SETS:]:
            others = np.setdiff1d(known, graph.positions(nodes))
            for budget in STEPS:
                labels = classes[graph.positions(nodes[:budget])].tolist()
                model = fp.GraphRidge().fit(graph, nodes[:budget], labels)
                found = fp.evaluate.advise(graph, model)
                change = found.curve.stability
                yield {
                    "strategy": strategy,
                    "budget": budget,
                    "seed": seed,
                    "accuracy": float(np.mean(model.predict(graph)[others] == classes[others])),
                    "may_stop": found.may_stop,
                    "changed": None if change is None else change.last_half.changed,
                }


PARTS = {"estimate": estimated, "advice": advised}


def measure(name, part):
    """Yield the results of a graph."""
    graph = resolve(name)
    classes = np.array(["" if each is None else str(each) for each in graph.class_names()], dtype=object)
    for line in PARTS[part](name, graph, classes, np.flatnonzero(classes != "")):
        yield {"part": part, "graph": name} | line


def errors(lines, of_what="accuracy", estimate="estimate"):
    return [100 * abs(line[estimate][0] - line[of_what]) for line in lines]


def held(lines, of_what="accuracy", estimate="estimate"):
    return percent([line[estimate][1] <= line[of_what] <= line[estimate][2] for line in lines])


def points(values):
    return f"{np.mean(values):.1f}" if len(values) else "-"


def cells(lines):
    """Return the number of cases, mean absolute error, mean error, coverage and width."""
    bias = [100 * (line["estimate"][0] - line["accuracy"]) for line in lines]
    width = [100 * (line["estimate"][2] - line["estimate"][1]) for line in lines]
    return [len(lines), points(errors(lines)), f"{np.mean(bias):+.1f}", held(lines), f"{np.mean(width):.0f}"]


def enough(lines):
    return [line for line in of(lines, part="estimate") if line["budget"] >= ENOUGH]


ABOUT = ["cases", "error", "bias", "coverage", "width"]


def graph_table(lines):
    rows = []
    for name in GRAPHS:
        ours = of(lines, part="estimate", graph=name)
        by_budget = [f"{points(errors(at))}, {held(at)}" for at in (of(ours, budget=budget) for budget in BUDGETS)]
        f1 = of(enough(lines), graph=name)
        of_f1 = [points(errors(f1, "macro_f1", "estimate_f1")), held(f1, "macro_f1", "estimate_f1")]
        rows.append([name, *cells(of(enough(lines), graph=name)), *by_budget, *of_f1])
    titles = ["graph", *ABOUT, *(f"at {budget}" for budget in BUDGETS), "Macro-F1 error", "coverage"]
    return table(titles, rows)


def strategy_table(lines):
    rows = [[strategy, *cells(of(enough(lines), strategy=strategy))] for strategy in STRATEGIES]
    return table(["chosen by", *ABOUT], rows)


def series(lines, **which):
    """Return the results of each set of nodes, ordered by budget."""
    ours = of(lines, part="advice", **which)
    return [sorted(of(ours, seed=seed), key=lambda line: line["budget"]) for seed in sorted({x["seed"] for x in ours})]


def followed(one):
    """Return the budget at which the advice says stop, or the last one, and its cost compared with the last."""
    stop = next((line for line in one if line["may_stop"]), one[-1])
    return stop["budget"], 100 * (one[-1]["accuracy"] - stop["accuracy"])


def advice_table(lines):
    rows = []
    for strategy in (DEFAULT, "random"):
        for name in GRAPHS:
            found = series(lines, strategy=strategy, graph=name)
            stops, costs = zip(*map(followed, found), strict=True)
            curve = [f"{100 * np.mean([one[step]['accuracy'] for one in found]):.1f}" for step in range(len(STEPS))]
            where = ", ".join(map(str, sorted(stops)))
            rows.append([f"{name}, {strategy}", *curve, where, f"{np.mean(costs):.1f}", f"{max(costs):.1f}"])
    titles = ["graph", *(f"{step} labels" for step in STEPS), "stops at", "costs", "at most"]
    return table(titles, rows)


def doublings(lines, name):
    """Return the forecast and the actual gain for each doubling of the labels of a graph."""
    pairs = []
    for strategy in (DEFAULT, "random"):
        for one in series(lines, strategy=strategy, graph=name):
            by_budget = {line["budget"]: line for line in one}
            for budget, line in by_budget.items():
                if 2 * budget in by_budget and line["changed"] is not None:
                    step = StabilityStep(budget // 2, budget, line["changed"], 1.0)
                    pairs.append(
                        (forecast(Stability((), step)).gain, by_budget[2 * budget]["accuracy"] - line["accuracy"])
                    )
    return pairs


def forecast_table(lines):
    found = {name: doublings(lines, name) for name in GRAPHS}
    rows = []
    for name, pairs in found.items():
        predicted, true = [100 * gain.value for gain, _ in pairs], [100 * actual for _, actual in pairs]
        usual = 100 * np.mean([actual for other, those in found.items() if other != name for _, actual in those])
        holds = percent([gain.contains(actual) for gain, actual in pairs])
        off, off_by_mean = np.abs(np.array(predicted) - true), np.abs(usual - np.array(true))
        rows.append([name, len(pairs), points(true), points(predicted), points(off), points(off_by_mean), holds])
    titles = ["graph", "cases", "gain", "forecast", "error", "error of the mean of the others", "coverage"]
    return table(titles, rows)


TABLES = {
    "by-graph": graph_table,
    "by-strategy": strategy_table,
    "advice": advice_table,
    "forecast": forecast_table,
}


if __name__ == "__main__":
    run_parts(__doc__, LINES, GRAPHS, PARTS, measure, TABLES)
