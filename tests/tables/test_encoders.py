"""Each kind of column: solved by hand, beside scikit-learn, and what is not there or not known."""

import datetime as dt
import json
import math
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import OneHotEncoder, RobustScaler

from featprop.matrix import dense
from featprop.tables.encoders import ENCODERS, Encoder, LeftOutError
from featprop.tables.encoders.base import MARK
from featprop.tables.encoders.category import KEPT, LIMIT, SHARED
from featprop.tables.encoders.date import dates_in


def learnt(kind: str, values: Sequence[object] | pa.Array) -> Encoder:
    return ENCODERS[kind].learn([_array(values)], ["x"])


def applied(encoder: Encoder, values: Sequence[object] | pa.Array | None, rows: int = 3) -> np.ndarray:
    array = None if values is None else _array(values)
    return dense(encoder.apply([array], rows if array is None else len(array)))


def _array(values: Sequence[object] | pa.Array) -> pa.Array:
    return values if isinstance(values, pa.Array) else pa.array(values)


def test_numbers_by_hand() -> None:
    values = [10.0, 20.0, 30.0, 40.0, 50.0]
    encoder = learnt("number", values)
    spread = 20 / 1.349
    np.testing.assert_allclose(applied(encoder, values)[:, 0], (np.array(values) - 30) / spread, rtol=1e-6)
    assert applied(encoder, [None, 30.0])[:, 0].tolist() == [0.0, 0.0]
    assert applied(encoder, None).tolist() == [[0.0]] * 3


@given(st.lists(st.integers(-50, 50).map(float), min_size=4, max_size=30, unique=True))
def test_numbers_are_scikit_learns_robust_ones(values: list[float]) -> None:
    try:
        encoder = learnt("number", values)
    except LeftOutError:
        return
    column = np.array(values)[:, None]
    theirs = RobustScaler(unit_variance=True).fit(column)
    if np.ptp(np.quantile(column, [0.25, 0.75])) == 0:
        return
    wanted = theirs.transform(column)
    wanted = np.arcsinh(wanted) if encoder.settings()["logarithm"] else np.clip(wanted, -6, 6)
    np.testing.assert_allclose(applied(encoder, values), wanted, rtol=1e-3, atol=1e-3)


def test_a_few_huge_numbers_do_not_move_the_others() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(50, 10, 1000)
    spoilt = values.copy()
    spoilt[:5] = 1e300
    ours, theirs = (applied(learnt("number", each.tolist()), each.tolist()) for each in (values, spoilt))
    np.testing.assert_allclose(ours[5:], theirs[5:], atol=0.05)
    assert theirs.max() == 6


def test_money_is_taken_to_its_logarithm() -> None:
    values = np.exp(np.random.default_rng(0).normal(9, 2, 1000))
    encoder = learnt("number", values.tolist())
    assert encoder.words.startswith("logarithm")
    features = applied(encoder, values.tolist())[:, 0]
    assert abs(features).max() < 10
    assert np.array_equal(np.argsort(features), np.argsort(values))


def test_many_missing_numbers_are_marked_and_few_are_not() -> None:
    many, few = [None, 1.0, 2.0, 3.0], [None, *map(float, range(30))]
    assert applied(learnt("number", many), many)[:, 1].tolist() == [MARK, 0, 0, 0]
    assert learnt("number", many).titles("age") == ["age", "age is missing"]
    assert applied(learnt("number", few), few).shape == (31, 1)


def test_flags_by_hand() -> None:
    values = ["Yes", "no", "no", "NO "]
    encoder = learnt("flag", values)
    assert applied(encoder, values)[:, 0].tolist() == [0.75, -0.25, -0.25, -0.25]
    assert applied(encoder, ["yes", None, "perhaps"])[:, 0].tolist() == [0.75, 0, 0]
    told = ["'perhaps' 2 times, first in row 3", "'soon' in row 4"]
    assert encoder.unread([_array(["yes", None, "perhaps", "soon", "Perhaps"])]) == told
    assert applied(learnt("flag", [1, 2, 2, None]), [2, 1])[:, 0].tolist() == pytest.approx([1 / 3, -2 / 3])
    assert applied(learnt("flag", [True, False]), ["true", "False"])[:, 0].tolist() == [0.5, -0.5]


@given(st.lists(st.sampled_from(["a", "b", "c", "D"]), min_size=2, max_size=40))
def test_few_categories_are_scikit_learns_one_hot(values: list[str]) -> None:
    if len(set(values)) < 2:
        with pytest.raises(LeftOutError):
            learnt("category", values)
        return
    column = np.array([value.lower() for value in values])[:, None]
    wanted = OneHotEncoder(sparse_output=False).fit_transform(column)
    np.testing.assert_array_equal(applied(learnt("category", values), values), wanted)


def test_categories_not_seen_before_count_as_nothing_and_are_named() -> None:
    encoder = learnt("category", ["a", "b", "B", None])
    assert applied(encoder, ["b", "z", None]).tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 1]]
    assert encoder.unread([_array(["b", "z", None])]) == ["z"]
    assert encoder.titles("x") == ["x=a", "x=b", "x=(missing)"]


def test_many_categories_share_features() -> None:
    values = [f"city {place}" for place in range(LIMIT + 1)] * 2
    encoder = learnt("category", values)
    features = applied(encoder, values)
    assert features.shape == (len(values), SHARED)
    assert (features.sum(axis=1) == 1).all()
    np.testing.assert_array_equal(features[: LIMIT + 1], features[LIMIT + 1 :])
    assert applied(encoder, ["City 3 "]).tolist() == [features[3].tolist()]


def test_values_never_seen_are_named_where_features_are_shared_too() -> None:
    values = [f"c{place}" for place in range(90)]
    encoder = learnt("category", values)
    again = ENCODERS["category"].restored(json.loads(json.dumps(encoder.settings())))
    assert again.unread([_array(["C3", "new", None, "old"])]) == ["new", "old"]
    assert applied(again, ["c3", "new"]).sum(axis=1).tolist() == [1, 0]
    assert again.unread([_array(values)]) == []
    of_old = ENCODERS["category"].restored({"values": None, "marked": False})
    assert of_old.unread([_array(["new"])]) == []
    assert "known" not in of_old.settings()
    assert applied(of_old, ["c3", "new"]).sum(axis=1).tolist() == [1, 1]
    many = learnt("category", [f"c{place}" for place in range(KEPT + 1)])
    assert "known" not in many.settings()
    assert many.unread([_array(["new"])]) == []


def test_whole_numbers_are_one_category_whatever_their_type() -> None:
    encoder = learnt("category", [1, 2, 3])
    for kind in (pa.float64(), pa.float32(), pa.float16(), pa.int8()):
        assert applied(encoder, pa.array([2, None], kind)).tolist() == applied(encoder, ["2", ""]).tolist()
    assert encoder.unread([pa.array([2, 7], pa.float16())]) == ["7"]


def test_dates_by_hand() -> None:
    values = ["01.01.2020", "02.01.2020", "03.01.2020", "04.01.2020", "05.01.2020"]
    encoder = learnt("date", values)
    features = applied(encoder, values)
    assert encoder.titles("d") == ["d", "d weekday sine", "d weekday cosine"]
    np.testing.assert_allclose(features[:, 0], (np.arange(5) - 2) / (2 / 1.349), rtol=1e-5)
    angle = 2 * math.pi * 2 / 7
    np.testing.assert_allclose(features[0, 1:], [0.3 * math.sin(angle), 0.3 * math.cos(angle)], rtol=1e-5)
    typed = pa.array([dt.date(2020, 1, 3), None])
    np.testing.assert_allclose(applied(encoder, typed)[0], features[2], atol=1e-6)
    assert applied(encoder, typed)[1].tolist() == [0, 0, 0]


def test_lists_where_dates_were_are_named() -> None:
    encoder = learnt("date", ["01.01.2020", "02.01.2020", "03.01.2020"])
    assert encoder.unread([pa.array([["a"], ["a"], ["b"]])]) == ["['a'] 2 times, first in row 1", "['b'] in row 3"]


@pytest.mark.parametrize("zero", ["0000-00-00", "0000-00-00 00:00:00"])
def test_mysqls_dates_of_zeros_are_missing(zero: str) -> None:
    time = zero.removeprefix("0000-00-00").replace("00:00:00", "12:30:00")
    values = [f"2020-01-{day:02d}{time}" for day in range(1, 7)]
    encoder = learnt("date", [*values, zero, zero])
    assert encoder.settings() == learnt("date", [*values, None, None]).settings()
    assert applied(encoder, [zero]).tolist() == applied(encoder, [None]).tolist()
    assert encoder.unread([_array([*values, zero])]) == []


@pytest.mark.parametrize(
    "values", [["03-Apr-20", "14-May-21", "1-Dec-99"], ["03-APR-2020", "14-may-2021", "1-Dec-1999"]]
)
def test_months_may_be_words_between_dashes(values: list[str]) -> None:
    plain = ["2020-04-03", "2021-05-14", "1999-12-01"]
    np.testing.assert_array_equal(applied(learnt("date", values), values), applied(learnt("date", plain), plain))


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%m/%d/%Y", "%d-%b-%Y", "%Y-%m-%d %H:%M", "%Y/%m/%d"])
def test_dates_that_begin_with_the_year_are_read_beside_another_form(form: str) -> None:
    days = [dt.date(2020, 4, 1) + dt.timedelta(13 * place) for place in range(40)]
    plain = [day.isoformat() for day in days]
    mixed = [day.strftime(form) if place % 2 else day.isoformat() for place, day in enumerate(days)]
    encoder = learnt("date", mixed)
    np.testing.assert_array_equal(applied(encoder, mixed), applied(learnt("date", plain), plain))
    assert encoder.unread([_array(mixed)]) == []


@pytest.mark.parametrize(
    ("others", "why"),
    [
        (["01/02/2020", "03/04/2020"], "day and month may be swapped"),
        (["14/02/2020", "02/14/2020", "03/04/2020"], "both are there"),
        (["03-04-2020", "03-25-2020"], "months come first, which no form has"),
    ],
)
def test_what_may_be_another_date_is_not_guessed_beside_the_year_first(others: list[str], why: str) -> None:
    years = [f"2020-01-{day:02d}" for day in range(1, 28)]
    found = dates_in(_array(years + others))
    assert found is not None
    assert np.isnan(found[0]).tolist() == [False] * 27 + [True] * len(others), why
    said = rf"dates in one form in 3 of {3 + len(others)} rows only \(write all of them as 2024-12-31\)"
    with pytest.raises(LeftOutError, match=said):
        learnt("date", years[:3] + others)


def test_the_form_that_was_learnt_tells_day_from_month_beside_the_year_first() -> None:
    encoder = learnt("date", ["2020-01-31", "03/25/2020", "2020-05-02", "04/05/2020"])
    assert applied(encoder, ["2020-04-05", "04/05/2020"]).tolist() == applied(encoder, ["2020-04-05"] * 2).tolist()


def test_a_column_without_a_date_holds_none() -> None:
    for values in ["soon", "late"], [1, 2]:
        with pytest.raises(LeftOutError, match="x holds no dates"):
            learnt("date", values)


def test_days_come_before_months_unless_a_value_says_otherwise() -> None:
    assert "%d/%m/%Y" in learnt("date", ["01/02/2020", "03/04/2020"]).words
    assert "%m/%d/%Y" in learnt("date", ["01/02/2020", "03/14/2020"]).words


def test_text_is_scikit_learns_tf_idf() -> None:
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice([f"word{place}" for place in range(30)], size=8)) for _ in range(50)]
    theirs = TfidfVectorizer(sublinear_tf=True, min_df=2, max_df=0.9)
    wanted = theirs.fit_transform(texts).toarray()
    np.testing.assert_allclose(applied(learnt("text", texts), texts), wanted, atol=1e-5)
    assert applied(learnt("text", texts), ["nothing of this", None]).sum() == 0


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        ([f"only{place} here{place}" for place in range(30)], "no word is in several texts"),
        (["the meter reads well", "the meter reads well"] * 15, "every word is in nearly every text, or in one only"),
        ([f"order no{place} shipped" for place in range(30)], "every word is in nearly every text, or in one only"),
    ],
)
def test_text_that_tells_nothing_is_left_out_with_the_reason(texts: list[str], reason: str) -> None:
    with pytest.raises(LeftOutError, match=f"^{reason}$"):
        learnt("text", texts)


def test_lists_of_numbers_too_large_for_features_are_left_for_the_graph_to_name() -> None:
    assert np.isinf(applied(learnt("vector", [[1.0, 2.0], [3.0, 1e300]]), [[1.0, 1e300]])).tolist() == [[False, True]]


def test_lists_stay_as_they_are_and_missing_ones_are_their_mean() -> None:
    encoder = learnt("vector", [[1.0, 2.0], [3.0, 4.0], None])
    assert applied(encoder, [[1.0, 2.0], None, [5.0, None]]).tolist() == [[1, 2], [2, 3], [5, 3]]
    assert applied(encoder, ["[1, 2]", "[3 4]"]).tolist() == [[1, 2], [3, 4]]
    with pytest.raises(LeftOutError, match="several lengths"):
        learnt("vector", [[1.0], [1.0, 2.0]])


@pytest.mark.parametrize(
    ("lists", "reason"),
    [
        (pa.array([[], []], pa.list_(pa.float64())), "empty lists"),
        (pa.array([[1.0], [1.0, 2.0]]), "x holds lists of several lengths"),
        (pa.array(["a", "b"]), "no lists of numbers"),
        (pa.array([[math.nan, None], None], pa.list_(pa.float64())), "empty"),
        (pa.array([[1e308], [1e308]]), "numbers too large to add up"),
    ],
)
def test_lists_that_tell_nothing_are_left_out_with_the_reason(lists: pa.Array, reason: str) -> None:
    with pytest.raises(LeftOutError, match=f"^{reason}$"):
        learnt("vector", lists)


def test_lists_of_another_length_count_as_missing_and_are_told() -> None:
    encoder = learnt("vector", [[1.0, 2.0], [3.0, 6.0]])
    for other, told in (
        (pa.array([[1.0]]), ["a list of 1 in row 1"]),
        (pa.array(["a"]), ["'a' in row 1"]),
        (pa.array([7]), ["the type int64"]),
        (pa.array(["-"]), []),
        (pa.array([None], pa.string()), []),
        (None, []),
    ):
        assert encoder.unread([other]) == told
        np.testing.assert_array_equal(applied(encoder, other, rows=1), [[2, 4]])


@pytest.mark.parametrize("bad", ["[1, 2, 3]", "oops", "[1, two]", "[]", "[1 2", "no list of numbers at all"])
def test_a_list_that_cannot_be_read_costs_itself_only(bad: str) -> None:
    lists = ["[1, 2]", bad, "[3; 6]", None, "[+5 1e1]", "n/a", "[.5, nan]", "[3, 6.]"]
    encoder = learnt("vector", [each for each in lists if each != bad])
    told = {"[1, 2, 3]": "a list of 3", "no list of numbers at all": "'no list of numbers …'"}.get(bad, repr(bad))
    for other in (encoder, learnt("vector", lists)):
        assert other.settings() == encoder.settings()
        assert other.unread([pa.array(lists)]) == [f"{told} in row 2"]
        mean = [2.5, 6.0]
        expected = [[1, 2], mean, [3, 6], mean, [5, 10], mean, [0.5, 6], [3, 6]]
        np.testing.assert_array_equal(applied(other, lists), expected)


def test_lists_of_a_table_that_has_them_cost_themselves_only_too() -> None:
    lists = [[1.0, 2.0]] * 9 + [[1.0]]
    encoder = learnt("vector", lists)
    assert applied(encoder, [[5.0], [3.0, 4.0], [5.0]]).tolist() == [[1, 2], [3, 4], [1, 2]]
    assert encoder.unread([pa.array([[5.0], [3.0, 4.0], [6.0]])]) == ["a list of 1 2 times, first in row 1"]
    with pytest.raises(LeftOutError, match="several lengths"):
        learnt("vector", [*lists, [1.0], [2.0]])
    words = pa.array([["1", "2"], ["x", "2"], None, ["3", None]])
    assert applied(encoder, words).tolist() == [[1, 2], [1, 2], [1, 2], [3, 2]]
    assert encoder.unread([words]) == ["['x', '2'] in row 2"]


def test_groups_stay_as_they_are() -> None:
    columns = [pa.array([0, 2, 0]), pa.array([1.5, None, 0])]
    encoder = ENCODERS["columns"].learn(columns, ["w_0", "w_1"])
    assert dense(encoder.apply([*columns], 3)).tolist() == [[0, 1.5], [2, 0], [0, 0]]
    assert dense(encoder.apply([None, columns[1]], 3)).tolist() == [[0, 1.5], [0, 0], [0, 0]]


VALUES = {
    "number": [1.0, 2.0, 3.5, None],
    "flag": ["yes", "no", None, "no"],
    "category": ["a", "b", "c", None],
    "date": ["2020-01-01", "2021-05-03", None, "2020-02-02"],
    "text": ["one two three", "two three four", "", "five six two"],
    "vector": [[1.0], [2.0], None, [3.0]],
}


@pytest.mark.parametrize("kind", VALUES)
def test_what_was_learnt_comes_back_from_json(kind: str) -> None:
    encoder = learnt(kind, VALUES[kind])
    again = ENCODERS[kind].restored(json.loads(json.dumps(encoder.settings())))
    np.testing.assert_array_equal(applied(again, VALUES[kind]), applied(encoder, VALUES[kind]))
    assert again.titles("x") == encoder.titles("x")
    assert len(again.titles("x")) == applied(again, VALUES[kind]).shape[1]
    assert again.words == encoder.words


@pytest.mark.parametrize("kind", VALUES)
def test_a_row_does_not_depend_on_the_others(kind: str) -> None:
    encoder = learnt(kind, VALUES[kind])
    whole = applied(encoder, VALUES[kind])
    kept = pa.array(VALUES[kind])
    for place in range(4):
        np.testing.assert_allclose(applied(encoder, kept[place : place + 1])[0], whole[place], rtol=1e-6)


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("number", {"spread": 0.0}),
        ("number", {"centre": float("nan")}),
        ("number", {"marked": 1}),
        ("flag", {"share": 2.0}),
        ("flag", {"low": 3}),
        ("category", {"values": [1, 2]}),
        ("category", {"values": ["x"] * 100}),
        ("category", {"values": None, "known": "xyz"}),
        ("category", {"values": None, "known": 7}),
        ("category", {"known": "0123abcd"}),
        ("date", {"form": "%q"}),
        ("date", {"cycles": ["year"]}),
        ("date", {"spread": -1.0}),
        ("text", {"rarity": [1.0]}),
        ("text", {"words": [1, 2, 3]}),
        ("vector", {"fill": []}),
        ("vector", {"fill": [[1.0]]}),
    ],
)
def test_damaged_settings_are_refused(kind: str, change: dict[str, object]) -> None:
    settings = learnt(kind, VALUES[kind]).settings() | change
    with pytest.raises((ValueError, TypeError, KeyError)):
        ENCODERS[kind].restored(settings)
