"""What columns are taken for: a table of names and values, and the kind of each."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from featprop.features import Ambiguity, Kind, Reason, profile
from featprop.features.grouping import find_groups
from featprop.features.profile import Inference, describe_values, infer_kind, is_row_number, missing_share

N = 200
RNG = np.random.default_rng(0)
WORDS = ["graph", "node", "edge", "label", "budget", "model", "class", "round", "feature", "text"]


def sentences(length: int) -> list[str]:
    return [" ".join(RNG.choice(WORDS, size=length)) for _ in range(N)]


def vectors() -> list[list[float]]:
    return RNG.normal(size=(N, 3)).round(2).tolist()


COLUMNS = {
    "age": (RNG.integers(18, 90, N), Kind.NUMBER),
    "year": (RNG.integers(1990, 2020, N), Kind.NUMBER),
    "balance": (np.exp(RNG.normal(9, 2, N)), Kind.NUMBER),
    "revenue": (RNG.permutation(np.arange(N) * 7919 + 13), Kind.NUMBER),
    "number_of_children": (RNG.integers(0, 5, N), Kind.NUMBER),
    "price": ([f"{value:.2f} €".replace(".", ",") for value in RNG.normal(100, 20, N)], Kind.NUMBER),
    "one word": (["seventy", *map(str, RNG.integers(18, 90, N - 1))], Kind.NUMBER),
    "vip": (RNG.random(N) < 0.1, Kind.FLAG),
    "flag": (RNG.integers(0, 2, N), Kind.FLAG),
    "answered": (RNG.choice(["yes", "no", "n/a"], N), Kind.FLAG),
    "sex": (RNG.choice(["male", "female"], N), Kind.FLAG),
    "level": (RNG.integers(1, 3, N), Kind.FLAG),
    "rarely missing": ([None] * 60 + [True] * (N - 60), Kind.FLAG),
    "country": (RNG.choice(["DE", "FR", "IT", "ES"], N), Kind.CATEGORY),
    "postcode": (RNG.integers(10_000, 10_050, N), Kind.CATEGORY),
    "zip": ([f"{value:05d}" for value in RNG.integers(0, 90, N)], Kind.CATEGORY),
    "countryId": (RNG.integers(1, 20, N), Kind.CATEGORY),
    "account_no": (RNG.integers(1, 20, N), Kind.CATEGORY),
    "city": (RNG.choice([f"city {i}" for i in range(60)], N), Kind.CATEGORY),
    "joined": ([dt.date(2020, 1, 1) + dt.timedelta(int(day)) for day in RNG.integers(0, 900, N)], Kind.DATE),
    "seen": ([f"{day:02d}.03.2021 12:30" for day in RNG.integers(1, 28, N)], Kind.DATE),
    "zeros": ([f"2020-01-{day:02d}" if day < 28 else "0000-00-00" for day in RNG.integers(1, 40, N)], Kind.DATE),
    "note": (sentences(6), Kind.TEXT),
    "remark": ([*sentences(6)[: N - 60], *[None] * 60], Kind.TEXT),
    "skills": ([", ".join(RNG.choice(WORDS, size=4)) for _ in range(N)], Kind.TEXT),
    "embedding": (vectors(), Kind.VECTOR),
    "vector": ([str(row) for row in vectors()], Kind.VECTOR),
    "neo4j": ([";".join(map(str, row)) for row in RNG.integers(0, 2, (N, 5))], Kind.VECTOR),
    "one bad list": (["oops", *map(str, vectors()[1:])], Kind.VECTOR),
    "one short list": (["[1, 2]", *map(str, vectors()[1:])], Kind.VECTOR),
    "tags": ([RNG.choice(WORDS, size=size).tolist() for size in RNG.integers(0, 4, N)], Kind.ITEMS),
    "json tags": (['["a", "b"]', '["c"]'] * (N // 2), Kind.ITEMS),
    "ragged": ([list(range(size)) for size in RNG.integers(0, 5, N)], Kind.ITEMS),
}
IGNORED = {
    "empty": ([None] * N, Reason.EMPTY),
    "blank": (["n/a"] * N, Reason.EMPTY),
    "NaN": ([float("nan")] * N, Reason.EMPTY),
    "empty lists": (pa.array([[]] * N, pa.list_(pa.int64())), Reason.EMPTY),
    "one number": ([3] * N, Reason.CONSTANT),
    "same": (["x"] * N, Reason.CONSTANT),
    "always": ([True] * N, Reason.CONSTANT),
    "that day": ([dt.date(2020, 1, 1)] * N, Reason.CONSTANT),
    "in order": (np.arange(N) + 17, Reason.UNIQUE),
    "customer_id": (RNG.permutation(N) * 3, Reason.UNIQUE),
    "phone": (RNG.permutation(N) + 4_915_000_000, Reason.UNIQUE),
    "reference": (RNG.permutation(N) * 31 + 4_915_000_000, Reason.UNIQUE),
    "email": ([f"p{i}@example.org" for i in range(N)], Reason.UNIQUE),
    "name": ([f"Ada Number{i}" for i in range(N)], Reason.UNIQUE),
    "struct": ([{"a": 1}] * N, Reason.UNSUPPORTED_TYPE),
    "bytes": ([b"\xff"] * N, Reason.UNSUPPORTED_TYPE),
    "uneven": ([[0.5] * size for size in RNG.integers(1, 5, N)], Reason.UNEVEN_LISTS),
}


def array(values: object) -> pa.Array:
    return values if isinstance(values, pa.Array) else pa.array(list(values))


@pytest.mark.parametrize("name", COLUMNS)
def test_kind_of_a_column(name: str) -> None:
    values, kind = COLUMNS[name]
    assert infer_kind(name, array(values)).kind == kind


@pytest.mark.parametrize("name", IGNORED)
def test_reason_why_a_column_is_ignored(name: str) -> None:
    values, reason = IGNORED[name]
    assert infer_kind(name, array(values)) == (Kind.IGNORED, reason, None)


@pytest.mark.parametrize("name", COLUMNS)
def test_order_of_the_rows_does_not_matter(name: str) -> None:
    values, kind = COLUMNS[name]
    order = pa.array(np.random.default_rng(1).permutation(N))
    assert infer_kind(name, array(values).take(order)).kind == kind


def test_ambiguous_columns_are_reported() -> None:
    dotted = pa.array([f"{thousands}.250" for thousands in range(1, 60)])
    assert infer_kind("sales", dotted).ambiguity == Ambiguity.DECIMAL_MARK
    assert infer_kind("sales", dotted, ",").ambiguity is None
    days = pa.array([f"{1 + day % 12:02d}/{1 + day % 11:02d}/2020" for day in range(60)])
    assert infer_kind("day", days).ambiguity == Ambiguity.DAY_OR_MONTH


@pytest.mark.parametrize(
    ("name", "position", "values", "expected"),
    [
        ("", 0, ["a", "b", "c"], True),
        ("Unnamed: 0", 0, [5, 6, 7], True),
        ("Unnamed: 0", 3, [5, 6, 7], False),
        ("__index_level_0__", 4, [7, 5, 6], True),
        ("index", 2, [0, 1, 2], True),
        ("Row", 0, ["1", "2", "3"], True),
        ("index", 0, [1, 2, 4], False),
        ("index", 0, [0, 1], False),
        ("index", 0, ["a", "b", "c"], False),
        ("index", 0, [[1], [2], [3]], False),
        ("age", 0, [0, 1, 2], False),
    ],
)
def test_row_numbers(name: str, position: int, values: list[object], expected: bool) -> None:
    assert is_row_number(name, position, pa.array(values)) is expected


def groups(columns: dict[str, np.ndarray]) -> list[tuple[str, ...]]:
    kinds = {name: Inference(Kind.NUMBER, Reason.VALUES) for name in columns}
    return find_groups(kinds, lambda name: pa.array(columns[name]), None)


def test_numbered_columns_with_similar_spreads_form_a_group() -> None:
    alike = {f"v{place}": RNG.normal(size=N) * (1 + place % 3) for place in range(10)}
    assert groups(alike) == [tuple(alike)]
    assert groups({f"v[{place}]": RNG.normal(size=N) for place in range(8)}) != []
    assert groups(dict(list(alike.items())[:7])) == []
    assert groups(alike | {"v3": RNG.normal(size=N) * 1e4}) == []
    assert groups(alike | {"v3": np.full(N, np.inf)}) == [tuple(name for name in alike if name != "v3")]
    assert groups({name: np.exp(5 * values) for name, values in alike.items()}) == []
    assert groups({name: values + 1e6 for name, values in alike.items()}) == []
    assert groups({name: np.full(N, 3.0) for name in alike}) == []


def test_many_columns_of_counts_form_a_group() -> None:
    counts = {"".join(RNG.choice(list("abcdefgh"), 9)): RNG.poisson(0.1, N).astype(float) for _ in range(60)}
    assert groups(counts) == [tuple(counts)]
    assert groups(dict(list(counts.items())[:49])) == []
    assert groups({f"w{place}": RNG.poisson(0.1 / (1 + 50 * place), N).astype(float) for place in range(8)}) != []


def test_requested_columns_stay_out_of_groups() -> None:
    columns = {f"v{place}": RNG.normal(size=N) for place in range(10)}
    kinds = {name: Inference(Kind.NUMBER, Reason.REQUESTED) for name in columns}
    assert find_groups(kinds, lambda name: pa.array(columns[name]), None) == []


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (pa.array([18, 90, None]), "18 to 90"),
        (pa.array([1.5, float("inf")]), "1.5"),
        (pa.array([float("inf")]), ""),
        (pa.array([dt.date(2020, 1, 2), dt.date(2021, 1, 2)]), "2020-01-02 to 2021-01-02"),
        (pa.array(["b", "a", "b", "c", "d", "n/a"]), "4: b, "),
        (pa.array(["n/a"]), ""),
        (pa.array([[1]]), "list"),
    ],
)
def test_examples_of_values(values: pa.Array, words: str) -> None:
    assert describe_values(values).startswith(words)
    assert bool(describe_values(values)) == bool(words)


def test_missing_share_counts_words_only_where_they_are_no_values() -> None:
    texts = pa.array(["NA", "", "5", "7"])
    assert missing_share(texts, Kind.NUMBER) == 0.5
    assert missing_share(texts, Kind.CATEGORY) == 0.25
    assert missing_share(pa.array([1.0, float("nan"), float("inf"), None]), Kind.NUMBER) == 0.75
    assert missing_share(pa.array([1, None]), Kind.NUMBER) == 0.5
    assert missing_share(pa.array([], pa.int8()), Kind.NUMBER) == 0.0


def test_profile_of_a_table() -> None:
    table = pa.table({name: array(values) for name, (values, _) in (COLUMNS | IGNORED).items()})
    found = {each.name: each for each in profile(table)}
    assert {name: found[name].kind for name in COLUMNS} == {name: kind for name, (_, kind) in COLUMNS.items()}
    assert {name: found[name].reason for name in IGNORED} == {name: why for name, (_, why) in IGNORED.items()}
    assert found["remark"].missing == 0.3
    assert found["embedding"].n_features == 3
    assert found["empty"].is_ignored
    assert "%d.%m.%Y" in found["seen"].transformation
    assert found["age"].examples.startswith("18 to ")
