"""Line charts and map layouts."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from featprop.web.common.chart import Point, line_chart
from featprop.web.common.layout import tsne_layout


def test_chart_has_line_band_and_forecast() -> None:
    points = [Point(10, 0.5, 0.4, 0.6), Point(20, 0.7, 0.6, 0.8)]
    drawn = line_chart(points, description='Said <in> "words"', forecast=Point(40, 0.8, 0.7, 0.9), highest=1.0)
    assert drawn is not None
    root = ET.fromstring(str(drawn))
    assert root.attrib["aria-label"] == 'Said <in> "words"'
    kinds = [part.attrib.get("class") for part in root]
    assert (
        kinds.count("band") == kinds.count("band forecast") == kinds.count("line forecast") == kinds.count("line") == 1
    )
    line = next(part for part in root if part.attrib.get("class") == "line")
    (x1, y1), (x2, y2) = (map(float, pair.split(",")) for pair in line.attrib["points"].split())
    assert x1 < x2
    assert y1 > y2
    for part in root:
        for name in ("cx", "x", "x1"):
            assert 0 <= float(part.attrib.get(name, 1)) <= 480


@pytest.mark.parametrize("value", [0.0, 0.5, 1e-9, 123456.0])
def test_flat_line(value: float) -> None:
    drawn = line_chart([Point(1, value), Point(2, value)], description="flat")
    assert drawn is not None
    assert "nan" not in drawn
    assert "inf" not in drawn


def test_no_chart_for_fewer_than_two_points() -> None:
    assert line_chart([Point(1, 0.5)], description="one") is None
    assert line_chart([], description="none") is None


@pytest.mark.parametrize(("count", "width"), [(1, 3), (4, 3), (6, 1), (40, 80)])
def test_layout_is_deterministic(count: int, width: int) -> None:
    rows = np.random.default_rng(0).normal(size=(count, width)).astype(np.float32)
    places = tsne_layout(rows)
    assert places.shape == (count, 2)
    assert np.isfinite(places).all()
    np.testing.assert_array_equal(places, tsne_layout(rows))


def test_layout_of_equal_rows() -> None:
    assert np.isfinite(tsne_layout(np.ones((20, 4), dtype=np.float32))).all()


def test_layout_separates_groups() -> None:
    rows = np.random.default_rng(0).normal(size=(90, 60)) + 12 * np.eye(3, 60)[np.arange(90) % 3]
    places = tsne_layout(rows.astype(np.float32))
    centres = np.array([places[np.arange(90) % 3 == group].mean(axis=0) for group in range(3)])
    nearest = np.linalg.norm(places[:, None] - centres[None], axis=2).argmin(axis=1)
    assert np.mean(nearest == np.arange(90) % 3) > 0.95
