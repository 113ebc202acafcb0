"""The review lists of the report."""

from __future__ import annotations

from dataclasses import dataclass

from featprop.evaluate import Diagnostics, Flag, NovelClass
from featprop.web.common.formatting import clean_line

KINDS = {
    "wrong_labels": (
        "Labels that look wrong",
        "Without the label, the model predicts another class: a slip, or a node unlike its class.",
    ),
    "novel_classes": (
        "Possible new classes",
        "Groups of similar nodes far from every label. Label one node of each to find out what they are.",
    ),
    "least_certain": ("Least certain", "Predictions with the lowest confidence."),
    "contradicted": ("Contradicted by neighbours", "Most neighbours belong to another class."),
    "far_from_labels": (
        "Far from every label",
        "No label is near in the smoothed features, so predictions are guesses.",
    ),
    "unlabelled_components": ("Components without a label", "These nodes are not connected to any label."),
}
"""Titles and descriptions of the lists, in order."""
MAX_ROWS = 20
MAX_GROUP_NODES = 60
"""Nodes of a group that are marked on the map."""
MAX_REASON_CHARS = 400


@dataclass(frozen=True)
class ReviewItem:
    """A node in a list, or the medoid of a group."""

    position: int  # position of the node
    reason: str  # why it is listed
    members: tuple[int, ...] = ()  # positions of the first nodes of the group; empty for a single node
    n_others: int = 0  # number of other nodes in the group


@dataclass(frozen=True)
class ReviewList:
    """A list of nodes to review."""

    key: str  # name of the field of `Diagnostics`, title and description
    title: str
    description: str
    items: tuple[ReviewItem, ...]  # nodes, most suspicious first

    @property
    def positions(self) -> list[int]:
        """Positions of all nodes in the list."""
        return [position for each in self.items for position in (each.position, *each.members)]


def suspect_labels(diagnostics: Diagnostics) -> tuple[Flag, ...]:
    """Return the labels for which the other labels suggest another class."""
    return tuple(each for each in diagnostics.wrong_labels if each.suggestion is not None)


def build_lists(diagnostics: Diagnostics | None) -> list[ReviewList]:
    """Return the lists that are not empty."""
    if diagnostics is None:
        return []
    flags = {key: getattr(diagnostics, key) for key in KINDS} | {"wrong_labels": suspect_labels(diagnostics)}
    return [
        ReviewList(key, *KINDS[key], tuple(map(_item, listed[:MAX_ROWS]))) for key, listed in flags.items() if listed
    ]


def _item(flag: Flag | NovelClass) -> ReviewItem:
    reason = clean_line(flag.reason, MAX_REASON_CHARS)
    if isinstance(flag, Flag):
        return ReviewItem(flag.position, reason)
    members = tuple(flag.positions[:MAX_GROUP_NODES].tolist())
    return ReviewItem(int(flag.positions[0]), reason, members, flag.size - 1)
