"""What columns are taken for: one table of names and values, and what the rule says of each."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from featprop.tables.kinds import kind_of

N = 200
RNG = np.random.default_rng(0)
WORDS = ["graph", "node", "edge", "label", "budget", "model", "class", "round", "feature", "text"]


def sentences(length: int) -> list[str]:
    return [" ".join(RNG.choice(WORDS, size=length)) for _ in range(N)]


COLUMNS = {
    "age": (RNG.integers(18, 90, N), "number"),
    "year": (RNG.integers(1990, 2020, N), "number"),
    "balance": (np.exp(RNG.normal(9, 2, N)), "number"),
    "revenue": (RNG.permutation(np.arange(N) * 7919 + 13), "number"),
    "rating": (RNG.integers(1, 6, N), "number"),
    "number_of_children": (RNG.integers(0, 5, N), "number"),
    "price": ([f"{value:.2f} €".replace(".", ",") for value in RNG.normal(100, 20, N)], "number"),
    "one word": (["seventy", *map(str, RNG.integers(18, 90, N - 1))], "number"),
    "vip": (RNG.random(N) < 0.1, "flag"),
    "flag": (RNG.integers(0, 2, N), "flag"),
    "answered": (RNG.choice(["yes", "no", "n/a"], N), "flag"),
    "sex": (RNG.choice(["male", "female"], N), "flag"),
    "level": (RNG.integers(1, 3, N), "flag"),
    "country": (RNG.choice(["DE", "FR", "IT", "ES"], N), "category"),
    "postcode": (RNG.integers(10_000, 10_050, N), "category"),
    "zip": ([f"{value:05d}" for value in RNG.integers(0, 90, N)], "category"),
    "countryId": (RNG.integers(1, 20, N), "category"),
    "branch_id": (RNG.integers(1, 20, N), "category"),
    "city": (RNG.choice([f"city {i}" for i in range(60)], N), "category"),
    "joined": ([dt.date(2020, 1, 1) + dt.timedelta(int(day)) for day in RNG.integers(0, 900, N)], "date"),
    "seen": ([f"{day:02d}.03.2021 12:30" for day in RNG.integers(1, 28, N)], "date"),
    "zeros of MySQL": ([f"2020-01-{day:02d}" if day < 28 else "0000-00-00" for day in RNG.integers(1, 40, N)], "date"),
    "two forms": (
        [f"{day:02d}.09.2021" if day % 2 else f"2020-04-{day:02d}" for day in RNG.integers(1, 28, N)],
        "date",
    ),
    "wahr": (RNG.choice(["WAHR", "FALSCH"], N), "flag"),
    "note": (sentences(6), "text"),
    "remark": ([*sentences(6)[: N - 60], *[None] * 60], "text"),
    "embedding": (RNG.normal(size=(N, 3)).tolist(), "vector"),
    "vector": ([str(row) for row in RNG.normal(size=(N, 3)).round(2).tolist()], "vector"),
    "one bad list": (["oops", *(str(row) for row in RNG.normal(size=(N - 1, 3)).round(2).tolist())], "vector"),
    "one short list": (["[1, 2]", *(str(row) for row in RNG.normal(size=(N - 1, 3)).round(2).tolist())], "vector"),
    "empty": ([None] * N, "out"),
    "blank": (["n/a"] * N, "out"),
    "constant": ([3] * N, "out"),
    "same": (["x"] * N, "out"),
    "always": ([True] * N, "out"),
    "row": (np.arange(N) + 17, "out"),
    "customer_id": (RNG.permutation(N) * 3, "out"),
    "phone": (RNG.permutation(N) + 4_915_000_000, "out"),
    "account": (RNG.permutation(N) + 100_000, "out"),
    "email": ([f"p{i}@example.org" for i in range(N)], "out"),
    "name": ([f"Ada Number{i}" for i in range(N)], "out"),
    "struct": ([{"a": 1}] * N, "out"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_is_what_a_person_would_say(name: str) -> None:
    values, kind = COLUMNS[name]
    found = kind_of(name, pa.array(values.tolist() if isinstance(values, np.ndarray) else values))
    assert found.kind == kind
    assert (found.reason != "") == (kind == "out")


@pytest.mark.parametrize("name", COLUMNS)
def test_the_order_of_the_rows_does_not_matter(name: str) -> None:
    values, kind = COLUMNS[name]
    array = pa.array(values.tolist() if isinstance(values, np.ndarray) else values)
    assert kind_of(name, array.take(pa.array(np.random.default_rng(1).permutation(N)))).kind == kind


def test_numbers_that_no_float_tells_apart_are_not_said_to_be_the_same() -> None:
    large = pa.array([2**63 + place for place in range(5)], pa.uint64())
    assert kind_of("big", large) == ("out", "too large to be told apart as numbers")
    assert kind_of("big", large.cast(pa.string())) == ("out", "too large to be told apart as numbers")
    assert kind_of("big", pa.array([2**63] * 5, pa.uint64())) == ("out", "the same everywhere")
    assert kind_of("ones", pa.array(["1", "1.0", "1.00"])) == ("out", "the same everywhere")
