import numpy as np
import pytest

from featprop.demo.experiment import Comparison, Scores
from featprop.demo.findings import findings
from featprop.demo.summary import as_text


def made_up(ours, theirs, seeds=1):
    budgets = (10, 20, 40, 80)[: len(ours)]
    rows = {"featprop": ours, "random": theirs}
    scores = {name: Scores(np.repeat(np.array(values, float)[:, None], seeds, axis=1)) for name, values in rows.items()}
    return Comparison(budgets, seeds, scores, scores)


@pytest.mark.parametrize(
    ("ours", "theirs", "headline", "standing"),
    [
        (
            [80, 94, 96, 98],
            [56, 78, 86, 93],
            "20 labels chosen by FeatProp do the work of 80 chosen at random",
            "FeatProp is ahead at every budget: +24.0 points with 10 labels, +5.0 points with 80 labels.",
        ),
        (
            [60, 79, 87, 94],
            [56, 78, 86, 93],
            "10 labels chosen by FeatProp teach more than 10 chosen at random",
            "FeatProp is ahead at every budget: +4.0 points with 10 labels, +1.0 points with 80 labels.",
        ),
        (
            [50, 77, 87, 92],
            [56, 78, 86, 93],
            "40 labels chosen by FeatProp teach more than 40 chosen at random",
            "FeatProp is ahead at 1 of 4 budgets: -6.0 points with 10 labels, -1.0 points with 80 labels.",
        ),
        (
            [50, 70, 80, 93],
            [56, 78, 86, 93],
            "FeatProp is not ahead of random choice in this run",
            "FeatProp is ahead at 0 of 4 budgets: -6.0 points with 10 labels, +0.0 points with 80 labels.",
        ),
        (
            [50],
            [40],
            "10 labels chosen by FeatProp teach more than 10 chosen at random",
            "FeatProp is ahead at every budget: +10.0 points with 10 labels.",
        ),
    ],
)
def test_the_words_follow_from_the_numbers(ours, theirs, headline, standing):
    found = findings(made_up(ours, theirs))
    assert found.headline == headline
    assert found.detail.endswith(standing)


def test_the_table_shows_the_deviation_where_there_is_one():
    assert "50.0 ± 0.0" in as_text(made_up([50], [40], seeds=2))
    assert "±" not in as_text(made_up([50], [40], seeds=1))
