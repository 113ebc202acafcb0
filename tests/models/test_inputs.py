"""Models, strategies and learners accept graphs, nodes and labels of other libraries."""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import featprop as fp
from featprop.errors import LabelError
from featprop.graph import as_graph
from featprop.propagation import propagate
from tests.helpers import raises


@pytest.fixture(params=["graph", "path", "networkx"])
def given(request: pytest.FixtureRequest, line: fp.Graph, write_folder: Any) -> Any:
    """Return the line of five nodes in a form that keeps its ids."""
    forms = {"graph": lambda: line, "path": write_folder, "networkx": line.to_networkx}
    return forms[request.param]()


def test_every_method_accepts_other_graphs(given: Any) -> None:
    graph = as_graph(given)
    model = fp.GraphRidge().fit(given, ["a", "c"], ["left", "right"])
    np.testing.assert_array_equal(model.predict(given), model.predict(graph))
    np.testing.assert_array_equal(model.predict_proba(given), model.predict_proba(graph))
    np.testing.assert_array_equal(model.decision_function(given), model.decision_function(graph))
    np.testing.assert_array_equal(model.representation(given), model.representation(graph))
    assert fp.GraphRidge().fit(given, ["a"], ["left"], cold_start=True).predict(given).tolist() == ["left"] * 5
    assert fp.select(given, 2).nodes.tolist() == fp.select(graph, 2).nodes.tolist()
    np.testing.assert_array_equal(propagate(given), propagate(graph))


def test_pyg_data(line: fp.Graph) -> None:
    data = line.to_pyg()
    model = fp.GraphRidge().fit(data, [0, 2], ["left", "right"])
    expected = fp.GraphRidge().fit(line, ["a", "c"], ["left", "right"]).predict(line)
    assert model.predict(data).tolist() == expected.tolist()
    assert fp.ActiveLearner(data).ask(2).nodes.tolist() == fp.select(data, 2).nodes.tolist()


@pytest.mark.parametrize(
    ("nodes", "labels"),
    [
        (pd.Index(["a", "c"]), pd.Series(["left", "right"])),
        (pd.Series(["a", "c"]), pd.Series(pd.Categorical(["left", "right"]))),
        (pd.Series(["a", "c"], index=[4, 8]), pd.Series(["left", "right"], index=[4, 8])),
        (["a", "c"], pd.Series({"a": "left", "c": "right"})),
        (pa.array(["a", "c"]), pa.chunked_array([["left"], ["right"]])),
        (np.array(["a", "c"]), np.array(["left", "right"])),
    ],
)
def test_nodes_and_labels_of_pandas_and_arrow(line: fp.Graph, nodes: Any, labels: Any) -> None:
    expected = fp.GraphRidge().fit(line, ["a", "c"], ["left", "right"])
    model = fp.GraphRidge().fit(line, nodes, labels)
    assert model.class_names_ == ("left", "right")
    np.testing.assert_array_equal(model.predict_proba(line), expected.predict_proba(line))


def test_a_selection_as_nodes(line: fp.Graph) -> None:
    picks = fp.select(line, 3)
    labels = pd.Series(["x", "y", "x"], index=picks.nodes)
    model = fp.GraphRidge().fit(line, picks, labels)
    assert model.predict(line).shape == (5,)
    assert not set(fp.select(line, 2, labelled=picks)) & set(picks)
    assert not set(fp.select(line, 2, exclude=picks)) & set(picks)
    assert set(fp.select(line, 3, candidates=picks)) == set(picks)
    for call in (
        lambda: fp.GraphRidge().fit(line, picks, labels[::-1]),
        lambda: fp.select(line, 1, labelled=picks, labels=labels[::-1]),
    ):
        with raises(LabelError, parameter="labels"):
            call()


def test_a_column_that_holds_the_labels_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    labels = ["a", "b"] * 20
    nodes = pa.table({"id": range(40), "verdict": [f"is {name}" for name in labels], "x": [n % 7 for n in range(40)]})
    graph = fp.Graph.from_tables(nodes, pa.table({"source": range(39), "target": range(1, 40)}))
    fp.GraphRidge().fit(graph, range(30), labels[:30])
    assert "verdict" in caplog.text


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_a_missing_label_is_named(line: fp.Graph, missing: Any) -> None:
    for labels in (pd.Series(["x", missing, "y"], dtype=object), ["x", missing, "y"]):
        with raises(LabelError, parameter="labels", node="b"):
            fp.GraphRidge().fit(line, ["a", "b", "c"], labels)


def test_html_repr(line: fp.Graph, tmp_path: Any) -> None:
    model = fp.GraphRidge(alpha=2.0)
    assert "GraphRidge(alpha=2.0)" in model._repr_html_()
    model.fit(line, ["a", "c", "e"], ["<b>", "right", "right"])
    shown = model._repr_html_()
    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown
    fp.models.save_model(model, tmp_path / "model")
    assert "&lt;b&gt;" in fp.load_model(tmp_path / "model")._repr_html_()
