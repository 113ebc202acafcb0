"""A model meets tables that are not quite those it learnt from: nothing is misread in silence."""

import datetime as dt
import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest

import featprop as fp
from featprop.errors import ModelError
from featprop.graph import Graph
from featprop.matrix import dense
from featprop.strategies import Strategy
from featprop.tables import Preparation, TableOptions
from featprop.tables.kinds import kind_of
from featprop.tables.looks import column_of

N = 40
RNG = np.random.default_rng(0)


def replayed(learnt: dict[str, object], other: dict[str, object]) -> tuple[np.ndarray, np.ndarray]:
    """Return the features of the table that was learnt from, and of the other as it is replayed."""
    table = pa.table({"x": np.arange(N) % 7} | learnt)
    preparation, features = Preparation.learn(table, TableOptions())
    later = pa.table({"x": np.arange(N) % 7} | other)
    return dense(features), dense(preparation.apply(lambda name: column_of(later, name), N)[0])


def test_a_word_or_a_code_among_numbers_costs_itself_only(caplog: pytest.LogCaptureFixture) -> None:
    ages = RNG.integers(18, 90, N)
    texts = ["05", "unclear", *map(str, ages[2:])]
    ours, theirs = replayed({"age": ages}, {"age": texts})
    np.testing.assert_allclose(ours[2:], theirs[2:], rtol=1e-5)
    assert "Column age: values that are no numbers count as missing: 1 ('unclear' in row 2)" in caplog.text


def test_dates_may_be_written_in_another_way() -> None:
    days = [dt.date(2020, 1, 1) + dt.timedelta(int(day)) for day in RNG.integers(0, 900, N)]
    ours, theirs = replayed(
        {"d": [day.strftime("%d.%m.%Y") for day in days]}, {"d": [day.strftime("%Y-%m-%d 00:00") for day in days]}
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)
    typed = replayed({"d": [day.strftime("%d.%m.%Y") for day in days]}, {"d": days})
    np.testing.assert_allclose(*typed, rtol=1e-5)


@pytest.mark.parametrize("bad", ["[1, 2, 3]", "oops"])
def test_a_list_that_cannot_be_read_costs_itself_only(bad: str, caplog: pytest.LogCaptureFixture) -> None:
    lists = [str(row) for row in RNG.normal(size=(N, 4)).round(2).tolist()]
    ours, theirs = replayed({"v": lists}, {"v": [*lists[:-1], bad]})
    np.testing.assert_array_equal(ours[:-1], theirs[:-1])
    told = "lists of another length and what is no list of numbers count as missing: 1"
    named = "a list of 3" if bad != "oops" else "'oops'"
    assert f"Column v: {told} ({named} in row {N})" in caplog.text
    caplog.clear()
    learnt, features = Preparation.learn(pa.table({"x": np.arange(N) % 7, "v": [*lists[:-1], bad]}), TableOptions())
    assert [column.kind for column in learnt.columns] == ["number", "vector"]
    assert dense(features).shape == ours.shape
    assert f"Column v: {told} ({named} in row {N})" in caplog.text
    with pytest.raises(fp.errors.FeatpropError, match=f"'v' of nodes must be usable as it is; found 1 .* in row {N}"):
        Preparation.learn(pa.table({"v": [*lists[:-1], bad]}), TableOptions(raw=True))


@pytest.mark.parametrize("choices", [(15, 90, 600, 3600), (30, 90)], ids=["numbers", "flags"])
@pytest.mark.parametrize(
    ("learnt", "other"),
    [
        (pa.duration("us"), pa.duration("ns")),
        (pa.duration("s"), pa.duration("ms")),
        (pa.time32("ms"), pa.time64("us")),
        (pa.time32("s"), pa.time64("ns")),
    ],
)
def test_durations_and_times_are_seconds_whatever_they_are_stored_in(
    choices: tuple[int, ...], learnt: pa.DataType, other: pa.DataType, caplog: pytest.LogCaptureFixture
) -> None:
    seconds = RNG.choice(choices, N)
    times = [dt.timedelta(seconds=int(each)) for each in seconds]
    moments = times if pa.types.is_duration(learnt) else [(dt.datetime.min + each).time() for each in times]
    ours, theirs = replayed({"t": pa.array(moments, learnt)}, {"t": pa.array(moments, other)})
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    assert len(np.unique(ours[:, 1])) == len(choices)
    assert not caplog.text


def test_what_is_no_date_is_named(caplog: pytest.LogCaptureFixture) -> None:
    days = [f"{day:02d}.03.2021" for day in RNG.integers(1, 28, N)]
    replayed({"d": days}, {"d": ["soon", *days[1:]]})
    assert "Column d: values that are no dates count as missing: 1 ('soon' in row 1)" in caplog.text


def test_dates_in_a_form_that_is_not_known_are_not_read_by_halves(caplog: pytest.LogCaptureFixture) -> None:
    days = [dt.date(2020, 1, 1) + dt.timedelta(int(day)) for day in RNG.integers(0, 900, N)]
    other = [day.strftime("%m-%d-%Y") for day in days]
    late = [place for place, day in enumerate(days) if day.day > 12]
    ours, theirs = replayed({"d": [day.isoformat() for day in days]}, {"d": other})
    assert ours.shape == theirs.shape
    assert len(np.unique(theirs[:, 1:], axis=0)) == 1
    first = f"the first '{other[late[0]]}' in row {late[0] + 1}"
    assert (
        f"Column d counts as missing everywhere: it is no date that can be read in {len(late)} of {N} rows, {first}, "
        "and day and month of the others may be swapped: write dates as 2024-12-31"
    ) in caplog.text


def test_words_for_missing_dates_and_one_of_a_few_leave_the_others(caplog: pytest.LogCaptureFixture) -> None:
    days = [f"{day:02d}.03.2021" for day in RNG.integers(1, 28, N)]
    ours, theirs = replayed({"d": days}, {"d": ["unknown"] * 9 + days[9:]})
    np.testing.assert_array_equal(ours[9:], theirs[9:])
    replayed({"d": days}, {"d": [None] * (N - 5) + days[-5:-1] + ["soon"]})
    assert "count as missing: 1 ('soon' in row 40)" in caplog.text
    assert "everywhere" not in caplog.text
    replayed({"d": days}, {"d": ["soon"] * N})
    assert f"it is no date that can be read in {N} of {N} rows, the first 'soon' in row 1: write dates" in caplog.text


def test_decimal_commas_of_another_table_are_seen() -> None:
    numbers = RNG.uniform(1, 2, N).round(3)
    commas = {"w": [f"{value:.3f}".replace(".", ",") for value in numbers], "h": ["12,5"] * N}
    ours, theirs = replayed({"w": numbers, "h": RNG.normal(12, 3, N)}, commas)
    np.testing.assert_allclose(ours[:, 1], theirs[:, 1], rtol=1e-4)


@pytest.mark.parametrize(
    ("learnt", "other", "told"),
    [
        ("{:.1f} kg", "{:.1f} g", "is in g and was learnt in kg"),
        ("{:.1f} €", "{:.1f} $", "is in USD and was learnt in EUR"),
        ("{:.1f} €", "EUR {:.2f}", None),
        ("{:.1f} %", "{:.1f}", "is without a unit and was learnt in %"),
        ("{:.1f}", "{:.1f} %", "is in % and was learnt without a unit"),
        ("{:.1f} kg", None, "is without a unit and was learnt in kg"),
        (None, "{:.2f}", None),
        ("{:.1f} kg", "n/a", None),
    ],
)
def test_another_unit_is_said(
    learnt: str | None, other: str | None, told: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    numbers = RNG.uniform(1, 50, N)
    first, second = (numbers if form is None else [form.format(each) for each in numbers] for form in (learnt, other))
    replayed({"m": first}, {"m": second})
    if told is None:
        assert "learnt" not in caplog.text
    else:
        assert f"Column m {told}: write it in the unit it was learnt in" in caplog.text


def test_columns_of_one_thing_in_another_unit_are_told_together(caplog: pytest.LogCaptureFixture) -> None:
    values = RNG.uniform(1, 50, (N, 9))
    first = {f"w_{place}": values[:, place] for place in range(9)}
    second = {name: [f"{value:.1f} %" for value in column] for name, column in first.items()}
    replayed(first, second)
    assert caplog.text.count("in % that were learnt without a unit: 9 (w_0, w_1") == 1
    assert caplog.text.count("learnt") == 2


@pytest.mark.parametrize(
    ("learnt", "other", "told"),
    [
        ([3796, 162, 1250, 17], [3.796, 1.25, 2.351, 9.102], "and holds 3.796 now: write 3796 if its dot stands"),
        ([3796, 162, 1250, 17], [3.796, 162, 2.351, 9], "and holds 3.796 now: write 3796 if its dot stands"),
        ([3796, 162, 1250, 17], [3.5, 162.25, 2.5, 9], None),
        ([3796, 162, 1250, 17], [0.125, 0.375, 2, 9], None),
        ([3796, 162, 1250, 17], [3.79612, 162, 2.3512, 9], None),
        ([3796, 162, 1250, 17.5], [3.796, 162, 2.351, 9], None),
        ([3796, 162, 1250, 17], [3796, 162, 2351, 9], None),
    ],
)
def test_thousands_that_were_not_known_as_such_are_told(
    learnt: list[float], other: list[float], told: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    repeats = N // 4
    replayed({"amount": learnt * repeats}, {"amount": other * repeats})
    if told is None:
        assert "whole numbers" not in caplog.text
    else:
        assert f"Column amount was learnt from whole numbers {told}" in caplog.text


def test_a_preparation_that_knows_no_unit_says_nothing_of_it(caplog: pytest.LogCaptureFixture) -> None:
    table = pa.table({"m": [f"{each:.1f} kg" for each in RNG.uniform(1, 50, N)]})
    said = json.loads(json.dumps(Preparation.learn(table, TableOptions())[0].to_jsonable()))
    assert said["blocks"][0].pop("unit") == "kg"
    old = Preparation.from_jsonable(said)
    old.apply(lambda _: pa.array(["3 g"] * N), N)
    assert not caplog.text
    assert "unit" not in old.to_jsonable()["blocks"][0]
    said["blocks"][0]["unit"] = 7
    with pytest.raises(TypeError, match="unit"):
        Preparation.from_jsonable(said)


def test_yes_and_no_in_other_words() -> None:
    flags = RNG.integers(0, 2, N)
    ours, theirs = replayed({"f": [["N", "Y"][flag] for flag in flags]}, {"f": flags.astype(bool)})
    np.testing.assert_allclose(ours, theirs)


@pytest.mark.parametrize("words", [("FALSCH", "WAHR"), ("FAUX", "VRAI"), ("FALSO", "VERDADERO"), ("FALSO", "VERO")])
def test_true_and_false_as_excel_writes_them_elsewhere(
    words: tuple[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    flags = RNG.integers(0, 2, N)
    local = {"f": [words[flag] for flag in flags]}
    for ours, theirs in replayed({"f": flags.astype(bool)}, local), replayed(local, {"f": flags.astype(bool)}):
        np.testing.assert_allclose(ours, theirs)
    assert not caplog.text


def test_values_that_are_neither_of_two_are_counted_by_rows(caplog: pytest.LogCaptureFixture) -> None:
    flags = ["yes", "no"] * (N // 2)
    replayed({"f": flags}, {"f": [*["perhaps"] * 3, "soon", *flags[4:]]})
    told = "2 ('perhaps' 3 times, first in row 1, 'soon' in row 4)"
    assert f"Column f: values that are neither of the two count as missing: {told}" in caplog.text


def test_a_column_in_other_letters_is_taken_and_said(caplog: pytest.LogCaptureFixture) -> None:
    ages = RNG.integers(18, 90, N)
    np.testing.assert_allclose(*replayed({"age": ages}, {"Age": ages}))
    assert "Column Age is taken for age" in caplog.text


def test_a_column_of_another_type_is_said(caplog: pytest.LogCaptureFixture) -> None:
    words = RNG.choice(["a", "b", "c"], N)
    _, theirs = replayed({"w": words}, {"w": [[1.0, 2.0]] * N})
    assert not theirs[:, 1:].any()
    assert "Column w counts as missing everywhere: it is of the type list<item: double>" in caplog.text


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("house_price", RNG.choice(np.arange(100_000, 999_999), N, replace=False), "number"),
        ("account_balance", RNG.choice(np.arange(1000, 90_000), N, replace=False), "number"),
        ("phone_calls", RNG.integers(0, 40, N), "number"),
        ("account number", RNG.permutation(N) * 3 + 1, "out"),
        ("accountNo", RNG.permutation(N) * 3 + 1, "out"),
        ("pages", [f"{value} S." for value in RNG.integers(50, 900, N)], "number"),
        ("signal", [f"{value} dBm" for value in RNG.integers(-90, -30, N)], "number"),
        ("firmware", RNG.choice(["1.2.0", "1.2.1", "1.10.3"], N), "category"),
        ("short", RNG.choice(["31.12.99", "01.01.00", "05.06.98"], N), "date"),
        ("stamp", [f"2021-03-{day:02d}T10:00:00.123456+02:00" for day in RNG.integers(1, 28, N)], "date"),
        ("skills", [", ".join(RNG.choice(["sql", "git", "go", "rust", "java", "perl"], 4)) for _ in range(N)], "text"),
        ("telephone", [f"+49 150 {value}" for value in RNG.integers(10**6, 10**7, N)], "out"),
        ("country", RNG.choice(["NA", "NO", "NL"], N), "category"),
        ("sometimes", [True, None] * (N // 2), "flag"),
        ("duration", pa.array(RNG.integers(0, 10**6, N), pa.duration("ms")), "number"),
        ("old", pa.array([dt.datetime(1, 1, 1), dt.datetime(1950, 1, 1)] * (N // 2)), "date"),
        ("empty lists", pa.array([[]] * N, pa.list_(pa.float64())), "vector"),
        ("vectors", ["", *["[0.5, 1]", "[0.25, 3]"] * 19, "[1, 2]"], "vector"),
        ("numbered flag", ["0", "1", "1.0", "maybe", *["1", "0"] * 18], "flag"),
    ],
)
def test_columns_that_were_misjudged(name: str, values: object, kind: str) -> None:
    array = values if isinstance(values, pa.Array) else pa.array(list(values))
    assert kind_of(name, array).kind == kind
    preparation, features = Preparation.learn(pa.table({name: array, "x": np.arange(N) % 7}), TableOptions())
    used = {block.names[0] for block in preparation.blocks}
    assert (name in used) == (kind != "out" and name != "empty lists")
    assert np.isfinite(dense(features)).all()


def test_items_of_lists_are_words() -> None:
    skills = [
        ", ".join(RNG.choice(["python", "sql", "git", "java", "excel", "go", "rust", "perl"], 4)) for _ in range(300)
    ]
    assert kind_of("skills", pa.array(skills)).kind == "text"


def test_a_stand_in_counts_as_missing() -> None:
    values = np.where(RNG.random(200) < 0.3, -999.0, RNG.normal(50, 10, 200))
    preparation, features = Preparation.learn(pa.table({"humidity": values}), TableOptions())
    assert "-999 taken for missing, missing marked" in preparation.columns[0].becomes
    assert (dense(features)[values == -999, 0] == 0).all()


def test_a_model_of_raw_numbers_is_not_given_prepared_ones() -> None:
    classes = np.arange(N) % 2
    nodes = pa.table({"id": range(N), "age": classes * 20 + RNG.integers(20, 40, N), "income": RNG.normal(5e4, 1e4, N)})
    edges = pa.table({"u": range(N - 2), "v": range(2, N)})
    raw, prepared = Graph.from_pandas(nodes, edges, raw=True), Graph.from_pandas(nodes, edges)
    model = fp.GraphRidge().fit(raw, range(20), classes[:20].tolist())
    named = fp.GraphRidge().fit(replace(raw, preparation=None, table=None), range(20), classes[:20].tolist())
    np.testing.assert_allclose(named.predict_proba(prepared), model.predict_proba(raw), atol=1e-6)
    matrix = Graph.from_scipy(raw.adjacency, raw.features)
    with pytest.raises(ModelError):
        fp.GraphRidge().fit(matrix, range(20), classes[:20].tolist()).predict(prepared)
    with pytest.raises(ModelError):
        fp.GraphRidge().fit(prepared, range(20), classes[:20].tolist()).predict(matrix)


class Spy(Strategy):
    """Looks for labels."""

    seen: ClassVar[list[object]] = []

    def select(self, context, budget, generator):
        graph = context.graph
        other = graph.prepared(Preparation.of_plain_columns(["x"]))
        Spy.seen = [graph.labels, graph.column("label"), graph.column("truth"), other.labels, other.column("truth")]
        return context.candidates[:budget]


@pytest.mark.parametrize("name", ["label", "truth"])
def test_strategies_do_not_see_the_labels_of_a_table(name: str) -> None:
    nodes = pa.table({"id": range(N), "x": RNG.normal(size=N), name: ["p", "q"] * (N // 2)})
    graph = Graph.from_pandas(nodes, pa.table({"u": [0], "v": [1]}), label=name)
    assert graph.prepared(Preparation.of_plain_columns(["x"])).labels is not None
    fp.select(graph, 2, strategy=Spy())
    assert Spy.seen == [None] * 5


def test_labels_of_a_person_stay_when_the_table_is_new(caplog: pytest.LogCaptureFixture) -> None:
    nodes = {"id": [f"c{place}" for place in range(N)], "age": RNG.integers(20, 90, N), "y": RNG.normal(size=N)}
    edges = pa.table({"u": ["c0"], "v": ["c1"]})
    model = fp.GraphRidge().fit(Graph.from_pandas(pa.table(nodes), edges), ["c0", "c1", "c2"], ["a", "b", "a"])
    with caplog.at_level(logging.WARNING, "featprop"):
        older = Graph.from_pandas(pa.table(nodes | {"age": nodes["age"] + 1}), edges)
        assert model.training_labels_in(older) == {"c0": "a", "c1": "b", "c2": "a"}


def test_a_label_that_was_named_need_not_be_there_to_predict(tmp_path: Path) -> None:
    nodes = pa.table({"id": range(N), "x": RNG.normal(size=N), "risk": ["p", "q"] * (N // 2)})
    edges = pa.table({"u": [0], "v": [1]})
    graph = Graph.from_pandas(nodes, edges, label="risk")
    model = fp.GraphRidge().fit(graph, range(10), ["p", "q"] * 5)
    (tmp_path / "nodes.csv").write_text("id,x\n" + "".join(f"{place},{place % 5}\n" for place in range(N)))
    (tmp_path / "edges.csv").write_text("u,v\n0,1\n")
    assert len(model.predict(tmp_path)) == N


def test_numbered_columns_far_from_zero_or_of_money_are_no_block() -> None:
    money = {f"q{place}": np.exp(RNG.normal(9, 2, 200)) for place in range(9)}
    far = {f"s{place}": 1e5 + RNG.normal(size=200) for place in range(9)}
    for columns in (money, far):
        preparation, features = Preparation.learn(pa.table(columns), TableOptions())
        assert len(preparation.blocks) == 9
        np.testing.assert_allclose(dense(features).var(axis=0), 1, rtol=1e-3)
