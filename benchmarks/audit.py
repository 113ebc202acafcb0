"""Measure the coverage and the width of audit intervals by repeated audits where the truth is known.

The confusion matrices are those of synthetic classes (2 to 15, of equal or unequal size and difficulty) and of the
default model on public graphs with 40 labels. Each is audited repeatedly with 30 to 200 nodes. Recorded are the
coverage and the width of the 90 % intervals of accuracy and Macro-F1, and of a percentile bootstrap for Macro-F1.

    python benchmarks/audit.py [--into docs/how-good-measured.md]      # makes the table from the results
    python benchmarks/audit.py --run [--audits 100]
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from pages import append_lines, command, of, read_lines, show, table

import featprop as fp
from featprop.evaluate import wilson_interval
from featprop.evaluate.audit import allocate
from featprop.evaluate.audit_scoring import effective_size
from featprop.evaluate.macro_f1 import macro_f1_from_confusion, macro_f1_interval

LINES = Path(__file__).parent.parent / "experiments" / "estimates" / "audit.jsonl"
SIZES = (30, 60, 100, 200)
CLASSES = (2, 3, 7, 15)
GRAPHS = ("cora-ml", "acm", "dblp", "coauthor-cs")
LABELS = 40
NODES = 3000
COLUMNS = {
    "accuracy": "accuracy",
    "macro_f1": "Macro-F1",
    "bootstrap": "Macro-F1 by bootstrap",
    "accuracy_by_predicted": "accuracy, `--by predicted`",
    "macro_f1_by_predicted": "Macro-F1, `--by predicted`",
}
"""Measures, and their names on the page."""


def made(generator: np.random.Generator) -> Iterator[tuple[str, np.ndarray]]:
    """Yield confusion matrices with predicted classes as rows: equal classes, decreasing ones, or one of 70 %."""
    for n in CLASSES:
        for sizes in (np.ones(n), 0.6 ** np.arange(n), np.r_[0.7, np.full(n - 1, 0.3 / (n - 1))]):
            for accuracy in (0.6, 0.8, 0.93):
                for apart in (0.0, 0.2):
                    recall = np.clip(accuracy + apart * np.linspace(1, -1, n), 0.02, 0.99)
                    of_class = NODES * sizes / sizes.sum()
                    confusion = np.diag(of_class * recall)
                    for name in range(n):
                        others = np.delete(np.arange(n), name)
                        wrong = sizes[others] * generator.dirichlet(np.full(n - 1, 2.0))
                        confusion[others, name] = of_class[name] * (1 - recall[name]) * wrong / wrong.sum()
                    yield f"{n} made classes", np.round(confusion).astype(int)


def real() -> Iterator[tuple[str, np.ndarray]]:
    """Yield the confusion matrix of the default model on each graph, without its training nodes."""
    for name in GRAPHS:
        graph = fp.datasets.load(name)
        truth = np.array(graph.class_names(), dtype=object)
        known = np.flatnonzero([label is not None for label in truth])
        picks = fp.select(graph, LABELS, candidates=graph.ids[known].tolist())
        model = fp.GraphRidge().fit(graph, picks.nodes, truth[picks.positions].tolist())
        rest = np.setdiff1d(known, picks.positions)
        classes = list(dict.fromkeys(truth[known]))
        codes = {label: code for code, label in enumerate(classes)}
        confusion = np.zeros((len(classes), len(classes)), dtype=int)
        predicted = model.predict(graph)
        np.add.at(confusion, ([codes[x] for x in predicted[rest]], [codes[x] for x in truth[rest]]), 1)
        yield name, confusion


def bootstrap(counts: np.ndarray, generator: np.random.Generator) -> tuple[float, float]:
    """Return the percentile interval of resampled audit nodes."""
    n = int(counts.sum())
    drawn = generator.multinomial(n, counts.ravel() / n, size=500).reshape(-1, *counts.shape)
    low, high = np.quantile(macro_f1_from_confusion(drawn.astype(float)), [0.05, 0.95])
    return float(low), float(high)


def by_predicted(confusion: np.ndarray, size: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw equally many nodes of each predicted class; return their counts and the weight of a node of each row."""
    predicted = confusion.sum(axis=1)
    taken = allocate(predicted, size)
    rows = [generator.multivariate_hypergeometric(row, n) for row, n in zip(confusion, taken, strict=True)]
    return np.stack(rows), predicted / np.maximum(taken, 1)


def measured(
    name: str, confusion: np.ndarray, size: int, audits: int, generator: np.random.Generator
) -> dict[str, Any]:
    """Draw audits and return the coverage and the mean width of each interval."""
    predicted, total = confusion.sum(axis=1), confusion.sum()
    accuracy, macro = float(np.trace(confusion) / total), float(macro_f1_from_confusion(confusion.astype(float)))
    held: dict[str, list[bool]] = {}
    width: dict[str, list[float]] = {}

    def note(key: str, low: float, high: float, truth: float) -> None:
        held.setdefault(key, []).append(bool(low <= truth <= high))
        width.setdefault(key, []).append(high - low)

    for audit in range(audits):
        counts = generator.multivariate_hypergeometric(confusion.ravel(), size).reshape(confusion.shape)
        right, ours = (
            wilson_interval(np.trace(counts) / size, size),
            macro_f1_interval(counts.astype(float), predicted, audit),
        )
        note("accuracy", right.low, right.high, accuracy)
        note("macro_f1", ours.low, ours.high, macro)
        note("bootstrap", *bootstrap(counts, generator), macro)
        counts, weights = by_predicted(confusion, size, generator)
        each = np.repeat(weights, counts.sum(axis=1))
        share = min(1.0, float((np.diagonal(counts) * weights).sum() / each.sum()))
        right, ours = (
            wilson_interval(share, effective_size(each)),
            macro_f1_interval(counts.astype(float), predicted, audit),
        )
        note("accuracy_by_predicted", right.low, right.high, accuracy)
        note("macro_f1_by_predicted", ours.low, ours.high, macro)
    found = {key: [round(float(np.mean(held[key])), 4), round(float(np.mean(width[key])), 4)] for key in held}
    truth = {"accuracy_is": round(accuracy, 4), "macro_f1_is": round(macro, 4)}
    return {"of": name, "size": size, "audits": audits, **truth, **found}


def audit_table(lines: list[dict[str, Any]]) -> str:
    """Return the mean coverage over all cases of a kind, the minimum, and the mean width."""
    rows = []
    for name in dict.fromkeys(line["of"] for line in lines):
        for size in SIZES:
            alike = of(lines, of=name, size=size)
            cells = []
            for key in COLUMNS:
                held, width = zip(*(line[key] for line in alike), strict=True)
                least = f", {100 * min(held):.0f}" if len(held) > 1 else ""
                cells.append(f"{100 * np.mean(held):.0f}{least} ({100 * np.mean(width):.0f})")
            rows.append([name, size, *cells])
    return table(["audits of", "nodes", *COLUMNS.values()], rows)


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--audits", type=int, default=100)
    given = parser.parse_args()
    if given.run:
        generator = np.random.default_rng(0)
        LINES.unlink(missing_ok=True)
        for name, confusion in [*made(generator), *real()]:
            append_lines(LINES, [measured(name, confusion, size, given.audits, generator) for size in SIZES])
    show("audit", audit_table(read_lines(LINES)), given.into)


if __name__ == "__main__":
    main()
