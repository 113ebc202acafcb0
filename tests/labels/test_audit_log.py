"""The audit in the label log: drawn nodes are kept apart from labels until they are released."""

import datetime as dt
from pathlib import Path

import pytest

from featprop.errors import LabelError
from featprop.labels import Annotation, Kind, LabelLog
from featprop.labels.agreement import pool_audits
from tests.helpers import raises


def test_an_audit_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "labels.sqlite"
    with LabelLog(path) as log:
        log.tell({"a": "ok"})
        log.draw_audit({"b": 2.5, ("c", 1): 2.5})
        log.tell({"b": "fraud", "d": "ok"}, annotator="ada")
        log.skip(("c", 1), "blurred")
    with LabelLog(path) as log:
        assert log.audit() == {"b": 2.5, ("c", 1): 2.5}
        assert log.audited() == {"b": "fraud"}
        assert log.labels() == {"a": "ok", "d": "ok"}
        assert log.skips() == {("c", 1): "blurred"}
        assert [act.kind for act in log.events()] == ["label", "audit", "audit", "label", "label", "skip"]
        assert log.release_audit() == {"b": 2.5, ("c", 1): 2.5}
        assert log.labels() == {"a": "ok", "b": "fraud", "d": "ok"}
        assert (log.audit(), log.audited(), log.release_audit()) == ({}, {}, {})
        assert log.events()[-1].kind == "release", "there was nothing to release the second time"
        log.draw_audit({"e": 3.0})
        assert log.audit() == {"e": 3.0}


def test_a_draw_is_not_undone_by_people() -> None:
    log = LabelLog()
    log.draw_audit({"a": 1.0})
    assert log.undo() is None
    log.tell({"a": "x"})
    assert log.undo().kind == "label"
    assert (log.audit(), log.audited()) == ({"a": 1.0}, {})
    log.release_audit()
    assert log.undo() is None


def test_a_node_that_has_a_label_is_not_drawn() -> None:
    log = LabelLog()
    log.tell({"a": "x", "b": "x"})
    with raises(LabelError):
        log.draw_audit({"c": 1.0, "a": 1.0})
    assert log.audit() == {}, "all or none"


def test_a_larger_audit_changes_what_nodes_stand_for() -> None:
    log = LabelLog()
    log.draw_audit({"a": 4.0})
    log.draw_audit({"a": 4.0})
    log.draw_audit({"a": 2.0, "b": 2.0})
    assert log.audit() == {"a": 2.0, "b": 2.0}
    assert len(log.events()) == 3


def test_a_second_uniform_audit_from_elsewhere_is_one_with_the_first() -> None:
    log = LabelLog()
    log.draw_audit({"a": 6.0, "b": 6.0})
    noon = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    second = [Annotation(node, None, Kind.AUDIT, text="5.0", time=noon) for node in "cd"]
    assert log.add(second).audit == 2
    assert log.audit() == dict.fromkeys("abcd", 3.0), "2 of 12, then 2 of 10: 4 of 12"
    n_events = len(log.events())
    assert log.add(second).known_audit == 2
    assert len(log.events()) == n_events, "added once"
    log.add([Annotation("e", None, Kind.AUDIT, text="4.0"), Annotation("f", None, Kind.AUDIT, text="1.0")])
    assert log.audit() == {**dict.fromkeys("abcd", 3.0), "e": 4.0, "f": 1.0}


TEN, THIRTY = range(10), range(10, 40)


@pytest.mark.parametrize(
    ("draws", "weight"),
    [
        pytest.param([(TEN, 8.0), (THIRTY, 70 / 30)], 2.0, id="10 of 80, then 30 of 70: 40 of 80"),
        pytest.param([(THIRTY, 70 / 30), (TEN, 8.0)], 2.0, id="the other sheet first"),
        pytest.param([(TEN, 8.0), (THIRTY, 2.333)], 2.0, id="a weight that was rounded"),
        pytest.param([(TEN, 8.0), (THIRTY, 2.0)], 1.75, id="10 got a label in between: 40 of 70"),
        pytest.param([(TEN, 8.0), (range(10, 30), 4.0)], 80 / 30, id="drawn without a look at the first"),
        pytest.param([(TEN, 8.0), (range(5, 25), 4.0)], 3.2, id="and 5 nodes in both: 25 of 80"),
        pytest.param([(TEN, 8.0), (TEN, 8.0)], 8.0, id="one sheet for two people"),
        pytest.param([(range(5), 8.0), (range(5, 10), 8.0), (THIRTY, 70 / 30)], 2.0, id="a sheet in two parts"),
        pytest.param([(TEN, 8.0), (range(10, 20), 7.0), (range(20, 40), 3.0)], 2.0, id="three"),
        pytest.param([(TEN, 8.0), ((), 1.0)], 8.0, id="a sheet of labels beside it"),
    ],
)
def test_uniform_draws_are_one(draws: list[tuple[range, float]], weight: float) -> None:
    found = pool_audits([dict.fromkeys(nodes, each) for nodes, each in draws])
    assert found == pytest.approx({node: weight for nodes, _ in draws for node in nodes})


def test_draws_by_class_stay_as_they_are() -> None:
    by_class = {"a": 9.0, "b": 1.0}
    assert pool_audits([by_class]) == by_class
    assert pool_audits([by_class, {"c": 10.0}]) == {**by_class, "c": 10.0}
    assert pool_audits([{"c": 10.0}, by_class, {"d": 3.0, "e": 3.0, "f": 3.0}]) == {
        **by_class,
        **dict.fromkeys("cdef", 2.5),
    }
    assert pool_audits([{"a": 10.0}, by_class]) == by_class, "the later sheet counts"
    assert pool_audits([]) == {}
