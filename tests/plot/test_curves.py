"""Curves over thresholds."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.plot import ThresholdCurveDisplay
from skfilterrank.ranking import RankAndFilter
from skfilterrank.thresholds import (
    CertifiedThreshold,
    ExpectedThreshold,
    FirstK,
    ThresholdCurve,
    TunedThreshold,
    threshold_curve,
)

Y_TRUE = [2, 1, -1, -1, 1]
Y_SCORE = [0.9, 0.5, 0.1, 0.8, 0.3]
GROUPS = ["a", "a", "a", "b", "b"]


@pytest.fixture(scope="module")
def model():
    X, y, groups, _ = make_rank_and_filter(n_queries=120, random_state=0)
    return RankAndFilter(LogisticRegression(), measure="ndcg_f@3", cv=3).fit(X, y, groups=groups)


def value_at(line, threshold):
    """Height of a line drawn in steps that are constant up to each x."""
    assert line.get_drawstyle() == "steps-pre"
    x, y = line.get_data()
    return y[np.searchsorted(x, threshold)]


def kept_mean(threshold):
    """The curve by its definition."""
    kept = np.where(np.array(Y_SCORE) >= threshold, Y_SCORE, -np.inf)
    return ndcg_f_score(Y_TRUE, kept, groups=GROUPS, k=2)


def test_the_line_has_the_value_of_each_threshold():
    display = threshold_curve(Y_TRUE, Y_SCORE, groups=GROUPS, measure="ndcg_f@2").plot()
    for threshold in (0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.8, 0.85, 0.9):
        assert value_at(display.line_, threshold) == pytest.approx(kept_mean(threshold))


@pytest.mark.slow
def test_the_curve_of_an_estimator(model):
    display = ThresholdCurveDisplay.from_estimator(model)
    x, y = display.line_.get_data()
    np.testing.assert_array_equal(x[1:-1], model.threshold_curve_.thresholds[:0:-1])
    np.testing.assert_array_equal(y[1:], model.threshold_curve_.values[::-1])
    assert display.marked_.get_xdata()[0] == model.threshold_
    assert display.marked_.get_ydata()[0] == model.threshold_curve_.best_value
    assert display.ax_.get_ylabel() == "mean nDCG_f@3"
    assert display.figure_ is display.ax_.figure


@pytest.mark.parametrize(
    ("y_true", "edge"), [([1, 1], 0), ([-1, -1], 1)], ids=["keep all", "filter all"]
)
def test_an_infinite_threshold_is_marked_at_the_edge(y_true, edge):
    display = threshold_curve(y_true, [0.2, 0.7], groups=["a", "a"]).plot()
    assert np.isinf(display.curve.best_threshold)
    assert display.marked_.get_xdata()[0] == display.ax_.get_xlim()[edge]


def test_a_curve_without_any_finite_threshold():
    curve = ThresholdCurve(np.array([np.inf]), np.array([0.5]), -np.inf, 0.5)
    display = ThresholdCurveDisplay(curve).plot()
    assert display.ax_.get_ylabel() == "mean measure"
    assert display.ax_.get_xlim() == (-1.0, 1.0)
    assert set(display.line_.get_ydata()) == {0.5}


def test_long_curves_are_thinned_but_keep_their_ends_and_their_peak():
    thresholds = np.append(np.inf, np.linspace(1, 0, 100_000))
    values = np.zeros(len(thresholds))
    values[-1], values[12_345], values[0] = 0.1, 0.9, 0.2
    display = ThresholdCurveDisplay(ThresholdCurve(thresholds, values, 0.12345, 0.9)).plot()
    drawn = display.line_.get_ydata()
    assert len(drawn) < 10_000
    assert (drawn[0], drawn.max(), drawn[-1]) == (0.1, 0.9, 0.2)


@pytest.mark.parametrize("threshold", [0.5, None])
def test_a_fixed_threshold_has_no_curve(threshold):
    X, y, groups, _ = make_rank_and_filter(n_queries=20, random_state=0)
    model = RankAndFilter(LogisticRegression(), threshold=threshold).fit(X, y, groups=groups)
    with pytest.raises(
        ValueError, match=r"must have a threshold curve, but FixedThreshold has none"
    ):
        ThresholdCurveDisplay.from_estimator(model)
    display = ThresholdCurveDisplay.from_estimator(model, X, y, groups=groups)
    assert_marks_what_is_shown(display, model, X, y, groups)


def assert_marks_what_is_shown(display, model, X, y, groups):
    """The marker has the threshold of the model, and the value of the lists that it shows."""
    x, value = (data[0] for data in display.marked_.get_data())
    low, high = display.ax_.get_xlim()
    used = -np.inf if model.threshold_ is None else model.threshold_
    assert x == np.clip(used, low, high)
    assert value == pytest.approx(model.score(X, y, groups=groups))
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert f"{value:.3f} at {used:.3g}" in " ".join(labels)


SAFE = CertifiedThreshold({"any_forbidden": 0.1}, confidence_level=0.9)
RISK = {"threshold": SAFE, "cv": 0.5}


@pytest.mark.slow
@pytest.mark.parametrize(
    "how",
    [RISK, {"measure": "ap@5", "gains": {-1: -2, 1: 1, 2: 3}}],
    ids=["risk", "another measure and gains"],
)
def test_other_rows_and_the_threshold_that_is_used(how):
    X, y, groups, _ = make_rank_and_filter(n_queries=120, random_state=0)
    model = RankAndFilter(LogisticRegression(), **how).fit(X, y, groups=groups)
    X, y, groups, _ = make_rank_and_filter(n_queries=50, random_state=1)
    groups = groups + 1000  # other queries than those of fit
    display = ThresholdCurveDisplay.from_estimator(model, X, y, groups=groups)
    assert_marks_what_is_shown(display, model, X, y, groups)
    by_qid = pd.Series(y, index=pd.Index(groups, name="qid"))
    again = ThresholdCurveDisplay.from_estimator(model, X, by_qid)
    np.testing.assert_array_equal(again.curve.values, display.curve.values)


def test_a_threshold_with_a_guarantee_is_marked_and_not_the_best():
    X, y, groups, _ = make_rank_and_filter(n_queries=120, random_state=0)
    model = RankAndFilter(LogisticRegression(), measure="ndcg_f@3", **RISK)
    model.fit(X, y, groups=groups)
    assert model.threshold_ != model.threshold_curve_.best_threshold
    display = ThresholdCurveDisplay.from_estimator(model)
    assert display.marked_.get_xdata()[0] == model.threshold_
    assert display.marked_.get_ydata()[0] == pytest.approx(model.best_score_)
    assert display.marked_.get_label().startswith("used: ")


def test_thresholds_of_queries_are_no_single_one():
    _, y, groups, scores = make_rank_and_filter(n_queries=60, random_state=0)
    model = ExpectedThreshold(measure="dcg").fit(scores, y, groups=groups)
    with pytest.raises(ValueError, match="a threshold curve, but ExpectedThreshold has none"):
        ThresholdCurveDisplay.from_estimator(model)
    display = ThresholdCurveDisplay.from_estimator(model, scores, y, groups=groups)
    assert display.marked_ is None
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "each query has a threshold of its own" in labels
    assert not any(label.startswith(("best", "used")) for label in labels)


def test_a_threshold_is_drawn_as_a_model_is():
    _, y, groups, scores = make_rank_and_filter(n_queries=60, random_state=0)
    model = TunedThreshold("ndcg_f@3").fit(scores, y, groups=groups)
    display = ThresholdCurveDisplay.from_estimator(model)
    assert display.marked_.get_xdata() == [model.threshold_]
    again = ThresholdCurveDisplay.from_estimator(
        model, pd.DataFrame({"s": scores}), y, groups=groups
    )
    np.testing.assert_allclose(again.curve.values, display.curve.values)


def test_rows_without_labels_are_an_error(model):
    with pytest.raises(ValueError, match="must be given together, got X without y: pass both"):
        ThresholdCurveDisplay.from_estimator(model, [[1.0]])


def test_an_estimator_must_be_fitted():
    with pytest.raises(NotFittedError):
        ThresholdCurveDisplay.from_estimator(RankAndFilter(LogisticRegression()))


def test_the_level_of_another_key_is_marked():
    _, y, groups, scores = make_rank_and_filter(n_queries=120, random_state=0)
    model = FirstK("f", gains={-1: 0, 1: 1, 2: 1, 0: 0}).fit(scores, y, groups=groups)
    display = ThresholdCurveDisplay.from_estimator(model)
    assert display.marked_.get_xdata() == [model.level_]
    assert display.marked_.get_ydata() == [model.threshold_curve_.best_value]


def test_large_thresholds_are_written_out():
    given = {"groups": GROUPS, "measure": "ndcg_f@2"}
    display = threshold_curve(Y_TRUE, 1e5 * np.array(Y_SCORE), **given).plot()
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    best = threshold_curve(Y_TRUE, Y_SCORE, **given).best_threshold
    assert any(text.endswith(f" at {1e5 * best:.0f}") for text in texts), texts


def test_measures_are_named_with_their_cut_off():
    for measure, label in (("ndcg_f@2", "mean nDCG_f@2"), (ndcg_f_score, "mean nDCG_f")):
        curve = threshold_curve(Y_TRUE, Y_SCORE, groups=GROUPS, measure=measure)
        assert curve.plot().ax_.get_ylabel() == label
