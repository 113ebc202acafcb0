"""Draw the figures of the gallery: the printed results of the papers and PyG examples, and the karate club.

python docs/figures/gallery.py
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import networkx as nx
import numpy as np

import featprop as fp
from featprop.web.common.palette import DIGITS, INK, LINE, OURS, QUIET, RANDOM

PRINTED = Path(__file__).parents[2] / "examples" / "printed"
WIDTH = 640
FIRST_X, LAST_X, FIRST_SHARE, LAST_SHARE = 60, 470, 60, 90


def svg(height: int, parts: Iterable[str]) -> str:
    """Return the text of an SVG file."""
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">'
    return "\n".join([opening, "<defs></defs>", *parts, "</svg>"]) + "\n"


def text(x: float, y: float, words: str, fill: str = QUIET.light, anchor: str = "start", weight: int = 400) -> str:
    """Return a text element."""
    style = f'font-size="14" font-weight="{weight}" text-anchor="{anchor}" fill="{fill}"'
    return f'<text x="{x:g}" y="{y:g}" {style}>{words}</text>'


def line(x1: float, y1: float, x2: float, y2: float, stroke: str = LINE.light, width: float = 1) -> str:
    """Return a line element."""
    return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{stroke}" stroke-width="{width:g}"/>'


def draw_papers() -> str:
    """Return the accuracy of both selections by the number of labels."""
    printed = (PRINTED / "papers.txt").read_text(encoding="utf-8")
    rows = [[int(each) for each in row] for row in re.findall(r"^ +(\d+) +(\d+)% +(\d+)%$", printed, re.MULTILINE)]
    places = np.linspace(FIRST_X, LAST_X, len(rows)).round()

    def height(share: float) -> float:
        return 230 - 190 * (share - FIRST_SHARE) / (LAST_SHARE - FIRST_SHARE)

    parts = []
    for share in range(FIRST_SHARE, LAST_SHARE + 1, 10):
        y = height(share)
        parts += [line(FIRST_X - 10, y, LAST_X + 10, y), text(8, y + 5, f"{share} %")]
    parts += [text(x, 254, f"{row[0]}", anchor="middle") for x, row in zip(places, rows, strict=True)]
    parts.append(text(LAST_X + 18, 254, "labels"))
    for column, (name, colour) in enumerate((("default", OURS), ("random", RANDOM)), start=1):
        spots = [(x, round(height(row[column]), 1)) for x, row in zip(places, rows, strict=True)]
        path = " ".join(f"{x:g},{y:g}" for x, y in spots)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour.light}" stroke-width="2.5"/>')
        parts += [f'<circle cx="{x:g}" cy="{y:g}" r="4.5" fill="{colour.light}"/>' for x, y in spots]
        below = 6 if column == 1 else 16
        parts.append(text(LAST_X + 14, spots[-1][1] + below, name, colour.light, weight=600))
    return svg(266, parts)


def draw_pyg() -> str:
    """Return the mean and the range of the accuracy of each split."""
    printed = (PRINTED / "pyg.txt").read_text(encoding="utf-8")
    rows = re.findall(r"^(\w+Split) .* accuracy (\d+)%, from (\d+)% to (\d+)%$", printed, re.MULTILINE)

    def place(share: str | int) -> float:
        return 160 + 440 * (int(share) - FIRST_SHARE) / (100 - FIRST_SHARE)

    parts = []
    for share in range(FIRST_SHARE, 101, 10):
        parts += [line(place(share), 12, place(share), 104), text(place(share), 126, f"{share} %", anchor="middle")]
    for row, (name, mean, low, high) in enumerate(rows):
        y, colour = 36 + 44 * row, (RANDOM if name.startswith("Random") else OURS).light
        parts += [text(8, y + 5, name, colour, weight=600), line(place(low), y, place(high), y, colour, 4)]
        parts.append(f'<circle cx="{place(mean):g}" cy="{y}" r="7" fill="{colour}"/>')
    return svg(138, parts)


def draw_social() -> str:
    """Return the karate club: members to ask as numbered squares, predictions as circles, the miss with a ring."""
    club = nx.karate_club_graph()
    for member, row in zip(club, np.eye(len(club)), strict=True):
        club.nodes[member]["x"] = row
    graph = fp.Graph.from_networkx(club, features="x")
    picks = list(fp.select(graph, budget=4))
    sides = [club.nodes[member]["club"] for member in club]
    predicted = fp.GraphRidge().fit(graph, picks, [sides[member] for member in picks]).predict(graph)
    layout = nx.spring_layout(club, weight=None, iterations=300, seed=5)
    spots = {member: (round(320 + 280 * x), round(180 + 160 * y)) for member, (x, y) in layout.items()}
    colours = {"Mr. Hi": DIGITS[0].light, "Officer": DIGITS[1].light}
    parts = [line(*spots[one], *spots[other]) for one, other in club.edges]
    for member, (x, y) in spots.items():
        fill = colours[str(predicted[member])]
        if member in picks:
            shape = f'x="{x - 10}" y="{y - 10}" width="20" height="20" rx="3"'
            parts.append(f'<rect {shape} fill="{fill}" stroke="{INK.light}" stroke-width="2"/>')
        else:
            parts.append(f'<circle cx="{x}" cy="{y}" r="7" fill="{fill}"/>')
        if predicted[member] != sides[member]:
            parts.append(f'<circle cx="{x}" cy="{y}" r="12" fill="none" stroke="{INK.light}" stroke-width="2"/>')
            parts.append(text(x - 17, y + 5, f"{member}", INK.light, "end", 600))
    return svg(360, parts)


DRAWINGS = {"gallery-papers": draw_papers, "gallery-pyg": draw_pyg, "gallery-social": draw_social}

if __name__ == "__main__":
    for name, draw in DRAWINGS.items():
        Path(__file__).with_name(f"{name}.svg").write_text(draw(), encoding="utf-8")
