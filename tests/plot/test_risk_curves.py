"""Curves over the share of answered queries, and over the price of a forbidden document."""

import numpy as np
import pytest

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import ndcg_score
from skfilterrank.plot import RiskCoverageDisplay, ThresholdCurveDisplay, TradeOffDisplay
from skfilterrank.thresholds import risk_coverage_curve, trade_off_curve


@pytest.fixture(scope="module")
def rows():
    _, y, groups, scores = make_rank_and_filter(n_queries=120, random_state=0)
    return y, scores, groups


@pytest.mark.slow
def test_draws_the_curves_of_all_confidences(rows):
    y, scores, groups = rows
    display = RiskCoverageDisplay.from_predictions(y, scores, groups=groups, measure="ndcg_f@3")
    assert display.ax_.get_ylabel() == "mean nDCG_f@3"
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    names = ("best_score", "score_gap", "score_std", "score_regression")
    for name, line, marked, label in zip(
        names, display.lines_, display.marked_, labels, strict=True
    ):
        curve = risk_coverage_curve(y, scores, groups=groups, measure="ndcg_f@3", confidence=name)
        np.testing.assert_array_equal(line.get_xdata(), curve.shares)
        np.testing.assert_array_equal(line.get_ydata(), curve.values)
        assert marked.get_xdata() == [curve.best_share]
        assert label == f"{name} (area {curve.area:.2f})"


def test_over_what_is_answered(rows):
    y, scores, groups = rows
    mine = {"mine": np.arange(120)}
    display = RiskCoverageDisplay.from_predictions(
        y, scores, groups=groups, confidences=mine, over="answered", measure="ap"
    )
    curve = risk_coverage_curve(y, scores, groups=groups, confidence=np.arange(120), measure="ap")
    np.testing.assert_array_equal(display.lines_[0].get_ydata(), curve.answered_values)
    assert not display.marked_
    assert len(RiskCoverageDisplay(curve).plot().lines_) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("measure", "label"),
    [("qwa", "mean qwa"), ("ndcg@3", "mean nDCG@3"), (ndcg_score, "mean nDCG")],
)
def test_measures_are_named_with_their_cut_off(rows, measure, label):
    y, scores, groups = rows
    y = np.maximum(y, 0)
    given = {"groups": groups, "measure": measure}
    display = RiskCoverageDisplay.from_predictions(y, scores, confidences="score_gap", **given)
    assert display.ax_.get_ylabel() == label
    if measure != "qwa":  # No sum over documents: it has no such curve.
        display = ThresholdCurveDisplay.from_predictions(y, scores, **given)
        assert display.ax_.get_ylabel() == label


def test_bad_input(rows):
    y, scores, groups = rows
    with pytest.raises(ValueError, match="over must be one of 'all', 'answered'"):
        RiskCoverageDisplay.from_predictions(
            y, scores, groups=groups, confidences="score_gap", over="some"
        )


def test_prices():
    _, y, groups, scores = make_rank_and_filter(n_queries=60, random_state=0)
    given = {"groups": groups, "prices": [1, 5], "measure": "ndcg_f@3"}
    display = TradeOffDisplay.from_predictions(y, scores, **given)
    curve = trade_off_curve(y, scores, **given)
    for name, line in display.lines_.items():
        np.testing.assert_array_equal(line.get_xdata(), [1, 5])
        np.testing.assert_array_equal(line.get_ydata(), getattr(curve, name))
    assert display.ax_.get_xscale() == "log"
