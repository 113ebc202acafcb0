"""The audit in the label log: drawn nodes are kept apart from labels until they are released."""

import datetime as dt
from pathlib import Path

from featprop.errors import LabelError
from featprop.labels import Annotation, Kind, LabelLog
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


def test_people_settle_and_correct_in_the_audit_as_elsewhere() -> None:
    log = LabelLog()
    log.draw_audit({"a": 1.0, "b": 1.0})
    log.tell({"a": "x", "b": "x"}, annotator="ada")
    log.tell({"a": "y"}, annotator="grace")
    log.adjudicate("a", "z")
    log.answer("b", "y", annotator="ada")
    assert (log.audited(), log.labels()) == ({"a": "z", "b": "y"}, {})


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
    assert log.add(second).counts[Kind.AUDIT] == 2
    assert log.audit() == dict.fromkeys("abcd", 3.0), "2 of 12, then 2 of 10: 4 of 12"
    n_events = len(log.events())
    assert log.add(second).known_audit == 2
    assert len(log.events()) == n_events, "added once"
    log.add([Annotation("e", None, Kind.AUDIT, text="4.0"), Annotation("f", None, Kind.AUDIT, text="1.0")])
    assert log.audit() == {**dict.fromkeys("abcd", 3.0), "e": 4.0, "f": 1.0}
