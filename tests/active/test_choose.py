"""`select` from end to end, on a line of six nodes and on random graphs."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from featprop.active import ActiveLearner, select
from featprop.datasets import digits
from featprop.errors import FeatpropError, GraphError, LabelError, ParameterError
from featprop.graph import Graph
from featprop.models import GCN, GraphRidge
from featprop.strategies import QueryContext, get_strategy
from featprop.strategies.featprop import FeatProp
from tests.helpers import raises


def test_three_islands_by_hand(islands: Graph) -> None:
    picks = select(islands, budget=3, strategy="featprop")
    assert [
        {"a": "ab", "b": "ab", "c": "cd", "d": "cd", "e": "ef", "f": "ef"}[node] for node in sorted(picks.nodes)
    ] == [
        "ab",
        "cd",
        "ef",
    ]
    assert picks.represents.tolist() == [2, 2, 2]
    assert sorted(picks.spread) == pytest.approx([0.5, 0.5, 1.0])
    assert picks.mean_distance == pytest.approx((1 + 1 + 2) / 6)
    assert picks.max_distance == pytest.approx(2.0)
    assert picks.nodes.tolist() == islands.ids[picks.positions].tolist()


def test_nodes_of_a_mapping_of_labels_are_labelled(islands: Graph) -> None:
    picks = select(islands, budget=1, strategy="featprop", labels={"a": "left", "f": "right"})
    again = select(islands, budget=1, strategy="featprop", labelled=["a", "f"], labels=["left", "right"])
    assert picks.nodes.tolist() == again.nodes.tolist()
    assert not {"a", "f"} & {*select(islands, budget=4, labels={"a": "left", "f": "right"})}


def test_more_nodes_around_the_labelled_ones(islands: Graph) -> None:
    picks = select(islands, budget=1, strategy="featprop", labelled=["a", "f"])
    assert picks.nodes[0] in ("c", "d")
    assert picks.represents.tolist() == [2]
    assert picks.nearest.tolist() == [-1, -1, 0, 0, -1, -1]
    assert picks.mean_distance == pytest.approx((1 + 1 + 2) / 6)


def test_excluded_nodes_are_not_chosen_but_do_not_cover(islands: Graph) -> None:
    picks = select(islands, budget=3, strategy="featprop", exclude=["c", "d"])
    assert not {"c", "d"} & set(picks.nodes)
    assert picks.max_distance == pytest.approx(39.0, abs=1.0)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_order_of_the_nodes_does_not_change_the_choice(seed: int) -> None:
    """K-Medoids starts from positions, so this holds where one choice is clearly the best."""
    generator = np.random.default_rng(seed)
    cluster = np.arange(48) // 8
    within = cluster[:, None] == cluster
    adjacency = sp.csr_array(np.triu(within & (generator.random((48, 48)) < 0.4), 1).astype(np.float64))
    features = np.eye(6)[cluster] + generator.normal(scale=0.1, size=(48, 6))
    order = generator.permutation(48)
    permuted = Graph.from_scipy(adjacency[order][:, order], features[order], ids=order)
    chosen = set(select(Graph.from_scipy(adjacency, features), 6).nodes.tolist())
    assert set(select(permuted, 6).nodes.tolist()) == chosen
    assert {cluster[node] for node in chosen} == set(range(6))


@given(
    seed=st.integers(0, 10_000),
    strategy=st.sampled_from(["featprop-diffused", "featprop", "featprop-cosine", "random"]),
)
@settings(max_examples=25, deadline=None)
def test_seeds_reproduce_and_every_node_is_represented(seed: int, strategy: str) -> None:
    generator = np.random.default_rng(seed)
    graph = Graph.from_scipy(sp.random_array((25, 25), density=0.1, rng=generator), generator.normal(size=(25, 3)))
    picks = select(graph, 5, strategy=strategy, random_state=seed)
    assert picks.nodes.tolist() == select(graph, 5, strategy=strategy, random_state=seed).nodes.tolist()
    assert picks.represents.sum() == 25
    assert picks.mean_distance <= picks.max_distance


def test_a_model_that_is_fitted_is_used_as_it_is(islands: Graph) -> None:
    model = GraphRidge().fit(islands, ["a", "f"], ["x", "z"])
    probabilities = model.predict_proba(islands)
    entropies = -(probabilities * np.log(probabilities)).sum(axis=1)
    unsure = select(islands, 1, strategy="uncertainty", exclude=["b"], model=model)
    rest = [0, 2, 3, 4, 5]
    assert unsure.positions[0] == rest[int(entropies[rest].argmax())]


def test_a_strategy_knows_the_classes_by_the_columns_of_the_model(islands: Graph) -> None:
    seen = []

    class Spy(get_strategy("age").__class__):
        def scores(self, context: QueryContext, generator: np.random.Generator) -> np.ndarray:
            seen.append(context)
            return super().scores(context, generator)

    model = GCN(epochs=2).fit(islands, ["a", "f", "c"], ["x", "z", "y"])
    select(islands, 1, strategy=Spy(), labelled=["f", "a"], labels=["z", "w"], model=model)
    assert seen[0].classes == ("x", "y", "z", "w")
    assert seen[0].labels.tolist() == [2, 3]
    assert set(seen[0].outputs) == {"probabilities", "hidden"}


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"labelled": ["a"]},
        {"labelled": ["a", "b"], "labels": ["x"]},
        {"labelled": ["a", "a"], "labels": ["x", "y"]},
    ],
)
def test_labels_that_do_not_fit(islands: Graph, arguments: dict) -> None:
    with raises(LabelError):
        select(islands, 1, strategy="age", **arguments)


@pytest.mark.parametrize("answer", [None, [0, 0], ["a", "b"], [0.0, 1.0], np.array([[0, 1]])])
def test_an_answer_that_is_no_list_of_candidates_is_refused(islands: Graph, answer: object) -> None:
    class Odd(FeatProp):
        def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> object:
            return answer

    with raises(ParameterError):
        select(islands, 2, strategy=Odd())


@pytest.mark.parametrize(
    "write",
    [
        lambda context: context.candidates.__setitem__(0, 5),
        lambda context: context.labelled.sort(),
        lambda context: context.labels.__setitem__(0, 1),
        lambda context: context.graph.features.__setitem__(0, 7),
        lambda context: context.graph.ids.__setitem__(0, "z"),
        lambda context: context.outputs["probabilities"].__setitem__(0, 0),
    ],
)
def test_a_strategy_cannot_write_to_what_it_sees(islands: Graph, write: Callable[[QueryContext], None]) -> None:
    class Writing(get_strategy("uncertainty").__class__):
        def scores(self, context: QueryContext, generator: np.random.Generator) -> np.ndarray:
            write(context)
            return super().scores(context, generator)

    with pytest.raises(ValueError, match="read-only"):
        select(islands, 1, strategy=Writing(), labelled=["f", "a"], labels=["z", "x"], model=GCN(epochs=2))


@pytest.mark.parametrize(
    ("arguments", "error", "parameter"),
    [
        ({"budget": 0}, ParameterError, "budget"),
        ({"budget": 7}, ParameterError, "budget"),
        ({"budget": 6, "labelled": ["a"]}, ParameterError, "budget"),
        ({"budget": 1, "labelled": list("abcdef")}, ParameterError, "budget"),
        ({"budget": 1.5}, ParameterError, "budget"),
        ({"budget": 1, "labelled": ["q"]}, GraphError, None),
        ({"budget": 1, "random_state": -1}, ParameterError, "random_state"),
        ({"budget": 1, "random_state": None}, ParameterError, "random_state"),
        ({"budget": 1, "random_state": 1.5}, ParameterError, "random_state"),
        ({"budget": 1, "strategy": None}, ParameterError, "strategy"),
        ({"budget": 1, "strategy": FeatProp}, ParameterError, "strategy"),
        ({"budget": 1, "exclude": np.array([True, False])}, GraphError, None),
        ({"budget": 1, "strategy": "best"}, ParameterError, "strategy"),
    ],
)
def test_bad_arguments(islands: Graph, arguments: dict, error: type[FeatpropError], parameter: str | None) -> None:
    with raises(error) as caught:
        select(islands, **arguments)
    if parameter is not None:
        assert (caught.value.parameter, caught.value.value) == (parameter, arguments[parameter])


def test_nodes_may_be_given_as_a_mask() -> None:
    graph = Graph.from_scipy(np.ones((6, 6)), np.eye(6))
    mask = np.array([False, True, False, True, True, False])
    for mask_of in (mask, mask.tolist(), torch.from_numpy(mask), pd.Series(mask)):
        assert set(select(graph, 3, exclude=mask_of).nodes) == {0, 2, 5}
        assert set(select(graph, 3, candidates=mask_of).nodes) == {1, 3, 4}
        assert select(graph, 2, labelled=mask_of).labelled.tolist() == [1, 3, 4]
    assert GraphRidge().fit(graph, mask, ["a", "b", "a"]).labelled_ == {1: "a", 3: "b", 4: "a"}
    named = Graph.from_scipy(np.ones((2, 2)), np.eye(2), ids=[True, False])
    assert named.positions([False, True]).tolist() == [1, 0]


def test_a_model_may_be_given_by_name() -> None:
    graph = digits()
    nodes, labels = graph.ids[:20].tolist(), graph.class_names()[:20]
    by_name = select(graph, 5, labelled=nodes, labels=labels, model="ridge")
    assert by_name.nodes.tolist() == select(graph, 5, labelled=nodes, labels=labels).nodes.tolist()
    assert ActiveLearner(graph, model="sgc", random_state=3).model_name == "sgc"
    with raises(ParameterError):
        select(graph, 5, labelled=nodes, labels=labels, model="rigde")
