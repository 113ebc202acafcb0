"""Next commands for this graph and these files."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
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
    labels: tuple[str, ...] = ()  # label files; empty if the graph has its own labels
    audit: tuple[str, ...] = ()  # audit sheets
    out: str = "report.html"  # report file
    options: Mapping[str, Any] = field(default_factory=dict)  # other options, by name
    waiting: int = 0  # number of nodes in the files without a label; they are not asked for again

    def command(self, name: str, *words: str, labels: Sequence[str] = (), audit: Sequence[str] = ()) -> str:
        """Return a command for this graph, with its options."""
        found = ["featprop", name, self.graph]
        found += [word for path in labels for word in ("--labels", path)]
        found += [word for path in audit for word in ("--audit", path)]
        for option in OPTIONS.get(name, ()):
            value = self.options.get(option)
            if value is not None and value != DEFAULTS.get(option):
                values = value if isinstance(value, list) else [value]
                found += [word for each in values for word in (f"--{option}", str(each))]
        return " ".join(_quote(word) for word in [*found, *words])

    def report(self, labels: Sequence[str] = (), audit: Sequence[str] = ()) -> str:
        """Return the command that writes this report again, with more labels or another audit."""
        files = {"labels": [*self.labels, *labels], "audit": [*self.audit, *audit]}
        return self.command("report", "--out", self.out, "--force", **files)

    def unused(self, stem: str) -> str:
        """Return a file name that is not used yet."""
        names = {Path(path).name for path in (*self.labels, *self.audit)}
        number = 1
        while (name := f"{stem}.csv" if number == 1 else f"{stem}-{number}.csv") in names or Path(name).exists():
            number += 1
        return name


class NextStep(NamedTuple):
    """Commands and what they are for."""

    description: str
    commands: tuple[str, ...]


def next_steps(files: Files, findings: Findings, n_labels: int, open_nodes: int) -> list[NextStep]:
    """Return the next steps, most useful first."""
    open_nodes -= files.waiting
    steps = [_correct(files)] if findings.suspect_labels else []
    if open_nodes > 0:
        may_stop = findings.advice is None or findings.advice.may_stop
        check, more = _check(files, findings, open_nodes), _more(files, findings, n_labels, open_nodes)
        steps += [check, more] if may_stop else [more, check]
    return [*steps, _predict(files)]


def _correct(files: Files) -> NextStep:
    """Return how to correct labels: on the page for a label log, in the file for a sheet."""
    logs = [path for path in files.labels if path.endswith(".labels")]
    if logs:
        text = "Review the labels that look wrong, correct them on the labelling page, and update this report."
        return NextStep(text, (files.command("label", labels=logs[:1]), files.report()))
    text = "Review the labels that look wrong, correct them in their file, and update this report."
    return NextStep(text, (files.report(),))


def _check(files: Files, findings: Findings, open_nodes: int) -> NextStep:
    out = files.unused("audit")
    if findings.audit is None:
        size = min(AUDIT_SIZE, open_nodes)
        text = f"Measure the accuracy: label an audit of {size} random nodes in {out}."
    else:
        size = min(findings.audit.to_halve, open_nodes)
        effect = "to halve the interval" if size == findings.audit.to_halve else "to audit every node"
        text = f"Narrow the interval: label {size:,} more random nodes in {out} {effect}."
    draw = files.command("audit", "--size", str(size), "--out", out, labels=(*files.labels, *files.audit))
    is_among_labels = findings.audit is not None and not files.audit
    return NextStep(text, (draw, files.report(labels=[out]) if is_among_labels else files.report(audit=[out])))


def _more(files: Files, findings: Findings, n_labels: int, open_nodes: int) -> NextStep:
    budget = min(max(MIN_BUDGET, n_labels // 2), open_nodes)
    out = files.unused("more")
    text = f"Label {budget:,} more nodes, selected with the labels so far, in {out}."
    if findings.advice is not None and findings.advice.may_stop:
        text = f"Optional: {text[0].lower()}{text[1:]}"
    choose = files.command("select", "--budget", str(budget), "--out", out, labels=(*files.labels, *files.audit))
    return NextStep(text, (choose, files.report(labels=[out])))


def _predict(files: Files) -> NextStep:
    train = files.command("train", "--out", "model.safetensors", labels=files.labels)
    predict = files.command("predict", "--model", "model.safetensors", "--out", "predictions.csv")
    return NextStep("Predict the class of every node, with confidences.", (train, predict))


def _quote(word: str) -> str:
    """Quote a word for a shell, with unprintable characters escaped."""
    if word.isprintable():
        return shlex.quote(word)
    signs = [sign if sign.isprintable() and sign not in "\\'" else f"\\U{ord(sign):08x}" for sign in word]
    return f"$'{''.join(signs)}'"
