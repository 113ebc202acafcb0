import math
from xml.etree import ElementTree

import numpy as np
import pytest
import scipy.sparse as sp

from featprop.datasets import digits
from featprop.graph import Graph
from featprop.web.common.features import Picture, feature_row, picture_from_features, summarize_features


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
    assert svg.get("viewBox") == "0 0 3 3"
    assert [(path.get("d"), path.get("fill-opacity")) for path in svg] == [
        ("M0 1h1v1h-1zM2 1h1v1h-1z", "0.5"),
        ("M1 0h2v1h-2z", "1"),
    ]


@pytest.mark.parametrize("sparse", [False, True])
def test_picture_of_a_digit(sparse: bool) -> None:
    graph = digits()
    features = sp.csr_array(graph.features) if sparse else graph.features
    object.__setattr__(graph, "features", features)
    summary = summarize_features(graph, 0, 64)
    picture = picture_from_features(graph, 3, summary)
    assert picture is not None
    row = feature_row(graph, 3, 0, 64)
    assert np.array_equal(picture.pixels, np.rint(8 * row.reshape(8, 8)))


@pytest.mark.parametrize("sparse", [False, True])
def test_feature_range_of_a_node(sparse: bool) -> None:
    features = np.array([[0.0, 1, 2, 0, 3], [4, 0, 5, 6, 0]], dtype=np.float32)
    graph = Graph.from_scipy(np.zeros((2, 2)), features)
    object.__setattr__(graph, "features", sp.csr_array(features) if sparse else features)
    assert feature_row(graph, 0, 1, 4).tolist() == [1, 2, 0]
    assert feature_row(graph, 1, 0, 5).tolist() == [4, 0, 5, 6, 0]


def test_percentiles_and_most_unusual_features() -> None:
    features = np.array([[0.0, 1], [1, 1], [2, 1], [9, 1]])
    summary = summarize_features(Graph.from_scipy(np.zeros((4, 4)), features), 0, 2)
    row = np.array([2, 1], np.float32)
    assert summary.places(row, np.array([0, 1])).tolist() == [0.5, 0]
    assert summary.places(row, np.array([0])).tolist() == [0.5], "the others are not ranked"
    assert summary.most_unusual(np.array([9, 1], np.float32), 1).tolist() == [0]
    assert math.isclose(summary.high, 9)
