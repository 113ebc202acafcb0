"""A column of any type that Arrow has, in any place of the tables, is a graph or one error of featprop's own."""

import contextlib
import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from featprop.errors import FeatpropError, GraphError
from featprop.graph import Graph
from featprop.interop.tables import raw_from_tables
from featprop.tables import Preparation, TableOptions

N = 12
DAYS = [datetime.datetime(2020, 1, 1) + datetime.timedelta(place) for place in range(N)]
WHOLE = [*range(N)]
TIMES = [datetime.time(hour) for hour in range(N)]
WORDS = [f"n{place}" for place in range(N)]
BYTES = [b"n%02d" % place for place in range(N)]

COLUMNS = {
    f"{array.type}": array
    for array in [
        pa.nulls(N),
        pa.array([place % 2 == 0 for place in range(N)]),
        pa.array(WHOLE, pa.int8()),
        pa.array([2**63 + place for place in range(N)], pa.uint64()),
        pa.array([np.float16(place) for place in range(N)], pa.float16()),
        pa.array([place + 0.5 for place in range(N)], pa.float32()),
        pa.array([float("inf") if place % 2 else float("nan") for place in range(N)], pa.float64()),
        pa.array([Decimal(place) / 4 for place in range(N)]),
        pa.array([Decimal(10) ** 60 + place for place in range(N)], pa.decimal256(70, 0)),
        pa.array(WORDS),
        pa.array(WORDS, pa.large_string()),
        pa.array(WORDS, pa.string_view()),
        pa.array(WORDS).dictionary_encode(),
        pa.array([place % 3 for place in range(N)]).dictionary_encode(),
        pa.array(BYTES),
        pa.array(BYTES, pa.large_binary()),
        pa.array(BYTES, pa.binary_view()),
        pa.array(BYTES, pa.binary(3)),
        pa.array([day.date() for day in DAYS]),
        pa.array([day.date() for day in DAYS], pa.date64()),
        pa.array(DAYS, pa.timestamp("ns", "UTC")),
        pa.array([2**62] * N, pa.timestamp("s")),
        pa.array(TIMES, pa.time32("s")),
        pa.array(TIMES, pa.time64("ns")),
        pa.array(WHOLE, pa.duration("s")),
        pa.array([(1, 2, place) for place in range(N)], pa.month_day_nano_interval()),
        pa.array([[1.0 * place, 2.0] for place in range(N)]),
        pa.array([[1] * place for place in range(N)], pa.large_list(pa.int64())),
        pa.array([[place, 1] for place in range(N)], pa.list_(pa.float32(), 2)),
        pa.array([[word] for word in WORDS]),
        pa.array([[[place]] for place in range(N)]),
        pa.array([[None]] * N),
        pa.array([{"a": place} for place in range(N)]),
        pa.array([[("a", place)] for place in range(N)], pa.map_(pa.string(), pa.int64())),
        pa.array([[place] for place in range(N)], pa.list_view(pa.int64())),
        pa.RunEndEncodedArray.from_arrays(pa.array([5, N], pa.int32()), pa.array([5, 7])),
        pa.UnionArray.from_dense(pa.array([0] * N, pa.int8()), pa.array(WHOLE, pa.int32()), [pa.array(WHOLE)]),
        *([pa.array([Decimal(place) for place in range(N)], pa.decimal32(5, 0))] if hasattr(pa, "decimal32") else []),
    ]
}
NODES = {"id": WORDS, "x": pa.array([1.5 * place for place in range(N)]), "y": [f"c{place % 3}" for place in range(N)]}
EDGES = {"source": WORDS, "target": [*WORDS[1:], WORDS[0]]}


def graph(
    nodes: dict[str, object],
    edges: dict[str, object] = EDGES,
    preparation: Preparation | None = None,
    **options: object,
) -> Graph:
    found = TableOptions(**options)  # type: ignore[arg-type]
    return Graph.from_raw(raw_from_tables(pa.table(nodes), pa.table(edges), found, typed=True, preparation=preparation))


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("raw", [False, True])
def test_in_any_place(kind: str, raw: bool) -> None:
    column, none = COLUMNS[kind], pa.array([], pa.string())
    tables = [
        (NODES | {"column": column}, EDGES, {}),
        ({"id": WORDS, "column": column}, EDGES, {}),
        (NODES | {"id": column}, EDGES, {}),
        ({"column": column, "x": NODES["x"]}, EDGES, {}),
        ({"column": column, "x": NODES["x"]}, EDGES, {"id": "column"}),
        ({"": column, "x": NODES["x"]}, EDGES, {}),
        (NODES | {"label": column}, EDGES, {}),
        (NODES, EDGES | {"source": column}, {}),
        (NODES, EDGES | {"weight": column}, {}),
        ({"id": none, "column": column[:0]}, {"source": none, "target": none}, {}),
        ({"column": column[:0]}, {"source": none, "target": none}, {}),
        *(
            (NODES | {"column": column}, EDGES, {"columns": {"column": said}})
            for said in (() if raw else ("number", "category", "flag", "text", "date", "vector", "out"))
        ),
    ]
    done = 0
    for nodes, edges, options in tables:
        with contextlib.suppress(FeatpropError):
            graph(nodes, edges, raw=raw, **options)
            done += 1
    assert done or raw, "it may be left out, at the least"


@pytest.mark.parametrize(
    "learnt",
    [
        "bool",
        "float",
        "double",
        "string",
        "dictionary<values=int64, indices=int32, ordered=0>",
        "timestamp[ns, tz=UTC]",
        "fixed_size_list<item: float>[2]",
    ],
)
def test_in_the_place_of_any_other_when_a_preparation_is_done_again(learnt: str) -> None:
    preparation = graph(NODES | {"column": COLUMNS[learnt]}).preparation
    for column in COLUMNS.values():
        with contextlib.suppress(FeatpropError):
            assert graph(NODES | {"column": column}, preparation=preparation).n_nodes == N


def test_weights_outside_the_calendar_are_called_by_their_type() -> None:
    with pytest.raises(GraphError, match=r"must be numeric; found 'timestamp\[s\]' in row 1"):
        graph(NODES, EDGES | {"weight": COLUMNS["timestamp[s]"]})
