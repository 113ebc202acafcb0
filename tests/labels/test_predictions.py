"""The table of predictions: the model and people have columns of their own."""

import csv
import io
from collections.abc import Hashable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import featprop as fp
from featprop.errors import FileError, LabelError, ParameterError
from featprop.graph import Graph
from featprop.labels.predictions import write_predictions
from featprop.models import NodeClassifier
from featprop.propagation import Propagation, coverage
from tests.graphs import edge_graph
from tests.helpers import raises


class Stubborn(NodeClassifier):
    """Predicts the class of the first feature, whatever the labels say."""

    def learn(self, propagation: Propagation, nodes: np.ndarray, targets: np.ndarray) -> None: ...

    def scores(self, propagation: Propagation) -> np.ndarray:
        first = np.asarray(propagation.graph.features)[:, 0].astype(int)
        return 2 * np.eye(len(self.class_names_), dtype=np.float32)[first]

    def state_dict(self) -> dict[str, np.ndarray]:
        return {}

    def load_state_dict(self, state: object) -> None: ...


def graph_of(firsts: list[int]) -> Graph:
    """Make a line of nodes with these first features; the last node has no edges."""
    n = len(firsts)
    return edge_graph(n, [(i, i + 1) for i in range(n - 2)], np.column_stack([firsts, np.arange(1, n + 1)]))


def rows_of(model: NodeClassifier, graph: Graph) -> list[dict[str, str]]:
    stream = io.BytesIO()
    write_predictions(stream, model, graph)
    return list(csv.DictReader(io.StringIO(stream.getvalue().decode())))


def fitted(graph: Graph, labels: dict[Hashable, Hashable]) -> NodeClassifier:
    return Stubborn().fit(graph, list(labels), list(labels.values()))


@pytest.mark.parametrize(("one", "other"), [(1, "1"), ("None", None), (True, "True")])
def test_classes_that_are_written_the_same(one: Hashable, other: Hashable, tmp_path: Path) -> None:
    graph = graph_of([0, 1, 0, 1])
    model = fitted(graph, {0: "a", 1: "b"})
    model.class_names_ = (one, other)
    with raises(LabelError, value=other):
        write_predictions(tmp_path / "predictions.csv", model, graph)
    assert not list(tmp_path.iterdir())


def test_predictions_and_labels_have_their_own_columns() -> None:
    graph = graph_of([0, 1, 0, 0, 1, 0])
    model = fitted(graph, {0: "a", 1: "a", 2: "b"})
    rows = rows_of(model, graph)
    assert list(rows[0])[:4] == ["id", "prediction", "confidence", "label"]
    assert [row["label"] for row in rows] == ["a", "a", "b", "", "", ""]
    assert [row["prediction"] for row in rows] == ["a", "b", "a", "a", "b", "a"]
    for row in rows:
        assert row["confidence"] == row[f"probability_{row['prediction']}"]
    assert [row["isolated"] for row in rows] == ["", "", "", "", "", "yes"]
    expected = coverage(graph, np.array([0, 1, 2])).distances
    assert [float(row["distance"]) for row in rows] == pytest.approx(expected.tolist(), rel=1e-5)
    assert expected[:3].tolist() == [0, 0, 0]
    assert min(expected[3:]) > 0


def test_in_another_graph_nothing_is_labelled() -> None:
    rows = rows_of(fitted(graph_of([0, 1, 0, 0]), {0: "a", 1: "b"}), graph_of([1, 0, 1, 1]))
    assert [(row["label"], row["distance"], row["prediction"]) for row in rows] == [
        ("", "", name) for name in ("b", "a", "b", "b")
    ]


def test_one_class_for_nearly_all_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    rows_of(fitted(graph_of([0] * 19 + [1]), {0: "a", 1: "a", 18: "b", 19: "b"}), graph_of([0] * 19 + [1]))
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("featprop.labels.predictions", "WARNING")
    assert all(fact in record.getMessage() for fact in ("95%", "'a'", "50%"))


def test_a_model_that_contradicts_its_labels_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    graph = graph_of([0, 1] * 8)
    wrong: dict[Hashable, Hashable] = {0: "b", 1: "a", 2: "b"}
    right = {node: "ab"[node % 2] for node in range(4, 16)}
    rows_of(fitted(graph, wrong | right), graph)
    assert "3 of the 15 labels" in caplog.records[0].getMessage()
    caplog.clear()
    rows_of(fitted(graph, {0: "b", 1: "a"}), graph)
    rows_of(fitted(graph, wrong | right | {3: "b"}), graph)
    assert caplog.text == ""


def test_corrections_typed_into_predictions_are_labels(tmp_path: Path) -> None:
    graph = graph_of([0, 1, 0, 0, 1, 0])
    path = tmp_path / "predictions.csv"
    write_predictions(path, fitted(graph, {0: "a", 1: "b"}), graph)
    text = path.read_text()
    assert text.splitlines()[0] == "id,prediction,confidence,label,probability_a,probability_b,distance,isolated"
    assert dict(fp.labels.read(path, graph)) == {0: "a", 1: "b"}
    lines = text.splitlines()
    lines[4] = lines[4].replace(",,", ",b,", 1)
    path.write_text("\n".join(lines))
    assert dict(fp.labels.read(path, graph)) == {0: "a", 1: "b", 3: "b"}
    with raises(FileError, path=path):
        write_predictions(path, fitted(graph, {0: "a", 1: "b"}), graph)
    write_predictions(path, fitted(graph, {0: "a", 1: "b"}), graph, force=True)
    assert dict(fp.labels.read(tmp_path / "predictions.csv.bak", graph)) == {0: "a", 1: "b", 3: "b"}


def test_predictions_as_parquet_are_exact(tmp_path: Path) -> None:
    graph = graph_of([0, 1, 0, 0, 1, 0])
    model = fitted(graph, {0: "a", 1: "b"})
    write_predictions(tmp_path / "p.parquet", model, graph)
    table = pq.read_table(tmp_path / "p.parquet")
    found = np.column_stack([table["probability_a"], table["probability_b"]])
    np.testing.assert_array_equal(found, model.predict_proba(graph))
    assert table["label"].to_pylist() == ["a", "b", None, None, None, None]
    with raises(ParameterError, parameter="out"):
        write_predictions(tmp_path / "p.xlsx", model, graph)
