"""What people answered, and models: sheets, label logs, the files of other tools, saved models."""

from __future__ import annotations

import json
import struct
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
def saved_models(draw: DrawFn, seeds: Path) -> Case:
    """Damage the description, the header or the numbers of a model, and predict with it."""
    content = (seeds / f"{draw(st.sampled_from(['ridge', 'gcn']))}.safetensors").read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    header, numbers = json.loads(content[8 : 8 + length]), content[8 + length :]
    way = draw(st.sampled_from(["description", "description", "header", "bytes"]))
    if way == "description":
        description = draw(damaged_json(header["__metadata__"]["featprop"].encode()))
        header["__metadata__"]["featprop"] = description.decode(errors="replace")
    damaged = draw(damaged_json(json.dumps(header).encode())) if way == "header" else json.dumps(header).encode()
    whole = struct.pack("<Q", len(damaged)) + damaged + numbers
    files = {"model.safetensors": draw(damaged_bytes(content)) if way == "bytes" else whole}
    words = ("predict", "csv", "--model", "model.safetensors", "--out", "out.csv")
    return Case(words, ("csv",), files, ("out.csv",), check=checks.predictions)


TARGETS = {"sheet": sheets, "label-log": label_logs, "other-tools": other_tools, "model": saved_models}
