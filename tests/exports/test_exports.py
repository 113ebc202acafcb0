"""Every export goes the whole way by the command line: inspect, select, label, train, predict."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow.csv as arrow_csv
import pytest

import featprop as fp
from featprop.sources.building import convert_tables
from featprop.sources.reading import describe

Run = Callable[..., Any]
Export = Any
COLUMNS = {
    "bank": (["age", "balance", "country", "since", "newsletter"], 11),
    "german": (["Größe", "Umsatz", "Quote", "Branche"], 4),
    "papers": (["title", "year", "embedding"], 36),
    "with_index": (["w0", "w1", "w2", "colour"], 4),
    "with_index_in_parquet": (["w0", "w1", "w2", "colour"], 4),
    "workbook": (["w0", "w1", "w2", "colour", "joined", "active"], 10),
    "from_networkx": (["w0", "w1", "w2", "colour"], 4),
}
"""The columns of each export that become features, and the number of features."""
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


@pytest.mark.parametrize("name", TOLD)
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


@pytest.mark.parametrize("name", COLUMNS)
def test_the_right_columns_become_features_and_conversion_keeps_them(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    export = request.getfixturevalue(name)
    graph = fp.read_graph(graph_of(export))
    assert graph.preprocessor is not None
    assert (list(graph.preprocessor.column_names), graph.n_features) == COLUMNS[name]
    convert_tables(describe(graph_of(export)), tmp_path / "kept")
    assert fp.read_graph(tmp_path / "kept").fingerprint == graph.fingerprint


def test_ids_that_became_floats_are_recognised(run: Run, float_ids: Export) -> None:
    result = run("inspect", float_ids.folder)
    assert result.exit_code == 2
    assert "100 for 100.0" in result.output


def test_ends_of_unusual_names_stop(run: Run, bank: Export) -> None:
    result = run("select", bank.folder, "--budget", "5")
    assert result.exit_code == 2
    assert all(name in result.output for name in ("tx_id", "payer", "payee", "amount"))


def test_labels_of_a_workbook(run: Run, workbook: Export, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["id", "label"])
    for node, label in list(workbook.classes.items())[:30]:
        book.active.append([int(node), label])
    book.save(tmp_path / "labels.xlsx")
    result = ok(run("train", graph_of(workbook), "--labels", "labels.xlsx"))
    assert "Trained on 30 labels of 2 classes" in result.output
