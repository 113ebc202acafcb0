"""Change the constants of the default one at a time and measure the effect.

    python benchmarks/constants.py --run                          # measures missing variants
    python benchmarks/constants.py [--into docs/default.md]       # makes the table from the results

Macro-F1 over all nodes, mean over 10, 20, 40 and 80 labels in rounds, with a random sixth of the nodes excluded for
each seed. Settings of the model (penalty, self-training) change the scored model, not the picks. All graphs except
Cora are read from FEATPROP_DATA.
"""

import unittest.mock
from contextlib import ExitStack
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np
from pages import append_lines, command, mean, of, read_lines, show, table
from robustness import BARRED, read, rounds, scored

import featprop as fp
from featprop.models import calibration, ridge
from featprop.propagation import propagation
from featprop.strategies import featprop_diffused

LINES = Path(__file__).parent.parent / "experiments" / "default" / "constants.jsonl"
GRAPHS = ["wisconsin", "cornell", "chameleon_filtered", "cora"]
BUDGET, SEEDS = 80, 3
SETS = ("own", "diffused", "two-hops", "structure")

VARIANTS = {
    "the default": [],
    "prior of own, diffused, two hops 1 : 1 : 1": [(ridge, "PRIOR", dict.fromkeys(SETS, 1 / 3))],
    "prior 1 : 2 : 0.2": [(ridge, "PRIOR", dict(zip(SETS, (1, 2, 0.2, 0.2), strict=True)))],
    "without two hops": [(ridge, "PRIOR", {"own": 0.5, "diffused": 0.5})],
    "compare in 32 columns": [(propagation, "COMPARED_COLUMNS", 32)],
    "compare in 128 columns": [(propagation, "COMPARED_COLUMNS", 128)],
    "own features never compared": [(propagation, "OWN_SHARE", 0.0)],
    "share of own features 1/2": [(propagation, "OWN_SHARE", 0.5)],
    "typical inverse temperature 4": [
        (ridge, "inverse_temperature", partial(calibration.inverse_temperature, typical=4.0))
    ],
    "typical inverse temperature 16": [
        (ridge, "inverse_temperature", partial(calibration.inverse_temperature, typical=16.0))
    ],
    "spread of its prior 1": [(calibration, "LOG_SPREAD", 1.0)],
    "labels of unknown class 0": [(calibration, "UNKNOWN_LABELS", 0.0)],
    "balance of classes 0": [(ridge, "BALANCE", 0.0)],
    "balance of classes 1": [(ridge, "BALANCE", 1.0)],
    "certain share 1": [(ridge, "CERTAIN", 1.0)],
    "constant column 1": [(ridge, "CONSTANT", np.float32(1.0))],
    "weights of unsure nodes to the power 1": [(featprop_diffused, "MAX_POWER", 1.0)],
    "weights of unsure nodes up to the power 8": [(featprop_diffused, "MAX_POWER", 8.0)],
    "every node counts alike": [(featprop_diffused, "MIN_WEIGHT", 1e6)],
}
SETTINGS = {
    "penalty 0.5": {"alpha": 0.5},
    "penalty 2": {"alpha": 2.0},
    "without self-training": {"self_training": 0.0},
}


kept = cache(read)


def measure(name, seed, variant):
    """Return the result of each budget with the constants of the variant."""
    graph, classes = kept(name)
    if any(module is propagation for module, _, _ in VARIANTS.get(variant, ())):
        graph = replace(graph)  # with nothing computed yet
    generator = np.random.default_rng(seed)
    barred = np.flatnonzero((generator.random(graph.n_nodes) < BARRED) | (classes == ""))
    with ExitStack() as changed:
        for module, constant, value in VARIANTS.get(variant, ()):
            changed.enter_context(unittest.mock.patch.object(module, constant, value))
        for budget, chosen in rounds(graph, classes, barred, BUDGET):
            yield budget, scored(graph, classes, chosen, fp.GraphRidge(**SETTINGS.get(variant, {})))


def constants_table(lines):
    """Return the effect of each change on Macro-F1, and the calibration gap from 40 labels on."""
    rows = []
    for variant in [*VARIANTS, *SETTINGS]:
        cells = []
        for name in GRAPHS:
            ours, before = (mean(of(lines, graph=name, variant=each)) for each in (variant, "the default"))
            cells.append(f"{ours:.1f}" if variant == "the default" else f"{ours - before:+.1f}")
        late = [line for line in of(lines, variant=variant) if line["budget"] >= 40]
        apart = 100 * np.mean([abs(line["confidence"] - line["accuracy"]) for line in late])
        rows.append([variant, *cells, f"{apart:.1f}"])
    return table(["changed", *GRAPHS, "calibration gap"], rows)


def main():
    parser = command(__doc__)
    parser.add_argument("--graphs", nargs="+", default=GRAPHS)
    given, lines = parser.parse_args(), read_lines(LINES)
    for name in given.graphs if given.run else ():
        for variant in [*VARIANTS, *SETTINGS]:
            for seed in range(SEEDS):
                key = {"graph": name, "variant": variant, "seed": seed}
                if not of(lines, **key):
                    found = [key | {"budget": budget} | line for budget, line in measure(name, seed, variant)]
                    lines += found
                    append_lines(LINES, found)
            print(name, variant, flush=True)
    show("constants", constants_table(lines), given.into)


if __name__ == "__main__":
    main()
