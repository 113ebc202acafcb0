"""Next commands for this graph and these files."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from featprop.web.report.findings import Findings
from featprop.web.report.lists import suspect_labels

AUDIT_SIZE = 30
MIN_BUDGET = 10


@dataclass(frozen=True)
class Files:
    """Files and options of a report, as given on the command line."""

    graph: str = "my-graph/"  # path of the graph
    labels: tuple[str, ...] = ()  # label files; empty if the graph has its own labels
    audit: tuple[str, ...] = ()  # audit sheets
    out: str = "report.html"  # report file
    answers: tuple[str, ...] = ()  # options for reading the label files
    model: tuple[str, ...] = ()  # options of the same names
    device: tuple[str, ...] = ()
    seed: tuple[str, ...] = ()
    title: tuple[str, ...] = ()
    waiting: int = 0  # number of nodes in the files without a label; they are not asked for again


@dataclass(frozen=True)
class NextStep:
    """Commands and what they are for."""

    description: str
    commands: tuple[str, ...]


def next_steps(files: Files, findings: Findings, n_labels: int, open_nodes: int) -> list[NextStep]:
    """Return the next steps, most useful first."""
    open_nodes -= files.waiting
    steps = [_check(files, findings, open_nodes), _more(files, findings, n_labels, open_nodes), _predict(files)]
    if findings.advice is not None and not findings.advice.may_stop:
        steps[:2] = steps[1::-1]
    diagnostics = findings.diagnostics
    if diagnostics is not None and suspect_labels(diagnostics):
        steps.insert(0, _correct(files))
    return [step for step in steps if step is not None]


def _correct(files: Files) -> NextStep:
    """Return how to correct labels: on the page for a label log, in the file for a sheet."""
    logs = [path for path in files.labels if path.endswith(".labels")]
    again = _line("report", files, out=files.out)
    if logs:
        text = "Review the labels that look wrong, correct them on the labelling page, and update this report."
        return NextStep(text, (_join(["featprop", "label", files.graph, "--labels", logs[0]]), again))
    return NextStep("Review the labels that look wrong, correct them in their file, and update this report.", (again,))


def _check(files: Files, findings: Findings, open_nodes: int) -> NextStep | None:
    if open_nodes < 1:
        return None
    out = _unused("audit", [*files.labels, *files.audit])
    if findings.audit is None:
        size = min(AUDIT_SIZE, open_nodes)
        text = f"Measure the accuracy: label an audit of {size} random nodes in {out}."
    else:
        size = min(findings.audit.to_halve, open_nodes)
        effect = "to halve the interval" if size == findings.audit.to_halve else "to audit every node"
        text = f"Narrow the interval: label {size:,} more random nodes in {out} {effect}."
    draw = _line("audit", files, "--size", str(size), out=out)
    among_labels = findings.audit is not None and not files.audit
    grown = replace(files, labels=(*files.labels, out)) if among_labels else replace(files, audit=(*files.audit, out))
    return NextStep(text, (draw, _line("report", grown, out=files.out)))


def _more(files: Files, findings: Findings, n_labels: int, open_nodes: int) -> NextStep | None:
    if open_nodes < 1:
        return None
    budget = min(max(MIN_BUDGET, n_labels // 2), open_nodes)
    out = _unused("more", [*files.labels, *files.audit])
    choose = _line("select", files, "--budget", str(budget), out=out)
    grown = replace(files, labels=(*files.labels, out))
    text = f"Label {budget:,} more nodes, selected with the labels so far, in {out}."
    if findings.advice is not None and findings.advice.may_stop:
        text = f"Optional: {text[0].lower()}{text[1:]}"
    return NextStep(text, (choose, _line("report", grown, out=files.out)))


def _predict(files: Files) -> NextStep:
    train = _line("train", files, out="model.safetensors")
    text = "Predict the class of every node, with confidences."
    options = ["--model", "model.safetensors", *files.device]
    predict = _join(["featprop", "predict", files.graph, *options, "--out", "predictions.csv"])
    return NextStep(text, (train, predict))


def _line(command: str, files: Files, *more: str, out: str) -> str:
    """Return a command for these files; audited nodes are not drawn or selected again."""
    words = ["featprop", command, files.graph]
    sheets = (*files.labels, *(files.audit if command in ("audit", "select") else ()))
    words += [word for path in sheets for word in ("--labels", path)]
    words += [word for path in files.audit if command == "report" for word in ("--audit", path)]
    words += files.answers
    words += (*files.model, *files.device) if command in ("report", "train") else ()
    words += files.title if command == "report" else ()
    replace_page = ["--force"] if command == "report" else []
    return _join([*words, *more, *files.seed, "--out", out, *replace_page])


def _join(words: Iterable[str]) -> str:
    """Join a command for a shell, with unprintable characters escaped."""
    return " ".join(shlex.quote(word) if word.isprintable() else _escape(word) for word in words)


def _escape(word: str) -> str:
    signs = [sign if sign.isprintable() and sign not in "\\'" else f"\\U{ord(sign):08x}" for sign in word]
    return f"$'{''.join(signs)}'"


def _unused(stem: str, taken: Sequence[str]) -> str:
    """Return a file name that is not used yet."""
    names = {Path(path).name for path in taken}
    number = 1
    while (name := f"{stem}.csv" if number == 1 else f"{stem}-{number}.csv") in names or Path(name).exists():
        number += 1
    return name
