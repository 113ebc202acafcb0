"""Time what a labelling page waits for: the fit of the default model compared with a GCN, and a whole round.

    python benchmarks/rounds.py [--sets cora pubmed] [--labels 40] [--more 20] [--repeats 5]

A round fits the model to the labels, weights every node by its uncertainty, selects `--more` nodes and predicts every
node. The cache of the graph is warm, as it is while labelling; the time of the first round is printed too. Medians; GCN
and ridge alternate, so that other work on the machine slows both.
"""

import argparse
import statistics
import time

import numpy as np

import featprop as fp
from featprop.datasets import load


def seconds(work, *arguments):
    start = time.perf_counter()
    result = work(*arguments)
    return time.perf_counter() - start, result


def use(model, graph, nodes, labels):
    return model.fit(graph, nodes, labels).predict_proba(graph)


def whole_round(more, graph, nodes, labels):
    model = fp.GraphRidge().fit(graph, nodes, labels)
    fp.select(graph, more, labelled=nodes, labels=labels, model=model)
    return model.predict_proba(graph)


def measure(name, n_labels, more, repeats):
    graph = load(name)
    classes = np.array(graph.class_names(), dtype=object)
    known = graph.ids[[each is not None for each in classes]].tolist()
    first, picks = seconds(lambda: fp.select(graph, n_labels, candidates=known))
    labels = graph, picks.nodes.tolist(), classes[picks.positions].tolist()
    whole_round(more, *labels)
    use(fp.GCN(epochs=2), *labels)
    times = [
        (
            seconds(use, fp.GraphRidge(), *labels)[0],
            seconds(use, fp.GCN(), *labels)[0],
            seconds(whole_round, more, *labels)[0],
        )
        for _ in range(repeats)
    ]
    ridge, gcn, whole = (statistics.median(each) for each in zip(*times, strict=True))
    print(f"{name}: first round and {n_labels} nodes {first:.2f} s")
    print(f"{name}: fit and predict, ridge {ridge:.3f} s, GCN {gcn:.2f} s: 1/{gcn / ridge:.0f}")
    print(f"{name}: a round of {more} more {whole:.2f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=["cora", "pubmed"])
    parser.add_argument("--labels", type=int, default=40)
    parser.add_argument("--more", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    for name in given.sets:
        measure(name, given.labels, given.more, given.repeats)


if __name__ == "__main__":
    main()
