"""Parts of the report on a small graph."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from featprop.datasets import digits
from featprop.graph import UNKNOWN, Graph
from featprop.models import GraphRidge
from featprop.web.report.analysis import Analysis, Findings, describe_graph
from featprop.web.report.commands import Files, next_steps
from featprop.web.report.map import draw_map, node_data, sample_nodes
from featprop.web.report.page import build_lists
from tests.web.report.conftest import CLASSES, WRONG


def test_graph_statistics(graph: Graph) -> None:
    facts = describe_graph(graph)
    assert (facts["nodes"], facts["edges"], facts["isolated nodes"]) == ("60", "116", "2")
    assert re.findall(r"\d+", facts["components"]) == ["4", "29"]
    assert facts["degrees"].endswith(" 4")


def test_small_map_shows_all_nodes_and_large_map_a_sample() -> None:
    labelled, wanted = np.array([3, 99_999]), [5, 12_345]
    assert sample_nodes(50, np.array([1]), [2]).tolist() == list(range(50))
    shown = sample_nodes(100_000, labelled, wanted, seed=1)
    assert len(shown) == len(set(shown.tolist())) == 4000
    assert {3, 5, 12_345, 99_999} <= set(shown.tolist())
    assert shown.tolist() == sorted(shown.tolist())
    np.testing.assert_array_equal(shown, sample_nodes(100_000, labelled, wanted, seed=1))
    assert not np.array_equal(shown, sample_nodes(100_000, labelled, wanted, seed=2))


def test_labels_and_audit_by_node(analysis: Analysis) -> None:
    assert analysis.classes == (*sorted(CLASSES), "other")
    assert np.count_nonzero(analysis.labelled != UNKNOWN) == 21
    assert (analysis.audited[3], analysis.audited[28], analysis.audited[5]) == (2, analysis.labelled[0], UNKNOWN)
    assert analysis.known[24] == analysis.labelled[24] != analysis.predicted[22]


@pytest.mark.parametrize(("count", "is_open"), [(10, [1, 3, 5]), (1, [])])
def test_only_candidates_count_as_open(graph: Graph, labels: dict[str, str], count: int, is_open: list[int]) -> None:
    some = replace(graph, candidates=np.arange(60) < count)
    few = Analysis(some, GraphRidge().fit(some, list(labels), list(labels.values())), labels)
    assert np.flatnonzero(few.is_open).tolist() == is_open
    assert (few.headline == "Every node is labelled") == (not is_open)


def test_lists_name_the_wrong_label_and_the_isolated_nodes(analysis: Analysis) -> None:
    lists = build_lists(analysis.findings)
    assert next(iter(lists)) == "wrong_labels"
    assert [each.node for each in lists["wrong_labels"]] == [WRONG]
    assert {each.position for each in lists["unlabelled_components"]} == {58, 59}
    assert all(len(items) <= 20 for items in lists.values())


def test_map_draws_every_node_once_per_layer(analysis: Analysis) -> None:
    drawn = draw_map(analysis, [])
    for paths in drawn.layers.values():
        assert sum(path.count("h0") for path in paths.values()) == 39
    assert sum(path.count("h0") for path in drawn.labels.values()) == drawn.n_labelled == 21
    assert [sum(count for _, count in steps) for steps in drawn.steps.values()] == [39, 39]
    assert drawn.places.min(axis=0).tolist() == [24, 24]
    assert drawn.places.max(axis=0).tolist() == [976, 616]
    assert drawn.path([3, 59], "x").count("x") == 2
    assert (drawn.index_of(59), drawn.index_of(60)) == (59, None)


def test_data_of_nodes(analysis: Analysis) -> None:
    data = node_data(analysis, draw_map(analysis, []), [[7, 9]])
    texts = data["texts"]
    node = {name: values[7] for name, values in data["nodes"].items()}
    assert {len(values) for values in data["nodes"].values()} == {60}
    assert [texts[node["title"]], texts[node["id"]]] == ["Account 7", "n7"]
    fields = {texts[name]: (texts[text], href) for name, text, _, href in node["fields"]}
    assert fields["id"] == ("n7", 0)
    assert fields["since"] == ("8 March 2017", 0)
    assert fields["site"] == ("https://example.org/7", "https://example.org/7")
    assert sorted(node["near"]) == [3, 5, 9, 11]
    assert (node["degree"], sum(count for _, count in node["counts"])) == (4, 4)
    assert (node["lists"], node["label"], node["audit"]) == ([0], node["class"], UNKNOWN)
    assert len(texts) == len(set(texts))
    assert json.loads(json.dumps(data, allow_nan=False)) == data


def test_pictures_are_digits_of_shades() -> None:
    pixels = np.asarray(digits().features)[:60]
    graph = Graph.from_scipy(np.zeros((60, 60)), pixels)
    labels = {node: node % 2 for node in range(4)}
    analysis = Analysis(graph, GraphRidge().fit(graph, list(labels), list(labels.values())), labels)
    pictures = node_data(analysis, draw_map(analysis, []), [])["nodes"]["picture"]
    assert [int(shade) for shade in pictures[3]] == np.rint(8 * pixels[3]).tolist()


def test_headline_is_the_audit_or_the_estimate(analysis: Analysis, analyse: Any, labels: dict[str, str]) -> None:
    assert analysis.headline == f"Accuracy {analysis.findings.audit.accuracy}"
    estimated = analyse(labels)
    assert estimated.headline == f"Estimated accuracy {estimated.findings.estimate.accuracy}"


def test_warning_if_one_class_is_almost_everything(analyse: Callable[..., Analysis]) -> None:
    rare = analyse({f"n{place}": "ok" for place in range(30)} | {"n59": "fraud"}, {"n40": "fraud", "n41": "ok"})
    assert "always predicting ok" in rare.warning
    assert analyse({"n0": "ok", "n1": "fraud"}).warning is None


def findings_of(analysis: Analysis, **parts: Any) -> Findings:
    return replace(analysis.findings, **parts)


def test_commands_repeat_files_and_options(analysis: Analysis) -> None:
    options = {"classes": "a,b", "model": "gcn", "set": ["epochs=9"], "device": "cuda", "seed": 3, "title": "Mine"}
    files = Files("my graph/", ("picks.csv", "audit.csv"), "r.html", options)
    audit = replace(analysis.findings.audit, to_halve=63)
    lines = {
        line
        for step in next_steps(files, findings_of(analysis, audit=audit), n_labels=40, open_nodes=100)
        for line in step.commands
    }
    start, answers = "'my graph/' --labels picks.csv --labels audit.csv", "--classes a,b"
    trained = f"{answers} --model gcn --set epochs=9 --device cuda"
    report = "--title Mine --seed 3 --out r.html --force"
    assert lines == {
        f"featprop audit {start} {answers} --seed 3 --size 63 --out audit-3.csv",
        f"featprop select {start} {answers} --seed 3 --budget 20 --out more-3.csv",
        f"featprop train {start} {trained} --seed 3 --out model.safetensors --force",
        "featprop predict 'my graph/' --device cuda --model model.safetensors --out predictions.csv --force",
        f"featprop report {start} {trained} {report}",
        f"featprop report {start} --labels audit-3.csv {trained} {report}",
        f"featprop report {start} --labels more-3.csv {trained} {report}",
    }


def test_steps_depend_on_the_findings(analysis: Analysis) -> None:
    def first_words(files: Files, findings: Findings, open_nodes: int) -> list[str]:
        return [step.commands[0].split()[1] for step in next_steps(files, findings, 8, open_nodes)]

    advice = replace(analysis.findings.advice, curve=replace(analysis.findings.advice.curve, forecast=None))
    keep, stop = (findings_of(analysis, advice=replace(advice, may_stop=may_stop)) for may_stop in (False, True))
    assert first_words(Files(), keep, 50) == ["report", "select", "audit", "train"]
    assert first_words(Files(), stop, 50) == ["report", "audit", "select", "train"]
    assert first_words(Files(labels=("my.labels",)), keep, 50) == ["label", "select", "audit", "train"]
    assert first_words(Files(), replace(keep, diagnostics=None), 50) == ["select", "audit", "train"]
    assert first_words(Files(), Findings(), 0) == ["train"]


def test_audit_size_is_limited_by_the_remaining_nodes(analysis: Analysis) -> None:
    findings = findings_of(analysis, advice=None, audit=replace(analysis.findings.audit, to_halve=6))
    draw, report = next_steps(Files(), findings, n_labels=8, open_nodes=4)[1].commands
    assert "--size 4 " in draw
    assert report.startswith("featprop report my-graph/ --labels audit-1.csv"), "the audit is in the labels"
