"""Label Studio: tasks as it takes them, results as its versions write them."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

from featprop.errors import LabelError, ParameterError
from featprop.graph import Graph
from featprop.labels import Imported, LabelLog, export_labels, import_labels, label_studio_config
from tests.helpers import raises


def choice(label: str, control: str = "node_label") -> dict[str, Any]:
    value = {"choices": [label]}
    return {"id": "Fk3", "from_name": control, "to_name": "text", "type": "choices", "origin": "manual", "value": value}


def annotation(label: str | None, **more: Any) -> dict[str, Any]:
    result = [] if label is None else [choice(label)]
    return {"completed_by": 1, "result": result, "was_cancelled": False, "ground_truth": False} | more


def task(node: Any, *annotations: Any, **more: Any) -> dict[str, Any]:
    return {"id": 5, "data": {"node_id": node, "text": "…"}, "annotations": list(annotations), **more}


def taken(content: Any, folder: Path, log: LabelLog | None = None, **options: Any) -> tuple[LabelLog, Imported]:
    path = folder / "results.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    log = log or LabelLog()
    return log, import_labels(log, path, **options)


def test_a_task_by_hand(line: Graph) -> None:
    log = LabelLog()
    log.tell({"a": "left"}, annotator="ada")
    log.skip("b", "odd", annotator="ada")
    first, second, third = json.loads(export_labels(log, line, "label-studio", nodes=["e"]))
    assert first["data"] == {"node_id": "a", "text": "a"}
    (given,) = first["annotations"]
    assert given["ground_truth"] is False
    assert given["was_cancelled"] is False
    assert "completed_by" not in given, "Label Studio refuses people it does not know"
    (result,) = given["result"]
    assert [result[key] for key in ("from_name", "to_name", "type", "value")] == [
        "node_label",
        "text",
        "choices",
        {"choices": ["left"]},
    ]
    assert [each["was_cancelled"] for each in second["annotations"]] == [True]
    assert second["annotations"][0]["result"] == []
    assert third["annotations"] == []
    assert "predictions" not in third, "one class is not enough for a model"
    assert not {"id", "node_label"} & first["data"].keys(), "Label Studio writes over these"


def test_predictions_are_of_the_default_model_or_as_given(line: Graph) -> None:
    log = LabelLog()
    log.tell({"a": "left", "d": 2})
    tasks = json.loads(export_labels(log, line, "label-studio", nodes=["b", "e"]))
    names = {choice.get("value") for choice in ElementTree.fromstring(label_studio_config(log, line)).iter("Choice")}
    assert names == {"left", "2"}
    for each in tasks:
        (prediction,) = each["predictions"]
        assert 0 <= prediction["score"] <= 1
        assert prediction["model_version"] == "featprop, 2 labels"
        assert set(prediction["result"][0]["value"]["choices"]) <= names
    log.draw_audit({"b": 2.5})
    tasks = json.loads(export_labels(log, line, "label-studio"))
    assert {task["data"]["node_id"] for task in tasks if "predictions" in task} == {"a", "d"}, "not of audit nodes"
    guesses = {"a": SimpleNamespace(label="left", confidence=1.0000001)}
    tasks = json.loads(export_labels(log, None, "label-studio", predict=guesses.get))
    assert [each.get("predictions", [{}])[0].get("score") for each in tasks] == [1.0, None, None]


def test_the_columns_are_shown_but_not_the_labels(write_folder: Any) -> None:
    from featprop import read_graph

    words = "the quick brown fox jumps over"
    nodes = "id,age,remark,label\n" + "".join(f"n{i},{20 + i},{words} {i},{'xy'[i % 2]}\n" for i in range(12))
    folder = write_folder(nodes, "source,target\n" + "".join(f"n{i},n{i + 1}\n" for i in range(11)))
    (first,) = json.loads(export_labels(LabelLog(), read_graph(folder), "label-studio", nodes=["n3"]))
    assert first["data"]["text"] == f"n3\nage: 23\nremark: {words} 3"


def test_the_configuration_by_hand(line: Graph) -> None:
    log = LabelLog()
    assert label_studio_config(log, line, ["a<b", 'say "x"', "3"]).decode() == (
        '<View>\n  <Text name="text" value="$text" />\n'
        '  <Choices name="node_label" toName="text" choice="single-radio" required="true">\n'
        '    <Choice value="a&lt;b" />\n    <Choice value="say &quot;x&quot;" />\n'
        '    <Choice value="3" />\n  </Choices>\n</View>\n'
    )
    own = ElementTree.fromstring(label_studio_config(log, line))
    assert [each.get("value") for each in own.iter("Choice")] == ["left", "right"]
    log.tell({"a": "up"})
    more = ElementTree.fromstring(label_studio_config(log, line, ["down"]))
    assert [each.get("value") for each in more.iter("Choice")] == ["down", "up"]
    with raises(ParameterError):
        label_studio_config(LabelLog())
    log.tell({"b": 1, "c": "1"})
    with raises(LabelError, value="1"):
        label_studio_config(log)


def test_results_as_they_come(tmp_path: Path) -> None:
    grace = {"id": 2, "email": "g@x.org", "first_name": "Grace"}
    results = [
        task("a", annotation("ok", id=1, updated_at="2026-01-02T03:04:05.678901Z"), predictions=[7], drafts=[3]),
        task("b", annotation(None, id=2, was_cancelled=True), annotation("fraud", id=3, completed_by=grace)),
        task("c", annotation("ok", id=4, completed_by={"id": 9}), 17),
        task("d", predictions=[{"result": [choice("ok")]}]),
    ]
    log, found = taken(results, tmp_path)
    assert found == Imported(taken=3, skipped=1, unanswered=1)
    assert log.labels() == {"a": "ok", "b": "fraud", "c": "ok"}
    assert [act.annotator for act in log.events()] == ["user 1", "user 1", "g@x.org", "user 9"]
    assert log.events()[0].time.isoformat() == "2026-01-02T03:04:05.678000+00:00"
    before = log.events()
    assert taken(results, tmp_path, log)[1] == Imported(repeated=4, unanswered=1)
    assert log.events() == before


def test_what_is_not_there_or_not_clear_is_named(tmp_path: Path, line: Graph) -> None:
    results = [
        task("a", annotation("left", id=1)),
        task("zz", annotation("left", id=2)),
        task("b", annotation("middle", id=3)),
        {"id": 6, "data": {"text": "no node"}, "annotations": [annotation("left", id=4)]},
        task("c", annotation(None, id=5, result=[choice("left"), choice("right")])),
        task("d", annotation(None, id=6, result=[{"type": "choices", "value": {"choices": 3}}])),
        task(["a"], annotation("left")),
        {"data": {"node_id": "a"}, "meta": 3, "annotations": {"x": 1}},
    ]
    log, found = taken(results, tmp_path, graph=line, classes=["left", "right"])
    assert (found.taken, found.unanswered) == (1, 2)
    assert (found.unknown_nodes, found.unknown_classes) == (("zz",), ("middle",))
    assert [each.split(":")[0] for each in found.unclear] == ["number 4", "number 5", "number 7"]
    assert log.labels() == {"a": "left"}


def test_tasks_that_went_through_label_studio_keep_whose_answers_they_were(tmp_path: Path) -> None:
    """Label Studio keeps the results, drops keys it does not know, and calls whoever imported it the annotator."""
    log = LabelLog()
    log.tell({"a": "ok", "b": "ok"}, annotator="ada")
    log.tell({"a": "fraud"}, annotator="grace")
    tasks = json.loads(export_labels(log, None, "label-studio", nodes=["c"]))
    number = 0
    for place, each in enumerate(tasks):
        for given in each["annotations"]:
            number += 1
            given |= {"id": number, "completed_by": 1, "created_at": "2030-01-01T00:00:00Z"}
            given.pop("featprop", None)
        each |= {"id": place, "drafts": [], "predictions": [4]}
    assert taken(tasks, tmp_path, log)[1] == Imported(repeated=3, unanswered=1)
    tasks[1]["annotations"][0]["result"][0]["value"]["choices"] = ["review"]
    tasks[2]["annotations"] = [annotation("ok", id=9)]
    assert taken(tasks, tmp_path, log)[1] == Imported(taken=2, repeated=2)
    answers = {(act.node, act.annotator): act.label for act in log.holding()}
    assert answers[("b", "ada")] == "ok"
    assert answers[("b", "user 1")] == "review", "whoever changed it there"
    assert answers[("c", "user 1")] == "ok"
