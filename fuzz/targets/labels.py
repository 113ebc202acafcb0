"""What people answered: sheets, label logs and the files of other tools; and files that a command would overwrite."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from fuzz import checks
from fuzz.case import Case
from fuzz.damage import damaged_bytes, damaged_database, damaged_json, damaged_table, texts

TRAIN = ("--out", "out.safetensors")
SELECT = ("--budget", "3", "--out", "out.csv")


@st.composite
def sheets(draw: DrawFn, seeds: Path) -> Case:
    """Damage a filled sheet, an audit or corrected predictions, and use it."""
    name = draw(st.sampled_from(["picks.csv", "audit.csv", "predictions.csv", "export.csv"]))
    files: dict[str, bytes | None] = {"said.csv": draw(damaged_table((seeds / name).read_bytes()))}
    labels = ("--labels", "said.csv", *draw(st.sampled_from([(), ("--classes", "ok,review,fraud")])))
    inputs = ("csv", "picks.csv")
    way = draw(st.sampled_from(["train", "select", "log", "report"]))
    if way == "train":
        return Case(("train", "csv", *labels, *TRAIN), inputs, files, TRAIN[1:], check=checks.model)
    if way == "select":
        return Case(("select", "csv", *labels, *SELECT), inputs, files, ("out.csv",), check=checks.picks(3))
    if way == "log":
        words = ("select", "csv", *labels, *SELECT, "--log", "new.labels")
        return Case(words, inputs, files, ("out.csv", "new.labels"), check=checks.picks(3))
    words = ("report", "csv", "--labels", "picks.csv", "--audit", "said.csv", "--out", "out.html")
    return Case(words, inputs, files, ("out.html",))


@st.composite
def label_logs(draw: DrawFn, seeds: Path) -> Case:
    """Damage a label log, and read it or add to it."""
    log = draw(damaged_database((seeds / "log.labels").read_bytes()))
    inputs, files = ("csv", "bob.csv"), {"log.labels": log}
    way = draw(st.sampled_from(["csv", "jsonl", "label-studio", "import", "train", "select"]))
    if way == "import":
        return Case(("import", "log.labels", "bob.csv"), inputs, files, changes=("log.labels",))
    if way == "train":
        words = ("train", "csv", "--labels", "log.labels", *TRAIN)
        return Case(words, inputs, files, TRAIN[1:], check=checks.model)
    if way == "select":
        words = ("select", "csv", "--log", "log.labels", *SELECT)
        return Case(words, inputs, files, ("out.csv",), ("log.labels",), check=checks.picks(3))
    return Case(("export", "log.labels", "--format", way, "--out", "out"), inputs, files, ("out",))


@st.composite
def other_tools(draw: DrawFn, seeds: Path) -> Case:
    """Damage a file of Label Studio, doccano or a spreadsheet, and import it into a log that keeps its events."""
    name = draw(st.sampled_from(["export.json", "export.jsonl", "export.csv", "bob.csv"]))
    content = (seeds / name).read_bytes()
    damaged = draw(damaged_table(content) if name.endswith("csv") else damaged_json(content))
    suffix = draw(st.sampled_from([Path(name).suffix] * 5 + [".txt", ".json", ""]))
    options = draw(st.sampled_from([(), ("--graph", "csv"), ("--classes", "ok,review")]))
    annotator = draw(texts).replace("\0", "")
    words = ("import", "log.labels", f"said{suffix}", *options, "--annotator", annotator)
    check = checks.kept_events(seeds / "log.labels")
    return Case(words, ("csv", "log.labels"), {f"said{suffix}": damaged}, changes=("log.labels",), check=check)


@st.composite
def overwritten(draw: DrawFn, seeds: Path) -> Case:
    """Put a damaged file where a command writes: it stays without ``--force``, and with it labels are kept."""
    name, words = draw(
        st.sampled_from(
            [
                ("picks.csv", ("select", "csv", "--budget", "2")),
                ("audit.csv", ("audit", "csv", "--size", "2")),
                ("predictions.csv", ("predict", "csv", "--model", "ridge.safetensors")),
            ]
        )
    )
    content = (seeds / name).read_bytes()
    words += ("--out", "out.csv")
    if draw(st.booleans()):
        damaged = draw(damaged_table(content) | damaged_bytes(content))
        return Case(words, ("csv", "ridge.safetensors"), {"out.csv": damaged})
    typed = content if name != "predictions.csv" else (seeds / "picks.csv").read_bytes()
    typed += draw(st.sampled_from([b"", b"n47,fraud\n", b"\n\n", b"n40,typed,by,hand,too,many\n"]))
    files, check = {"out.csv": typed}, checks.kept_labels(typed)
    return Case((*words, "--force"), ("csv", "ridge.safetensors"), files, ("out.csv.bak",), ("out.csv",), check=check)


TARGETS = {"sheet": sheets, "label log": label_logs, "other tools": other_tools, "overwritten": overwritten}
