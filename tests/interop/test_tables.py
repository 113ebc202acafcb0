"""Two tables become a graph: which columns name nodes and join them, and what edges weigh."""

import logging

import numpy as np
import pyarrow as pa
import pytest

from featprop.errors import FeatpropError, FileError, GraphError
from featprop.graph import Graph
from featprop.interop.edges import ENDS
from featprop.interop.tables import raw_from_tables
from featprop.tables import TableOptions
from tests.helpers import raises


def graph(nodes: dict[str, object], edges: dict[str, object], **options: object) -> Graph:
    return Graph.from_raw(raw_from_tables(pa.table(nodes), pa.table(edges), TableOptions(**options), typed=False))


NODES = {"id": ["a", "b", "c", "d"], "x": [1.0, 2.5, 3.0, 9.0], "y": [0.1, 0.2, 0.7, 0.3]}


def joined(found: Graph) -> list[tuple[object, object]]:
    rows, columns = found.adjacency.nonzero()
    return sorted((found.ids[a], found.ids[b]) for a, b in zip(rows, columns, strict=True) if a < b)


@pytest.mark.parametrize("ends", ENDS)
def test_ends_of_usual_names_are_found_wherever_they_are(ends: tuple[str, str]) -> None:
    first, second = ends
    edges = {"": [0, 1], "amount": [3.0, 4.0], first.upper(): ["a", "b"], "note": ["-", "-"], second: ["b", "c"]}
    assert joined(graph(NODES, edges)) == [("a", "b"), ("b", "c")]


def test_an_index_before_the_ends_is_not_an_end(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    found = graph(NODES, {"": [0, 1], "from": ["a", "b"], "to": ["b", "c"], "weight": [1.0, 3.0]})
    assert joined(found) == [("a", "b"), ("b", "c")]
    assert "Edges of edges: 'from' and 'to', weighted by 'weight'" in caplog.text


def test_unusual_names_are_not_guessed() -> None:
    edges = {"tx_id": ["a", "b"], "payer": ["a", "b"], "payee": ["b", "c"]}
    with pytest.raises(FileError, match="found tx_id, payer, payee: say with --source and --target which two join"):
        graph(NODES, edges)
    assert joined(graph(NODES, edges, source="payer", target="payee")) == [("a", "b"), ("b", "c")]
    with pytest.raises(FileError, match="must have a column 'buyer'; found the columns tx_id, payer, payee"):
        graph(NODES, edges, source="payer", target="buyer")
    with pytest.raises(FileError, match="must be read with --source and --target; found only --source"):
        graph(NODES, edges, source="payer")


def test_two_columns_are_the_ends_whatever_their_names() -> None:
    assert joined(graph(NODES, {"payer": ["a"], "payee": ["d"]})) == [("a", "d")]
    with_weight = {"source": ["a"], "weight": ["d"]}
    assert joined(graph(NODES, with_weight, weights="none")) == [("a", "d")]
    assert joined(graph(NODES, with_weight, source="source", target="weight")) == [("a", "d")], "and it weighs nothing"
    with pytest.raises(FileError, match="must have the columns source and target; found source, weight"):
        graph(NODES, with_weight)


@pytest.mark.parametrize("name", ["id", "ID", "node_id", "Node", ""])
def test_the_ids_are_found(name: str) -> None:
    nodes = {name if key == "id" else key: values for key, values in NODES.items()}
    assert graph(nodes, {"u": ["a"], "v": ["b"]}).ids.tolist() == ["a", "b", "c", "d"]


def test_ids_are_not_guessed_either() -> None:
    nodes = {"customer": NODES["id"], "x": NODES["x"]}
    with pytest.raises(FileError, match="must have a column 'id'; found the columns customer, x: say with --id"):
        graph(nodes, {"u": ["a"], "v": ["b"]})
    assert graph(nodes, {"u": ["a"], "v": ["b"]}, id="customer").ids.tolist() == ["a", "b", "c", "d"]


@pytest.mark.parametrize("values", [[["p"], ["q"], ["r"], ["s"]], [{"p": 1}] * 4, pa.array([b"p", b"q", b"r", b"s"])])
def test_what_cannot_name_a_node_is_not_advised_for_ids(values: object) -> None:
    nodes = {"tags": values, "x": NODES["x"]}
    with pytest.raises(FileError, match=r"say with --id which column names the nodes\.$"):
        graph(nodes, {"u": ["a"], "v": ["b"]})


def test_an_index_is_no_feature() -> None:
    for name in ("", "__index_level_0__", "Unnamed: 0", "index"):
        found = graph({name: [0, 1, 2, 3]} | NODES, {"u": ["a"], "v": ["b"]})
        assert found.feature_names == ("x", "y"), name


@pytest.mark.parametrize(
    ("ids", "ends", "advice"),
    [
        ([160, 161, 162, 163], ["161.0", "162.0"], "did you mean 161 for '161.0'"),
        (["160", "161", "162", "0163"], [" 160", "162"], "did you mean '160'?"),
        (["Ada", "Bob", "Cyd", "Dot"], ["ada", "Bob"], "did you mean 'Ada'?"),
    ],
)
def test_ids_that_nearly_match_are_recognised(ids: list[object], ends: list[str], advice: str) -> None:
    with pytest.raises(GraphError) as error:
        graph(NODES | {"id": ids}, {"u": ends, "v": ends})
    assert advice in str(error.value)


def test_the_unit_of_the_weights_does_not_matter() -> None:
    ends = {"u": ["a", "b", "c"], "v": ["b", "c", "d"]}
    cents = graph(NODES, ends | {"weight": [100.0, 300.0, 200.0]})
    euros = graph(NODES, ends | {"weight": [1.0, 3.0, 2.0]})
    np.testing.assert_allclose(cents.adjacency.toarray(), euros.adjacency.toarray(), rtol=1e-6)
    assert cents.adjacency.data.mean() == pytest.approx(1)
    assert "weights divided by their mean, 200" in cents.repairs
    assert graph(NODES, ends | {"weight": [100.0, 300.0, 200.0]}, weights="raw").adjacency.max() == 300
    assert graph(NODES, ends | {"weight": [100.0, 300.0, 200.0]}, weights="none").adjacency.max() == 1
    assert set(graph(NODES, ends | {"weight": [5, 5, 5]}).adjacency.data) == {1.0}


@pytest.mark.parametrize(("repeated", "weights"), [("max", [4.0, 7.0]), ("sum", [7.0, 7.0]), ("count", [3.0, 1.0])])
def test_what_repeated_edges_weigh(repeated: str, weights: list[float]) -> None:
    edges = {"u": ["a", "b", "a", "c"], "v": ["b", "a", "b", "d"], "weight": [1.0, 2.0, 4.0, 7.0]}
    found = graph(NODES, edges, weights="raw", repeated=repeated).adjacency.toarray()
    assert [found[0, 1], found[2, 3]] == weights
    np.testing.assert_array_equal(found, found.T)


def test_weights_may_be_written_with_a_comma_and_must_be_numbers() -> None:
    ends = {"u": ["a", "b"], "v": ["b", "c"]}
    found = graph(NODES, ends | {"weight": ["1,5", "4,5"]}, weights="raw")
    assert sorted(set(found.adjacency.data.tolist())) == [1.5, 4.5]
    with pytest.raises(GraphError, match="Column 'weight' of edges must be numeric"):
        graph(NODES, ends | {"weight": ["much", "little"]})
    with pytest.raises(GraphError, match=r"found an empty cell in row 1: write a number in every row"):
        graph(NODES, ends | {"weight": ["", ""]})
    with pytest.raises(GraphError, match=r"found inf in row 2 \(1 in all\)"):
        graph(NODES, ends | {"weight": [1.0, np.inf]})


def test_weights_of_no_edge_at_all() -> None:
    nothing = pa.table({"source": pa.nulls(0), "target": pa.nulls(0), "weight": pa.nulls(0)})
    assert Graph.from_pandas(pa.table({"id": ["a", "b"], "w": [1.0, 2.0]}), nothing).n_edges == 0


def test_another_name_for_the_labels() -> None:
    nodes = NODES | {"risk": ["low", None, "high", "low"]}
    found = graph(nodes, {"u": ["a"], "v": ["b"]}, label="risk")
    assert found.class_names() == ["low", None, "high", "low"]
    assert "risk" not in " ".join(found.feature_names)


def test_a_preparation_is_done_again_by_name() -> None:
    first = graph(NODES, {"u": ["a"], "v": ["b"]})
    other = {"y": [0.7], "id": ["z"], "x": [3.0]}
    again = raw_from_tables(
        pa.table(other), pa.table({"u": ["z"], "v": ["z"]}), TableOptions(), preparation=first.preparation
    )
    np.testing.assert_allclose(np.asarray(again.features), first.features[2:3], rtol=1e-6)
    prepared = graph(other, {"u": ["z"], "v": ["z"]}, raw=True).prepared(first.preparation)
    np.testing.assert_allclose(prepared.features, first.features[2:3], rtol=1e-6)
    assert first.prepared(first.preparation) is first


def test_nothing_to_learn_from_is_one_sentence() -> None:
    for nodes in (
        {"id": ["a", "b"]},
        {"id": ["a", "b"], "x": ["p", "p"]},
        {"id": [], "x": []},
        {"id": ["a", None], "x": [1, 2]},
    ):
        with pytest.raises(FeatpropError):
            graph(nodes, {"u": ["a"], "v": ["b"]})


def test_duplicate_ids_are_told_before_columns_are_prepared(caplog: pytest.LogCaptureFixture) -> None:
    nodes = {"id": ["a", "b", "a"], "x": [1.0, 2.0, 3.0], "mail": ["a@x.org", "b@x.org", "c@x.org"]}
    with caplog.at_level("INFO", "featprop"), pytest.raises(GraphError, match=r"Node ids of nodes must be distinct"):
        graph(nodes, {"u": ["a"], "v": ["b"]})
    assert caplog.messages == []


def test_an_index_may_be_asked_for_beside_others() -> None:
    nodes = {"id": list("abcd"), "index": [0, 1, 2, 3], "x": [1.0, 5.0, 2.0, 2.5]}
    edges = {"u": ["a"], "v": ["b"]}
    assert graph(nodes, edges).feature_names == ("x",)
    assert graph(nodes, edges, features=("index,x",)).feature_names == ("index", "x")


def test_a_first_edge_in_the_place_of_the_header_is_refused(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(FileError, match=r"edges must begin with the names of its columns; found the nodes 'a' and 'b'"):
        graph(NODES, {"a": ["b"], "b": ["c"]})
    assert joined(graph(NODES, {"a": ["b"], "b": ["c"]}, source="a", target="b")) == [("b", "c")]
    assert joined(graph(NODES, {"a": ["b"], "x": ["c"]})) == [("b", "c")]
    assert caplog.messages == []
    assert joined(graph({"id": [0, 1, 2], "x": [1.0, 2.5, 4.0]}, {"0": [1], "1": [2]})) == [(1, 2)]
    (message,) = caplog.messages
    assert message.startswith("edges begins with the nodes '0' and '1', taken for names of columns: if this is an edge")


def test_weights_of_two_currencies_are_told_as_such() -> None:
    edges = {"u": list("abc"), "v": list("bcd"), "weight": ["$ 84.74", "€ 26.53", "$ 3"]}
    with pytest.raises(
        GraphError, match=r"must have one unit, \$ as most weights; found '€ 26.53' in row 2: convert the"
    ):
        graph(NODES, edges)
    with pytest.raises(GraphError, match=r"must be numeric; found 'strong' in row 2"):
        graph(NODES, edges | {"weight": ["$ 84.74", "strong", "$ 3"]})


def test_a_weight_beyond_a_float_is_told_as_it_was_given() -> None:
    edges = {"u": ["a", "b"], "v": ["b", "c"], "weight": ["1", "1e300"]}
    with raises(GraphError, parameter="weights", value=1e300, node="b"):
        graph(NODES, edges)
