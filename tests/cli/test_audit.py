"""``featprop audit``, and what other commands make of its sheet."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import featprop
from featprop.labels import LabelLog
from tests.helpers import assert_refused

Run = Callable[..., Any]


def rows_of(path: str) -> list[dict[str, str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def fill(path: str, label: Callable[[str], str] = lambda node: "abc"[int(node) % 3]) -> None:
    """Type the class of each node into a sheet, as a person would."""
    rows = rows_of(path)
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "label": label(row["id"])} for row in rows)


def ids_of(path: str) -> set[str]:
    return {row["id"] for row in rows_of(path)}


def ok(result: Any) -> Any:
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture
def labelled(graph_folder: Path, run: Run) -> Path:
    """A graph and ``picks.csv`` with 12 labels."""
    ok(run("select", graph_folder, "--budget", 12))
    fill("picks.csv")
    return graph_folder


def test_from_the_draw_to_the_score(labelled: Path, run: Run) -> None:
    told = ok(run("audit", labelled, "--labels", "picks.csv", "--size", 30, "--show", "w1"))
    assert "30 of 228 nodes to audit.csv" in told.stdout
    rows = rows_of("audit.csv")
    assert list(rows[0]) == ["id", "label", "rank", "audit", "w1"]
    assert {row["audit"] for row in rows} == {"7.6"}
    assert not ids_of("audit.csv") & ids_of("picks.csv")
    fill("audit.csv")
    told = ok(run("train", labelled, "--labels", "picks.csv", "--labels", "audit.csv"))
    assert "30 of 30 nodes labelled" in told.output
    assert "Trained on 12 labels of 3 classes" in told.stdout
    assert "audit of 30 nodes" in told.stdout
    assert set(map(str, featprop.load_model("model.safetensors").labelled_)) == ids_of("picks.csv")
    told = ok(
        run("train", labelled, "--labels", "picks.csv", "--labels", "audit.csv", "--use-audit", "-o", "all.safetensors")
    )
    assert "Trained on 42 labels" in told.stdout
    assert "audit of" not in told.stdout
    assert set(map(str, featprop.load_model("all.safetensors").labelled_)) == ids_of("picks.csv") | ids_of("audit.csv")


def test_a_second_audit_and_the_first_are_one(labelled: Path, run: Run) -> None:
    ok(run("audit", labelled, "--labels", "picks.csv", "--size", 20))
    both = ("--labels", "picks.csv", "--labels", "audit.csv")
    fill("audit.csv")
    ok(run("audit", labelled, *both, "--size", 60, "--out", "second.csv"))
    fill("second.csv")
    told = ok(run("train", labelled, *both, "--labels", "second.csv"))
    (model, graph) = featprop.load_model("model.safetensors"), featprop.read_graph(labelled)
    audit = {int(node): "abc"[int(node) % 3] for node in ids_of("audit.csv") | ids_of("second.csv")}
    assert str(featprop.evaluate.score_audit(graph, model, audit).accuracy) in told.stdout
    sheet = featprop.labels.read(["audit.csv", "second.csv"], graph)
    assert set(sheet.audit.values()) == {228 / 80}


def test_nodes_of_the_audit_are_not_chosen(labelled: Path, run: Run) -> None:
    ok(run("audit", labelled, "--labels", "picks.csv", "--size", 200))
    both = ("--labels", "picks.csv", "--labels", "audit.csv")
    ok(run("select", labelled, "--budget", 28, *both, "--out", "more.csv"))
    assert not ids_of("more.csv") & (ids_of("audit.csv") | ids_of("picks.csv")), "an empty sheet counts, too"
    fill("audit.csv")
    ok(run("select", labelled, "--budget", 28, *both, "--out", "more.csv", "--show", "w1", "--force"))
    assert not ids_of("more.csv") & ids_of("audit.csv")
    refused = run("select", labelled, "--budget", 29, *both, "--out", "other.csv")
    assert refused.exit_code == 2
    assert "28" in refused.output
    ok(run("audit", labelled, *both, "--size", 28, "--out", "rest.csv"))
    assert not ids_of("rest.csv") & (ids_of("audit.csv") | ids_of("picks.csv"))


def test_rounds_keep_the_mark_and_what_was_released(labelled: Path, run: Run) -> None:
    ok(run("audit", labelled, "--labels", "picks.csv", "--size", 20))
    fill("audit.csv")
    select = ("select", labelled, "--budget", 5, "--log", "a.labels", "--labels")
    ok(run(*select, "picks.csv", "--labels", "audit.csv", "--out", "one.csv"))
    with LabelLog("a.labels") as log:
        assert (len(log.labels()), len(log.audited())) == (12, 20)
        assert set(log.audit().values()) == {11.4}
    fill("audit.csv", lambda _: "a")
    ok(run(*select, "audit.csv", "--out", "two.csv"))
    with LabelLog("a.labels") as log:
        assert set(log.audited().values()) == {"a"}, "a label that was changed in the sheet is a correction"
        log.release_audit()
    fill("two.csv")
    ok(run(*select, "two.csv", "--labels", "audit.csv", "--out", "three.csv"))
    with LabelLog("a.labels") as log:
        assert (len(log.labels()), log.audit()) == (37, {})


def test_by_predicted(labelled: Path, run: Run) -> None:
    ok(run("audit", labelled, "--labels", "picks.csv", "--size", 30, "--by", "predicted"))
    weights = [row["audit"] for row in rows_of("audit.csv")]
    assert sorted(weights.count(weight) for weight in set(weights)) in ([10, 10, 10], [10, 20], [30])
    assert sum(map(float, weights)) == pytest.approx(228, abs=0.01)


def test_the_seed_decides(labelled: Path, run: Run) -> None:
    drawn = []
    for seed in (0, 0, 1):
        ok(run("audit", labelled, "--seed", seed, "--out", "drawn.csv", "--force"))
        drawn.append(Path("drawn.csv").read_bytes())
    assert drawn[0] == drawn[1] != drawn[2]


def test_standard_output(labelled: Path, run: Run) -> None:
    told = ok(run("audit", labelled, "--size", 3, "--out", "-"))
    assert told.stdout.startswith("id,label,rank,audit\n")
    assert "3 of 240 nodes" in told.stderr


BAD: list[tuple[str, list[Any], str]] = [
    ("typed", [], "audit.csv"),
    ("", ["--size", 0], "--size 1 228 0"),
    ("", ["--size", 2, "--by", "predicted"], "--size 3 2"),
    ("", ["--by", "degree"], "degree"),
    ("", ["--model", "ridge"], "model"),
    ("", ["--show", "audit"], "'audit'"),
    ("", ["--out", "audit.xlsx"], ".csv"),
]


@pytest.mark.parametrize(("state", "options", "facts"), BAD)
def test_what_is_refused(labelled: Path, run: Run, state: str, options: list[Any], facts: str) -> None:
    if state == "typed":
        ok(run("audit", labelled, "--labels", "picks.csv"))
        fill("audit.csv")
    before = Path("audit.csv").read_bytes() if state else None
    refused = run("audit", labelled, "--labels", "picks.csv", *options)
    assert_refused(refused, facts)
    assert (Path("audit.csv").read_bytes() if Path("audit.csv").exists() else None) == before


def test_by_what_nobody_can_predict(labelled: Path, run: Run) -> None:
    refused = run("audit", labelled, "--by", "predicted")
    assert refused.exit_code == 2
    Path("one.csv").write_text("id,label\n1,a\n2,a\n")
    refused = run("audit", labelled, "--by", "predicted", "--labels", "one.csv")
    assert_refused(refused, "labels two classes")


def test_sheets_that_cannot_be_an_audit(labelled: Path, run: Run) -> None:
    ok(run("audit", labelled, "--size", 240, "--out", "all.csv"))
    fill("all.csv")
    refused = run("train", labelled, "--labels", "picks.csv", "--labels", "all.csv")
    assert refused.exit_code == 2
    assert "12 (" in refused.output
    refused = run("train", labelled, "--labels", "all.csv")
    assert refused.exit_code == 2
    ok(run("train", labelled, "--labels", "all.csv", "--use-audit"))
    Path("damaged.csv").write_text("id,audit,label\n1,7.6,a\n2,,b\n3,lots,c\n")
    refused = run("train", labelled, "--labels", "damaged.csv", "--force")
    assert refused.exit_code == 2
    assert all(fact in refused.output for fact in ("audit", "damaged.csv", "'lots'"))


def test_a_column_of_that_name_that_is_somebodys_own(labelled: Path, run: Run) -> None:
    Path("own.csv").write_text("id,audit,label\n1,yes,b\n2,no,c\n3,,a\n")
    assert "Trained on 3 labels" in ok(run("train", labelled, "--labels", "own.csv")).stdout


def test_weights_that_a_spreadsheet_wrote(labelled: Path, run: Run) -> None:
    free = sorted({str(node) for node in range(240)} - ids_of("picks.csv"))[:2]
    Path("comma.csv").write_text("id;audit;label\n" + "".join(f"{node};7,6;b\n" for node in free))
    told = ok(run("train", labelled, "--labels", "picks.csv", "--labels", "comma.csv"))
    assert "2 of 2 nodes labelled" in told.output


def test_rows_that_lost_their_mark_are_told(labelled: Path, run: Run) -> None:
    ok(run("audit", labelled, "--labels", "picks.csv", "--size", 5))
    fill("audit.csv")
    text = Path("audit.csv").read_text()
    Path("damaged.csv").write_text(text.replace(rows_of("audit.csv")[0]["audit"], "", 1))
    told = ok(run("train", labelled, "--labels", "picks.csv", "--labels", "damaged.csv"))
    assert "damaged.csv: 1 " in told.output
    assert "Trained on 13 labels" in told.stdout


def test_both_sheets_may_be_drawn_before_any_is_filled(graph_folder: Path, run: Run) -> None:
    ok(run("select", graph_folder, "--budget", 12))
    told = ok(run("audit", graph_folder, "--labels", "picks.csv", "--size", 20))
    assert "20 of 228 nodes" in told.stdout
    assert not ids_of("audit.csv") & ids_of("picks.csv")


def test_a_log_of_the_page_brings_its_audit_along(labelled: Path, run: Run) -> None:
    with featprop.LabelLog(Path("page.labels")) as log:
        log.tell({int(row["id"]): row["label"] for row in rows_of("picks.csv")})
        free = sorted(set(range(240)) - {int(node) for node in ids_of("picks.csv")})[:12]
        log.draw_audit(dict.fromkeys(free, 19.0))
        log.tell({node: "abc"[node % 3] for node in free})
    told = ok(run("train", labelled, "--labels", "page.labels"))
    assert "Trained on 12 labels" in told.stdout
    assert "audit of 12 nodes" in told.stdout
    assert (
        "Trained on 24 labels" in ok(run("train", labelled, "--labels", "page.labels", "--use-audit", "--force")).stdout
    )
    both = ["train", labelled, "--labels", "page.labels", "--labels", "picks.csv"]
    told = ok(run(*both, "--force"))
    assert "Trained on 12 labels" in told.stdout
    assert "audit of 12 nodes" in told.stdout
    assert "Trained on 24 labels" in ok(run(*both, "--use-audit", "--force")).stdout
