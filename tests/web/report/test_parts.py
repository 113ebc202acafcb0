"""The parts of a report, each on a graph small enough to know."""

import json
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from featprop.evaluate import Interval
from featprop.graph import UNKNOWN, Graph
from featprop.models import GraphRidge
from featprop.web.report.class_table import class_lines
from featprop.web.report.commands import Files, next_steps
from featprop.web.report.facts import facts_of
from featprop.web.report.findings import Findings
from featprop.web.report.headline import caution, headline, lead
from featprop.web.report.lists import listed
from featprop.web.report.map import MARKS, class_mark, drawn_map
from featprop.web.report.records import embedded, records
from featprop.web.report.sample import shown_nodes
from featprop.web.report.subject import Subject


def test_what_a_graph_is(graph: Graph) -> None:
    facts = facts_of(graph)
    assert facts["nodes"] == "60"
    assert facts["edges"] == "116"
    assert facts["isolated nodes"] == "2"
    assert facts["components"] == "4, the largest of 29 nodes"
    assert facts["degrees"].endswith("largest 4")


def test_a_small_map_shows_all_and_a_large_one_all_that_matter() -> None:
    labelled, wanted = np.array([3, 999_999]), [5, 123_456]
    assert shown_nodes(50, np.array([1]), [2]).tolist() == list(range(50))
    shown = shown_nodes(1_000_000, labelled, wanted, seed=1)
    assert len(shown) == len(set(shown.tolist())) == 4000
    assert {3, 5, 123_456, 999_999} <= set(shown.tolist())
    assert shown.tolist() == sorted(shown.tolist())
    np.testing.assert_array_equal(shown, shown_nodes(1_000_000, labelled, wanted, seed=1))
    assert not np.array_equal(shown, shown_nodes(1_000_000, labelled, wanted, seed=2))


def test_of_very_many_labels_a_sample_is_shown() -> None:
    shown = shown_nodes(20_000, np.arange(10_000), list(range(19_000, 19_100)))
    assert len(shown) == 4000
    assert 2400 < np.count_nonzero(shown < 10_000) <= 2500
    assert set(range(19_000, 19_100)) <= set(shown.tolist())


def test_the_subject_knows_labels_audit_and_what_labels_stand_for(subject: Subject) -> None:
    assert subject.classes[-1] == "other"
    assert np.count_nonzero(subject.labelled >= 0) == 8
    assert subject.audited[3] >= 0
    assert subject.audited[5] == -1
    assert subject.stands_for.sum() == 60
    assert subject.curve[-1] == pytest.approx(subject.covered.mean_distance, rel=1e-5)
    assert np.all(np.diff(subject.curve) <= 1e-6)
    np.testing.assert_array_equal(subject.known[subject.positions], subject.codes)


def test_colours_come_again_with_other_marks() -> None:
    assert class_mark(0) == (0, "round")
    assert class_mark(13) == (3, "square")
    assert len({class_mark(code) for code in range(10 * len(MARKS))}) == 10 * len(MARKS)


def test_every_node_is_drawn_once_a_layer_and_doubts_are_marked(subject: Subject, findings: Findings) -> None:
    lists = listed(subject, findings.doubts)
    places = np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32)
    drawn = drawn_map(subject, np.arange(60), places, lists)
    assert drawn.svg.count("h0") == 3 * 52 + 3 * 8  # three layers of nodes; labels have halo, rim and dot
    assert drawn.svg.count("l10 10") == len({position for each in lists for position in each.positions}) - 1
    assert drawn.svg.count("a17") == 2  # a ring is two arcs, around one label
    assert [sum(step.count for step in steps) for steps in (drawn.sure, drawn.far)] == [52, 52]
    assert drawn.places.min() >= 0
    assert drawn.places[:, 0].max() <= 1000
    assert drawn.places[:, 1].max() <= drawn.height
    assert drawn.index_of(59) == 59
    assert drawn.index_of(60) is None


def test_lists_keep_their_order_and_leave_out_labels_that_look_right(subject: Subject, findings: Findings) -> None:
    lists = {each.key: each for each in listed(subject, findings.doubts)}
    assert list(lists) == ["wrong_labels", "unseen", "least_sure", "far"]
    assert [each.position for each in lists["wrong_labels"].suspects] == [0]
    assert lists["unseen"].suspects[0].position == 41
    assert set(lists["unseen"].positions) == {40, 41, 42, 43}
    assert listed(subject, None) == []


def test_records_say_what_is_known_of_each_node(subject: Subject, findings: Findings) -> None:
    lists = listed(subject, findings.doubts)
    drawn = drawn_map(subject, np.arange(60), np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32), lists)
    data = records(subject, drawn, lists)
    texts, node = data["texts"], data["nodes"][7]
    assert len(data["nodes"]) == 60
    assert {len(each) for each in data["nodes"]} == {17}
    assert texts[node[9]] == "Account 7"
    fields = {texts[node[10][place]]: texts[node[10][place + 1]] for place in range(0, len(node[10]), 4)}
    assert fields["id"] == "n7"
    assert fields["since"] == "8 March 2017"
    assert sorted(node[11]) == [3, 5, 9, 11]
    assert node[13] == 4
    assert data["nodes"][59][13] == 0
    assert len(texts) == len(set(texts))
    assert json.loads(str(embedded(data))) == data


def test_json_inside_a_page_cannot_end_it() -> None:
    text = str(embedded(["</script><script>", "<!--", "&amp;", "a\u2028b\u2029c", "é"]))
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == ["</script><script>", "<!--", "&amp;", "a\u2028b\u2029c", "é"]


def test_classes_are_counted(subject: Subject, findings: Findings) -> None:
    lines = class_lines(subject, findings.audit)
    assert sum(line.labels for line in lines) == 8
    assert sum(line.labels + line.predicted for line in lines) == 60
    assert sum(line.share for line in lines) == pytest.approx(1)
    assert lines[-1].title == "other"
    assert lines[-1].confidence is None
    assert lines[0].recall is not None
    assert lines[1].recall is None


def test_the_headline_answers_how_good_it_is(subject: Subject, findings: Findings) -> None:
    assert headline(subject, findings) == "About 90% (35 to 99%) of the predictions are right"
    assert headline(subject, Findings()) == "8 labels, and no telling yet how good the predictions are"
    assert "drawn at random" in lead(subject, findings)[0]
    assert lead(subject, findings)[-1] == "Go on: 16 labels would probably bring 5.0 points more (0.0 to 10.0)"
    assert "without an audit" in lead(subject, Findings(advice=findings.advice))[0]


def test_a_class_that_is_nearly_all_of_them_is_said(subject: Subject, findings: Findings) -> None:
    open_ = subject.labelled == UNKNOWN
    share = np.bincount(subject.predicted[open_]).max() / open_.sum()
    title = subject.class_titles[np.bincount(subject.predicted[open_]).argmax()]
    said = f"{title} is predicted for {share:.0%} of the nodes: whoever always says so may be right as often, "
    assert share > findings.accuracy.low
    assert caution(subject, findings) == f"{said}so look at each class"
    assert f"{caution(subject, findings)}." in lead(subject, findings)
    better = replace(findings, audit=replace(findings.audit, accuracy=Interval(0.99, share + 0.001, 1.0)))
    assert caution(subject, better) is None
    assert caution(subject, Findings()) is None


def test_one_class_and_no_open_node_have_headlines(line: Graph) -> None:
    lonely = {"a": "left"}
    one = Subject(line, GraphRidge().fit_or_start(line, ["a"], ["left"]), lonely)
    assert headline(one, Findings()).startswith("All labels are left so far")
    every = dict(zip("abcde", ["left", "right", "left", "right", "left"], strict=True))
    done = Subject(line, GraphRidge().fit(line, list(every), list(every.values())), every)
    assert headline(done, Findings()) == "Every node has a label: there is nothing to predict"


def test_commands_are_for_these_files(subject: Subject, findings: Findings) -> None:
    files = Files(
        "my graph/",
        ("picks.csv", "more.csv"),
        ("audit.csv",),
        "report.html",
        model=("--model", "sgc"),
    )
    steps = next_steps(files, findings, n_labels=40, open_nodes=100)
    commands = [command for step in steps for command in step.commands]
    start = "'my graph/' --labels picks.csv --labels more.csv"
    assert commands[0] == f"featprop report {start} --audit audit.csv --model sgc --out report.html"
    assert f"featprop select {start} --labels audit.csv --budget 20 --out more-2.csv" in commands
    assert f"featprop audit {start} --labels audit.csv --size 6 --out audit-2.csv" in commands
    assert f"featprop train {start} --model sgc --out model/" in commands
    bare = next_steps(Files("cora"), Findings(), n_labels=4, open_nodes=0)
    assert [step.commands[0] for step in bare] == ["featprop train cora --out model/"]


def test_labels_are_to_be_looked_at_only_where_some_look_wrong(findings: Findings) -> None:
    assert findings.doubts is not None
    steps = next_steps(Files("cora"), findings, n_labels=8, open_nodes=50)
    assert "seem wrong" in steps[0].words
    right = replace(findings, doubts=replace(findings.doubts, wrong_labels=findings.doubts.wrong_labels[1:]))
    steps = next_steps(Files("cora"), right, n_labels=8, open_nodes=50)
    assert not any("seem wrong" in step.words for step in steps)


def test_commands_say_every_option_that_they_know(findings: Findings) -> None:
    files = Files(
        "g/", ("picks.csv",), ("audit.csv",), "r.html",
        ("--on-conflict", "latest"), ("--model", "gcn", "--set", "epochs=9"), ("--device", "cuda"), ("--seed", "3"),
        ("--title", "Mine"),
    )  # fmt: skip
    steps = next_steps(files, findings, n_labels=40, open_nodes=100)
    answers, trained = "--on-conflict latest", "--model gcn --set epochs=9 --device cuda"
    start, both = "g/ --labels picks.csv", f"--labels audit.csv {answers}"
    assert {line for step in steps for line in step.commands} == {
        f"featprop audit {start} {both} --size 6 --seed 3 --out audit-2.csv",
        f"featprop select {start} {both} --budget 20 --seed 3 --out more.csv",
        f"featprop train {start} {answers} {trained} --seed 3 --out model/",
        "featprop predict g/ --model model/ --device cuda --out predictions.csv",
        *(
            f"featprop report {start}{sheets} {answers} {trained} --title Mine --seed 3 --out r.html"
            for sheets in (
                " --audit audit.csv",
                " --audit audit.csv --audit audit-2.csv",
                " --labels more.csv --audit audit.csv",
            )
        ),
    }


def test_no_more_is_promised_than_the_nodes_that_are_left_can_keep(findings: Findings) -> None:
    assert findings.audit is not None
    halving = next_steps(Files("g/"), findings, n_labels=8, open_nodes=findings.audit.to_halve)[2]
    assert "6 more nodes drawn at random would halve the interval" in halving.words
    clamped = next_steps(Files("g/", waiting=2), findings, n_labels=8, open_nodes=findings.audit.to_halve)[2]
    assert "halve" not in clamped.words
    assert "--size 4 " in clamped.commands[0]
    assert clamped.commands[1].startswith("featprop report g/ --labels audit.csv"), "beside the audit in the labels"
    (wrong, use) = next_steps(Files("g/", waiting=6), findings, n_labels=8, open_nodes=6)
    assert "seem wrong" in wrong.words
    assert "Use it" in use.words


def test_what_is_expected_goes_on_from_what_is_known(findings: Findings) -> None:
    assert findings.audit is not None
    assert (findings.known_by, findings.expected) == ("by the audit", coming(findings, findings.audit.accuracy))
    assert findings.estimate is not None
    by_labels = coming(findings, findings.estimate.accuracy)
    assert findings.expected_by_labels == by_labels != findings.expected
    unchecked = replace(findings, audit=None)
    assert (unchecked.known_by, unchecked.expected) == ("by labels and graph", by_labels)
    assert Findings(findings.audit).expected is None


def coming(findings: Findings, now: Interval) -> Interval:
    assert findings.advice is not None
    assert findings.advice.curve.forecast is not None
    return findings.advice.curve.forecast.accuracy(now)


def test_a_command_cannot_turn_its_line_around() -> None:
    steps = next_steps(Files("it's \u202e\u2028/", title=("--title", "Ünï")), Findings(), n_labels=8, open_nodes=0)
    assert steps[-1].commands[0] == r"featprop train $'it\U00000027s \U0000202e\U00002028/' --out model/"
    if bash := shutil.which("bash"):
        line = f"printf %s {steps[-1].commands[0].removeprefix('featprop train ')}"
        said = subprocess.run([bash, "-c", line], env={"LC_ALL": "C.UTF-8"}, capture_output=True, check=True)
        assert said.stdout.decode().startswith("it's \u202e\u2028/")
