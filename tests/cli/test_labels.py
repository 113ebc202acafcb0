"""Labels and sheets on the command line, with the message for each mistake."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import assert_refused, ok, rows_of

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


TRAIN = ["train", "graph", "--labels", "labels.csv"]
MESSY = "id,label\n0,ok\n1,OK\n2,Ok\n3,ok\n10,fraud\n11,fraud\n12,frued\n4,?\n13,don't know\n"


def test_named_classes(run: Run, shop: Path) -> None:
    Path("labels.csv").write_text(MESSY)
    for command in (TRAIN, ["select", "graph", "-b", 2, "--labels", "labels.csv"]):
        assert_refused(run(*command, "--classes", "fraud,OK"), "'frued' 12 fraud")
    assert "'frued' at node 12" in ok(run(*TRAIN)).stderr
    result = ok(run(*TRAIN, "--force", "--classes", "fraud, OK", "--classes", "frued"))
    assert result.stdout.startswith("Trained on 7 labels of 3 classes: OK (4), fraud (2), frued (1).\n")


def test_an_existing_output_needs_force(run: Run, shop: Path) -> None:
    Path("labels.csv").write_text("id,label\n0,ok\n10,fraud\n")
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
        assert_refused(run(*command), name)
        assert Path(name).read_bytes() == before
        ok(run(*command, "--force"))
    assert Path("out.csv.bak").exists()


def test_the_sheet_shows_columns_labels_and_predictions(run: Run, shop: Path) -> None:
    Path("labels.csv").write_text("id,label\n0,ok\n1,ok\n10,fraud\n11,fraud\n")
    ok(run("select", "graph", "-b", 2, "--labels", "labels.csv", "--show", "name,country"))
    (row, _) = rows_of("picks.csv")
    assert list(row) == [
        *("id", "label", "rank", "represents", "spread", "prediction", "confidence", "neighbours", "name", "country")
    ]
    assert row["name"] == f"Name, {row['id']}"
    assert row["prediction"] in ("ok", "fraud")
    assert_refused(run("select", "graph", "-b", 2, "--show", "nmae", "-o", "b.csv"), "'nmae'")
