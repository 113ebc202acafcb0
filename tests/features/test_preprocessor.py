"""A whole table: weights of the groups, JSON, replay by name on other tables, and batches."""

import json
import logging
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

from featprop.errors import GraphError, ModelError, ParameterError
from featprop.features import Kind, Reason, TablePreprocessor, profile
from featprop.matrix import dense
from tests.helpers import raises

N = 120
WORDS = ["late", "refund", "thanks", "premium", "login", "reset", "bonus", "error", "mobile", "return"]


def mixed(seed: int = 0, rows: int = N) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(18, 90, rows),
            "balance": np.exp(rng.normal(9, 2, rows)),
            "vip": rng.random(rows) < 0.3,
            "country": rng.choice(["DE", "FR", "IT"], rows),
            "joined": [f"2020-{month:02d}-15" for month in rng.integers(1, 13, rows)],
            "note": [" ".join(rng.choice(WORDS, size=5)) for _ in range(rows)],
            "embedding": rng.normal(size=(rows, 30)).tolist(),
            "email": [f"p{place}@example.org" for place in range(rows)],
        }
    )


def as_csv(table: pa.Table) -> pa.Table:
    """Return the table as a CSV file holds it: all columns are text."""
    columns = {
        name: pa.array([None if value is None else str(value) for value in table[name].to_pylist()], pa.string())
        for name in table.column_names
    }
    return pa.table(columns)


def features(preprocessor: TablePreprocessor, table: pa.Table) -> np.ndarray:
    matrix = preprocessor.transform(table)
    assert len(preprocessor.feature_names) == preprocessor.n_features == matrix.shape[1]
    assert matrix.dtype == np.float32
    return dense(matrix)


def test_variances_of_each_group_add_up_to_its_weight() -> None:
    preprocessor = TablePreprocessor.fit(mixed())
    matrix, start, weights = features(preprocessor, mixed()), 0, {}
    for group in preprocessor.groups:
        stop = start + len(group.feature_names)
        variances = matrix[:, start:stop].var(axis=0, dtype=np.float64)
        weights[group.name] = float(variances.sum())
        if group.encoder.has_dimensions:
            dimensions = variances.sum() ** 2 / (variances**2).sum()
            assert weights[group.name] == pytest.approx(1 + np.log2(dimensions), rel=1e-3)
        else:
            assert weights[group.name] == pytest.approx(1, rel=1e-3)
        start = stop
    assert start == matrix.shape[1]
    assert list(weights) == ["age", "balance", "vip", "country", "joined", "note", "embedding"]
    assert 3 < weights["note"] < 5 < weights["embedding"] < 6


def test_a_rare_flag_does_not_become_a_huge_number() -> None:
    rows = 10_000
    table = pa.table({"rare": [True] + [False] * (rows - 1), "x": np.arange(rows) % 7})
    assert abs(features(TablePreprocessor.fit(table), table)).max() < 11


def test_many_missing_values_are_marked_and_few_are_not() -> None:
    table = pa.table(
        {
            "age": [None, 1.0, 2.0, 3.0, 4.0] * 10,
            "few": [None, *range(4)] * 5 + [*range(25)],
            "flag": [True, None] * 25,
            "town": ["a", "b", None, "c", "b"] * 10,
        }
    )
    preprocessor = TablePreprocessor.fit(table)
    names = ["age", "age is missing", "few", "flag", "flag is missing", "town=a", "town=b", "town=c", "town is missing"]
    assert list(preprocessor.feature_names) == names
    matrix = features(preprocessor, table)
    for name in ("age", "flag", "town"):
        marker = matrix[:, names.index(f"{name} is missing")]
        np.testing.assert_array_equal(marker > 0, pc.is_null(table[name]).to_numpy())
    assert [each.missing for each in preprocessor.profiles] == [0.2, 0.1, 0.5, 0.2]


def test_units_the_order_of_rows_and_csv_do_not_matter() -> None:
    table, order = mixed(), np.random.default_rng(1).permutation(N)
    in_days = table.set_column(0, "age", pa.array(table["age"].to_numpy() * 365.25))
    typed = TablePreprocessor.fit(table)
    wanted = features(typed, table)
    for other in (in_days, as_csv(table)):
        np.testing.assert_allclose(wanted, features(TablePreprocessor.fit(other), other), atol=1e-4)
    np.testing.assert_allclose(wanted, features(typed, as_csv(table)), atol=1e-4)
    moved = table.take(pa.array(order))
    np.testing.assert_allclose(wanted[order], features(TablePreprocessor.fit(moved), moved), atol=1e-5)


def test_decimal_comma_of_one_column_is_a_hint_for_the_others(caplog: pytest.LogCaptureFixture) -> None:
    table = pa.table({"sales": [f"{place}.250" for place in range(1, 60)], "size": [f"{i},5" for i in range(1, 60)]})
    wanted = pa.table(
        {"sales": [place * 1000 + 250 for place in range(1, 60)], "size": [i + 0.5 for i in range(1, 60)]}
    )
    preprocessor = TablePreprocessor.fit(table)
    np.testing.assert_allclose(
        features(preprocessor, table), features(TablePreprocessor.fit(wanted), wanted), atol=1e-5
    )
    assert caplog.messages == []


@pytest.mark.parametrize(
    ("values", "options", "fact"),
    [
        ([f"{place}.250" for place in range(1, 61)], {}, "'.'"),
        ([f"{place}.250" for place in range(1, 61)], {"decimal": ","}, ""),
        (["01/02/2020", "03/04/2020", None] * 20, {}, "%d/%m/%Y"),
        (["01/02/2020", "03/14/2020", None] * 20, {}, ""),
    ],
)
def test_values_that_allow_two_readings_are_reported(
    values: list[str | None], options: dict[str, str], fact: str, caplog: pytest.LogCaptureFixture
) -> None:
    profile(pa.table({"column": values}), **options)
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * bool(fact)
    assert all("Column column" in message and fact in message for message in caplog.messages)


VALUES: dict[str, st.SearchStrategy[Any]] = {
    "number": st.none() | st.floats(-1e6, 1e6),
    "flag": st.sampled_from(["yes", "no", None]),
    "category": st.sampled_from(["a", "b", "c", None]),
    "date": st.none() | st.dates().map(str),
    "text": st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join),
    "vector": st.none() | st.lists(st.floats(-5, 5), min_size=2, max_size=2),
    "items": st.none() | st.lists(st.sampled_from(WORDS), max_size=3),
}


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    rows = draw(st.integers(3, 25))
    names = draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, unique=True))
    types = {"number": pa.float64(), "vector": pa.list_(pa.float64()), "items": pa.list_(pa.string())}
    columns = {name: draw(st.lists(VALUES[name], min_size=rows, max_size=rows)) for name in names}
    return pa.table({name: pa.array(values, types.get(name, pa.string())) for name, values in columns.items()})


SUBNORMAL = pa.table({"vector": [None] * 4 + [[0.0, 4e-39]], "category": ["a"] * 4 + ["b"]})


@settings(max_examples=20, deadline=None)
@given(tables(), st.randoms(use_true_random=False))
@example(SUBNORMAL, Random(0))
def test_invariants_of_any_table(table: pa.Table, random: Any) -> None:
    preprocessor = TablePreprocessor.fit(table)
    matrix = features(preprocessor, table)
    assert np.isfinite(matrix).all()
    again = TablePreprocessor.from_json(json.loads(json.dumps(preprocessor.to_json())))
    np.testing.assert_array_equal(features(again, table), matrix)
    order = list(range(table.num_rows))
    random.shuffle(order)
    np.testing.assert_array_equal(features(preprocessor, table.take(order)), matrix[order])
    if preprocessor.n_features:
        batches = table.to_batches(max_chunksize=2)
        np.testing.assert_array_equal(
            np.vstack([dense(each) for each in preprocessor.transform_batches(batches)]), matrix
        )
        nothing = pa.table({name: pa.nulls(3, table.schema.field(name).type) for name in table.column_names})
        assert np.isfinite(features(preprocessor, nothing)).all()


def test_json_replays_on_columns_in_another_order() -> None:
    preprocessor = TablePreprocessor.fit(mixed())
    again = TablePreprocessor.from_json(json.loads(json.dumps(preprocessor.to_json())))
    other = mixed(seed=1)
    shuffled = other.select(sorted(other.column_names, reverse=True))
    np.testing.assert_array_equal(features(preprocessor, other), features(again, shuffled))
    assert again.feature_names == preprocessor.feature_names
    assert again.profiles == preprocessor.profiles
    assert again.fingerprint == preprocessor.fingerprint != TablePreprocessor.fit(other).fingerprint


def test_absent_columns_and_unread_values_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    preprocessor = TablePreprocessor.fit(mixed())
    other = mixed().drop_columns(["age", "note"])
    other = other.set_column(other.column_names.index("country"), "country", pa.array(["XX"] * N))
    matrix = features(preprocessor, other)
    absent, unread = caplog.messages
    assert "age, note" in absent
    assert "country" in unread
    assert f"{N}" in unread
    assert "XX" in unread
    zero = [place for place, name in enumerate(preprocessor.feature_names) if name.startswith(("country", "age"))]
    assert not matrix[:, zero].any()
    with raises(GraphError, column="age"):
        preprocessor.transform(mixed().select(["email"]))


def test_unread_values_of_all_batches_are_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    table = pa.table({"age": [*map(str, range(20, 78, 2)), "seventy"]})
    preprocessor = TablePreprocessor.fit(table)
    (*_, last) = preprocessor.transform_batches(table.to_batches(max_chunksize=7))
    assert dense(last)[-1, 0] == 0
    (message,) = caplog.messages
    assert "age" in message
    assert "seventy" in message


def bag(columns: int, prefix: str = "w_") -> pa.Table:
    rng = np.random.default_rng(0)
    names = [f"{prefix}{place}" if prefix else "".join(rng.choice(list("abcdefgh"), 9)) for place in range(columns)]
    return pa.table(dict(zip(names, rng.poisson(0.1, size=(columns, N)), strict=True)))


def test_one_embedding_stays_unchanged() -> None:
    table = mixed().select(["embedding"])
    preprocessor = TablePreprocessor.fit(table)
    np.testing.assert_array_equal(features(preprocessor, table), np.array(table["embedding"].to_pylist(), np.float32))
    assert (preprocessor.keeps_numbers, preprocessor.raw_columns) == (True, frozenset())


@pytest.mark.parametrize("prefix", ["w_", ""])
def test_a_bag_of_words_stays_unchanged(prefix: str) -> None:
    table = bag(60, prefix)
    wanted = np.stack([table[name].to_numpy() for name in table.column_names], axis=1)
    for preprocessor, given_table in (
        (TablePreprocessor.fit(table), table),
        (TablePreprocessor.fit(as_csv(table)), as_csv(table)),
    ):
        np.testing.assert_array_equal(features(preprocessor, given_table), wanted)
        assert preprocessor.feature_names == preprocessor.column_names == tuple(table.column_names)
        assert preprocessor.raw_columns == set(table.column_names)
        assert preprocessor.keeps_numbers
    assert sp.issparse(TablePreprocessor.fit(table).transform(table))


def test_a_table_without_usable_columns_has_no_features() -> None:
    for table in (pa.table({"name": [f"n{place}" for place in range(N)]}), pa.table({"x": [1] * N})):
        preprocessor = TablePreprocessor.fit(table)
        assert features(preprocessor, table).shape == (N, 0)
        assert not preprocessor.keeps_numbers
    assert TablePreprocessor.fit(pa.table({})).profiles == ()


def test_requested_kinds_and_ignored_columns() -> None:
    table = mixed()
    requested = {"age": "category", "email": "category", "note": "ignore"}
    preprocessor = TablePreprocessor.fit(table, kinds=requested, ignore=["b*", "vip"], vocabulary=3)
    found = {each.name: (each.kind, each.reason) for each in preprocessor.profiles}
    assert found["age"] == found["email"] == (Kind.CATEGORY, Reason.REQUESTED)
    assert found["note"] == found["balance"] == found["vip"] == (Kind.IGNORED, Reason.REQUESTED)
    assert preprocessor.column_names == ("age", "country", "joined", "embedding", "email")
    assert "age" in preprocessor.summary()
    assert "balance" in preprocessor.summary()


@pytest.mark.parametrize(
    ("options", "error", "fields"),
    [
        *[
            ({"kinds": {column: kind}}, GraphError, {"column": column, "value": kind})
            for column, kind in [
                ("country", "number"),
                ("age", "flag"),
                ("vip", "date"),
                ("note", "vector"),
                ("embedding", "category"),
            ]
        ],
        ({"kinds": {"agee": "number"}}, ParameterError, {"parameter": "kinds", "value": "agee"}),
        ({"kinds": {"age": "group"}}, ParameterError, {"parameter": "kinds", "value": "group"}),
        ({"ignore": ["w_*"]}, ParameterError, {"parameter": "ignore", "value": "w_*"}),
        ({"decimal": ";"}, ParameterError, {"parameter": "decimal", "value": ";"}),
        ({"vocabulary": 0}, ParameterError, {"parameter": "vocabulary", "value": 0}),
    ],
)
def test_impossible_options_are_refused(options: dict[str, Any], error: Any, fields: dict[str, Any]) -> None:
    with raises(error, **fields):
        TablePreprocessor.fit(mixed(), **options)


def saved(column: str, **changes: object) -> Any:
    """Return a saved preprocessor of three columns with changes to the profile of a column, or to its encoder."""
    data = json.loads(json.dumps(TablePreprocessor.fit(mixed().select(["age", "joined", "note"])).to_json()))
    (changed,) = (each for each in data if each["columns"] == [column])
    (changed if changes.keys() <= changed.keys() else changed["encoder"]).update(changes)
    return data


@pytest.mark.parametrize(
    "data",
    [
        None,
        [3],
        saved("age", scale=float("nan")),
        saved("age", marks_missing=1),
        saved("age", reason="magic"),
        saved("age", columns=[]),
        saved("age", kind="magic"),
        saved("age", spread="wide"),
        saved("joined", form="%q"),
        saved("joined", cycles=["year"]),
        saved("note", rarity=[None]),
    ],
)
def test_damaged_json_is_refused(data: Any) -> None:
    with pytest.raises(ModelError):
        TablePreprocessor.from_json(data)
