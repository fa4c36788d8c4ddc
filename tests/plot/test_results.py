"""Results that draw themselves."""

import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

from skfilterrank import plot
from skfilterrank.comparison import SystemScores, compare_systems, order_systems
from skfilterrank.metaevaluation import sensitivity_curve, stability_curve
from skfilterrank.thresholds import threshold_curve

SHIFTS = np.array([[0], [0.1], [0.2]])
SCORES = SystemScores(SHIFTS + np.random.default_rng(0).uniform(size=(3, 20)), measure="ap")

OF_RESULTS = [
    (SCORES, plot.CriticalDifferenceDisplay),
    (compare_systems(SCORES), plot.PairwiseComparisonDisplay),
    (
        stability_curve(SCORES, sizes=[5, 10], n_resamples=5, random_state=0),
        plot.MeasureCurvesDisplay,
    ),
    (sensitivity_curve(SCORES, n_resamples=20, random_state=0), plot.MeasureCurvesDisplay),
]

DRAWN = [
    *((result.plot, display) for result, display in OF_RESULTS),
    (
        lambda ax=None: plot.QueryDifferenceDisplay.from_scores(SCORES, ax=ax),
        plot.QueryDifferenceDisplay,
    ),
    (threshold_curve([1, -1], [0.9, 0.1], groups=[0, 0]).plot, plot.ThresholdCurveDisplay),
]


@pytest.mark.parametrize(("draw", "display"), DRAWN)
def test_axes_are_the_callers(draw, display):
    ax = Figure().subplots()
    drawn = draw(ax=ax)
    assert type(drawn) is display
    assert drawn.ax_ is ax
    assert drawn.figure_ is ax.figure
    assert draw().ax_ is not ax


@pytest.mark.parametrize("draw", [draw for draw, _ in DRAWN])
def test_without_matplotlib_the_message_names_the_extra(draw, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'skfilterrank\[plot\]'"):
        draw()


def test_options_reach_the_display():
    display = SCORES.plot(test="t", n_shown=2)
    assert display.comparison.test == "t"
    assert len(display.systems) == 2


def test_a_result_without_display_says_so():
    with pytest.raises(TypeError, match="SystemOrder has no display"):
        order_systems(SCORES, n_resamples=0).plot()
