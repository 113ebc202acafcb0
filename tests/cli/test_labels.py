"""Labels and sheets on the command line: every trap with what is said of it."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from featprop.labels import LabelLog

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


def ok(result: Any) -> Any:
    assert result.exit_code == 0, result.output
    return result


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


def test_labels_that_nobody_meant(run: Run, shop: Path) -> None:
    put("labels.csv", MESSY)
    result = ok(run(*TRAIN))
    assert "Labels written in several ways are one class: 'OK' (1), 'Ok' (1) read as 'ok'\n" in result.stderr
    assert "Label 'frued' (node 12) is close to 'fraud' (2 labels): correct it if it is a slip" in result.stderr
    assert "Skips, not labels: 2 (4: ?, 13: don't know)\n" in result.stderr
    assert result.stdout.startswith("Trained on 7 labels of 3 classes: 2 fraud, 1 frued, 4 ok.\n")


def test_named_classes(run: Run, shop: Path) -> None:
    put("labels.csv", MESSY)
    for command in (TRAIN, ["select", "graph", "-b", 2, "--labels", "labels.csv"]):
        assert refused(run(*command, "--classes", "fraud,OK")) == (
            "Error: Labels must be among fraud, OK; found 1 ('frued' of node 12, closest 'fraud'): correct them, "
            "name the class in --classes too, or pass --skip WORD for a word that is no class."
        )
    result = ok(run(*TRAIN, "--classes", "fraud, OK", "--skip", "FRUED"))
    assert result.stdout.startswith("Trained on 6 labels of 2 classes: 4 OK, 2 fraud.\n")
    assert "Skips, not labels: 3 (12: frued, 4: ?, 13: don't know)\n" in result.stderr
    ok(run(*TRAIN, "--classes", "fraud", "--classes", "ok", "--skip", "frued"))


def test_the_graphs_own_labels_are_read_alike(run: Run, write_folder: Callable[..., Path]) -> None:
    names = ["ok", "OK", "?", "ok", "fraud", "fraud", "frued", ""]
    nodes = "id,x,label\n" + "".join(f"{node},{node},{name}\n" for node, name in enumerate(names))
    write_folder(nodes, "source,target\n0,1\n")
    result = ok(run("train", "graph"))
    assert "Labels written in several ways are one class: 'OK' (1) read as 'ok'\n" in result.stderr
    assert result.stdout.startswith("Trained on 6 labels of 3 classes: 2 fraud, 1 frued, 3 ok.\n")
    assert "('frued' of node 6, closest 'fraud')" in refused(run("train", "graph", "--classes", "ok,fraud"))
    ok(run("train", "graph", "--classes", "ok,fraud", "--skip", "frued"))


def test_skips_are_not_asked_for_again_and_kept(run: Run, shop: Path) -> None:
    put("labels.csv", MESSY)
    result = ok(run("select", "graph", "-b", 11, "--labels", "labels.csv", "--rounds", "rounds"))
    assert "Skips, not labels: 2 (4: ?, 13: don't know)\n" in result.stderr
    listed = {row["id"] for row in rows_of(MESSY)}
    assert {row["id"] for row in read("picks.csv")} == {str(node) for node in range(N)} - listed
    with LabelLog(Path("rounds/labels.sqlite")) as log:
        assert log.skips() == {4: "?", 13: "don't know"}
        assert len(log.labels()) == 7
    put("later.csv", "id,label\n4,ok\n0,skip\n")
    assert "budget must be 0, as there are no more" in refused(
        run("select", "graph", "-b", 1, "--labels", "later.csv", "--rounds", "rounds", "-o", "b.csv")
    )
    with LabelLog(Path("rounds/labels.sqlite")) as log:
        assert log.skips() == {13: "don't know", 0: "skip"}
        assert log.labels()[4] == "ok"


def test_only_corrected_predictions_count(run: Run, shop: Path) -> None:
    put("labels.csv", "id,label\n0,ok\n1,ok\n10,fraud\n11,fraud\n")
    ok(run(*TRAIN))
    ok(run("predict", "graph"))
    rows = read("predictions.csv")
    assert [row["given"] for row in rows] == ["ok"] * 2 + [""] * 8 + ["fraud"] * 2 + [""] * 8
    assert {row["isolated"] for row in rows} == {""}
    assert rows[0]["distance"] == "0"
    result = ok(run("train", "graph", "--labels", "predictions.csv", "-o", "again"))
    assert "a person corrected 0 of 20 and had given 4 labels before; only these count as labels" in result.stderr
    assert result.stdout.startswith("Trained on 4 labels of 2 classes")
    rows[5]["label"] = "fraud"
    write("predictions.csv", rows)
    result = ok(run("train", "graph", "--labels", "predictions.csv", "-o", "again"))
    assert "a person corrected 1 of 20 and had given 4 labels before; only these count as labels" in result.stderr
    assert result.stdout.startswith("Trained on 5 labels of 2 classes: 3 fraud, 2 ok.\n")
    assert "labels that a person typed: 1 (5)" in refused(run("predict", "graph"))
    ok(run("predict", "graph", "--model", "again", "--force"))
    assert read("predictions.csv")[5]["given"] == read("predictions.csv")[5]["label"] == "fraud"


def test_predictions_without_any_correction(run: Run, shop: Path) -> None:
    rows = "".join(f"{node},ok,0.9000,0.9000,0.1000\n" for node in range(N))
    put("labels.csv", f"id,label,confidence,probability_ok,probability_fraud\n{rows}")
    assert refused(run(*TRAIN)) == (
        "Error: labels.csv must hold labels that a person gave; found 20 predictions and none of them corrected: "
        "correct the label column where the model is wrong, or pass the sheet that was filled."
    )


def test_two_sheets_that_disagree(run: Run, shop: Path) -> None:
    put("ann.csv", "id,label\n0,ok\n1,ok\n10,fraud\n11,fraud\n")
    put("bob.csv", "id,label\n0,ok\n1,fraud\n10,fraud\n11,ok\n")
    both = ["train", "graph", "--labels", "ann.csv", "--labels", "bob.csv"]
    result = run(*both)
    assert refused(result) == (
        "Error: ann.csv and bob.csv must give a node one label; found 2 (node 1: 'ok' of ann.csv and 'fraud' of "
        "bob.csv, node 11: 'fraud' of ann.csv and 'ok' of bob.csv): "
        "keep one of them, or pass --on-conflict majority or latest."
    )
    assert (
        "4 nodes have several answers, 2 of them one label (50%), Cohen's kappa 0.00 of ann.csv and bob.csv\n"
    ) in result.stderr
    assert "must have a majority for each node; found a tie at 2 (" in refused(run(*both, "--on-conflict", "majority"))
    assert "did you mean 'latest'?" in refused(run(*both, "--on-conflict", "lastest"))
    result = ok(run(*both, "--on-conflict", "latest"))
    assert "Different labels for one node, settled by latest: 2 (node 1: 'fraud', node 11: 'ok')\n" in result.stderr


def test_annotators_go_to_the_label_log(run: Run, shop: Path) -> None:
    def ask(sheet: str, out: str) -> Any:
        put("labels.csv", sheet)
        words = ["--labels", "labels.csv", "--rounds", "rounds", "--on-conflict", "majority"]
        return ok(run("select", "graph", "-b", 1, *words, "-o", out))

    def labels() -> dict[Any, Any]:
        with LabelLog(Path("rounds/labels.sqlite")) as log:
            return log.labels()

    head = "id,annotator,label\n"
    ask(f"{head}0,ann,ok\n10,ann,fraud\n11,ann,?\n", "a.csv")
    with LabelLog(Path("rounds/labels.sqlite")) as log:
        assert {(act.node, act.annotator, act.label, act.text) for act in log.answers()} == {
            (0, "ann", "ok", ""),
            (10, "ann", "fraud", ""),
            (11, "ann", None, "?"),
        }
    ask(f"{head}0,ann,ok\n0,bob,fraud\n0,cy,fraud\n10,ann,fraud\n11,bob,fraud\n", "b.csv")
    assert labels() == {0: "fraud", 10: "fraud", 11: "fraud"}
    told = ask(f"{head}0,ann,ok\n10,bob,ok\n11,ann,?\n", "c.csv").stderr
    assert labels() == {0: "ok", 10: "ok", 11: "fraud"}
    assert "0 new labels, corrections: 2 (0: fraud is now ok, 10: fraud is now ok)" in told
    ask(f"{head}0,cy,ok\n10,ann,ok\n", "d.csv")
    assert labels() == {0: "ok", 10: "ok", 11: "fraud"}


def test_a_sheet_without_ranks_was_asked_for_too(run: Run, shop: Path) -> None:
    put("labels.csv", "ID,Label\n0,ok\n10,fraud\n" + "".join(f"{node},\n" for node in (1, 2, 3, 11)))
    result = ok(run("select", "graph", "-b", 14, "--labels", "labels.csv"))
    assert "Asked for and without a label yet, not asked for again: 4 (1, 2, 3, 11)\n" in result.stderr
    assert not {row["id"] for row in read("picks.csv")} & {"0", "1", "2", "3", "10", "11"}


def test_ids_that_miss_by_type(run: Run, shop: Path) -> None:
    put("labels.csv", "id,label\n0.0,ok\n10.0,fraud\n")
    assert refused(run(*TRAIN)) == (
        "Error: ids in labels.csv must be ids of the graph; found 2 ('0.0', '10.0') unknown: "
        "did you mean 0 for '0.0', 10 for '10.0'?"
    )


def test_a_sheet_to_decide_from(run: Run, shop: Path) -> None:
    ok(run("select", "graph", "-b", 2, "--show", "name,country"))
    first = read("picks.csv")
    assert list(first[0]) == ["rank", "id", "represents", "spread", "name", "country", "label"]
    assert [row["name"] for row in first] == [f"Name, {row['id']}" for row in first]
    for row in first:
        row["label"] = "ok" if int(row["id"]) < 10 else "fraud"
    write("picks.csv", first)
    assert "labels that a person typed: 2 (" in refused(run("select", "graph", "-b", 2, "--show", "name,country"))
    more = [
        "select",
        "graph",
        "-b",
        8,
        "--labels",
        "picks.csv",
        "--show",
        "country",
        "--show",
        "name",
        "-o",
        "more.csv",
    ]
    ok(run(*more))
    rows = read("more.csv")
    assert list(rows[0])[2:] == [
        "represents",
        "spread",
        "country",
        "name",
        "prediction",
        "confidence",
        "neighbours",
        "label",
    ]
    for row in rows:
        guess = "ok" if int(row["id"]) < 10 else "fraud"
        assert row["prediction"] == guess
        assert 0.5 < float(row["confidence"]) <= 1
        assert row["neighbours"] in (f"1 {guess}", f"predicted: 2 {guess}")
    ok(run(*more))
    for row in rows:
        row["label"] = row["prediction"]
    write("more.csv", rows)
    result = ok(run("train", "graph", "--labels", "picks.csv", "--labels", "more.csv"))
    assert result.stdout.startswith("Trained on 10 labels of 2 classes")


def test_labels_of_one_class_predict_nothing(run: Run, shop: Path) -> None:
    put("labels.csv", "id,label\n0,ok\n")
    ok(run("select", "graph", "-b", 2, "--labels", "labels.csv", "--show", "name", "--no-description"))
    assert list(read("picks.csv")[0]) == ["rank", "id", "name", "neighbours", "label"]


@pytest.mark.parametrize(
    ("shown", "message"),
    [
        ("nam", "show must name columns of the nodes (x, y, name, country); found 'nam': did you mean 'name'?"),
        ("id", "show must name columns other than the sheet's own; found 'id': leave it out, or rename the column."),
    ],
)
def test_columns_that_are_not_there(run: Run, shop: Path, shown: str, message: str) -> None:
    assert refused(run("select", "graph", "-b", 2, "--show", shown)) == f"Error: {message}"
    assert not Path("picks.csv").exists()


def test_standard_output(run: Run, shop: Path) -> None:
    result = ok(run("select", "graph", "-b", 2, "--out", "-", "--rounds", "rounds"))
    rows = rows_of(result.stdout)
    assert [list(row) for row in rows] == [["rank", "id", "represents", "spread", "label"]] * 2
    assert "Wrote 2 nodes: fill the label column.\nDistance of a node to the nearest" in result.stderr
    put("labels.csv", "id,label\n0,ok\n10,fraud\n")
    ok(run(*TRAIN))
    result = ok(run("predict", "graph", "--out", "-"))
    assert [row["id"] for row in rows_of(result.stdout)] == [str(node) for node in range(N)]
    assert "Wrote the predicted class of 20 nodes.\n" in result.stderr
    assert {path.name for path in Path().iterdir()} == {"graph", "labels.csv", "model", "rounds"}


def test_doubtful_predictions_are_told(run: Run, write_folder: Callable[..., Path]) -> None:
    """Features that say nothing: the model has nothing to tell the classes apart by."""
    nodes = "id,x\n" + "".join(f"{node},1\n" for node in range(N))
    write_folder(nodes, "source,target\n")
    put("labels.csv", "id,label\n" + "".join(f"{node},{'fraud' if node < 3 else 'ok'}\n" for node in range(8)))
    ok(run(*TRAIN))
    told = ok(run("predict", "graph")).stderr
    assert "100% of the nodes are predicted as" in told
    assert "The model contradicts labels it was trained on, " in told
    rows = read("predictions.csv")
    assert [row["label"] for row in rows[:8]] == ["fraud"] * 3 + ["ok"] * 5
    assert {row["isolated"] for row in rows} == {"yes"}
