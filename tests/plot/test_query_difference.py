from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex

from skfilterrank.comparison import SystemScores, compare_systems
from skfilterrank.exceptions import InputError
from skfilterrank.plot import CriticalDifferenceDisplay, QueryDifferenceDisplay

# Differences 5, 3, -2, -1, 0: five queries, and "a" is ahead by 5 in all.
VALUES = [[1, 5, 0, 3, 2], [3, 0, 1, 0, 2]]
QUERIES = ["q1", "q2", "q3", "q4", "q5"]


def scores(values=VALUES, queries=QUERIES, **params):
    return SystemScores(values, systems=["a", "b"], queries=queries, measure="ap", **params)


def labels(display):
    return [text.get_text() for text in display.names_]


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_bars_are_the_differences_in_order_with_the_colour_of_their_sign():
    display = QueryDifferenceDisplay.from_scores(scores())
    assert [bar.get_height() for bar in display.bars_] == [5, 3, 0, -1, -2]
    assert list(display.differences.index) == ["q2", "q4", "q5", "q3", "q1"]
    colors = [to_hex(bar.get_facecolor()) for bar in display.bars_]
    assert colors[0] == colors[1] == "#0072b2"
    assert colors[3] == colors[4] == "#e69f00"
    assert len(set(colors)) == 3
    assert legend(display) == ["a better: 2", "b better: 2", "equal: 1"]
    assert display.ax_.get_ylabel() == "advantage in ap"


def test_the_query_that_decides_is_named():
    # Without q2 the sum of 5 + 3 - 2 - 1 = 5 is 0: "a" would no longer be ahead.
    display = QueryDifferenceDisplay.from_scores(scores())
    assert display.leader == "a"
    assert display.n_needed == 1
    expected = pd.DataFrame(
        {"difference": [5.0], "left": [0.0]}, index=pd.Index(["q2"], name="qid", dtype=object)
    )
    pd.testing.assert_frame_equal(display.deciding, expected, check_index_type=False)
    assert labels(display) == ["q2"]
    assert [bar.get_alpha() for bar in display.bars_] == [1, 0.45, 0.45, 0.45, 0.45]
    (line,) = display.lines_
    assert line.get_xydata()[0].tolist() == [0, 5]  # from the top of its bar
    assert line.get_ydata()[1] > 5  # to its name above all bars
    assert "a is ahead by 1 on average over 5 queries" in display.ax_.get_title()
    assert "without its best query it would not be" in display.ax_.get_title()


def test_large_numbers_are_written_out():
    display = QueryDifferenceDisplay.from_scores(scores(1e5 * np.array(VALUES)))
    assert "a is ahead by 100000 on average" in display.ax_.get_title()
    # The bars of five queries stand at 0 to 4.
    assert display.ax_.get_xlim() == (-0.7, 4.7)
    large = SystemScores(1e5 * np.array(VALUES))
    note = CriticalDifferenceDisplay.from_scores(large).note_.get_text()
    assert note.removeprefix("critical difference ").isdecimal()


def test_queries_of_the_second_system_decide_where_it_is_ahead():
    display = QueryDifferenceDisplay.from_scores(scores(), "b", "a")
    assert display.leader == "a"
    assert [bar.get_height() for bar in display.bars_] == [2, 1, 0, -3, -5]
    assert display.deciding.to_numpy().tolist() == [[-5, 0]]
    assert display.lines_[0].get_xydata()[0].tolist() == [4, -5]
    assert display.lines_[0].get_ydata()[1] < -5
    assert display.ax_.xaxis.get_ticks_position() == "bottom"


def test_where_lower_is_better_so_is_the_colour():
    display = QueryDifferenceDisplay.from_scores(scores(greater_is_better=False), "a", "b")
    assert display.leader == "b"
    assert [bar.get_height() for bar in display.bars_] == [2, 1, 0, -3, -5]


def test_preferences_count_by_sign():
    # "a" on q2 and q4, "b" on q1 and q3, and now "a" on q5 too: three against two.
    values = [[1, 5, 0, 3, 9], [3, 0, 1, 0, 2]]
    display = QueryDifferenceDisplay.from_scores(scores(values, is_preference=True))
    assert [bar.get_height() for bar in display.bars_] == [1, 1, 1, -1, -1]
    assert display.leader == "a"
    # One query less makes it a draw, and no one of the three decides more than the others.
    assert display.n_needed == 1
    assert list(display.deciding.index) == ["q2", "q4", "q5"]
    assert display.ax_.get_title() == "a is preferred on 1 more of 5 queries"
    assert legend(display) == ["a preferred: 3", "b preferred: 2"]
    assert display.ax_.get_yticks().tolist() == [-1, 0, 1]


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=12))
def test_deciding_queries_by_their_definition(differences):
    display = QueryDifferenceDisplay(pd.Series(differences), first="x", second="y")
    total = sum(differences)
    if total == 0:
        assert display.leader is None
        assert display.n_needed == len(display.deciding) == 0
        return
    sign = np.sign(total)
    assert display.leader == ("x" if sign > 0 else "y")
    gains = sorted((sign * difference for difference in differences), reverse=True)
    fewest = next(n for n in range(1, len(gains) + 1) if sum(gains[n:]) <= 0)
    assert display.n_needed == fewest
    assert len(display.deciding) == sum(gain >= gains[fewest - 1] for gain in gains)
    assert (sign * display.deciding["difference"] > 0).all()
    np.testing.assert_allclose(
        display.deciding["left"], total - display.deciding["difference"].cumsum()
    )


@pytest.mark.slow
@pytest.mark.parametrize("values", [[[1] * 5] * 2, [[1, 0, 0, 0, 0], [0, 0, 0, 0, 1]]])
def test_nobody_ahead(values):
    display = QueryDifferenceDisplay.from_scores(scores(values))
    assert display.leader is None
    assert display.deciding.empty
    assert display.names_ == display.lines_ == []
    assert display.ax_.get_title() == "neither system is ahead"
    assert {bar.get_alpha() for bar in display.bars_} == {1.0}


def test_what_ties_in_the_tests_ties_here():
    # Beside values of 1000 a difference of 1e-13 is rounding.
    values = [[1, 1, 1 + 1e-13], [1, 1, 1], [9, 8, 1000]]
    three = SystemScores(values, systems=["a", "b", "c"])
    assert compare_systems(three).n_tied.tolist()[0] == 3
    assert QueryDifferenceDisplay.from_scores(three, "a", "b").leader is None
    two = three.select(systems=["a", "b"])
    assert QueryDifferenceDisplay.from_scores(two, "a", "b").leader == "a"


@pytest.mark.slow
def test_names_beyond_the_limit_are_counted():
    values = np.zeros((2, 20))
    values[0] = np.arange(100, 120)
    display = QueryDifferenceDisplay.from_scores(scores(values, range(20)), n_named=3)
    assert len(display.deciding) == 20
    assert labels(display) == ["19", "18", "17", "and 17 more"]
    assert len(display.lines_) == 3


def test_the_largest_differences_are_named_first_on_either_side():
    # 4 + 3 - 5 = 2 is gone without the 4, but 4 + 3 - 0.5 only without the 3, too.
    values = [[0, 0, 5, 0, 0], [4, 3, 0, 0, 0]]
    display = QueryDifferenceDisplay.from_scores(scores(values), "a", "b", n_named=1)
    assert display.leader == "b"
    assert list(display.deciding.index) == ["q1"]
    values = [[0, 0, 0.5, 0, 0], [4, 3, 0, 0, 0]]
    display = QueryDifferenceDisplay.from_scores(scores(values), "a", "b", n_named=1)
    assert list(display.deciding.index) == ["q1", "q2"]
    assert labels(display) == ["q1", "and 1 more"]
    first, more = display.ax_.get_xticks()
    assert more < first == 4


@pytest.mark.slow
def test_names_do_not_overlap():
    values = np.zeros((2, 70))
    values[0, :9] = 1
    queries = [f"a-very-long-name-of-a-topic-{i}-and-its-end" for i in range(70)]
    display = QueryDifferenceDisplay.from_scores(scores(values, queries))
    figure = display.figure_
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in display.names_]
    assert len(boxes) == 9
    assert all(left.x1 <= right.x0 for left, right in pairwise(boxes))
    assert all(figure.bbox.containsx(box.x0) and box.y1 <= figure.bbox.y1 for box in boxes)
    title = display.ax_.title.get_window_extent()
    assert all(not title.overlaps(box) for box in boxes)
    assert len(set(labels(display))) == 9
    assert max(map(len, labels(display))) <= 28


@pytest.mark.slow
def test_the_best_two_systems_are_the_default():
    values = SystemScores([[0, 0], [2, 2], [1, 1]], systems=["c", "a", "b"])
    display = QueryDifferenceDisplay.from_scores(values)
    assert (display.first, display.second) == ("a", "b")
    display = QueryDifferenceDisplay.from_scores(values, "b")
    assert (display.first, display.second) == ("b", "a")
    display = QueryDifferenceDisplay.from_scores(values, second="a")
    assert (display.first, display.second) == ("b", "a")


def test_errors():
    with pytest.raises(ValueError, match="two different systems, got 'a' for both"):
        QueryDifferenceDisplay.from_scores(scores(), "a", "a")
    with pytest.raises(ValueError, match="'z' is not among the 2 known names"):
        QueryDifferenceDisplay.from_scores(scores(), "z")
    with pytest.raises(ValueError, match="at least 2 systems"):
        QueryDifferenceDisplay.from_scores([[1, 2]])
    with pytest.raises(ValueError, match="n_named must be a whole number from 1 up, got 0"):
        QueryDifferenceDisplay.from_scores(scores(), n_named=0)
    for values, message in (
        ([0.5, None], "differences has no value for the queries 1: leave them out"),
        (["x", "y"], "differences must hold numbers"),
    ):
        with pytest.raises(InputError, match=message):
            QueryDifferenceDisplay(pd.Series(values, [0, 1]), first="a", second="b")
