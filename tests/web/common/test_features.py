from xml.etree import ElementTree

import numpy as np
import pytest
import scipy.sparse as sp

from featprop.datasets import digits
from featprop.graph import Graph
from featprop.web.common.features import Picture, picture_from_features, summarize_features


def summary_kind(features: np.ndarray) -> str:
    graph = Graph.from_scipy(sp.csr_array((len(features),) * 2), features)
    return summarize_features(graph, 0, features.shape[1]).kind


def test_only_ordered_pixels_are_a_picture() -> None:
    generator = np.random.default_rng(0)
    images = np.asarray(digits().features)
    assert summary_kind(images) == "picture"
    assert summary_kind(images[:, generator.permutation(64)]) == "numbers"
    assert summary_kind(generator.normal(size=(500, 64))) == "numbers"
    assert summary_kind(generator.normal(size=(500, 1)) + generator.normal(size=(500, 64))) == "numbers"
    assert summary_kind((generator.random((500, 1024)) < 0.02).astype(float)) == "words"
    assert summary_kind(np.ones((500, 64))) == "numbers"


def test_picture_as_svg() -> None:
    pixels = np.array([[0, 8, 8], [4, 0, 4], [0, 0, 0]])
    svg = ElementTree.fromstring(Picture(pixels).svg('width="9"'))
    assert (svg.get("viewBox"), svg.get("width")) == ("0 -0.5 3 3", "9")
    drawn = [(path.get("d"), path.get("stroke-opacity")) for path in svg]
    assert drawn == [("M0 1h1M2 1h1", "0.5"), ("M1 0h1M2 0h1", "1")]


@pytest.mark.parametrize("sparse", [False, True])
def test_picture_of_a_digit(sparse: bool) -> None:
    graph = digits()
    row = np.asarray(graph.features)[3]
    if sparse:
        object.__setattr__(graph, "features", sp.csr_array(graph.features))
    picture = picture_from_features(graph, 3, summarize_features(graph, 0, 64))
    assert picture is not None
    assert np.array_equal(picture.pixels, np.rint(8 * row.reshape(8, 8)))


def test_percentiles_and_most_unusual_features() -> None:
    features = np.array([[0.0, 1], [1, 1], [2, 1], [9, 1]])
    summary = summarize_features(Graph.from_scipy(np.zeros((4, 4)), features), 0, 2)
    assert summary.shares_below(np.array([2, 1], np.float32), np.array([0, 1])).tolist() == [0.5, 0]
    assert summary.most_unusual(np.array([9, 1], np.float32), 1).tolist() == [0]
