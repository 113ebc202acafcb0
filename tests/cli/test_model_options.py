"""What to train, as the options of several commands say it."""

import pytest

from featprop.cli.model_options import chosen_model
from featprop.errors import ParameterError
from featprop.models import GCN, GraphRidge
from featprop.options import settings_of


def test_a_model_gets_what_it_has_a_use_for() -> None:
    usual = chosen_model(None, None, 3, "cpu")
    assert isinstance(usual, GraphRidge)
    assert settings_of(usual) == settings_of(GraphRidge())
    network = chosen_model("gcn", ["epochs=7", "seed=5"], 3, "cpu")
    assert isinstance(network, GCN)
    assert (network.epochs, network.random_state, network.device) == (7, 5, "cpu")


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(ParameterError, match="epoch"):
        chosen_model("gcn", ["epoch=7"], 0, "cpu")
