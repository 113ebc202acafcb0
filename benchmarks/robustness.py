"""Compare the default with random selection on homophilous and other graphs.

    python benchmarks/robustness.py --run [--graphs texas cora]      # measures missing seeds
    python benchmarks/robustness.py [--into docs/default.md]         # makes the tables from the results

For each graph and seed: the default in rounds, one batch of 50 and of 100, and random selection, all with the default
model; in rounds also with the model on own features only. The selection is deterministic, so each seed excludes a
random sixth of the nodes. Graphs other than Cora, Citeseer and PubMed are read from FEATPROP_DATA.
"""

import os
from pathlib import Path

import numpy as np
from pages import append_lines, command, mean, of, read_lines, show, table
from sklearn.metrics import f1_score

import featprop as fp
from featprop.datasets import resolve

ROOT = Path(__file__).parent.parent
LINES = ROOT / "experiments" / "default" / "robustness.jsonl"
DIFFERENT = ["texas", "cornell", "wisconsin", "chameleon_filtered", "squirrel_filtered", "blogcatalog"]
ALIKE = ["cora", "citeseer", "pubmed", "cora_ml", "acm", "dblp", "coauthor_cs"]
BUDGETS = [10, 20, 40, 80, 160]
BATCHES = [50, 100]
SEEDS = 5
BARRED = 1 / 6
BINS = 15
MIN_LABELS = 40
"""Number of labels from which confidences and intervals are evaluated."""


def read(name):
    graph = (
        resolve(name)
        if name in ("cora", "citeseer", "pubmed")
        else resolve(Path(os.environ["FEATPROP_DATA"]) / f"{name}.npz")
    )
    return graph, np.array(["" if each is None else str(each) for each in graph.class_names()], dtype=object)


def calibration_error(confidence, right):
    place = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = [abs(confidence[place == each].sum() - right[place == each].sum()) for each in np.unique(place)]
    return float(sum(gaps) / len(right))


def scored(graph, classes, chosen, model):
    """Return the scores of a model on the selected nodes; with one class, those of predicting that class."""
    known = np.flatnonzero(classes != "")
    labels = classes[chosen].tolist()
    others = np.setdiff1d(known, chosen)
    model = model.fit(graph, graph.ids[chosen].tolist(), labels, cold_start=True)
    predicted = np.array([str(each) for each in model.predict(graph)], dtype=object)
    right = predicted[others] == classes[others]
    confidence = model.predict_proba(graph)[others].max(axis=1)
    line = {
        "macro_f1": float(f1_score(classes[known], predicted[known], average="macro", zero_division=0)),
        "accuracy": float(right.mean()),
        "confidence": float(confidence.mean()),
        "calibration_error": calibration_error(confidence, right),
        "weights": {name: round(weight, 3) for name, weight in model.weights_.items()},
    }
    if len(labels) >= MIN_LABELS:
        interval = fp.evaluate.estimate(graph, model).accuracy
        line["interval"] = [interval.low, interval.high]
    return line


def rounds(graph, classes, barred, budget):
    """Yield the nodes that the default selects in rounds, at each budget."""
    strategy = fp.strategies.get_strategy("featprop-diffused")
    chosen = np.empty(0, dtype=np.intp)
    for size in sorted({*strategy.steps(0, budget), *(each for each in BUDGETS if each <= budget)}):
        ids = graph.ids[chosen].tolist()
        picked = fp.select(
            graph,
            size - len(chosen),
            labelled=ids,
            labels=classes[chosen].tolist() or None,
            exclude=graph.ids[barred].tolist(),
        )
        chosen = np.concatenate([chosen, picked.positions])
        if size in BUDGETS:
            yield size, chosen


def measure(name, seed):
    graph, classes = read(name)
    generator = np.random.default_rng(seed)
    known = np.flatnonzero(classes != "")
    barred = np.flatnonzero((generator.random(graph.n_nodes) < BARRED) | (classes == ""))
    free = graph.n_nodes - len(barred)
    order = generator.permutation(known)
    for budget in [*BUDGETS, *BATCHES]:
        if budget <= free:
            yield "random", budget, scored(graph, classes, order[:budget], fp.GraphRidge())
    for budget, chosen in rounds(graph, classes, barred, min(BUDGETS[-1], free)):
        yield "rounds", budget, scored(graph, classes, chosen, fp.GraphRidge())
        yield "rounds, own features", budget, scored(graph, classes, chosen, fp.GraphRidge(features="own"))
    for budget in BATCHES:
        chosen = fp.select(graph, budget, exclude=graph.ids[barred].tolist()).positions
        yield "one batch", budget, scored(graph, classes, chosen, fp.GraphRidge())


def graphs_of(lines):
    return [name for name in DIFFERENT + ALIKE if of(lines, graph=name)]


def rounds_table(lines):
    """Return Macro-F1 in rounds at each budget, and the gap to the better baseline."""
    rows = []
    for name in graphs_of(lines):
        ours = {
            budget: mean(found) for budget in BUDGETS if (found := of(lines, graph=name, how="rounds", budget=budget))
        }
        random = {budget: mean(of(lines, graph=name, how="random", budget=budget)) for budget in ours}
        own = {budget: mean(of(lines, graph=name, how="rounds, own features", budget=budget)) for budget in ours}
        gaps = [f"{ours[budget] - max(random[budget], own[budget]):+.1f}" for budget in (20, 40, 80)]
        cells = [f"{ours[budget]:.1f}" if budget in ours else "-" for budget in BUDGETS]
        both = [f"{np.mean(list(each.values())):.1f}" for each in (ours, random, own)]
        rows.append([name, *cells, *both, *gaps])
    titles = [f"at {budget}" for budget in BUDGETS]
    return table(
        ["graph", *titles, "mean", "random selection", "own features only", "gap at 20", "at 40", "at 80"], rows
    )


def batch_table(lines):
    """Return one batch compared with random selection."""
    rows = []
    for name in graphs_of(lines):
        cells = []
        for budget in BATCHES:
            ours, random = (of(lines, graph=name, how=how, budget=budget) for how in ("one batch", "random"))
            cells += [f"{mean(ours, 'accuracy'):.1f}", f"{mean(ours, 'accuracy') - mean(random, 'accuracy'):+.1f}"]
            cells += [f"{mean(ours) - mean(random):+.1f}"]
        rows.append([name, *cells])
    titles = [
        title for budget in BATCHES for title in (f"accuracy, {budget} labels", "gap to random", "gap in Macro-F1")
    ]
    return table(["graph", *titles], rows)


def confidence_table(lines):
    """Return the calibration with 40 labels or more, and the coverage of the 90 % intervals."""
    rows = []
    for name in graphs_of(lines):
        cells = []
        for how in ("rounds", "one batch", "random"):
            found = [line for line in of(lines, graph=name, how=how) if line["budget"] >= 40 and "interval" in line]
            holds = [line["interval"][0] <= line["accuracy"] <= line["interval"][1] for line in found]
            bias = mean(found, "confidence") - mean(found, "accuracy")
            cells += [f"{mean(found, 'calibration_error'):.1f}", f"{bias:+.1f}", f"{100 * np.mean(holds):.0f} %"]
        rows.append([name, *cells])
    titles = [
        f"{how}: {what}"
        for how in ("rounds", "batch", "random")
        for what in ("calibration error", "overconfidence", "coverage")
    ]
    return table(["graph", *titles], rows)


TABLES = {"rounds": rounds_table, "batch": batch_table, "confidence": confidence_table}


def main():
    parser = command(__doc__)
    parser.add_argument("--graphs", nargs="+", default=DIFFERENT + ALIKE)
    given, lines = parser.parse_args(), read_lines(LINES)
    for name in given.graphs if given.run else ():
        for seed in range(SEEDS):
            if not of(lines, graph=name, seed=seed):
                found = measure(name, seed)
                found = [{"graph": name, "seed": seed, "how": how, "budget": size} | line for how, size, line in found]
                lines += found
                append_lines(LINES, found)
                print(name, seed, flush=True)
    for name, make in TABLES.items():
        show(f"robustness {name}", make(lines), given.into)


if __name__ == "__main__":
    main()
