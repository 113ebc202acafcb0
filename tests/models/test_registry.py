"""The model registry: a model of another package works wherever GCN and SGC do."""

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open

import featprop as fp
from featprop.errors import ModelError, ParameterError
from featprop.experiments.results import read_results
from featprop.models import MODELS
from tests.helpers import raises

THIRD = '''
import numpy as np
from typing import Annotated
from featprop.models import NodeClassifier
from featprop.options import AtLeast


class NearestMean(NodeClassifier):
    """The class whose labelled nodes have the nearest mean on S^K X.

    Parameters
    ----------
    layers
        K.
    """

    def __init__(self, layers: Annotated[int, AtLeast(0)] = 2):
        self.layers = layers

    def learn(self, propagation, nodes, targets):
        rows = propagation.rows(self.layers)[nodes]
        self.means = np.stack([rows[targets == code].mean(axis=0) for code in range(len(self.class_names_))])

    def scores(self, propagation):
        rows = propagation.rows(self.layers)
        return -np.square(rows[:, None] - self.means[None]).sum(axis=2)

    def state_dict(self):
        return {"means": self.means}

    def load_state_dict(self, state):
        self.means = state["means"]
'''
IN_TURN = """
import json, sys
from typer.testing import CliRunner
from featprop.cli import app
if __name__ == "__main__":
    results = [CliRunner().invoke(app, words) for words in json.loads(sys.argv[1])]
    print(json.dumps([[result.exit_code, result.stdout, result.stderr] for result in results]))
"""
Told = tuple[int, str, str]
Commands = Callable[..., list[Told]]


@pytest.fixture
def commands(tmp_path: Path) -> Commands:
    """Return a function that runs commands in a process with a plug-in package and returns what each prints."""
    site = tmp_path / "site"
    info = site / "some_package-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "some_package.py").write_text(THIRD)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[featprop.models]\nnearest-mean = some_package:NearestMean\n")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }

    (tmp_path / "in_turn.py").write_text(IN_TURN)

    def run(*commands: list[object]) -> list[Told]:
        given = json.dumps([[str(word) for word in words] for words in commands])
        line = [sys.executable, "in_turn.py", given]
        done = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return [tuple(each) for each in json.loads(done.stdout)]

    return run


def test_model_of_another_package_works_in_every_command(
    commands: Commands, graph_folder: Path, tmp_path: Path
) -> None:
    words = ["--dataset", graph_folder, "--strategy", "uncertainty", "--strategy", "random", "--budgets", "8,12"]
    models = ["--model", "nearest-mean", "--model", "nearest-mean[layers=0]", "--model", "sgc"]
    listed, described, *worked = commands(
        ["models"],
        ["models", "nearest-mean"],
        ["train", graph_folder, "--model", "nearest-mean", "--set", "layers=1", "--out", "model.safetensors"],
        ["predict", graph_folder, "--model", "model.safetensors"],
        ["experiments", "run", *words, *models, "--seeds", 2, "--epochs", 20, "--out", "results"],
        ["experiments", "report", "results", "--out", "report"],
    )
    assert "nearest-mean  The class whose labelled nodes have the nearest mean" in listed[1]
    assert "layers  2        a whole number at least 0" in described[1]
    assert [code for code, *_ in worked] == [0] * 4, worked

    with safe_open(tmp_path / "model.safetensors", framework="np") as file:
        saved = json.loads(file.metadata()["featprop"])
    assert (saved["model"], saved["settings"]) == ("nearest-mean", {"layers": 1})
    with (tmp_path / "predictions.csv").open(encoding="utf-8", newline="") as file:
        right = [row["label"] == "abc"[int(row["id"]) % 3] for row in csv.DictReader(file)]
    assert np.mean(right) > 0.8

    results = read_results(tmp_path / "results")
    kinds = {(result.model, json.dumps(result.settings)) for result in results}
    assert kinds == {("nearest-mean", "{}"), ("nearest-mean", '{"layers": 0}'), ("sgc", '{"epochs": 20}')}
    assert len(results) == 2 * 3 * 2 * 2 * 2
    by_model = {model: [r.macro_f1 for r in results if r.model == model] for model in ("nearest-mean", "sgc")}
    assert not set(by_model["nearest-mean"]) <= set(by_model["sgc"]), "it is not trained as something else"
    assert list((tmp_path / "report" / "tables").glob("macro-f1-nearest-mean*.md"))


def test_unknown_model_lists_the_choices(commands: Commands) -> None:
    unknown = [
        ["train", "graph", "--model", "nearest-men"],
        ["experiments", "run", "--dataset", "digits", "--model", "x"],
    ]
    for code, _, complaint in commands(*unknown):
        assert code == 2
        assert "'nearest-mean'" in complaint or "gcn, nearest-mean, ridge, sgc" in complaint


def test_set_params_and_repr() -> None:
    with raises(ParameterError, parameter="hiden") as caught:
        fp.GCN().set_params(hiden=3)
    assert "'hidden'" in caught.value.hint
    assert repr(fp.GCN(hidden=8).set_params(epochs=3)) == "GCN(hidden=8, epochs=3)"


def test_a_name_is_registered_once() -> None:
    with pytest.raises(ValueError, match="gcn"):
        MODELS.register("gcn")(fp.SGC)


def test_listing_models_does_not_import_torch() -> None:
    code = "import sys, featprop as fp; fp.models.available_models(); fp.GCN(hidden=3); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_failed_fit_leaves_the_model_unchanged(line: fp.Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    model = fp.GCN(epochs=2).fit(line, ["a", "c"], ["left", "right"])
    before = model.predict_proba(line)
    fresh = fp.GCN(epochs=2)
    monkeypatch.setattr(fp.GCN, "learn", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    for each in (model, fresh):
        with pytest.raises(KeyboardInterrupt):
            each.fit(line, ["a", "b", "c"], ["x", "y", "z"])
    assert model.class_names_ == ("left", "right")
    np.testing.assert_array_equal(model.predict_proba(line), before)
    assert not fresh.is_fitted


def test_diverging_training_is_an_error(line: fp.Graph) -> None:
    with pytest.raises(ModelError):
        fp.GCN(learning_rate=1e38, epochs=20).fit(line, ["a", "c"], ["left", "right"])


def test_only_models_can_be_registered() -> None:
    with pytest.raises(TypeError, match="zzz"):
        fp.models.register_model("zzz")(dict)
