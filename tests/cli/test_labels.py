"""Labels and sheets on the command line: every trap with what is said of it."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from featprop.labels import LabelLog
from tests.helpers import ok

Run = Callable[..., Any]

N = 20


@pytest.fixture
def shop(write_folder: Callable[..., Path]) -> Path:
    """Twenty customers in two circles that look alike within, the second ones fraudulent."""
    nodes, edges = "id,x,y,name,country\n", "source,target\n"
    for node in range(N):
        first, size = (0, 10) if node < 10 else (10, 10)
        nodes += f'{node},{"1,0" if node < 10 else "0,1"}.{node},"Name, {node}",{"at" if node % 2 else "de"}\n'
        edges += f"{node},{first + (node - first + 1) % size}\n"
    return write_folder(nodes, edges)


def refused(result: Any) -> str:
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    return str(result.stderr.splitlines()[-1])


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def read(path: str) -> list[dict[str, str]]:
    return rows_of(Path(path).read_text(encoding="utf-8"))


def write(path: str, rows: list[dict[str, str]]) -> None:
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def put(path: str, text: str) -> None:
    Path(path).write_text(text, encoding="utf-8")


TRAIN = ["train", "graph", "--labels", "labels.csv"]
MESSY = "id,label\n0,ok\n1,OK\n2,Ok\n3,ok\n10,fraud\n11,fraud\n12,frued\n4,?\n13,don't know\n"


def test_named_classes(run: Run, shop: Path) -> None:
    put("labels.csv", MESSY)
    for command in (TRAIN, ["select", "graph", "-b", 2, "--labels", "labels.csv"]):
        said = refused(run(*command, "--classes", "fraud,OK"))
        assert "'frued' of node 12" in said
        assert "fraud" in said
    assert "'frued' (node 12)" in ok(run(*TRAIN)).stderr
    result = ok(run(*TRAIN, "--force", "--classes", "fraud, OK", "--classes", "frued"))
    assert result.stdout.startswith("Trained on 7 labels of 3 classes: 4 OK, 2 fraud, 1 frued.\n")


def test_skips_are_not_asked_for_again_and_kept(run: Run, shop: Path) -> None:
    put("labels.csv", MESSY)
    ok(run("select", "graph", "-b", 11, "--labels", "labels.csv", "--log", "a.labels"))
    listed = {row["id"] for row in rows_of(MESSY)}
    assert {row["id"] for row in read("picks.csv")} == {str(node) for node in range(N)} - listed
    with LabelLog("a.labels") as log:
        assert log.skips() == {4: "?", 13: "don't know"}
        assert len(log.labels()) == 7
    put("later.csv", "id,label\n4,ok\n0,skip\n")
    refused(run("select", "graph", "-b", 1, "--labels", "later.csv", "--log", "a.labels", "-o", "b.csv"))
    with LabelLog("a.labels") as log:
        assert log.skips() == {13: "don't know", 0: "skip"}
        assert log.labels()[4] == "ok"


def test_corrections_in_predictions_are_labels(run: Run, shop: Path) -> None:
    put("labels.csv", "id,label\n0,ok\n1,ok\n10,fraud\n11,fraud\n")
    ok(run(*TRAIN))
    ok(run("predict", "graph"))
    rows = read("predictions.csv")
    assert list(rows[0])[:4] == ["id", "prediction", "confidence", "label"]
    assert [row["label"] for row in rows] == ["ok"] * 2 + [""] * 8 + ["fraud"] * 2 + [""] * 8
    again = ["train", "graph", "--labels", "predictions.csv", "-o", "again.safetensors"]
    assert ok(run(*again)).stdout.startswith("Trained on 4 labels of 2 classes")
    rows[5]["label"] = "fraud"
    write("predictions.csv", rows)
    assert ok(run(*again, "--force")).stdout.startswith("Trained on 5 labels of 2 classes: 3 fraud, 2 ok.\n")
    assert "predictions.csv" in refused(run("predict", "graph"))
    ok(run("predict", "graph", "--model", "again.safetensors", "--force"))
    assert read("predictions.csv")[5]["label"] == "fraud"
    assert read("predictions.csv.bak") == rows


def test_an_existing_output_needs_force(run: Run, shop: Path) -> None:
    put("labels.csv", "id,label\n0,ok\n10,fraud\n")
    ok(run(*TRAIN))
    ok(run("predict", "graph"))
    ok(run("select", "graph", "-b", 2))
    ok(run("report", "graph", "--labels", "labels.csv"))
    ok(run("import", "a.labels", "labels.csv"))
    ok(run("export", "a.labels", "-o", "out.csv"))
    commands = {
        "model.safetensors": TRAIN,
        "predictions.csv": ["predict", "graph"],
        "picks.csv": ["select", "graph", "-b", 2],
        "report.html": ["report", "graph", "--labels", "labels.csv"],
        "out.csv": ["export", "a.labels", "-o", "out.csv"],
    }
    for name, command in commands.items():
        before = Path(name).read_bytes()
        assert name in refused(run(*command))
        assert Path(name).read_bytes() == before
        ok(run(*command, "--force"))
    assert Path("out.csv.bak").exists()


def test_the_sheet_shows_columns_labels_and_predictions(run: Run, shop: Path) -> None:
    put("labels.csv", "id,label\n0,ok\n1,ok\n10,fraud\n11,fraud\n")
    ok(run("select", "graph", "-b", 2, "--labels", "labels.csv", "--show", "name,country"))
    (row, _) = read("picks.csv")
    assert list(row) == [
        *("id", "label", "rank", "represents", "spread", "prediction", "confidence", "neighbours", "name", "country")
    ]
    assert row["name"] == f"Name, {row['id']}"
    assert row["prediction"] in ("ok", "fraud")
    assert "nmae" in refused(run("select", "graph", "-b", 2, "--show", "nmae", "-o", "b.csv"))
