"""Parts of the report on a small graph."""

import json
import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from featprop.evaluate import Interval
from featprop.graph import UNKNOWN, Graph
from featprop.models import GraphRidge
from featprop.web.report.commands import Files, next_steps
from featprop.web.report.context import ReportContext
from featprop.web.report.findings import Findings, headline, lead, majority_warning
from featprop.web.report.graph_stats import describe_graph
from featprop.web.report.lists import build_lists
from featprop.web.report.map import MARKS, class_mark, draw_map, sample_nodes
from featprop.web.report.page import summarize_classes
from featprop.web.report.records import embed_json, node_records


def test_graph_statistics(graph: Graph) -> None:
    facts = describe_graph(graph)
    assert facts["nodes"] == "60"
    assert facts["edges"] == "116"
    assert facts["isolated nodes"] == "2"
    assert re.findall(r"\d+", facts["components"]) == ["4", "29"]
    assert facts["degrees"].endswith(" 4")


def test_small_map_shows_all_nodes_and_large_map_a_sample() -> None:
    labelled, wanted = np.array([3, 999_999]), [5, 123_456]
    assert sample_nodes(50, np.array([1]), [2]).tolist() == list(range(50))
    shown = sample_nodes(1_000_000, labelled, wanted, seed=1)
    assert len(shown) == len(set(shown.tolist())) == 4000
    assert {3, 5, 123_456, 999_999} <= set(shown.tolist())
    assert shown.tolist() == sorted(shown.tolist())
    np.testing.assert_array_equal(shown, sample_nodes(1_000_000, labelled, wanted, seed=1))
    assert not np.array_equal(shown, sample_nodes(1_000_000, labelled, wanted, seed=2))


def test_many_labels_are_sampled() -> None:
    shown = sample_nodes(20_000, np.arange(10_000), list(range(19_000, 19_100)))
    assert len(shown) == 4000
    assert 2400 < np.count_nonzero(shown < 10_000) <= 2500
    assert set(range(19_000, 19_100)) <= set(shown.tolist())


def test_context_of_labels_and_audit(context: ReportContext) -> None:
    assert context.classes[-1] == "other"
    assert np.count_nonzero(context.labelled >= 0) == 8
    assert context.audited[3] >= 0
    assert context.audited[5] == -1
    assert context.represents.sum() == 60
    assert context.curve[-1] == pytest.approx(context.covered.mean_distance, rel=1e-5)
    assert np.all(np.diff(context.curve) <= 1e-6)
    np.testing.assert_array_equal(context.known[context.positions], context.codes)


def test_colours_repeat_with_other_marks() -> None:
    assert class_mark(0) == (0, "round")
    assert class_mark(13) == (3, "square")
    assert len({class_mark(code) for code in range(10 * len(MARKS))}) == 10 * len(MARKS)


def test_map_draws_every_node_once_per_layer(context: ReportContext, findings: Findings) -> None:
    lists = build_lists(findings.diagnostics)
    places = np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32)
    drawn = draw_map(context, np.arange(60), places, lists)
    assert drawn.svg.count("h0") == 3 * 52 + 3 * 8  # three layers of nodes; labels have halo, rim and dot
    assert drawn.svg.count("l10 10") == len({position for each in lists for position in each.positions}) - 1
    assert drawn.svg.count("a17") == 2  # a ring is two arcs, around one label
    assert [sum(step.count for step in steps) for steps in (drawn.confidence, drawn.distance)] == [52, 52]
    assert drawn.places.min() >= 0
    assert drawn.places[:, 0].max() <= 1000
    assert drawn.places[:, 1].max() <= drawn.height
    assert drawn.index_of(59) == 59
    assert drawn.index_of(60) is None


def test_lists_are_ordered_and_have_only_contradicted_labels(findings: Findings) -> None:
    lists = {each.key: each for each in build_lists(findings.diagnostics)}
    assert list(lists) == ["wrong_labels", "novel_classes", "least_certain", "far_from_labels"]
    assert [each.position for each in lists["wrong_labels"].items] == [0]
    assert lists["novel_classes"].items[0].position == 41
    assert set(lists["novel_classes"].positions) == {40, 41, 42, 43}
    assert build_lists(None) == []


def test_records_of_nodes(context: ReportContext, findings: Findings) -> None:
    lists = build_lists(findings.diagnostics)
    drawn = draw_map(context, np.arange(60), np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32), lists)
    data = node_records(context, drawn, lists)
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
    assert json.loads(str(embed_json(data))) == data


def test_embedded_json_is_escaped() -> None:
    text = str(embed_json(["</script><script>", "<!--", "&amp;", "a\u2028b\u2029c", "é"]))
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == ["</script><script>", "<!--", "&amp;", "a\u2028b\u2029c", "é"]


def test_class_summaries(context: ReportContext, findings: Findings) -> None:
    lines = summarize_classes(context, findings.audit)
    assert sum(line.labels for line in lines) == 8
    assert sum(line.labels + line.predicted for line in lines) == 60
    assert sum(line.share for line in lines) == pytest.approx(1)
    assert lines[-1].title == "other"
    assert lines[-1].confidence is None
    assert lines[0].recall is not None
    assert lines[1].recall is None


def test_headline_has_the_accuracy(context: ReportContext, findings: Findings) -> None:
    assert findings.advice is not None
    assert str(findings.accuracy) in headline(context, findings)
    assert "8 labels" in headline(context, Findings())
    assert "2 " in lead(context, findings)[0]
    assert lead(context, findings)[-1] == findings.advice.headline
    estimated = Findings(advice=findings.advice)
    assert str(estimated.accuracy) in headline(context, estimated)
    assert headline(context, estimated).split()[0] != headline(context, findings).split()[0]


def test_warning_if_one_class_is_almost_everything(context: ReportContext, findings: Findings) -> None:
    open_ = context.labelled == UNKNOWN
    share = np.bincount(context.predicted[open_]).max() / open_.sum()
    title = context.class_titles[np.bincount(context.predicted[open_]).argmax()]
    warning = majority_warning(context, findings)
    assert warning is not None
    assert share > findings.accuracy.low
    assert title in warning
    assert f"{100 * share:.0f} %" in warning
    assert f"{warning}." in lead(context, findings)
    better = replace(findings, audit=replace(findings.audit, accuracy=Interval(0.99, share + 0.001, 1.0)))
    assert majority_warning(context, better) is None
    assert majority_warning(context, Findings()) is None


def test_headlines_for_one_class_and_for_a_labelled_graph(line: Graph) -> None:
    lonely = {"a": "left"}
    one = ReportContext(line, GraphRidge().fit(line, ["a"], ["left"], cold_start=True), lonely)
    assert "left" in headline(one, Findings())
    every = dict(zip("abcde", ["left", "right", "left", "right", "left"], strict=True))
    done = ReportContext(line, GraphRidge().fit(line, list(every), list(every.values())), every)
    assert headline(done, Findings()) not in (headline(one, Findings()), "")


def test_commands_use_the_files_of_the_report(context: ReportContext, findings: Findings) -> None:
    files = Files(
        "my graph/",
        ("picks.csv", "more.csv"),
        ("audit.csv",),
        "report.html",
        model=("--model", "sgc"),
    )
    steps = next_steps(files, findings, n_labels=40, open_nodes=100)
    commands = [command for step in steps for command in step.commands]
    start = "'my graph/' --column a=number --labels picks.csv --labels more.csv"
    assert commands[0] == f"featprop report {start} --audit audit.csv --model sgc --out report.html --force"
    assert f"featprop select {start} --labels audit.csv --budget 20 --out more-2.csv" in commands
    assert f"featprop audit {start} --labels audit.csv --size 6 --out audit-2.csv" in commands
    assert f"featprop train {start} --model sgc --out model.safetensors" in commands
    bare = next_steps(Files("cora"), Findings(), n_labels=4, open_nodes=0)
    assert [step.commands[0] for step in bare] == ["featprop train cora --out model.safetensors"]


def test_correcting_labels_is_a_step_only_if_some_look_wrong(findings: Findings) -> None:
    assert findings.diagnostics is not None
    steps = next_steps(Files("cora"), findings, n_labels=8, open_nodes=50)
    assert [command.split()[1] for command in steps[0].commands] == ["report"]
    (right,) = findings.diagnostics.wrong_labels[1:]
    fewer = replace(findings, diagnostics=replace(findings.diagnostics, wrong_labels=(right,)))
    assert next_steps(Files("cora"), fewer, n_labels=8, open_nodes=50) == steps[1:]


def test_labels_of_a_log_are_corrected_on_the_page(findings: Findings) -> None:
    step = next_steps(Files("cora", ("cora.labels",)), findings, n_labels=8, open_nodes=50)[0]
    assert step.commands[0] == "featprop label cora --labels cora.labels"


def test_commands_repeat_every_option(findings: Findings) -> None:
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
        f"featprop train {start} {answers} {trained} --seed 3 --out model.safetensors",
        "featprop predict g/ --id key --model model.safetensors --device cuda --out predictions.csv",
        *(
            f"featprop report {start}{sheets} {answers} {trained} --title Mine --seed 3 --out r.html --force"
            for sheets in (
                " --audit audit.csv",
                " --audit audit.csv --audit audit-2.csv",
                " --labels more.csv --audit audit.csv",
            )
        ),
    }


def test_audit_size_is_limited_by_the_remaining_nodes(findings: Findings) -> None:
    assert findings.audit is not None
    halving = next_steps(Files("g/"), findings, n_labels=8, open_nodes=findings.audit.to_halve)[2]
    assert "--size 6 " in halving.commands[0]
    clamped = next_steps(Files("g/", waiting=2), findings, n_labels=8, open_nodes=findings.audit.to_halve)[2]
    assert "--size 4 " in clamped.commands[0]
    assert clamped.commands[1].startswith("featprop report g/ --labels audit.csv"), "the audit is among the labels"
    steps = next_steps(Files("g/", waiting=6), findings, n_labels=8, open_nodes=6)
    assert [command.split()[1] for step in steps for command in step.commands] == ["report", "train", "predict"]


def test_unprintable_characters_in_commands_are_escaped() -> None:
    steps = next_steps(Files("it's \u202e\u2028/", title=("--title", "Ünï")), Findings(), n_labels=8, open_nodes=0)
    assert steps[-1].commands[0] == r"featprop train $'it\U00000027s \U0000202e\U00002028/' --out model.safetensors"
    if bash := shutil.which("bash"):
        line = f"printf %s {steps[-1].commands[0].removeprefix('featprop train ')}"
        said = subprocess.run([bash, "-c", line], env={"LC_ALL": "C.UTF-8"}, capture_output=True, check=True)
        assert said.stdout.decode().startswith("it's \u202e\u2028/")
