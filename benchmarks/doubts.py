"""Measure the lists of `fp.evaluate.diagnose`: labels changed on purpose, wrong predictions, hidden classes.

    python benchmarks/doubts.py [--into docs/how-good-measured.md]      # makes the tables from the results
    python benchmarks/doubts.py --run [--graphs cora acm] [--parts wrong lists unseen]

The nodes are those of the committed experiments (`experiments/default/results`, model ridge); a seed with the same
nodes as another is skipped. The nodes were selected with correct labels of all classes; labels are changed or removed
afterwards.

wrong   5 % of the labels, at random, become a random other class: how many are in the first tenth of `wrong_labels`?
lists   20 nodes per list: how many have a wrong prediction, compared with all nodes without a label?
unseen  all labels of one class are removed: is there a group, how many of its nodes have that class, and how much of
        the class is in it? How often is there a group if nothing is removed?
"""

import json
from pathlib import Path

import numpy as np
from pages import of, percent, run_parts, table

import featprop as fp
from featprop.datasets import resolve

ROOT = Path(__file__).parent.parent
LINES = ROOT / "experiments" / "estimates" / "doubts.jsonl"
GRAPHS = ["cora", "citeseer", "pubmed", "cora-ml", "dblp", "acm", "coauthor-cs"]
DEFAULT = "featprop-diffused"
MEASURED_ON = {
    "wrong": {DEFAULT: [40, 80, 160], "random": [40, 80, 160]},
    "lists": {DEFAULT: [40, 160]},
    "unseen": {DEFAULT: [20, 40, 80, 160], "featprop": [80], "random": [80]},
}
"""Strategies and budgets of each part."""
LISTS = {
    "least_sure": "least_certain",
    "contradicted": "contradicted",
    "far": "far_from_labels",
    "unreached": "unlabelled_components",
}
"""Names of the lists in the stored results, and in `featprop.evaluate.Diagnostics`."""
WRONG, FIRST = 0.05, 0.1
PLANTINGS = 20
SETS = 1
"""Number of distinct sets of nodes to hide classes from: the last ones, see `TUNED_ON`."""
TUNED_ON = {"strategies": (DEFAULT, "random"), "budgets": (40, 160), "seeds": (0, 1)}
"""The cases, on all seven graphs, on which the threshold of `featprop.evaluate.novel_classes` was chosen."""


def picks(name, strategy, budget):
    """Return the distinct sets of nodes, by their last seed, and which of them were used for tuning."""
    found = {}
    path = ROOT / "experiments" / "default" / "results" / f"{name}.jsonl"
    for line in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        if (line["protocol"], line["model"]) != ("unlabelled", "ridge"):
            continue
        if (line["strategy"], line["budget"]) == (strategy, budget):
            found[line["seed"]] = line["nodes"]
    distinct = {}
    for seed in sorted(found, reverse=True):
        if set(found[seed]) not in map(set, distinct.values()):
            distinct[seed] = found[seed]
    tuned = [set(found[seed]) for seed in TUNED_ON["seeds"]]
    looked_at = strategy in TUNED_ON["strategies"] and budget in TUNED_ON["budgets"]
    return dict(sorted(distinct.items())), {seed for seed in distinct if looked_at and set(distinct[seed]) in tuned}


def planted(graph, classes, sets):
    """Yield the ranks of changed labels, with `PLANTINGS` repetitions over all sets of nodes."""
    names = sorted(set(classes))
    for seed, nodes in sets.items():
        given = classes[graph.positions(nodes)]
        for planting in range(-(-PLANTINGS // len(sets))):
            generator = np.random.default_rng([2024, seed, len(nodes), planting])
            wrong = generator.choice(len(nodes), size=round(WRONG * len(nodes)), replace=False)
            labels = given.copy()
            for place in wrong:
                labels[place] = generator.choice([name for name in names if name != given[place]])
            model = fp.GraphRidge().fit(graph, nodes, labels.tolist())
            order = [doubt.node for doubt in fp.evaluate.diagnose(graph, model).wrong_labels]
            ranks = sorted(order.index(nodes[place]) + 1 for place in wrong)
            yield {"seed": seed, "planting": planting, "ranks": ranks}


def listed(graph, classes, sets):
    """Yield the share of wrong predictions among all nodes and in each list."""
    for seed, nodes in sets.items():
        positions = graph.positions(nodes)
        model = fp.GraphRidge().fit(graph, nodes, classes[positions].tolist())
        wrong = model.predict(graph) != classes
        found = fp.evaluate.diagnose(graph, model)
        of_list = {
            name: [int(wrong[doubt.position]) for doubt in getattr(found, field)] for name, field in LISTS.items()
        }
        yield {
            "seed": seed,
            "wrong": float(np.delete(wrong, positions).mean()),
            **{name: [sum(each), len(each)] for name, each in of_list.items()},
        }


def hidden(graph, classes, sets):
    """Yield the groups reported while one class has no label, and while all have."""
    for seed, nodes in list(sets.items())[-SETS:]:
        given = classes[graph.positions(nodes)]
        for name in [None, *sorted(set(given))]:
            kept = given != name
            if len(set(given[kept])) < 2:
                continue
            ids = [node for node, stays in zip(nodes, kept, strict=True) if stays]
            found = fp.evaluate.diagnose(graph, fp.GraphRidge().fit(graph, ids, given[kept].tolist())).novel_classes
            groups = [
                {"size": each.size, "score": each.score, "of it": int((classes[each.positions] == name).sum())}
                for each in found
            ]
            yield {"seed": seed, "hidden": name, "class size": int((classes == name).sum()), "groups": groups}


PARTS = {"wrong": planted, "lists": listed, "unseen": hidden}


def measure(name, part):
    """Yield the results of a graph."""
    graph = resolve(name)
    classes = np.array([str(each) for each in graph.class_names()])
    for strategy, budgets in MEASURED_ON[part].items():
        for budget in budgets:
            about = {"part": part, "graph": name, "strategy": strategy, "budget": budget}
            sets, tuned = picks(name, strategy, budget)
            for line in PARTS[part](graph, classes, sets):
                yield about | line | ({"tuned on": line["seed"] in tuned} if part == "unseen" else {})


def share_found(lines):
    return [
        sum(rank <= np.ceil(FIRST * line["budget"]) for rank in line["ranks"]) / len(line["ranks"]) for line in lines
    ]


def wrong_table(lines):
    lines = of(lines, part="wrong")
    measured = [(way, budget) for way, budgets in MEASURED_ON["wrong"].items() for budget in budgets]
    titles = ["graph", "sets", *(f"{way} {budget}" for way, budget in measured)]
    rows = []
    for name in GRAPHS:
        ours = of(lines, graph=name)
        sets = len({line["seed"] for line in of(ours, strategy=DEFAULT)})
        cells = [percent(share_found(of(ours, strategy=way, budget=budget))) for way, budget in measured]
        rows.append([name, sets, *cells])
    return table(titles, rows)


def lists_table(lines):
    lines = of(lines, part="lists", strategy=DEFAULT)
    titles = ["graph", "labels", "all", *(name.replace("_", " ") for name in LISTS)]
    rows = []
    for name in GRAPHS:
        for budget in MEASURED_ON["lists"][DEFAULT]:
            ours = of(lines, graph=name, budget=budget)
            cells = [[line[each][0] / line[each][1] for line in ours if line[each][1]] for each in LISTS]
            rows.append([name, budget, percent([line["wrong"] for line in ours]), *map(percent, cells)])
    return table(titles, rows)


def is_found(line):
    """Return whether most nodes of some reported group have the hidden class."""
    return any(2 * group["of it"] >= group["size"] for group in line["groups"])


def unseen_row(lines):
    hiding = [line for line in lines if line["hidden"] is not None]
    reported = [line for line in hiding if line["groups"]]
    nothing = [line for line in lines if line["hidden"] is None]
    of_it, size = ([sum(group[key] for group in line["groups"]) for line in reported] for key in ("of it", "size"))
    return [
        len(hiding),
        percent([is_found(line) for line in hiding]),
        percent([a / b for a, b in zip(of_it, size, strict=True)]),
        percent([sum(group["of it"] for group in line["groups"]) / line["class size"] for line in hiding]),
        f"{sum(bool(line['groups']) for line in nothing)} of {len(nothing)}",
    ]


MEASURED = ["hidden", "found", "of the class", "of it reached", "false groups"]


def unseen_table(lines):
    lines = of(lines, part="unseen", strategy=DEFAULT)
    rows = [[name, *unseen_row(of(lines, graph=name))] for name in GRAPHS]
    return table(["graph", *MEASURED], rows)


def unseen_by_strategy(lines):
    lines = of(lines, part="unseen")
    rows = [
        [f"{way}, {budget} labels", *unseen_row(of(lines, strategy=way, budget=budget))]
        for way, budgets in MEASURED_ON["unseen"].items()
        for budget in budgets
    ]
    for title, tuned in (("tuned on", True), ("not tuned on", False)):
        rows.append([f"{DEFAULT}, {title}", *unseen_row(of(lines, strategy=DEFAULT, **{"tuned on": tuned}))])
    return table(["chosen by", *MEASURED], rows)


TABLES = {
    "wrong-labels": wrong_table,
    "lists": lists_table,
    "unseen": unseen_table,
    "unseen-by-strategy": unseen_by_strategy,
}


if __name__ == "__main__":
    run_parts(__doc__, LINES, GRAPHS, PARTS, measure, TABLES)
