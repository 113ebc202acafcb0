"""What people answered, and models: sheets, label logs, the files of other tools, saved models."""

from __future__ import annotations

import json
import struct
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from fuzz.case import Case
from fuzz.checks import command
from fuzz.damage import damaged_bytes, damaged_database, damaged_json, damaged_table, texts

ON_SHEET = (
    "train csv --labels filled.csv --out out.safetensors",
    "select csv --labels filled.csv --budget 3 --out out.csv",
    "select csv --labels filled.csv --budget 3 --out out.csv --log new.labels",
    "report csv --labels picks.csv --labels filled.csv --out out.html",
)
ON_LOG = (
    "export log.labels --format csv --out out",
    "export log.labels --format jsonl --out out",
    "export log.labels --format label-studio --out out",
    "import log.labels bob.csv",
    "train csv --labels log.labels --out out.safetensors",
    "select csv --log log.labels --budget 3 --out out.csv",
)


@st.composite
def sheets(draw: DrawFn, seeds: Path) -> Case:
    """Damage a filled sheet, an audit or corrected predictions, and use it."""
    name = draw(st.sampled_from(["picks.csv", "audit.csv", "predictions.csv", "export.csv"]))
    damaged, line = draw(damaged_table((seeds / name).read_bytes())), draw(st.sampled_from(ON_SHEET))
    classes = draw(st.sampled_from([(), ("--classes", "ok,review,fraud")]))
    return command(line, {"filled.csv": damaged}, *(() if line.startswith("report") else classes))


@st.composite
def label_logs(draw: DrawFn, seeds: Path) -> Case:
    """Damage a label log, and read it or add to it."""
    log = draw(damaged_database((seeds / "log.labels").read_bytes()))
    return command(draw(st.sampled_from(ON_LOG)), {"log.labels": log})


@st.composite
def other_tools(draw: DrawFn, seeds: Path) -> Case:
    """Damage a file of Label Studio, doccano or a spreadsheet, and import it into a log that keeps its events."""
    name = draw(st.sampled_from(["export.json", "export.jsonl", "export.csv", "bob.csv"]))
    content = (seeds / name).read_bytes()
    damaged = draw(damaged_table(content) if name.endswith("csv") else damaged_json(content))
    suffix = draw(st.sampled_from([Path(name).suffix] * 5 + [".txt", ".json", ""]))
    options = draw(st.sampled_from([(), ("--graph", "csv"), ("--classes", "ok,review")]))
    annotator = draw(texts).replace("\0", "")
    return command(
        f"import log.labels labels{suffix}", {f"labels{suffix}": damaged}, *options, "--annotator", annotator
    )


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
    model = draw(damaged_bytes(content)) if way == "bytes" else whole
    return command("predict csv --model model.safetensors --out out.csv", {"model.safetensors": model})


TARGETS = {"sheet": sheets, "label-log": label_logs, "other-tools": other_tools, "model": saved_models}
