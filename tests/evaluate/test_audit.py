"""Drawing an audit: uniform or by what is predicted, never of nodes that have a label."""

from collections import Counter

import numpy as np
import pytest

from featprop.datasets import digits
from featprop.errors import ModelError, ParameterError
from featprop.evaluate import draw_audit
from featprop.evaluate.audit import shares_of
from featprop.graph import Graph
from featprop.models import GraphRidge


def test_every_node_without_a_label_is_as_likely(line: Graph) -> None:
    drawn = Counter(node for seed in range(600) for node in draw_audit(line, 2, exclude=["a"], random_state=seed))
    assert set(drawn) == set("bcde")
    assert all(240 < count < 360 for count in drawn.values()), drawn


def test_what_each_stands_for(line: Graph) -> None:
    sample = draw_audit(line, 2, exclude=["a"], random_state=3)
    assert sample.weights.tolist() == [2.0, 2.0]
    assert sample.nodes.tolist() == line.ids[sample.positions].tolist() == list(sample) == list(sample.weight_of)
    assert sample.nodes.tolist() == draw_audit(line, 2, exclude=["a"], random_state=3).nodes.tolist()
    assert repr(sample).startswith("AuditSample(2 of 4 nodes: ")
    assert "drawn from" in sample._repr_html_()


def test_the_same_number_of_each_predicted_class() -> None:
    graph = digits()
    names = np.array(graph.class_names())
    few = [int(np.flatnonzero(names == name)[0]) for name in sorted(set(names))]
    model = GraphRidge().fit(graph, few, names[few])
    sample = draw_audit(graph, 50, exclude=few, model=model)
    predicted = model.predict(graph)
    assert set(Counter(predicted[sample.positions]).values()) == {5}
    assert not set(sample) & set(few)
    assert sample.weights.sum() == pytest.approx(graph.n_nodes - len(few))
    for name in model.class_names_:
        of_it = predicted[sample.positions] == name
        left = (predicted == name).sum() - sum(predicted[node] == name for node in few)
        assert sample.weights[of_it].sum() == pytest.approx(left)
    with pytest.raises(ParameterError, match="size must be at least 10 to draw of each class"):
        draw_audit(graph, 9, exclude=few, model=model)


@pytest.mark.parametrize(
    ("counts", "size", "shares"),
    [([9, 9, 9], 10, [3, 3, 4]), ([1, 50, 2], 13, [1, 10, 2]), ([4], 3, [3]), ([2, 2], 4, [2, 2])],
)
def test_shares_are_as_even_as_can_be(counts: list[int], size: int, shares: list[int]) -> None:
    found = shares_of(np.array(counts), size)
    assert found.tolist() == shares
    assert found.sum() == size


@pytest.mark.parametrize(
    ("size", "exclude", "message"),
    [
        (0, "", "size must be from 1 to 5, the number of nodes without a label; found 0"),
        (5, "a", "size must be from 1 to 4, the number of nodes without a label; found 5"),
        (1, "abcde", "An audit must be drawn from nodes without a label; found none left"),
        (1.5, "", "size must be a whole number; found 1.5"),
    ],
)
def test_what_cannot_be_drawn(line: Graph, size: int, exclude: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        draw_audit(line, size, exclude=list(exclude))


def test_a_model_that_knows_nothing(line: Graph) -> None:
    with pytest.raises(ModelError, match="must be fitted to draw by what it predicts"):
        draw_audit(line, 2, model=GraphRidge())
