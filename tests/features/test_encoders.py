"""Each encoder: solved by hand, compared with scikit-learn, and given values it has not seen."""

import datetime as dt
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import OneHotEncoder, RobustScaler

from featprop.features import Kind, Reason
from featprop.features.encoders import HASHED_FEATURES, Encoder, FitOptions, UnusableColumnError
from featprop.features.profile import MAX_CATEGORIES
from featprop.features.wide_encoders import ENCODERS
from featprop.matrix import dense


def array(values: Any) -> pa.Array:
    return values if isinstance(values, pa.Array) else pa.array(values)


def fit(kind: str, values: Any, **options: Any) -> Encoder:
    return ENCODERS[Kind(kind)].fit(array(values), FitOptions(**options))


def transform(encoder: Encoder, values: Any) -> np.ndarray:
    return dense(encoder.transform(array(values)).matrix)


def missing(encoder: Encoder, values: Any) -> list[int]:
    return np.flatnonzero(encoder.transform(array(values)).missing).tolist()


def test_numbers_by_hand() -> None:
    values = [10.0, 20.0, 30.0, 40.0, 50.0]
    encoder = fit("number", values)
    np.testing.assert_allclose(transform(encoder, values)[:, 0], (np.array(values) - 30) / (20 / 1.349), rtol=1e-6)
    assert transform(encoder, [None, 30.0])[:, 0].tolist() == [0.0, 0.0]
    assert transform(encoder, pa.nulls(2)).tolist() == [[0.0]] * 2
    assert missing(encoder, [1, None, float("inf")]) == [1, 2]
    assert missing(encoder, [[1], [2], None]) == [0, 1, 2]


@given(st.lists(st.integers(-50, 50).map(float), min_size=4, max_size=30, unique=True))
def test_numbers_are_scaled_like_scikit_learns_robust_scaler(values: list[float]) -> None:
    encoder = fit("number", values)
    wanted = RobustScaler(unit_variance=True).fit_transform(np.array(values)[:, None])
    wanted = np.arcsinh(wanted) if vars(encoder)["is_log"] else np.clip(wanted, -6, 6)
    np.testing.assert_allclose(transform(encoder, values), wanted, rtol=1e-3, atol=1e-3)


def test_outliers_do_not_move_the_other_numbers() -> None:
    values = np.random.default_rng(0).normal(50, 10, 1000)
    spoilt = values.copy()
    spoilt[:5] = 1e300
    plain, with_outliers = (transform(fit("number", each), each) for each in (values, spoilt))
    np.testing.assert_allclose(plain[5:], with_outliers[5:], atol=0.05)
    assert with_outliers.max() == 6


def test_money_is_taken_to_its_logarithm() -> None:
    values = np.exp(np.random.default_rng(0).normal(9, 2, 1000))
    encoder = fit("number", values)
    features = transform(encoder, values)[:, 0]
    assert vars(encoder)["is_log"]
    assert abs(features).max() < 10
    assert np.array_equal(np.argsort(features), np.argsort(values))


def test_flags_by_hand() -> None:
    values = ["Yes", "no", "no", "NO "]
    encoder = fit("flag", values)
    assert transform(encoder, values)[:, 0].tolist() == [0.75, -0.25, -0.25, -0.25]
    assert transform(encoder, ["yes", None, "perhaps"])[:, 0].tolist() == [0.75, 0, 0]
    assert missing(encoder, ["yes", None, "perhaps"]) == [1, 2]
    assert missing(encoder, [["yes"]]) == [0]
    assert transform(fit("flag", [1, 2, 2, None]), [2, 1])[:, 0].tolist() == pytest.approx([1 / 3, -2 / 3])


def test_words_for_yes_and_no_are_the_same_in_other_tables() -> None:
    encoder = fit("flag", [True, False])
    for values in ([True, False], ["TRUE", "false"], [1, 0], [1.0, 0.0], ["yes", "no"], ["Ja", "nein"]):
        assert transform(encoder, values)[:, 0].tolist() == [0.5, -0.5]


@given(st.lists(st.sampled_from(["a", "b", "c", "D"]), min_size=2, max_size=40).filter(lambda x: len(set(x)) > 1))
def test_few_categories_are_one_hot(values: list[str]) -> None:
    column = np.array([value.lower() for value in values])[:, None]
    wanted = OneHotEncoder(sparse_output=False).fit_transform(column)
    np.testing.assert_array_equal(transform(fit("category", values), values), wanted)


def test_new_categories_are_zeros_and_missing() -> None:
    encoder = fit("category", ["a", "b", "B", None])
    assert transform(encoder, ["b", "z", None]).tolist() == [[0, 1], [0, 0], [0, 0]]
    assert missing(encoder, ["b", "z", None]) == [1, 2]
    assert missing(encoder, [["b"], None]) == [0, 1]
    assert encoder.feature_names(["x"]) == ["x=a", "x=b"]


def test_many_categories_share_hashed_features() -> None:
    values = [f"city {place}" for place in range(MAX_CATEGORIES + 1)] * 2
    encoder = fit("category", values)
    features = transform(encoder, values)
    assert features.shape == (len(values), HASHED_FEATURES) == (len(values), len(encoder.feature_names(["x"])))
    assert (features.sum(axis=1) == 1).all()
    np.testing.assert_array_equal(features[: MAX_CATEGORIES + 1], features[MAX_CATEGORIES + 1 :])
    assert transform(encoder, ["City 3 "]).tolist() == [features[3].tolist()]
    assert transform(encoder, pa.array([None], pa.string())).sum() == 0


def test_dates_by_hand() -> None:
    values = ["01.01.2020", "02.01.2020", "03.01.2020", "04.01.2020", "05.01.2020"]
    encoder = fit("date", values)
    features = transform(encoder, values)
    assert encoder.feature_names(["d"]) == ["d", "d weekday sine", "d weekday cosine"]
    np.testing.assert_allclose(features[:, 0], (np.arange(5) - 2) / (2 / 1.349), rtol=1e-5)
    angle = 2 * math.pi * 2 / 7
    np.testing.assert_allclose(features[0, 1:], [0.3 * math.sin(angle), 0.3 * math.cos(angle)], rtol=1e-5)
    typed = pa.array([dt.date(2020, 1, 3), None])
    np.testing.assert_allclose(transform(encoder, typed), [features[2], [0, 0, 0]], atol=1e-6)
    assert missing(encoder, ["soon", "2020-01-02", None]) == [0, 2]
    assert missing(encoder, [["a"], ["b"]]) == [0, 1]


def test_month_weekday_and_hour_count_where_they_vary() -> None:
    hours = pa.array([dt.datetime(2020, 1, 1, hour) for hour in range(5)])
    assert vars(fit("date", hours))["cycles"] == ("hour",)
    years = pa.array([dt.date(2020 + place, 1 + place, 1) for place in range(5)])
    assert vars(fit("date", years))["cycles"] == ("month", "weekday")


def test_text_is_scikit_learns_tf_idf() -> None:
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice([f"word{place}" for place in range(30)], size=8)) for _ in range(50)]
    wanted = TfidfVectorizer(sublinear_tf=True, min_df=2, max_df=0.9).fit_transform(texts).toarray()
    encoder = fit("text", texts)
    np.testing.assert_allclose(transform(encoder, texts), wanted, atol=1e-5)
    assert transform(encoder, ["nothing of this", None]).sum() == 0
    assert transform(encoder, [["word1"]]).sum() == 0
    assert transform(fit("text", texts, vocabulary=7), texts).shape == (50, 7)


def test_vectors_stay_unchanged_and_missing_numbers_are_zeros() -> None:
    encoder = fit("vector", [[1.0, 2.0], [3.0, 4.0], None])
    assert transform(encoder, [[1.0, 2.0], None, [5.0, None]]).tolist() == [[1, 2], [0, 0], [5, 0]]
    texts = ["[1, 2]", "3;4", "oops", "[1]", "n/a"]
    assert transform(encoder, texts).tolist() == [[1, 2], [3, 4], *[[0, 0]] * 3]
    assert missing(encoder, texts) == [2, 3, 4]
    assert transform(encoder, [1, None]).tolist() == [[0, 0]] * 2
    assert encoder.feature_names(["v"]) == ["v[0]", "v[1]"]


def test_items_are_counted() -> None:
    encoder = fit("items", [["b", "a", "a"], ["a", "c"], None, []], vocabulary=2)
    assert encoder.feature_names(["t"]) == ["t: a", "t: b"]
    assert transform(encoder, [["b", "a", "a"], ["x"], None]).tolist() == [[2, 1], [0, 0], [0, 0]]
    assert transform(encoder, ['["a", "b"]', "oops"]).tolist() == [[1, 1], [0, 0]]
    assert transform(encoder, [1, 2]).sum() == 0
    numbers = fit("items", [[3, 17], [3]])
    assert transform(numbers, [[17], [3]]).tolist() == transform(numbers, ["[17]", "[3]"]).tolist() == [[1, 0], [0, 1]]


def struct(**columns: list[object]) -> pa.Array:
    return pa.StructArray.from_arrays([pa.array(values) for values in columns.values()], list(columns))


@pytest.mark.parametrize("rows", [3, 300])
def test_groups_stay_unchanged(rows: int) -> None:
    values = struct(
        w_0=[0, 2, 3] + [0] * (rows - 3), w_1=["1.5", "x", "1"] + ["0"] * (rows - 3), w_2=[0, 7] + [0] * (rows - 2)
    )
    encoder = fit("group", values)
    features = transform(encoder, values)
    assert features[:3].tolist() == [[0, 1.5, 0], [2, 0, 7], [3, 1, 0]]
    assert features[3:].sum() == 0
    assert missing(encoder, values) == [1]
    assert transform(encoder, values.slice(1, 1)).tolist() == [[2, 0, 7]]
    assert vars(encoder)["is_sparse"] is (rows == 300)


@pytest.mark.parametrize(
    ("kind", "values", "reason"),
    [
        ("number", [1.0, None], Reason.EMPTY),
        ("number", [1.0, 1.0], Reason.CONSTANT),
        ("flag", ["", None], Reason.EMPTY),
        ("category", ["", ""], Reason.EMPTY),
        ("category", [[1]], Reason.UNSUPPORTED_TYPE),
        ("text", ["the meter reads well"] * 30, Reason.NO_COMMON_WORDS),
        ("vector", ["a", "b"], Reason.EMPTY),
        ("vector", pa.array([[], []], pa.list_(pa.float64())), Reason.EMPTY),
        ("items", pa.array([[], None], pa.list_(pa.string())), Reason.EMPTY),
    ],
)
def test_unusable_columns_have_a_reason(kind: str, values: Any, reason: Reason) -> None:
    with pytest.raises(UnusableColumnError) as caught:
        fit(kind, values)
    assert caught.value.args == (reason,)
