"""Draw how-it-works.svg: what featprop does, on a graph small enough to see, by featprop itself.

python docs/figures/how_it_works.py
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.spatial import KDTree

import featprop as fp
from featprop.propagation import propagate
from featprop.web.common.palette import DIGITS, INK, LINE, QUIET

WIDTH, HEIGHT, SIDE, GAP, TOP = 960, 262, 210, 40, 46
CLASSES = [DIGITS[6], DIGITS[2], DIGITS[5]]
CENTRES = np.array([[0.25, 0.3], [0.75, 0.24], [0.54, 0.78]])
NODES, NEIGHBOURS, NOISE, BUDGET = 96, 3, 1.1, 6
PANELS = [
    ("Node features", "noisy"),
    ("Propagated along edges", "groups emerge"),
    ("Six nodes to label", "each represents many"),
    ("The rest predicted", "faint where uncertain"),
]


def made_graph() -> tuple[fp.Graph, np.ndarray, np.ndarray]:
    """Return nodes in three groups, joined to those near them, where each lies, and its class."""
    draw = np.random.default_rng(3)
    kind = np.arange(NODES) % len(CLASSES)
    places = np.clip(CENTRES[kind] + draw.normal(scale=0.13, size=(NODES, 2)), 0.03, 0.97)
    for _ in range(40):  # push apart those that would lie on each other
        gaps = places[:, None] - places
        far = np.linalg.norm(gaps, axis=2) + np.eye(NODES)
        places += np.where((far < 0.07)[..., None], 0.012 * gaps / far[..., None], 0).sum(axis=1)
    places = np.clip(places, 0.03, 0.97)
    _, near = KDTree(places).query(places, NEIGHBOURS + 1)
    ends = np.repeat(np.arange(NODES), NEIGHBOURS), near[:, 1:].ravel()
    features = np.eye(len(CLASSES))[kind] + draw.normal(scale=NOISE, size=(NODES, len(CLASSES)))
    return fp.Graph.from_scipy(sp.coo_array((np.ones(len(ends[0])), ends), (NODES, NODES)), features), places, kind


def colours(rows: np.ndarray) -> list[str]:
    """Return for each row the colours of the classes mixed, the more of one the larger its feature is."""
    scaled = (rows - rows.mean()) / rows.std()
    shares = np.exp(1.3 * scaled) / np.exp(1.3 * scaled).sum(axis=1, keepdims=True)
    pure = np.array([[int(colour.light[place : place + 2], 16) for place in (1, 3, 5)] for colour in CLASSES])
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in (shares @ pure).round().astype(int)]


def drawing() -> str:
    """Return the text of the SVG file."""
    graph, places, kind = made_graph()
    picks = fp.select(graph, BUDGET)
    model = fp.GraphRidge().fit(graph, picks, kind[picks.positions])
    sure = model.predict_proba(graph).max(axis=1)
    smooth = colours(np.asarray(propagate(graph, 2)))
    predicted = [CLASSES[code].light for code in model.predict(graph)]
    fills = [colours(np.asarray(graph.features)), smooth, smooth, predicted]
    fades = [np.ones(NODES), np.ones(NODES), np.full(NODES, 0.3), np.where(sure < 0.7, 0.4, 1.0)]
    edges = np.argwhere(sp.triu(graph.adjacency).toarray())
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">']
    parts.append("<defs></defs>")
    for number, ((title, below), fill, fade) in enumerate(zip(PANELS, fills, fades, strict=True)):
        left = number * (SIDE + GAP)
        parts.append(f'<text x="{left}" y="17" font-size="16" font-weight="600" fill="{INK.light}">{title}</text>')
        parts.append(f'<text x="{left}" y="36" font-size="14" fill="{QUIET.light}">{below}</text>')
        spots = np.array([left, TOP]) + SIDE * places
        lines = "".join("M{:.1f} {:.1f}L{:.1f} {:.1f}".format(*spots[one], *spots[other]) for one, other in edges)
        parts.append(f'<path d="{lines}" stroke="{LINE.light}" stroke-width="1.2" fill="none"/>')
        parts += [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5.5" fill="{fill[node]}" fill-opacity="{fade[node]:g}"/>'
            for node, (x, y) in enumerate(spots)
            if number < 2 or node not in picks.positions
        ]
        if number >= 2:
            parts += marks(spots[picks.positions], [predicted[node] for node in picks.positions], numbered=number == 2)
    return "\n".join([*parts, "</svg>"]) + "\n"


def marks(spots: np.ndarray, fills: list[str], *, numbered: bool) -> Iterator[str]:
    """Yield the picked nodes: in the order they were picked, or as labelled."""
    for rank, ((x, y), fill) in enumerate(zip(spots, fills, strict=True), start=1):
        shape = f'x="{x - 7:.1f}" y="{y - 7:.1f}" width="14" height="14" rx="{7 if numbered else 2}"'
        ink = "none" if numbered else fill
        yield f'<rect {shape} fill="{ink}" stroke="{INK.light}" stroke-width="2"/>'
        if numbered:
            yield (
                f'<text x="{x:.1f}" y="{y + 4:.1f}" font-size="11" font-weight="700" text-anchor="middle" '
                f'fill="{INK.light}">{rank}</text>'
            )


if __name__ == "__main__":
    Path(__file__).with_name("how-it-works.svg").write_text(drawing(), encoding="utf-8")
