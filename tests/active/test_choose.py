"""`select` from end to end, on a line of six nodes and on random graphs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

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
    assert sorted("abcdef".index(node) // 2 for node in picks.nodes) == [0, 1, 2]
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
    arrays = [seen[0].candidates, seen[0].labelled, seen[0].labels, seen[0].graph.features, seen[0].graph.ids]
    assert not any(each.flags.writeable for each in (*arrays, *seen[0].outputs.values())), (
        "a strategy cannot change them"
    )


@pytest.mark.parametrize("answer", [None, [0, 0], ["a", "b"], [0.0, 1.0], np.array([[0, 1]])])
def test_an_answer_that_is_no_list_of_candidates_is_refused(islands: Graph, answer: object) -> None:
    class Odd(FeatProp):
        def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> object:
            return answer

    with raises(ParameterError):
        select(islands, 2, strategy=Odd())


@pytest.mark.parametrize(
    ("arguments", "error", "parameter"),
    [
        ({"budget": 0}, ParameterError, "budget"),
        ({"budget": 7}, ParameterError, "budget"),
        ({"budget": 6, "labelled": ["a"]}, ParameterError, "budget"),
        ({"budget": 1, "labelled": list("abcdef")}, ParameterError, "budget"),
        ({"budget": 1.5}, ParameterError, "budget"),
        ({"budget": 1, "random_state": -1}, ParameterError, "random_state"),
        ({"budget": 1, "random_state": None}, ParameterError, "random_state"),
        ({"budget": 1, "strategy": FeatProp}, ParameterError, "strategy"),
        ({"budget": 1, "strategy": "best"}, ParameterError, "strategy"),
        ({"budget": 1, "model": "rigde"}, ParameterError, None),
        ({"budget": 1, "labelled": ["q"]}, GraphError, None),
        ({"budget": 1, "exclude": np.array([True, False])}, GraphError, None),
        ({"budget": 1, "strategy": "age"}, LabelError, None),
        ({"budget": 1, "strategy": "age", "labelled": ["a"]}, LabelError, None),
        ({"budget": 1, "strategy": "age", "labelled": ["a", "b"], "labels": ["x"]}, LabelError, None),
        ({"budget": 1, "strategy": "age", "labelled": ["a", "a"], "labels": ["x", "y"]}, LabelError, None),
    ],
)
def test_bad_arguments(islands: Graph, arguments: dict, error: type[FeatpropError], parameter: str | None) -> None:
    fields = {} if parameter is None else {"parameter": parameter, "value": arguments[parameter]}
    with raises(error, **fields):
        select(islands, **arguments)


@pytest.mark.parametrize("kind", [np.asarray, list, torch.tensor, pd.Series])
def test_nodes_may_be_given_as_a_mask(kind: Callable[[list[bool]], Any]) -> None:
    graph = Graph.from_scipy(np.ones((6, 6)), np.eye(6))
    mask = kind([False, True, False, True, True, False])
    assert set(select(graph, 3, exclude=mask).nodes) == {0, 2, 5}
    assert set(select(graph, 3, candidates=mask).nodes) == {1, 3, 4}
    assert select(graph, 2, labelled=mask).labelled.tolist() == [1, 3, 4]


def test_a_model_may_be_given_by_name() -> None:
    graph = digits()
    labelled = dict(zip(graph.ids[:20].tolist(), graph.class_names()[:20], strict=True))
    by_name = select(graph, 5, labels=labelled, model="ridge")
    assert by_name.nodes.tolist() == select(graph, 5, labels=labelled).nodes.tolist()
    assert ActiveLearner(graph, model="sgc", random_state=3).model_name == "sgc"
