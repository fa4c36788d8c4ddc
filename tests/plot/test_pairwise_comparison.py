from itertools import pairwise

import numpy as np
import pytest
from matplotlib.figure import Figure

from skfilterrank.comparison import SystemScores, compare_systems
from skfilterrank.plot import PairwiseComparisonDisplay
from skfilterrank.plot._display import shorten_all

NOISE = np.random.RandomState(0).normal(scale=0.1, size=(3, 30))
# "b" is far better than the others, which differ by nothing but noise.
VALUES = np.array([[0.0], [1.0], [0.02]]) + NOISE


def scores(values=VALUES, **params):
    params = {"systems": ["a", "b", "c"], "measure": "ap"} | params
    return SystemScores(values, **params)


def many(n_systems, n_queries=20):
    values = np.random.RandomState(1).normal(size=(n_systems, n_queries)) * 0.1
    values += np.linspace(1, 0, n_systems)[:, None]
    names = [
        f"the_retrieval_system_of_some_team_{i:03}_run_with_reranking" for i in range(n_systems)
    ]
    return SystemScores(values, systems=names, measure="ap")


def labels(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


def test_cells_are_differences_of_means_in_the_order_of_the_means():
    display = compare_systems(scores(), test="t").plot()
    means = VALUES.mean(axis=1)
    order = np.argsort(-means)
    assert display.systems == tuple(np.array(["a", "b", "c"])[order])
    assert display.systems[0] == "b"
    expected = means[order][:, None] - means[order]
    np.testing.assert_allclose(display.advantage, expected, atol=1e-12)
    np.testing.assert_array_equal(display.image_.get_array(), display.advantage)
    assert labels(display.ax_.yaxis) == labels(display.ax_.xaxis) == list(display.systems)
    assert display.colorbar_.ax.get_ylabel() == "ap: row better than column\n(difference of means)"


def test_dots_are_on_the_significant_cells():
    display = compare_systems(scores(), test="t").plot()
    # The best comes first: its row is better, its column worse.
    assert display.better.tolist() == [[0, 1, 1], [-1, 0, 0], [-1, 0, 0]]
    dots = {(int(x), int(y)) for x, y in display.marks_.get_offsets()}
    assert dots == {(1, 0), (2, 0), (0, 1), (0, 2)}
    assert display.ax_.get_title().startswith("dots: significant at 0.05\n")
    assert "Holm's correction for 3 pairs" in display.ax_.get_title()


@pytest.mark.slow
@pytest.mark.parametrize("greater_is_better", [True, False])
def test_blue_is_better_whichever_way_the_measure_points(greater_is_better):
    sign = 1 if greater_is_better else -1
    display = compare_systems(
        scores(sign * VALUES, greater_is_better=greater_is_better), test="t"
    ).plot()
    assert display.systems[0] == "b"
    assert (np.triu(display.advantage) >= 0).all()
    assert display.better.tolist() == [[0, 1, 1], [-1, 0, 0], [-1, 0, 0]]
    red, _, blue, _ = display.image_.to_rgba(display.advantage)[0, 1]
    assert blue > red
    red, _, blue, _ = display.image_.to_rgba(display.advantage)[1, 0]
    assert red > blue


def test_signs_are_shown_where_signs_are_tested():
    # "a" is better on nine queries of ten that differ, "b" on average.
    values = [[1] * 9 + [0, 5], [0] * 9 + [90, 5]]
    preferences = SystemScores(values, systems=["a", "b"], measure="pref", is_preference=True)
    display = compare_systems(preferences).plot()
    assert display.comparison.test == "sign"
    assert display.systems == ("b", "a")
    np.testing.assert_allclose(display.advantage, [[0, -0.8], [0.8, 0]])
    assert display.better.tolist() == [[0, -1], [1, 0]]
    label = display.colorbar_.ax.get_ylabel()
    assert label == "pref: row better than column\n(net share of queries)"


@pytest.mark.slow
def test_alpha_decides_what_is_marked():
    how = {"test": "t", "correction": None}
    p_value = compare_systems(scores(), **how).matrix("p_value").loc["c", "a"]
    for alpha, count in ((0.99 * p_value, 4), (min(1.01 * p_value, 0.999), 6)):
        display = compare_systems(scores(), alpha=alpha, **how).plot()
        assert len(display.marks_.get_offsets()) == count
        assert np.count_nonzero(display.better) == count
        assert f"significant at {alpha:g}" in display.ax_.get_title()
        assert "correction" not in display.ax_.get_title()


def test_many_systems_have_grey_cells_in_the_place_of_dots():
    display = compare_systems(many(60), test="t").plot()
    shown = np.ma.filled(display.image_.get_array(), np.nan)
    np.testing.assert_array_equal(np.isnan(shown), display.better == 0)
    np.testing.assert_array_equal(
        shown[display.better != 0], display.advantage[display.better != 0]
    )
    assert len(display.marks_.get_offsets()) == 0
    assert display.ax_.get_title().startswith("grey: not significant at 0.05")
    assert 0 < np.count_nonzero(display.better == 0) < 60 * 60


@pytest.mark.slow
@pytest.mark.parametrize("n_systems", [12, pytest.param(60, marks=pytest.mark.nightly)])
def test_labels_are_readable(n_systems):
    values = many(n_systems)
    display = compare_systems(values, test="t").plot()
    figure = display.figure_
    figure.draw_without_rendering()
    for axis, low, high in ((display.ax_.yaxis, "y0", "y1"), (display.ax_.xaxis, "x0", "x1")):
        texts = labels(axis)
        assert len(set(texts)) == len(texts) >= min(n_systems, 20)
        assert max(map(len, texts)) <= 28
        boxes = sorted(
            (text.get_window_extent() for text in axis.get_ticklabels()),
            key=lambda box: getattr(box, low),
        )
        for below, above in pairwise(boxes):
            assert getattr(below, high) <= getattr(above, low)
        assert all(box.x0 >= 0 and box.y0 >= 0 for box in boxes)
    named = [display.systems[int(place)] for place in display.ax_.get_yticks()]
    assert labels(display.ax_.yaxis) == labels(display.ax_.xaxis) == shorten_all(named)
    assert named[0] == display.systems[0]


def test_pairs_that_were_not_compared_are_blank():
    comparison = compare_systems(scores(), test="t", baseline="b")
    display = PairwiseComparisonDisplay(comparison).plot()
    blank = np.ma.getmaskarray(np.ma.masked_invalid(display.image_.get_array()))
    assert blank.tolist() == [[False] * 3, [False, False, True], [False, True, False]]
    assert len(display.marks_.get_offsets()) == 4


@pytest.mark.slow
def test_degenerate_values():
    tied = compare_systems([[1, 1, 1], [1, 1, 1]]).plot()
    assert not tied.advantage.any()
    assert len(tied.marks_.get_offsets()) == 0
    tied.figure_.draw_without_rendering()
    constant = compare_systems([range(6), range(1, 7)]).plot()
    assert constant.systems == ("1", "0")
    assert constant.better.tolist() == [[0, 1], [-1, 0]]


def test_axes_with_room_for_one_name_have_one():
    ax = Figure(figsize=(0.5, 0.5)).subplots()
    display = compare_systems(many(5)).plot(ax)
    assert ax.get_xticks().tolist() == ax.get_yticks().tolist() == [0]
    assert labels(ax.xaxis) == shorten_all(display.systems[:1])
