"""A whole table: what counts how much, what stays as it is, and the same again from JSON, in any order of columns."""

import json
import logging

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from featprop.errors import GraphError
from featprop.matrix import dense
from featprop.tables import Preparation, TableOptions
from featprop.tables.looks import plain_column

N = 120
WORDS = ["late", "refund", "thanks", "premium", "login", "reset", "bonus", "error", "mobile", "return"]


def mixed(seed: int = 0, rows: int = N) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "id": [f"c{place}" for place in range(rows)],
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


def features(preparation: Preparation, table: pa.Table) -> np.ndarray:
    def column(name: str) -> pa.Array | None:
        return plain_column(table, name) if name in table.column_names else None

    matrix, names = preparation.apply(column, table.num_rows)
    assert names is None or len(names) == matrix.shape[1]
    return dense(matrix)


def learnt(table: pa.Table, **options: object) -> Preparation:
    return Preparation.learn(table, TableOptions(**options), ["id"])[0]


def test_each_block_counts_what_the_rule_says() -> None:
    preparation = learnt(mixed())
    matrix, start, counts = features(preparation, mixed()), 0, {}
    for block in preparation.blocks:
        width = len(block.encoder.titles(""))
        variances = matrix[:, start : start + width].var(axis=0, dtype=np.float64)
        counts[block.title] = float(variances.sum())
        start += width
        if block.title == "embedding":
            assert counts["embedding"] == pytest.approx(1 + np.log2(variances.sum() ** 2 / (variances**2).sum()), 1e-3)
    assert start == matrix.shape[1]
    for name in ("age", "balance", "vip", "country", "joined"):
        assert counts[name] == pytest.approx(1, rel=1e-3)
    assert 3 < counts["note"] < 5
    assert 5 < counts["embedding"] < 6


def test_a_rare_flag_does_not_become_a_huge_number() -> None:
    rows = 10_000
    table = pa.table({"id": range(rows), "rare": [True] + [False] * (rows - 1), "x": np.arange(rows) % 7})
    assert abs(features(learnt(table), table)).max() < 11


def test_units_do_not_matter() -> None:
    table = mixed()
    place = table.column_names.index("age")
    in_days = table.set_column(place, "age", pa.array(plain_column(table, "age").to_numpy() * 365.25))
    np.testing.assert_allclose(features(learnt(table), table), features(learnt(in_days), in_days), atol=1e-5)


def test_what_was_learnt_comes_back_from_json_in_any_order_of_columns() -> None:
    preparation = learnt(mixed())
    again = Preparation.from_jsonable(json.loads(json.dumps(preparation.to_jsonable())))
    other = mixed(seed=1)
    shuffled = other.select(sorted(other.column_names, reverse=True))
    np.testing.assert_array_equal(features(preparation, other), features(again, shuffled))
    assert again.titles == preparation.titles
    assert again.fingerprint == preparation.fingerprint != learnt(other).fingerprint


def test_rows_go_with_their_nodes() -> None:
    table = mixed()
    here = features(learnt(table), table)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(N)
        moved = table.take(pa.array(order))
        np.testing.assert_allclose(here[order], features(learnt(moved), moved), atol=1e-5)


def test_columns_that_are_gone_and_values_never_seen_are_named(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    table = mixed()
    preparation = learnt(table)
    other = table.drop_columns(["age", "note"])
    place = other.column_names.index("country")
    other = other.set_column(place, "country", pa.array(["XX"] * N))
    matrix = features(preparation, other)
    assert "Columns that are gone count as missing everywhere: 2 (age, note)" in caplog.text
    assert "Column country: values never seen before count as nothing: 1 (xx)" in caplog.text
    names = preparation.titles
    assert not matrix[:, [place for place, name in enumerate(names) if name.startswith(("country", "age"))]].any()
    with pytest.raises(GraphError, match="none of"):
        features(preparation, table.select(["id"]))


def bag(columns: int, prefix: str = "w_") -> pa.Table:
    rng = np.random.default_rng(0)
    names = [f"{prefix}{place}" if prefix else "".join(rng.choice(list("abcdefgh"), 9)) for place in range(columns)]
    counts = rng.poisson(0.1, size=(columns, N))
    return pa.table({"id": range(N)} | dict(zip(names, counts, strict=True)))


@pytest.mark.parametrize("prefix", ["w_", ""])
def test_the_words_of_a_bag_stay_exactly_as_they_are(prefix: str) -> None:
    table = bag(60, prefix)
    preparation = learnt(table)
    matrix, names = preparation.apply(lambda name: plain_column(table, name), N)
    assert sp.issparse(matrix)
    wanted = np.stack([plain_column(table, name).to_numpy() for name in table.column_names[1:]], axis=1)
    np.testing.assert_array_equal(dense(matrix), wanted)
    assert names == tuple(table.column_names[1:])
    assert preparation.as_it_is == set(names)


def test_one_embedding_stays_exactly_as_it_is() -> None:
    table = mixed().select(["id", "embedding"])
    wanted = np.array(table["embedding"].to_pylist(), dtype=np.float32)
    np.testing.assert_array_equal(features(learnt(table), table), wanted)


def test_numbered_columns_of_other_scales_are_columns_of_their_own() -> None:
    rng = np.random.default_rng(0)
    alike = {f"v{place}": rng.normal(size=N) * (1 + place % 3) for place in range(10)}
    assert len(learnt(pa.table({"id": range(N)} | alike)).blocks) == 1
    unlike = alike | {"v3": rng.normal(size=N) * 1e4}
    assert len(learnt(pa.table({"id": range(N)} | unlike)).blocks) == 10


def test_raw_takes_numbers_as_they_are() -> None:
    table = mixed().drop_columns(["embedding"])
    matrix = features(learnt(table, raw=True), table)
    assert matrix.shape == (N, 3)
    np.testing.assert_allclose(matrix[:, 0], plain_column(table, "age").to_numpy())
    np.testing.assert_allclose(matrix[:, 1], plain_column(table, "balance").to_numpy(), rtol=1e-6)


def test_the_user_has_the_last_word() -> None:
    table = mixed()
    preparation = learnt(table, features=["age", "c*"], columns={"age": "category"})
    assert [(block.title, block.encoder.kind) for block in preparation.blocks] == [
        ("age", "category"),
        ("country", "category"),
    ]
    assert [column.kind for column in learnt(table, columns={"note": "out"}).columns if column.name == "note"] == ["–"]
    assert learnt(table, features=["age, c*"]).feature_names == learnt(table, features=["age", "c*"]).feature_names
    named = learnt(table, features=["email"])
    assert learnt(table, features=["age,email"]).feature_names == ("age", *named.feature_names)
    assert [block.encoder.kind for block in named.blocks] == ["category"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": {"country": "number"}}, "Column 'country' of nodes must be a number as --column says"),
        ({"columns": {"agee": "number"}}, "must have a feature column 'agee'; found the columns age"),
        ({"features": ["age,w"]}, "must have a feature column 'w'"),
        ({"features": ["w_*"]}, "must have a feature column 'w_\\*'"),
        ({"features": ["email"], "columns": {"email": "out"}}, "at least one column that can be a feature"),
        ({"raw": True}, "must be numeric columns or one list column with --raw"),
    ],
)
def test_what_cannot_be_done_is_said(options: dict[str, object], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        learnt(mixed(), **options)


def test_an_odd_word_among_numbers_is_named(caplog: pytest.LogCaptureFixture) -> None:
    table = pa.table({"id": range(30), "age": ["seventy", *map(str, range(20, 78, 2))]})
    matrix = features(learnt(table), table)
    assert "Column age: values that are no numbers count as missing: 1 ('seventy' in row 1)" in caplog.text
    assert matrix[0, 0] == 0


@pytest.mark.parametrize("as_text", [False, True])
def test_infinite_numbers_are_missing_and_named(caplog: pytest.LogCaptureFixture, as_text: bool) -> None:
    values = pa.array([1.5, float("inf"), 2.5, float("-inf"), None, float("inf"), 7.0, 9.0])
    found = learnt(pa.table({"x": values.cast(pa.string()) if as_text else values}))
    (column,) = found.columns
    assert column.missing == 0.5
    assert as_text or column.values == "1.5 to 9"
    shown = ("'inf'", "'-inf'") if as_text else ("inf", "-inf")
    told = f"2 ({shown[0]} 2 times, first in row 2, {shown[1]} in row 4)"
    assert f"Column x: values that are no numbers count as missing: {told}" in caplog.text


def test_what_is_left_out_is_said() -> None:
    table = mixed().append_column("version", pa.array([1] * N)).append_column("nothing", pa.nulls(N))
    told = {column.name: column.becomes for column in learnt(table).columns}
    assert told["email"] == "left out: nearly every node has its own"
    assert told["version"] == "left out: the same everywhere"
    assert told["nothing"] == "left out: empty"


@pytest.mark.parametrize(
    "change", [{"scale": 0}, {"columns": []}, {"kind": "magic"}, {"settings": {}}, {"columns": ["a", "b"]}]
)
def test_a_damaged_preparation_is_refused(change: dict[str, object]) -> None:
    said = learnt(mixed()).to_jsonable()
    said["blocks"][0] |= change
    with pytest.raises((ValueError, TypeError, KeyError)):
        Preparation.from_jsonable(said)


@pytest.mark.parametrize("scale", [3e38, 1e155])
def test_features_that_a_damaged_scale_makes_infinite_are_left_to_who_takes_them(scale: float) -> None:
    said = learnt(mixed()).to_jsonable()
    said["blocks"][0]["scale"] = scale
    assert not np.isfinite(features(Preparation.from_jsonable(said), mixed())).all()


def test_a_column_may_have_a_comma_in_its_name() -> None:
    table = pa.table({"id": ["a", "b", "c"], "x,y": [1.0, 2.5, 3.0], "x": [2.0, 1.0, 7.5], "y": [5.0, 1.0, 2.5]})
    assert learnt(table, features=["x,y"]).feature_names == ("x,y",)
    assert learnt(table, features=["x,y", "y,x"]).feature_names == ("x,y", "x", "y")
