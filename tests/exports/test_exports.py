"""Every export goes the whole way by the command line: inspect, select, label, train, predict."""

import csv
import logging
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow.csv as arrow_csv
import pytest

import featprop as fp

Run = Callable[..., Any]
Export = Any
EXPORTS = ["bank", "german", "papers", "with_index", "with_index_in_parquet", "utf16", "workbook", "from_networkx"]
BANK = 'nodes = "nodes.csv"\nedges = "edges.csv"\n[columns]\nsource = "payer"\ntarget = "payee"\n'
TOLD = {
    "bank": ["logarithm", "month, weekday"],
    "german": ["Größe", "Umsatz", "weights divided by their mean"],
    "papers": ["TF-IDF", "16 numbers"],
    "workbook": ["position in time", "1 for true, 0 for false"],
}


def graph_of(export: Export) -> Path:
    book = export.folder / "graph.xlsx"
    if export.folder.name == "bank":
        (export.folder / "graph.toml").write_text(BANK)
    return book if book.exists() else export.folder


def ok(result: Any) -> Any:
    assert result.exit_code == 0, result.output
    return result


def filled(sheet: Path, classes: dict[str, str]) -> None:
    with sheet.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(row | {"label": classes[row["id"]]} for row in rows)


@pytest.mark.parametrize("name", EXPORTS)
def test_from_the_export_to_predictions(name: str, run: Run, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    export = request.getfixturevalue(name)
    graph = graph_of(export)
    told = ok(run("inspect", graph)).output
    for words in TOLD.get(name, []):
        assert words in told, told
    ok(run("select", graph, "--budget", "20", "--out", "picks.csv"))
    filled(tmp_path / "picks.csv", export.classes)
    ok(run("train", graph, "--labels", "picks.csv", "--out", "model.safetensors"))
    ok(run("predict", graph, "--model", "model.safetensors", "--out", "predictions.csv"))
    rows = arrow_csv.read_csv(tmp_path / "predictions.csv").to_pylist()
    assert len(rows) == len(export.classes)
    right = sum(export.classes[str(row["id"])] == row["prediction"] for row in rows)
    assert right / len(rows) > 0.85
    given = {str(row["id"]): row["label"] for row in rows if row["label"]}
    assert len(given) == 20
    assert all(export.classes[node] == label for node, label in given.items())


@pytest.mark.parametrize("name", ["bank", "papers", "german"])
def test_a_converted_graph_predicts_the_same(
    name: str, run: Run, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    export = request.getfixturevalue(name)
    graph_of(export)
    ok(run("convert", export.folder, "kept"))
    (tmp_path / "labels.csv").write_text(
        "id,label\n" + "".join(f"{node},{label}\n" for node, label in list(export.classes.items())[:40])
    )
    ok(run("train", export.folder, "--labels", "labels.csv", "--out", "model.safetensors"))
    ok(run("predict", export.folder, "--out", "one.csv"))
    ok(run("predict", "kept", "--out", "other.csv"))
    assert (tmp_path / "one.csv").read_text() == (tmp_path / "other.csv").read_text()
    ok(run("inspect", "kept"))


def test_ids_that_became_floats_are_recognised(run: Run, float_ids: Export) -> None:
    result = run("inspect", float_ids.folder)
    assert result.exit_code == 2
    assert "100 for 100.0" in result.output


def test_ends_of_unusual_names_stop(run: Run, bank: Export) -> None:
    result = run("select", bank.folder, "--budget", "5")
    assert result.exit_code == 2
    assert all(name in result.output for name in ("tx_id", "payer", "payee", "amount"))


def test_a_model_meets_new_columns_gone_ones_and_another_order(
    run: Run, bank: Export, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    labels = "id,label\n" + "".join(f"{node},{label}\n" for node, label in list(bank.classes.items())[:60])
    (tmp_path / "labels.csv").write_text(labels)
    ok(run("train", graph_of(bank), "--labels", "labels.csv"))
    ok(run("predict", bank.folder, "--out", "one.csv"))
    with (bank.folder / "nodes.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    other = shutil.copytree(bank.folder, tmp_path / "other")
    titles = [title for title in reversed(rows[0]) if title != "newsletter"] + ["new"]
    with (other / "nodes.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, titles, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(
            row | {"new": "x", "country": "BE" if row["country"] == "NL" else row["country"]} for row in rows
        )
    with caplog.at_level(logging.WARNING, "featprop"):
        ok(run("predict", other, "--out", "other.csv"))
    assert "newsletter" in caplog.text
    assert "country" in caplog.text
    ours, theirs = (arrow_csv.read_csv(tmp_path / name)["prediction"].to_pylist() for name in ("one.csv", "other.csv"))
    assert sum(a == b for a, b in zip(ours, theirs, strict=True)) > 0.8 * len(ours)


def test_labels_of_a_workbook(run: Run, workbook: Export, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["id", "label"])
    for node, label in list(workbook.classes.items())[:30]:
        book.active.append([int(node), label])
    book.save(tmp_path / "labels.xlsx")
    result = ok(run("train", graph_of(workbook), "--labels", "labels.xlsx"))
    assert "Trained on 30 labels of 2 classes" in result.output


def test_python_does_the_same(bank: Export, tmp_path: Path) -> None:
    graph = fp.read_graph(graph_of(bank))
    picks = fp.select(graph, 20)
    model = fp.GraphRidge().fit(graph, picks, [bank.classes[node] for node in picks])
    fp.models.save_model(model, tmp_path / "model.safetensors")
    again = fp.load_model(tmp_path / "model.safetensors")
    (bank.folder / "graph.toml").write_text(f"{BANK}ignore = ['age']\n")
    other = fp.read_graph(bank.folder)
    assert again.predict(other).tolist() == model.predict(graph).tolist()
