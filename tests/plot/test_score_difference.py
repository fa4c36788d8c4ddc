"""Bars of what features add to a difference."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

from skfilterrank.plot import ScoreDifferenceDisplay
from skfilterrank.ranking import RankAndFilter, score_difference


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
    display = ScoreDifferenceDisplay.from_estimator(model, X, 0, other, n_features=n_features)
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
        ScoreDifferenceDisplay.from_estimator(*fitted, 0, 1, n_features=0)
