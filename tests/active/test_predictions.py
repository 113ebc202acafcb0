"""Predictions to act on: a person's word stands, and what is doubtful is said."""

import csv
import io
from collections.abc import Hashable
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from featprop.active import write_predictions
from featprop.errors import LabelError
from featprop.graph import Graph
from featprop.models import NodeClassifier
from featprop.propagation import Propagation, coverage


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
    """Nodes in a line, but for the last, which has no edges."""
    n = len(firsts)
    features = np.column_stack([firsts, np.arange(1, n + 1)])
    ends = np.arange(n - 2)
    return Graph.from_scipy(sp.coo_array((np.ones(n - 2), (ends, ends + 1)), shape=(n, n)), features)


def rows_of(model: NodeClassifier, graph: Graph) -> list[dict[str, str]]:
    stream = io.BytesIO()
    write_predictions(stream, model, graph)
    return list(csv.DictReader(io.StringIO(stream.getvalue().decode())))


def fitted(graph: Graph, labels: dict[Hashable, Hashable]) -> NodeClassifier:
    return Stubborn().fit(graph, list(labels), list(labels.values()))


@pytest.mark.parametrize(("one", "other"), [(1, "1"), ("None", None), (True, "True")])
def test_classes_that_a_table_cannot_tell_apart(one: Hashable, other: Hashable, tmp_path: Path) -> None:
    graph = graph_of([0, 1, 0, 1])
    model = fitted(graph, {0: "a", 1: "b"})
    model.class_names_ = (one, other)
    with pytest.raises(LabelError) as told:
        write_predictions(tmp_path / "predictions.csv", model, graph)
    assert str(told.value) == (
        f"Classes in a table must be written differently; found {one!r} and {other!r}: "
        "rename one of them and train again."
    )
    assert not list(tmp_path.iterdir())


def test_what_a_person_gave_is_not_overruled() -> None:
    graph = graph_of([0, 1, 0, 0, 1, 0])
    model = fitted(graph, {0: "a", 1: "a", 2: "b"})
    rows = rows_of(model, graph)
    assert [row["given"] for row in rows] == ["a", "a", "b", "", "", ""]
    assert [row["label"] for row in rows] == ["a", "a", "b", "a", "b", "a"]
    for row in rows:
        assert row["confidence"] == row[f"probability_{row['label']}"]
    assert float(rows[1]["confidence"]) < 0.5 < float(rows[0]["confidence"])
    assert [row["isolated"] for row in rows] == ["", "", "", "", "", "yes"]
    expected = coverage(graph, np.array([0, 1, 2])).distances
    assert [float(row["distance"]) for row in rows] == pytest.approx(expected.tolist(), rel=1e-5)
    assert expected[:3].tolist() == [0, 0, 0]
    assert min(expected[3:]) > 0


def test_in_another_graph_nothing_is_given() -> None:
    rows = rows_of(fitted(graph_of([0, 1, 0, 0]), {0: "a", 1: "b"}), graph_of([1, 0, 1, 1]))
    assert [(row["given"], row["distance"], row["label"]) for row in rows] == [
        ("", "", name) for name in ("b", "a", "b", "b")
    ]


def test_one_class_for_nearly_all_is_told(caplog: pytest.LogCaptureFixture) -> None:
    rows_of(fitted(graph_of([0] * 19 + [1]), {0: "a", 1: "a", 18: "b", 19: "b"}), graph_of([0] * 19 + [1]))
    assert [record.getMessage() for record in caplog.records] == [
        "95% of the nodes are predicted as 'a', which has 50% of the labels: look at the features with featprop "
        "inspect, and label more nodes of the other classes"
    ]
    assert caplog.records[0].levelname == "WARNING"


@pytest.mark.parametrize(
    ("firsts", "labels"),
    [
        ([0] * 19 + [1], {**dict.fromkeys(range(19), "a"), 19: "b"}),
        ([0] * 18 + [1, 1], {0: "a", 19: "b"}),
    ],
    ids=["the labels say so", "not nearly all"],
)
def test_what_is_nothing_to_tell(
    firsts: list[int], labels: dict[Hashable, Hashable], caplog: pytest.LogCaptureFixture
) -> None:
    rows_of(fitted(graph_of(firsts), labels), graph_of(firsts))
    assert caplog.text == ""


def test_a_model_that_contradicts_its_labels_is_told(caplog: pytest.LogCaptureFixture) -> None:
    graph = graph_of([0, 1] * 8)
    wrong: dict[Hashable, Hashable] = {0: "b", 1: "a", 2: "b"}
    right = {node: "ab"[node % 2] for node in range(4, 16)}
    rows_of(fitted(graph, wrong | right), graph)
    assert caplog.records[0].getMessage() == (
        "The model contradicts labels it was trained on, 3 (0: b, not a, 1: a, not b, 2: b, not a) of 15, which stay "
        "as they are: check them, and whether the features tell the classes apart"
    )
    caplog.clear()
    rows_of(fitted(graph, {0: "b", 1: "a"}), graph)
    rows_of(fitted(graph, wrong | right | {3: "b"}), graph)
    assert caplog.text == ""
