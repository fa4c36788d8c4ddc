"""Values with their intervals, and contributions of features."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from sklearn.linear_model import Ridge

from skfilterrank.exceptions import InputError
from skfilterrank.judgments import estimate
from skfilterrank.plot import IntervalDisplay
from skfilterrank.ranking import RankAndFilter, score_difference

TABLE = pd.DataFrame(
    {"value": [0.3, 0.1], "low": [0.2, -0.1], "high": [0.4, 0.3]}, index=["new", "old"]
)


def names(display):
    return [text.get_text() for text in display.ax_.get_yticklabels()]


@pytest.fixture(scope="module")
def estimates():
    """Three runs on whole topics: up puts relevant documents first, down last."""
    rows = pd.DataFrame({"qid": np.repeat(range(8), 10), "docno": [f"d{i}" for i in range(80)]})
    rows = rows.astype({"qid": str})
    labels = np.random.RandomState(0).randint(0, 2, 80)
    noise = np.random.RandomState(2).rand(80) / 10
    runs = {
        "down": rows.assign(score=noise - labels),
        "up": rows.assign(score=noise + labels),
        "any": rows.assign(score=np.random.RandomState(1).rand(80)),
    }
    people = rows.assign(label=labels, inclusion_probability=1.0)
    params = {"pool": people, "unit": "query", "target": "new queries"}
    return estimate(people, runs, "ap", **params)


def test_a_line_from_end_to_end_and_a_mark_at_the_value():
    display = IntervalDisplay(TABLE, label="ap").plot()
    lines = [segment[:, 0].tolist() for segment in display.lines_.get_segments()]
    assert lines == [[0.2, 0.4], [-0.1, 0.3]]
    assert display.marks_.get_offsets().tolist() == [[0.3, 0], [0.1, 1]]
    assert names(display) == ["new", "old"]
    low, high = display.ax_.get_ylim()
    assert low > high  # the first row is at the top
    assert display.ax_.get_xlabel() == "ap"
    assert display.is_apart.all()


def test_intervals_that_hold_the_reference_are_grey():
    display = IntervalDisplay(TABLE, reference=0).plot()
    assert display.is_apart.tolist() == [True, False]
    colors = [to_hex(color) for color in display.lines_.get_colors()]
    assert colors == ["#0072b2", "#999999"]
    assert not IntervalDisplay(TABLE, reference=0.2).is_apart.any()  # ends belong to intervals


def test_rows_beyond_the_first_are_counted():
    table = pd.concat([TABLE] * 30)
    display = IntervalDisplay(table).plot(n_shown=5)
    assert len(names(display)) == 5
    assert display.ax_.get_title() == "the first 5 of 60"


def test_values_of_estimates_are_in_the_order_of_their_ranks(estimates):
    display = estimates.plot()
    assert names(display) == list(estimates.order(random_state=0).index) == ["up", "any", "down"]
    frame = estimates.to_frame().loc["ap"]
    assert display.table.loc["up"].tolist() == frame.loc["up", ["value", "low", "high"]].tolist()


def test_differences_name_both_runs_the_surest_first(estimates):
    differences = estimates.compare()
    display = differences.plot()
    table = differences.to_frame().sort_values("p_value", kind="stable")
    assert names(display) == (table["first"] + " − " + table["second"]).tolist()
    assert display.table["low"].tolist() == table["low"].tolist()
    assert display.reference == 0
    assert display.ax_.get_xlabel() == "difference in ap"


@pytest.mark.parametrize("table", [TABLE.drop(columns="low"), TABLE.head(0)])
def test_tables_of_something_else(table):
    with pytest.raises(InputError, match="table must have rows and the columns"):
        IntervalDisplay(table)


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 6)), columns=[f"feature {n}" for n in range(6)])
    y = np.sign(X.sum(axis=1)).to_numpy()
    groups = np.repeat(np.arange(10), 4)
    return RankAndFilter(Ridge(), threshold=0.1).fit(X, y, groups=groups), X


@pytest.mark.slow
@pytest.mark.parametrize(("other", "n_features"), [(1, 2), (None, 2), (None, 6), (1, 9)])
def test_bars_sum_to_the_difference(fitted, other, n_features):
    model, X = fitted
    display = score_difference(model, X, 0, other).plot(n_features=n_features)
    difference = score_difference(model, X, 0, other)
    widths = [bar.get_width() for bar in display.bars_]
    assert len(widths) == min(n_features, 6) + (n_features < 6) + (other is None)
    assert sum(widths) == pytest.approx(difference.difference)
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels[0] == difference.to_frame().index[0]
    assert ("4 others" in labels) == (n_features == 2)
    assert (labels[-1] == "baseline") == (other is None)
    assert ("threshold" in display.ax_.get_title()) == (other is None)
    again = display.plot(ax=display.ax_)
    assert again.ax_ is display.ax_


def test_wrong_number_of_features(fitted):
    with pytest.raises(ValueError, match="n_features must be a whole number"):
        score_difference(*fitted, 0, 1).plot(n_features=0)
