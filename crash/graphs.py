"""What the campaigns work on: a graph as tables, and labels as a sheet."""

from pathlib import Path

import numpy as np

__all__ = ["CLASSES", "label_of", "write_labels", "write_tables"]

CLASSES = ("a", "b", "c")


def label_of(node: int) -> str:
    """Return the class of a node of the graph that `write_tables` writes."""
    return CLASSES[node % len(CLASSES)]


def write_tables(folder: Path, nodes: int = 240, seed: int = 1, width: int = 6) -> Path:
    """Write nodes of three classes as ``nodes.csv`` and ``edges.csv``."""
    generator = np.random.default_rng(seed)
    codes = np.arange(nodes) % len(CLASSES)
    features = generator.normal(size=(nodes, width)) + 1.2 * np.eye(len(CLASSES), width)[codes]
    folder.mkdir(parents=True)
    rows = [
        f"{node},{','.join(f'{value:.4f}' for value in features[node])},{label_of(node)}\n" for node in range(nodes)
    ]
    titles = ",".join(f"w{column}" for column in range(width))
    (folder / "nodes.csv").write_text(f"id,{titles},label\n" + "".join(rows), encoding="utf-8")
    ends = generator.integers(nodes, size=(2 * nodes, 2))
    ends[:, 1] += codes[ends[:, 0]] - codes[ends[:, 1]]
    pairs = sorted({(int(a), int(b)) for a, b in ends if a != b and 0 <= b < nodes})
    (folder / "edges.csv").write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in pairs), encoding="utf-8")
    return folder


def write_labels(path: Path, count: int = 30) -> Path:
    """Write the labels of the first nodes as a sheet."""
    path.write_text("id,label\n" + "".join(f"{node},{label_of(node)}\n" for node in range(count)), encoding="utf-8")
    return path
