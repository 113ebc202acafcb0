"""Measure the preparation of columns on synthetic graphs with mixed columns: raw, by default, and by hand.

    python benchmarks/preparation.py --out experiments/preparation/results.jsonl --into docs/your-graph.md

Each graph has three classes, edges that slightly prefer their class, and columns that depend on the class a little,
among columns that do not. `raw` uses the numeric columns unchanged; `default` is what `featprop train` does; `by hand`
is what an expert who knows the columns writes with scikit-learn. The same random labels train the same model on each;
the result is its accuracy on the other nodes, mean over seeds.
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from pages import mean, of, show, table
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import featprop as fp

MARKS = ("<!-- preparation -->", "<!-- /preparation -->")
COMMON = (
    "the", "of", "and", "account", "customer", "payment", "order", "please", "contact", "with", "about", "service",
)  # fmt: skip
TOPICS = (
    ["refund", "late", "complaint", "angry", "broken", "return"],
    ["upgrade", "premium", "thanks", "renewal", "loyal", "bonus"],
    ["login", "password", "error", "reset", "mobile", "app"],
)


def classes_and_edges(n, rng):
    """Return classes, and edges of which slightly more than half are within a class."""
    classes = rng.integers(3, size=n)
    source = rng.integers(n, size=2 * n)
    target = rng.integers(n, size=2 * n)
    alike = rng.random(2 * n) < 0.35
    for code in range(3):
        members = np.flatnonzero(classes == code)
        there = np.flatnonzero(alike & (classes[source] == code))
        target[there] = rng.choice(members, size=len(there))
    return classes, pd.DataFrame({"source": source, "target": target})


def telling(classes, strength, rng):
    """Return a number per node that is higher for some classes."""
    return strength * np.array([-1.0, 0.0, 1.0])[rng.permutation(3)][classes] + rng.normal(size=len(classes))


def numbers(*names):
    return (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), list(names))


def logs(*names):
    return (make_pipeline(FunctionTransformer(np.log1p), StandardScaler()), list(names))


def one_hot(*names):
    return (OneHotEncoder(handle_unknown="ignore", min_frequency=2), list(names))


def words(name):
    return (TfidfVectorizer(sublinear_tf=True, min_df=2), name)


def money_and_flags(classes, rng):
    n = len(classes)
    nodes = {f"flag_{letter}": (rng.random(n) < 0.5 + 0.2 * np.sign(telling(classes, 1.2, rng))) for letter in "abcd"}
    nodes = {name: column.astype(int) for name, column in nodes.items()}
    nodes["balance"] = np.round(np.exp(rng.normal(9, 1.5, n)), 2)
    return nodes, [(StandardScaler(), [name for name in nodes if name != "balance"]), logs("balance")]


def unscaled_age(classes, rng):
    n = len(classes)
    nodes = {
        "age": rng.integers(18, 90, n),
        "score": np.round(0.05 * telling(classes, 1.2, rng), 4),
        "ratio": np.round(0.02 * telling(classes, 1.2, rng), 4),
    }
    return nodes, [numbers("age", "score", "ratio")]


def postcode(classes, rng):
    n = len(classes)
    nodes = {
        "postcode": rng.integers(10_000, 99_999, 40)[rng.integers(40, size=n)],
        "usage": np.round(telling(classes, 1.2, rng), 3),
        "tenure": np.round(telling(classes, 0.8, rng), 3),
    }
    return nodes, [numbers("usage", "tenure"), one_hot("postcode")]


def free_text(classes, rng):
    def note(code):
        words_of = TOPICS[code] if rng.random() < 0.7 else [word for topic in TOPICS for word in topic]
        own = rng.choice(words_of, size=2)
        return " ".join(rng.permutation([*own, *rng.choice(COMMON, size=7)]))

    nodes = {"note": [note(code) for code in classes], "length": rng.integers(5, 300, len(classes))}
    return nodes, [words("note"), numbers("length")]


def dates(classes, rng):
    n = len(classes)
    days = 2000 + 300 * telling(classes, 1.0, rng)
    nodes = {
        "joined": (pd.Timestamp("2015-01-01") + pd.to_timedelta(days.astype(int), unit="D")).strftime("%d.%m.%Y"),
        "visits": rng.integers(0, 2000, n),
    }

    def days_of(frame):
        return (pd.to_datetime(frame["joined"], format="%d.%m.%Y") - pd.Timestamp("2015-01-01")).dt.days.to_frame()

    return nodes, [(make_pipeline(FunctionTransformer(days_of), StandardScaler()), ["joined"]), numbers("visits")]


def embedding_and_flag(classes, rng):
    n = len(classes)
    centres = rng.normal(size=(3, 300))
    rows = 0.25 * centres[classes] + rng.normal(size=(n, 300)) * np.linspace(2, 0.3, 300)
    nodes = {"embedding": [row.tolist() for row in rows.round(3)], "is_member": (telling(classes, 1.5, rng) > 0)}
    scale = 1 / np.sqrt(rows.var(axis=0).sum() / 9)
    as_rows = FunctionTransformer(lambda frame: np.array(frame["embedding"].tolist()) * scale)
    flag = FunctionTransformer(lambda frame: 2.0 * frame.to_numpy(dtype=float) - 1)
    return nodes, [(as_rows, ["embedding"]), (flag, ["is_member"])]


def missing(classes, rng):
    n = len(classes)
    nodes = {
        "income": np.round(1000 * np.exp(0.5 * telling(classes, 1.2, rng)), 2),
        "debt": np.round(100 * telling(classes, 1.0, rng), 2),
        "region": np.array(["north", "south", "east", "west"])[rng.integers(4, size=n)],
    }
    for name in nodes:
        nodes[name] = pd.Series(nodes[name], dtype=object).where(rng.random(n) > 0.15)
    nodes["income"], nodes["debt"] = (nodes[name].astype(float) for name in ("income", "debt"))
    region = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())
    income = make_pipeline(FunctionTransformer(np.log1p), SimpleImputer(strategy="median"), StandardScaler())
    return nodes, [(income, ["income"]), numbers("debt"), (region, ["region"])]


def everything(classes, rng):
    nodes, steps = {}, []
    for make in (money_and_flags, unscaled_age, postcode, free_text, dates):
        more, own = make(classes, rng)
        nodes |= more
        steps += own
    n = len(classes)
    nodes["customer_id"] = rng.permutation(np.arange(100_000, 100_000 + n))
    nodes["email"] = [f"person{i}@example.org" for i in range(n)]
    nodes["version"] = 1
    return nodes, steps


GRAPHS = {
    "money and flags": money_and_flags,
    "an unscaled age": unscaled_age,
    "a postcode": postcode,
    "free text": free_text,
    "dates": dates,
    "an embedding and a flag": embedding_and_flag,
    "missing values": missing,
    "all of these, ids and constants": everything,
}


def accuracy(graph, classes, labelled):
    ids = graph.ids[labelled].tolist()
    model = fp.GraphRidge().fit(graph, ids, classes[labelled].tolist())
    rest = np.setdiff1d(np.arange(len(classes)), labelled)
    return float((model.predict(graph)[rest] == classes[rest]).mean())


def by_hand(frame, steps, edges):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        matrix = make_column_transformer(*steps, sparse_threshold=0).fit_transform(frame.drop(columns="id"))
    matrix = np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix, dtype=np.float64)
    return on_edges(matrix, edges)


def on_edges(matrix, edges):
    n = len(matrix)
    adjacency = sp.coo_array((np.ones(len(edges)), (edges["source"], edges["target"])), shape=(n, n))
    return fp.Graph.from_scipy(adjacency.tocsr(), matrix)


def unprepared(frame, edges):
    """Return the graph of the numeric columns without any preparation; None if there are none or some lack values."""
    numeric = frame.drop(columns="id").select_dtypes(["number"])
    if not numeric.shape[1] or numeric.isna().any(axis=None):
        return None
    return on_edges(numeric.to_numpy(dtype=np.float64), edges)


def means_table(lines):
    rows = []
    for name in dict.fromkeys(line["graph"] for line in lines):
        ours = of(lines, graph=name)
        raw = "-" if ours[0]["raw"] is None else f"{mean(ours, 'raw'):.1f}"
        default, hand = mean(ours, "default"), mean(ours, "by hand")
        rows.append([name, raw, f"{default:.1f}", f"{hand:.1f}", f"{default - hand:+.1f}"])
    return table(["columns", "raw", "default", "by hand", "default minus by hand"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--nodes", type=int, default=600)
    parser.add_argument("--labels", type=int, default=40)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--out", type=Path, help="file for the raw results")
    parser.add_argument("--into", type=Path, help="page whose table to update")
    given = parser.parse_args()
    lines = []
    for name, make in GRAPHS.items():
        for seed in range(given.seeds):
            rng = np.random.default_rng([seed, len(name)])
            classes, edges = classes_and_edges(given.nodes, rng)
            nodes, steps = make(classes, rng)
            frame = pd.DataFrame({"id": np.arange(given.nodes), **nodes})
            labelled = rng.choice(given.nodes, size=given.labels, replace=False)
            line = {"graph": name, "seed": seed, "nodes": given.nodes, "labels": given.labels}
            line["default"] = accuracy(fp.Graph.from_tables(frame, edges), classes, labelled)
            line["by hand"] = accuracy(by_hand(frame, steps, edges), classes, labelled)
            raw = unprepared(frame, edges)
            line["raw"] = None if raw is None else accuracy(raw, classes, labelled)
            lines.append(line)
    if given.out:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    show("preparation", means_table(lines), given.into)


if __name__ == "__main__":
    main()
