"""The sheet a person decides from."""

import datetime as dt
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import featprop as fp
from featprop.active import Selection
from featprop.active.sheets import write_picks
from featprop.errors import FileError, ParameterError
from featprop.graph import Graph
from tests.helpers import raises


@pytest.fixture
def graph(line: Graph) -> Graph:
    """The line a, b, c, d, e, with a table of its nodes."""
    columns = {
        "id": list("abcde"),
        "name": ["Ann", "Bob, sen.", None, "Dee", "Eve\nline"],
        "born": [dt.date(1990, 1, day) for day in range(1, 6)],
        "tags": [["x"], [], ["y", "z"], None, ["x"]],
        "label": ["left", None, "right", None, None],
    }
    return replace(line, table=pa.table(columns))


def picks_of(graph: Graph, *positions: int) -> Selection:
    chosen = np.array(positions, dtype=np.intp)
    return Selection(graph.ids[chosen], chosen, np.empty(0, dtype=np.intp), graph)


def written(picks: Selection, **options: object) -> str:
    stream = io.BytesIO()
    write_picks(stream, picks, description=False, **options)  # type: ignore[arg-type]
    return stream.getvalue().decode()


def test_columns_of_the_nodes(graph: Graph) -> None:
    assert written(picks_of(graph, 4, 2), show=["name", "born", "tags", "name"]) == (
        'id,label,rank,name,born,tags\n"e",,1,"Eve\nline",1990-01-05,"[\'x\']"\n"c",,2,,1990-01-03,"[\'y\', \'z\']"\n'
    )


def test_the_neighbours_labels_are_counted(graph: Graph) -> None:
    picks = picks_of(graph, 1, 3, 4)
    text = written(picks, labels={"a": "left", "c": "right"})
    assert text.splitlines() == [
        "id,label,rank,neighbours",
        '"b",,1,"1 left, 1 right"',
        '"d",,2,"1 right"',
        '"e",,3,"1 without a label"',
    ]


def test_predictions_have_columns_in_the_sheet(graph: Graph) -> None:
    model = fp.GraphRidge().fit(graph, ["a", "c"], ["left", "right"])
    text = written(picks_of(graph, 4, 3), labels={"a": "left", "c": "right"}, model=model)
    probabilities, names = model.predict_proba(graph), model.predict(graph)
    assert text.splitlines() == [
        "id,label,rank,prediction,confidence,neighbours",
        f'"e",,1,"{names[4]}",{probabilities[4].max():.4g},"predicted: 1 {names[3]}"',
        f'"d",,2,"{names[3]}",{probabilities[3].max():.4g},"1 right"',
    ]


def test_a_filled_sheet_is_read_and_kept(graph: Graph, tmp_path: Path) -> None:
    path, picks = tmp_path / "s.csv", picks_of(graph, 1, 4)
    model = fp.GraphRidge().fit(graph, ["a", "c"], ["left", "right"])
    options = {"show": ["name", "tags"], "labels": {"a": "left", "c": "right"}, "model": model}
    write_picks(path, picks, **options)  # type: ignore[arg-type]
    path.write_text(path.read_text().replace('"e",,', '"e",left,'))
    sheet = fp.labels.read(path, graph)
    assert (dict(sheet), sheet.asked) == ({"e": "left"}, ["b"])
    with raises(FileError):
        write_picks(path, picks, **options)  # type: ignore[arg-type]
    write_picks(path, picks, force=True)


@pytest.mark.parametrize("name", ["nmae", "zebra", "label"])
def test_columns_that_cannot_be_shown(graph: Graph, name: str) -> None:
    with raises(ParameterError, parameter="show", value=name, choices=("name", "born", "tags")):
        written(picks_of(graph, 1), show=[name])
