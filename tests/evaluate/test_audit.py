"""Drawing an audit, uniformly or stratified by predictions."""

from collections import Counter

import numpy as np
import pytest

from featprop.errors import ParameterError
from featprop.evaluate import draw_audit
from featprop.evaluate.audit import allocate
from featprop.graph import Graph
from featprop.models import GraphRidge
from tests.graphs import class_graph
from tests.helpers import raises


def test_unlabelled_nodes_are_equally_likely(line: Graph) -> None:
    drawn = Counter(node for seed in range(600) for node in draw_audit(line, 2, exclude=["a"], random_state=seed))
    assert set(drawn) == set("bcde")
    assert all(240 < count < 360 for count in drawn.values()), drawn


def test_weights_and_reproducibility(line: Graph) -> None:
    sample = draw_audit(line, 2, exclude=["a"], random_state=3)
    assert sample.weights.tolist() == [2.0, 2.0]
    assert sample.nodes.tolist() == line.ids[sample.positions].tolist() == list(sample) == list(sample.weight_of)
    assert sample.nodes.tolist() == draw_audit(line, 2, exclude=["a"], random_state=3).nodes.tolist()
    assert "2 of 4" in repr(sample)


def test_stratified_sample_has_equal_counts_of_predicted_classes() -> None:
    graph = class_graph(300, 5, signal=2.0)
    names = np.array(graph.class_names())
    few = [int(np.flatnonzero(names == name)[0]) for name in sorted(set(names))]
    model = GraphRidge().fit(graph, few, names[few])
    sample = draw_audit(graph, 50, exclude=few, model=model)
    predicted = model.predict(graph)
    assert set(Counter(predicted[sample.positions]).values()) == {10}
    assert not set(sample) & set(few)
    assert sample.weights.sum() == pytest.approx(graph.n_nodes - len(few))
    for name in model.class_names_:
        of_it = predicted[sample.positions] == name
        left = (predicted == name).sum() - sum(predicted[node] == name for node in few)
        assert sample.weights[of_it].sum() == pytest.approx(left)
    with raises(ParameterError, parameter="size", value=4):
        draw_audit(graph, 4, exclude=few, model=model)


@pytest.mark.parametrize(
    ("counts", "size", "shares"),
    [([9, 9, 9], 10, [3, 3, 4]), ([1, 50, 2], 13, [1, 10, 2]), ([4], 3, [3]), ([2, 2], 4, [2, 2])],
)
def test_allocation_is_even(counts: list[int], size: int, shares: list[int]) -> None:
    found = allocate(np.array(counts), size)
    assert found.tolist() == shares
    assert found.sum() == size


@pytest.mark.parametrize(
    ("size", "exclude", "parameter"), [(0, "", "size"), (5, "a", "size"), (1, "abcde", "exclude"), (1.5, "", "size")]
)
def test_impossible_sizes_are_refused(line: Graph, size: int, exclude: str, parameter: str) -> None:
    with raises(ParameterError, parameter=parameter, value=size if parameter == "size" else None):
        draw_audit(line, size, exclude=list(exclude))
