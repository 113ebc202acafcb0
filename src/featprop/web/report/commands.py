"""What to do next, with the commands for exactly this graph and these files."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from featprop.web.report.findings import Findings
from featprop.web.report.lists import labels_that_look_wrong

__all__ = ["Files", "Next", "next_steps"]

AUDIT_SIZE = 30
FEWEST_MORE = 10


@dataclass(frozen=True)
class Files:
    """What a report was made of, as a person wrote it on the command line.

    Attributes
    ----------
    graph
        The graph.
    labels
        The label files, none where the graph's own labels count.
    audit
        The audit sheets, if there are any.
    out
        The report.
    answers
        The options that say how the label files are read.
    model
        The options that say what is trained.
    device
        Where it is trained, if not on the processor.
    seed
        The seed, if it is not 0.
    title
        What the page calls the graph, if that was said.
    waiting
        How many nodes of the files have no label: they are not asked for again.
    """

    graph: str = "my-graph/"
    labels: tuple[str, ...] = ()
    audit: tuple[str, ...] = ()
    out: str = "report.html"
    answers: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    device: tuple[str, ...] = ()
    seed: tuple[str, ...] = ()
    title: tuple[str, ...] = ()
    waiting: int = 0


@dataclass(frozen=True)
class Next:
    """A step: what for, and the commands."""

    words: str
    commands: tuple[str, ...]


def next_steps(files: Files, findings: Findings, n_labels: int, open_nodes: int) -> list[Next]:
    """Return what to do next, the most useful first.

    Parameters
    ----------
    files
        What the report was made of.
    findings
        What is known of the predictions.
    n_labels
        How many labels there are.
    open_nodes
        How many nodes have none, and no audit looked at them.
    """
    open_nodes -= files.waiting
    steps = [_check(files, findings, open_nodes), _more(files, findings, n_labels, open_nodes), _use(files)]
    if findings.advice is not None and not findings.advice.may_stop:
        steps[:2] = steps[1::-1]
    doubts = findings.doubts
    if doubts is not None and labels_that_look_wrong(doubts):
        words = "Look at the labels that seem wrong; where one is, correct it in its file and make this page again."
        steps.insert(0, Next(words, (_line("report", files, out=files.out),)))
    return [step for step in steps if step is not None]


def _check(files: Files, findings: Findings, open_nodes: int) -> Next | None:
    if open_nodes < 1:
        return None
    out = _unused("audit", [*files.labels, *files.audit])
    if findings.audit is None:
        size = min(AUDIT_SIZE, open_nodes)
        words = (
            f"Check it: {size} nodes drawn at random say how good the predictions are. Fill the label column of {out}."
        )
    else:
        size = min(findings.audit.to_halve, open_nodes)
        brings = "would halve the interval" if size == findings.audit.to_halve else "are all that is left to check"
        words = f"Be surer: {size:,} more nodes drawn at random {brings}. Fill the label column of {out}."
    draw = _line("audit", files, "--size", str(size), out=out)
    among_labels = findings.audit is not None and not files.audit
    grown = replace(files, labels=(*files.labels, out)) if among_labels else replace(files, audit=(*files.audit, out))
    return Next(words, (draw, _line("report", grown, out=files.out)))


def _more(files: Files, findings: Findings, n_labels: int, open_nodes: int) -> Next | None:
    if open_nodes < 1:
        return None
    budget = min(max(FEWEST_MORE, n_labels // 2), open_nodes)
    out = _unused("more", [*files.labels, *files.audit])
    choose = _line("select", files, "--budget", str(budget), out=out)
    grown = replace(files, labels=(*files.labels, out))
    words = f"Label {budget:,} more, chosen knowing the labels so far: fill the label column of {out}."
    if findings.advice is not None and findings.advice.may_stop:
        words = f"Or label more all the same: {budget:,} nodes, chosen knowing the labels so far. Fill {out}."
    return Next(words, (choose, _line("report", grown, out=files.out)))


def _use(files: Files) -> Next:
    train = _line("train", files, out="model/")
    words = "Use it: the class of every node, with a confidence each."
    options = ["--model", "model/", *files.device]
    predict = _joined(["featprop", "predict", files.graph, *options, "--out", "predictions.csv"])
    return Next(words, (train, predict))


def _line(command: str, files: Files, *more: str, out: str) -> str:
    """Return a command on these files; audited nodes are not to be drawn or chosen again."""
    words = ["featprop", command, files.graph]
    sheets = (*files.labels, *(files.audit if command in ("audit", "select") else ()))
    words += [word for path in sheets for word in ("--labels", path)]
    words += [word for path in files.audit if command == "report" for word in ("--audit", path)]
    words += files.answers
    words += (*files.model, *files.device) if command in ("report", "train") else ()
    words += files.title if command == "report" else ()
    return _joined([*words, *more, *files.seed, "--out", out])


def _joined(words: Iterable[str]) -> str:
    """Write a command for a shell; characters that would turn or break the line of the page stand there by number."""
    return " ".join(shlex.quote(word) if word.isprintable() else _numbered(word) for word in words)


def _numbered(word: str) -> str:
    signs = [sign if sign.isprintable() and sign not in "\\'" else f"\\U{ord(sign):08x}" for sign in word]
    return f"$'{''.join(signs)}'"


def _unused(stem: str, taken: Sequence[str]) -> str:
    """Return a name for a sheet that none of the files has."""
    names = {Path(path).name for path in taken}
    number = 1
    while (name := f"{stem}.csv" if number == 1 else f"{stem}-{number}.csv") in names or Path(name).exists():
        number += 1
    return name
