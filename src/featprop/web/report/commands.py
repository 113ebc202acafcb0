"""Next commands for this graph and these files."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from featprop.web.report.analysis import Findings

AUDIT_SIZE = 30
MIN_BUDGET = 10
OPTIONS = {
    "report": ("classes", "model", "set", "device", "title", "seed"),
    "train": ("classes", "model", "set", "device", "seed"),
    "audit": ("classes", "seed"),
    "select": ("classes", "seed"),
    "predict": ("device",),
}
"""Options that a command repeats."""
DEFAULTS = {"device": "cpu", "seed": 0}


@dataclass(frozen=True)
class Files:
    """Files and options of a report, as given on the command line."""

    graph: str = "my-graph/"  # path of the graph
    labels: tuple[str, ...] = ()  # label files, audit sheets among them; empty if the graph has its own labels
    out: str = "report.html"  # report file
    options: Mapping[str, Any] = field(default_factory=dict)  # other options, by name

    def command(self, name: str, *words: str, labels: Sequence[str] = ()) -> str:
        """Return a command for this graph, with its options."""
        found = ["featprop", name, self.graph]
        found += [word for path in labels for word in ("--labels", path)]
        for option in OPTIONS.get(name, ()):
            value = self.options.get(option)
            if value is not None and value != DEFAULTS.get(option):
                values = value if isinstance(value, list) else [value]
                found += [word for each in values for word in (f"--{option}", str(each))]
        return shlex.join([*found, *words])

    def report(self, *labels: str) -> str:
        """Return the command that writes this report again, with more labels."""
        return self.command("report", "--out", self.out, "--force", labels=[*self.labels, *labels])


class NextStep(NamedTuple):
    """Commands and what they are for."""

    description: str
    commands: tuple[str, ...]


def next_steps(files: Files, findings: Findings, n_labels: int, open_nodes: int) -> list[NextStep]:
    """Return the next steps, most useful first."""
    steps = [_correct(files)] if findings.suspect_labels else []
    if open_nodes > 0:
        may_help = findings.advice is not None and findings.advice.may_help
        check, more = _check(files, findings, open_nodes), _more(files, findings, n_labels, open_nodes)
        steps += [more, check] if may_help else [check, more]
    train = files.command("train", "--out", "model.safetensors", "--force", labels=files.labels)
    predict = files.command("predict", "--model", "model.safetensors", "--out", "predictions.csv", "--force")
    return [*steps, NextStep("Predict the class of every node, with confidences.", (train, predict))]


def _correct(files: Files) -> NextStep:
    """Return how to correct labels: on the page for a label log, in the file for a sheet."""
    logs = [path for path in files.labels if path.endswith(".labels")]
    place = "on the labelling page" if logs else "in their file"
    text = f"Review the labels that look wrong, correct them {place}, and update this report."
    return NextStep(text, (*(files.command("label", labels=[path]) for path in logs[:1]), files.report()))


def _check(files: Files, findings: Findings, open_nodes: int) -> NextStep:
    out = f"audit-{len(files.labels) + 1}.csv"
    if findings.audit is None:
        size = min(AUDIT_SIZE, open_nodes)
        text = f"Measure the accuracy: label an audit of {size} random nodes in {out}."
    else:
        size = min(findings.audit.to_halve, open_nodes)
        effect = "to halve the interval" if size == findings.audit.to_halve else "to audit every node"
        text = f"Narrow the interval: label {size:,} more random nodes in {out} {effect}."
    draw = files.command("audit", "--size", str(size), "--out", out, labels=files.labels)
    return NextStep(text, (draw, files.report(out)))


def _more(files: Files, findings: Findings, n_labels: int, open_nodes: int) -> NextStep:
    budget = min(max(MIN_BUDGET, n_labels // 2), open_nodes)
    out = f"more-{len(files.labels) + 1}.csv"
    text = f"Label {budget:,} more nodes, selected with the labels so far, in {out}."
    if findings.advice is not None and not findings.advice.may_help:
        text = f"Optional: {text[0].lower()}{text[1:]}"
    choose = files.command("select", "--budget", str(budget), "--out", out, labels=files.labels)
    return NextStep(text, (choose, files.report(out)))
