"""The lists of what to distrust, as the page shows them: for each what it is, and nodes with a sentence why."""

from __future__ import annotations

from dataclasses import dataclass

from featprop.evaluate import Doubt, Doubts
from featprop.web.page.legible import legible_line
from featprop.web.report.subject import Subject

__all__ = ["Listed", "Suspect", "labels_that_look_wrong", "listed"]

KINDS = {
    "wrong_labels": (
        "Labels that look wrong",
        "Without the label itself, the model says another class: a slip of the hand, or a node unlike its class.",
    ),
    "unseen": (
        "Classes that may be missing",
        "Nodes that are like one another and far from every label: perhaps of a class that nobody has named yet.",
    ),
    "least_sure": ("Least sure", "Where the model hesitates most between classes."),
    "contradicted": ("At odds with their neighbours", "Most neighbours are of another class than the node."),
    "far": ("Far from every label", "No label is near, on features passed on along edges, so little is known here."),
    "unreached": ("Parts without a label", "No path leads from a label to these nodes."),
}
"""The lists in the order of the page: their titles, and what they are."""
MOST = 20
"""Rows of a list."""
LOOKS_WRONG = 0.5
"""Of the probability that a label is wrong: all labels are ranked, these are shown."""
MOST_OF_A_GROUP = 60
"""Members of a group that are shown on the map."""
LONGEST_WHY = 400


@dataclass(frozen=True)
class Suspect:
    """A node in a list, or a group of which it is the middle.

    Attributes
    ----------
    position
        The node.
    why
        The reason it is there.
    members
        The positions of the group it stands for, of some if it is large; empty if it is alone.
    alike
        How many others are in the group.
    """

    position: int
    why: str
    members: tuple[int, ...] = ()
    alike: int = 0


@dataclass(frozen=True)
class Listed:
    """A list of what to distrust.

    Attributes
    ----------
    key, title, words
        Its name, for programs and for people, and what it is.
    suspects
        What is in it, the worst first.
    """

    key: str
    title: str
    words: str
    suspects: tuple[Suspect, ...]

    @property
    def positions(self) -> list[int]:
        """Every node in it."""
        return [position for each in self.suspects for position in (each.position, *each.members)]


def labels_that_look_wrong(doubts: Doubts) -> tuple[Doubt, ...]:
    """Return the labels that are likelier wrong than right."""
    return tuple(each for each in doubts.wrong_labels if each.score > LOOKS_WRONG)


def listed(subject: Subject, doubts: Doubts | None) -> list[Listed]:
    """Return the lists that are not empty."""
    if doubts is None:
        return []
    graph = subject.graph
    found: dict[str, tuple[Suspect, ...]] = {}
    for key in KINDS:
        if key == "unseen":
            found[key] = tuple(
                Suspect(
                    int(graph.positions([each.medoid])[0]),
                    legible_line(each.why, LONGEST_WHY),
                    tuple(each.positions[:MOST_OF_A_GROUP].tolist()),
                    each.size - 1,
                )
                for each in doubts.unseen
            )
        else:
            doubtful = labels_that_look_wrong(doubts) if key == "wrong_labels" else getattr(doubts, key)
            found[key] = tuple(
                Suspect(int(each.position), legible_line(each.why, LONGEST_WHY)) for each in doubtful[:MOST]
            )
    return [Listed(key, *KINDS[key], suspects) for key, suspects in found.items() if suspects]
