from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfilterrank.comparison import SystemScores, compare_systems
from skfilterrank.plot import CriticalDifferenceDisplay
from skfilterrank.plot._compared_systems import _level_runs, _levels

NOISE = np.random.RandomState(0).normal(scale=0.1, size=(5, 30))
NOISE -= NOISE.mean(axis=1, keepdims=True)
# Exact means; neighbours less apart than the critical difference of about 0.07, next but one more.
MEANS = np.array([0.30, 0.50, 0.40, 0.35, 0.45])
VALUES = MEANS[:, None] + NOISE
SYSTEMS = ["a", "b", "c", "d", "e"]
ORDER = ("b", "e", "c", "d", "a")


def scores(values=VALUES, **params):
    params = {"systems": SYSTEMS, "measure": "ap"} | params
    return SystemScores(values, **params)


def test_systems_on_the_line_and_names_beside_it():
    display = CriticalDifferenceDisplay.from_scores(scores())
    assert display.systems == ORDER
    np.testing.assert_allclose(display.values, [0.5, 0.45, 0.4, 0.35, 0.3])
    np.testing.assert_array_equal(display.points_.get_xdata(), display.values)
    assert [text.get_text() for text in display.names_] == [
        "b  0.5000",
        "e  0.4500",
        "c  0.4000",
        "0.3500  d",
        "0.3000  a",
    ]
    for stem, value in zip(display.stems_, display.values, strict=True):
        assert stem.get_xydata()[0].tolist() == [value, 0]
    # Names on the right begin where their line ends, names on the left end there.
    assert [text.get_ha() for text in display.names_] == ["left"] * 3 + ["right"] * 2
    # The best and the worst highest, next to the line.
    rows = [stem.get_ydata()[-1] for stem in display.stems_]
    assert rows[0] < rows[1] < rows[2]
    assert rows[4] < rows[3]
    ends = [stem.get_xdata()[-1] for stem in display.stems_]
    low, high = display.ax_.get_xlim()
    assert ends == [high] * 3 + [low] * 2


def test_bars_join_what_does_not_differ():
    display = CriticalDifferenceDisplay.from_scores(scores())
    assert 0.05 < display.critical_difference < 0.1
    assert display.groups == [("b", "e"), ("e", "c"), ("c", "d"), ("d", "a")]
    spans = [bar.get_xdata().tolist() for bar in display.bars_]
    np.testing.assert_allclose(spans, [[0.5, 0.45], [0.45, 0.4], [0.4, 0.35], [0.35, 0.3]])
    heights = [bar.get_ydata()[0] for bar in display.bars_]
    # Bars that share a system are at different heights.
    assert all(one != other for one, other in pairwise(heights))
    assert display.note_.get_text() == f"critical difference {display.critical_difference:.4g}"
    np.testing.assert_allclose(np.ptp(display.scale_.get_xdata()), display.critical_difference)


@pytest.mark.slow
@pytest.mark.parametrize("greater_is_better", [True, False])
def test_the_best_is_on_the_right(greater_is_better):
    sign = 1 if greater_is_better else -1
    display = CriticalDifferenceDisplay.from_scores(
        scores(sign * VALUES, greater_is_better=greater_is_better)
    )
    assert display.systems == ORDER
    assert display.groups == [("b", "e"), ("e", "c"), ("c", "d"), ("d", "a")]
    display.figure_.draw_without_rendering()
    pixels = display.ax_.transData.transform(display.points_.get_xydata())[:, 0]
    assert (np.diff(pixels) < 0).all()
    assert display.ax_.get_xlabel() == "mean ap (better to the right)"


def test_preferences_are_shown_by_mean_rank():
    # Ranks of "a", "b", "c": 1, 2.5, 2.5 / 1, 2, 3 / 2, 1, 3.
    values = [[9, 3, 5], [2, 2, 6], [2, 1, 4]]
    preferences = scores(values, systems=["a", "b", "c"], is_preference=True)
    display = CriticalDifferenceDisplay.from_scores(preferences)
    assert display.systems == ("a", "b", "c")
    np.testing.assert_allclose(
        display.values, [(1 + 1 + 2) / 3, (2.5 + 2 + 1) / 3, (2.5 + 3 + 3) / 3]
    )
    assert display.ax_.get_xlabel() == "mean rank by ap (better to the right)"
    low, high = display.ax_.get_xlim()
    assert low > high  # rank 1 on the right


# By signs "b" > "a" and "a" > "c"; the means are in the order "a", "b", "c".
SIGNS = np.array([[0.0] * 19 + [99], [1.0] * 20, [-1.0] * 20])


@pytest.mark.slow
@pytest.mark.parametrize("greater_is_better", [True, False])
def test_what_the_line_contradicts_is_said(greater_is_better):
    sign = 1 if greater_is_better else -1
    contradicting = scores(
        sign * SIGNS, systems=["a", "b", "c"], greater_is_better=greater_is_better
    )
    display = CriticalDifferenceDisplay.from_scores(contradicting, test="sign")
    assert display.systems == ("a", "b", "c")
    assert display.groups == []
    assert display.against_means == [("b", "a")]
    note = "contrary to the means, b is significantly better than a"
    assert display.note_.get_text() == note
    # What is hidden and better than the best by its mean is not worse.
    alone = CriticalDifferenceDisplay.from_scores(contradicting, test="sign", n_shown=1)
    assert (alone.against_means, alone.n_hidden, alone.n_hidden_level) == ([], 2, 1)
    both = scores(
        sign * np.vstack([SIGNS, SIGNS[1]]),
        systems=["a", "b", "c", "d"],
        greater_is_better=greater_is_better,
    )
    display = CriticalDifferenceDisplay.from_scores(both, test="sign")
    assert display.note_.get_text() == f"{note}, and 1 more pair is so"
    assert CriticalDifferenceDisplay.from_scores(contradicting).against_means == []


def test_only_the_best_are_shown_but_all_take_part():
    display = CriticalDifferenceDisplay.from_scores(scores(), n_shown=2)
    everything = CriticalDifferenceDisplay.from_scores(scores())
    assert display.systems == ("b", "e")
    assert display.critical_difference == everything.critical_difference
    assert (display.n_hidden, display.n_hidden_level) == (3, 0)
    note = "3 more systems are not shown, all significantly worse than the best"
    assert note in display.note_.get_text()
    level = scores(0.5 + NOISE)
    display = CriticalDifferenceDisplay.from_scores(level, n_shown=2)
    assert (display.n_hidden, display.n_hidden_level) == (3, 3)
    assert "3 of them not significantly worse" in display.note_.get_text()


def test_tests_of_pairs_have_no_critical_difference():
    display = CriticalDifferenceDisplay.from_scores(scores(), test="t", correction="bonferroni")
    assert display.critical_difference is None
    assert display.scale_ is None
    assert display.note_.get_text() == ""
    assert "Bonferroni's correction for 10 pairs" in display.ax_.get_title()
    stricter = CriticalDifferenceDisplay.from_scores(scores(), alpha=0.01)
    usual = CriticalDifferenceDisplay.from_scores(scores())
    assert stricter.critical_difference > usual.critical_difference


def test_critical_difference_is_the_intervals_half_width():
    comparison = compare_systems(scores(), test="tukey")
    display = CriticalDifferenceDisplay(comparison).plot()
    np.testing.assert_allclose(comparison.high - comparison.difference, display.critical_difference)


@pytest.mark.parametrize("second", [[0.05, 0.0], [0.9, 0.2]])
def test_critical_difference_may_leave_the_range_of_the_measure(second):
    found = [
        CriticalDifferenceDisplay.from_scores(SystemScores([[1, 0.9], second], measure=name))
        for name in ("ap", "an unknown one")
    ]
    assert found[0].critical_difference == found[1].critical_difference > 0.3


def matrix_of(n_systems, bits):
    differs = np.zeros((n_systems, n_systems), dtype=bool)
    differs[np.triu_indices(n_systems, 1)] = bits
    return differs | differs.T


@given(
    st.integers(1, 7).flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.lists(st.booleans(), min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2),
        )
    )
)
def test_runs_by_their_definition(case):
    n_systems, bits = case
    differs = matrix_of(n_systems, bits)
    level = [(i, j) for i in range(n_systems) for j in range(i + 1, n_systems) if not differs[i, j]]
    longest = [
        (i, j)
        for i, j in level
        if not any(a <= i and j <= b and (a, b) != (i, j) for a, b in level)
    ]
    runs = _level_runs(differs)
    assert runs == longest
    levels = _levels(runs)
    for (a, b), one in zip(runs, levels, strict=True):
        for (c, d), other in zip(runs, levels, strict=True):
            assert (a, b) == (c, d) or one != other or b < c or d < a


@pytest.mark.slow
@pytest.mark.parametrize("n_systems", [4, 30])
def test_names_are_readable_and_inside(n_systems):
    values = np.random.RandomState(1).normal(size=(n_systems, 20)) * 0.1
    values += np.linspace(1, 0, n_systems)[:, None]
    names = [
        f"the_retrieval_system_of_some_team_{i:03}_run_with_reranking" for i in range(n_systems)
    ]
    display = CriticalDifferenceDisplay.from_scores(
        SystemScores(values, systems=names, measure="ap")
    )
    figure = display.figure_
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in (*display.names_, display.note_)]
    for number, box in enumerate(boxes):
        assert box.width == 0 or (box.x0 >= 0 and box.x1 <= figure.bbox.x1)
        assert box.width == 0 or (box.y0 >= 0 and box.y1 <= figure.bbox.y1)
        assert not any(box.overlaps(other) for other in boxes[number + 1 :])
    assert len(display.names_) == min(n_systems, 15)


@pytest.mark.slow
def test_degenerate_values():
    tied = CriticalDifferenceDisplay.from_scores(np.ones((3, 4)))
    assert tied.groups == [("0", "1", "2")]
    assert tied.scale_ is None
    zero = CriticalDifferenceDisplay.from_scores(np.zeros((2, 4)))
    assert zero.names_[0].get_text() == "0  0"
    constant = CriticalDifferenceDisplay.from_scores([range(6), range(1, 7)])
    assert constant.systems == ("1", "0")
    assert constant.groups == []
    assert constant.bars_ == []
    for display in (tied, zero, constant):
        display.figure_.draw_without_rendering()


def test_errors():
    with pytest.raises(ValueError, match="comparison must test all pairs"):
        CriticalDifferenceDisplay.from_scores(scores(), baseline="a")
    with pytest.raises(ValueError, match="n_shown must be a whole number from 1 up, got 0"):
        CriticalDifferenceDisplay.from_scores(scores(), n_shown=0)
    with pytest.raises(ValueError, match="at least 2 systems"):
        CriticalDifferenceDisplay.from_scores([[1, 2, 3]])


def test_of_a_comparison_made_before():
    comparison = compare_systems(scores(), test="tukey", alpha=0.01)
    display = CriticalDifferenceDisplay(comparison, n_shown=3)
    expected = CriticalDifferenceDisplay.from_scores(scores(), alpha=0.01, n_shown=3)
    assert display.groups == expected.groups
    assert display.critical_difference == expected.critical_difference > 0
