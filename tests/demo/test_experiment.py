import numpy as np
import pytest

from featprop.datasets import digits
from featprop.demo import BUDGETS
from featprop.demo.experiment import Scores, compare
from featprop.progress import listening


@pytest.fixture(scope="module")
def comparison():
    return compare(digits(), BUDGETS, seeds=5)


def test_featprop_is_ahead_of_random_choice_at_every_budget(comparison):
    for metric in (comparison.accuracy, comparison.macro_f1):
        assert (metric["featprop"].mean > metric["random"].mean).all()


def test_more_labels_help_both(comparison):
    for scores in comparison.accuracy.values():
        assert (np.diff(scores.mean) > 0).all()


def test_the_seeds_vary_the_network_and_the_random_nodes(comparison):
    for scores in comparison.accuracy.values():
        assert scores.percent.shape == (len(BUDGETS), 5)
        assert (scores.deviation > 0).all()


def test_mean_deviation_and_standard_error_by_hand():
    scores = Scores(np.array([[10.0, 20.0, 30.0, 40.0], [50.0, 50.0, 50.0, 50.0]]))
    assert scores.mean == pytest.approx([25, 50])
    assert scores.deviation == pytest.approx([np.sqrt(500 / 3), 0])
    assert scores.standard_error == pytest.approx([np.sqrt(500 / 3) / 2, 0])


def test_one_seed_has_no_deviation():
    assert Scores(np.array([[10.0], [20.0]])).deviation.tolist() == [0, 0]


def test_the_trials_show_as_one_stage():
    heard = []
    with listening(lambda *step: heard.append(step)):
        compare(digits(), (10,), seeds=1)
    compared = [step for step in heard if step[0] == "comparing FeatProp with random choice"]
    assert [(done, total) for _, done, total in compared] == [(0, 2), (1, 2), (2, 2)]
    assert heard[heard.index(compared[0]) :] == compared
