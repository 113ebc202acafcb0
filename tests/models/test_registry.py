"""The model registry: a model of another package works wherever GCN and SGC do."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import featprop as fp
from featprop.errors import ModelError, ParameterError
from featprop.experiments.protocol import Protocol
from featprop.experiments.settings import Spec, Trial
from tests.helpers import raises, rows_of

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


def test_model_of_another_package_works_in_commands_and_experiments(
    install_plugin: Callable[..., None], run: Callable[..., Any], graph_folder: Path, tmp_path: Path
) -> None:
    install_plugin("featprop.models", THIRD, nearest_mean="some_package:NearestMean")
    listed, described = run("models"), run("models", "nearest-mean")
    assert "nearest-mean" in listed.stdout
    assert re.search(r"layers +2 ", described.stdout)
    model = tmp_path / "model.safetensors"
    assert run("train", graph_folder, "--model", "nearest-mean", "--set", "layers=1", "--out", model).exit_code == 0
    assert run("predict", graph_folder, "--model", model).exit_code == 0
    loaded = fp.load_model(model)
    assert (loaded.name, loaded.get_params()) == ("nearest-mean", {"layers": 1})
    right = [row["prediction"] == "abc"[int(row["id"]) % 3] for row in rows_of(tmp_path / "predictions.csv")]
    assert np.mean(right) > 0.8
    graph = fp.read_graph(graph_folder)
    specs = (Spec("nearest-mean"), Spec("nearest-mean", {"layers": 0}), Spec("ridge"))
    trial = Trial("blobs", graph.fingerprint, Spec("random"), specs, (8,), (0, 1))
    results = list(Protocol(graph).run(trial))
    assert len({(result.model, str(result.settings), result.macro_f1) for result in results if result.seed == 0}) >= 5


def test_set_params_and_repr() -> None:
    with raises(ParameterError, parameter="hiden") as caught:
        fp.GCN().set_params(hiden=3)
    assert "'hidden'" in caught.value.hint
    assert repr(fp.GCN(hidden=8).set_params(epochs=3)) == "GCN(hidden=8, epochs=3)"


def test_diverging_training_is_an_error(line: fp.Graph) -> None:
    with pytest.raises(ModelError):
        fp.GCN(learning_rate=1e38, epochs=20).fit(line, ["a", "c"], ["left", "right"])


def test_only_models_can_be_registered() -> None:
    with pytest.raises(TypeError, match="zzz"):
        fp.models.register_model("zzz")(dict)
