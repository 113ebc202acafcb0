"""What columns are taken for: a table of names and values, and the kind of each."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from featprop.features import ColumnProfile, Kind, Reason, profile

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


def profile_of(name: str, values: object, **options: object) -> ColumnProfile:
    (found,) = profile(pa.table({name: array(values)}), **options)
    return found


def test_profile_of_a_table() -> None:
    table = pa.table({name: array(values) for name, (values, _) in (COLUMNS | IGNORED).items()})
    found = {each.name: each for each in profile(table)}
    assert {name: found[name].kind for name in COLUMNS} == {name: kind for name, (_, kind) in COLUMNS.items()}
    ignored = {name: (each.reason, each.n_features) for name, each in found.items() if each.kind == Kind.IGNORED}
    assert ignored == {name: (reason, 0) for name, (_, reason) in IGNORED.items()}
    assert found["remark"].missing == 0.3
    moved = table.take(pa.array(np.random.default_rng(1).permutation(N)))
    assert [each.kind for each in profile(moved)] == [each.kind for each in found.values()]
    assert found["embedding"].n_features == 3
    assert "%d.%m.%Y" in found["seen"].transformation


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "__index_level_0__"])
def test_the_index_of_pandas_is_ignored(name: str) -> None:
    assert profile_of(name, RNG.normal(size=N)).reason == Reason.INDEX
    assert profile_of("index", RNG.normal(size=N)).kind == Kind.NUMBER


def groups(columns: dict[str, np.ndarray], **options: object) -> list[tuple[str, ...]]:
    return [each.columns for each in profile(pa.table(columns), **options) if each.kind == Kind.GROUP]


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
    assert groups(alike, kinds=dict.fromkeys(alike, "number")) == []


def test_many_columns_of_counts_form_a_group() -> None:
    counts = {"".join(RNG.choice(list("abcdefgh"), 9)): RNG.poisson(0.1, N).astype(float) for _ in range(60)}
    assert groups(counts) == [tuple(counts)]
    assert groups(dict(list(counts.items())[:49])) == []
    assert groups({f"w{place}": RNG.poisson(0.1 / (1 + 50 * place), N).astype(float) for place in range(8)}) != []


@pytest.mark.parametrize(
    ("values", "words", "missing"),
    [
        ([18, 90, None, 30], "18 to 90", 0.25),
        ([1.5, float("nan"), float("nan"), None], "1.5", 0.75),
        ([dt.date(2020, 1, 2), dt.date(2021, 1, 2)], "2020-01-02 to 2021-01-02", 0),
        (["b", "a", "b", "c", "d", "n/a", "NA", "f"], "6: b, ", 0.125),
        (["1", "NA", "5", "", "7", "9", "11", "13"], "7: ", 0.25),
        (["n/a"], "", 1),
        ([[1]], "list", 0),
        (pa.array([], pa.int8()), "", 0),
    ],
)
def test_examples_and_missing_values(values: object, words: str, missing: float) -> None:
    found = profile_of("x", values)
    assert found.examples.startswith(words)
    assert bool(found.examples) == bool(words)
    assert found.missing == missing
