"""Names of 0.1 lead to the new ones and say so; other names are none."""

from typing import Any

import numpy as np
import pytest

import featprop as fp
from featprop import strategies


@pytest.mark.parametrize("module", [fp, strategies])
@pytest.mark.parametrize(("old", "new"), [("available", "available_strategies"), ("register", "register_strategy")])
def test_an_old_name_leads_to_the_new_one_and_says_so(module: Any, old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"{module.__name__}.{old} is now {module.__name__}.{new}") as told:
        assert getattr(module, old) is getattr(module, new)
    assert told[0].filename == __file__, "the warning points to whoever uses the name"


@pytest.mark.parametrize("module", [fp, strategies])
def test_a_name_that_never_was(module: Any) -> None:
    with pytest.raises(AttributeError, match=f"module '{module.__name__}' has no attribute 'choose_all'"):
        _ = module.choose_all


def test_the_scores_of_a_model_under_their_old_name(line: fp.Graph) -> None:
    model = fp.Ridge().fit(line, ["a", "c"], ["left", "right"])
    with pytest.warns(DeprecationWarning, match="decision is now decision_function"):
        scores = model.decision(line)
    np.testing.assert_array_equal(scores.numpy(), model.decision_function(line))
