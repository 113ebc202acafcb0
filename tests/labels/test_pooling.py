"""Several draws of an audit as one: by hand."""

import pytest

from featprop.labels.agreement import pool_audits

TEN, THIRTY = range(10), range(10, 40)


@pytest.mark.parametrize(
    ("draws", "weight"),
    [
        pytest.param([(TEN, 8.0), (THIRTY, 70 / 30)], 2.0, id="10 of 80, then 30 of 70: 40 of 80"),
        pytest.param([(THIRTY, 70 / 30), (TEN, 8.0)], 2.0, id="the other sheet first"),
        pytest.param([(TEN, 8.0), (THIRTY, 2.333)], 2.0, id="a weight that was rounded"),
        pytest.param([(TEN, 8.0), (THIRTY, 2.0)], 1.75, id="10 got a label in between: 40 of 70"),
        pytest.param([(TEN, 8.0), (range(10, 30), 4.0)], 80 / 30, id="drawn without a look at the first"),
        pytest.param([(TEN, 8.0), (range(5, 25), 4.0)], 3.2, id="and 5 nodes in both: 25 of 80"),
        pytest.param([(TEN, 8.0), (TEN, 8.0)], 8.0, id="one sheet for two people"),
        pytest.param([(range(5), 8.0), (range(5, 10), 8.0), (THIRTY, 70 / 30)], 2.0, id="a sheet in two parts"),
        pytest.param([(TEN, 8.0), (range(10, 20), 7.0), (range(20, 40), 3.0)], 2.0, id="three"),
        pytest.param([(TEN, 8.0), ((), 1.0)], 8.0, id="a sheet of labels beside it"),
    ],
)
def test_uniform_draws_are_one(draws: list[tuple[range, float]], weight: float) -> None:
    found = pool_audits([dict.fromkeys(nodes, each) for nodes, each in draws])
    assert found == pytest.approx({node: weight for nodes, _ in draws for node in nodes})


def test_draws_by_class_stay_as_they_are() -> None:
    by_class = {"a": 9.0, "b": 1.0}
    assert pool_audits([by_class]) == by_class
    assert pool_audits([by_class, {"c": 10.0}]) == {**by_class, "c": 10.0}
    assert pool_audits([{"c": 10.0}, by_class, {"d": 3.0, "e": 3.0, "f": 3.0}]) == {
        **by_class,
        **dict.fromkeys("cdef", 2.5),
    }
    assert pool_audits([{"a": 10.0}, by_class]) == by_class, "the later sheet counts"
    assert pool_audits([]) == {}
