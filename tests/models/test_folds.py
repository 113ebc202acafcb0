"""Folds are balanced by class and do not depend on the order of the labels."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from featprop.models.folds import MAX_FOLDS, stratified_folds


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.integers(0, 1000))
def test_folds_are_stratified_and_independent_of_the_order(drawn: list[int], seed: int) -> None:
    codes = np.array(drawn)
    nodes = [f"node {place}" for place in range(len(codes))]
    folds = stratified_folds(nodes, codes)
    n_folds = min(MAX_FOLDS, len(codes))
    sizes = np.bincount(folds, minlength=n_folds)
    assert len(sizes) == n_folds
    assert sizes.max() - sizes.min() <= 1
    for code in set(drawn):
        spread = np.bincount(folds[codes == code], minlength=n_folds)
        assert spread.max() - spread.min() <= 1
    order = np.random.default_rng(seed).permutation(len(codes))
    np.testing.assert_array_equal(stratified_folds([nodes[place] for place in order], codes[order]), folds[order])
