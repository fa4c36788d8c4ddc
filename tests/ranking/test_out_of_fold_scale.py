"""Scores of folds on the scale of the model of all rows: values by hand."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

from skfilterrank.ranking import RankAndFilter, RankerMixin
from skfilterrank.ranking._out_of_fold import to_scale
from skfilterrank.thresholds import threshold_curve

# In every query the same features, so that they have one mean and deviation in all folds.
FEATURE = np.tile([0.0, 1.0, 2.0, 5.0], 6)
GROUPS = np.repeat(np.arange(6), 4)
Y = np.where(FEATURE < 1.5, -1, 1)


class Grows(RegressorMixin, BaseEstimator):
    """Scores that grow with the number of rows learned from: rows * (feature + 7)."""

    def __init__(self, power=1):
        self.power = power

    def fit(self, X, y):
        """Count the rows."""
        self.factor_ = float(len(X)) ** self.power
        return self

    def predict(self, X):
        """Give the feature another scale."""
        return self.factor_ * (X[:, 0] + 7)


class Ranks(RankerMixin, Grows):
    """The same scores as those of a ranker, whose scale means nothing."""

    def fit(self, X, y, groups=None):
        """Count the rows."""
        return Grows.fit(self, X, y)

    def predict(self, X, groups=None):
        """Give the feature another scale."""
        return Grows.predict(self, X)


def fitted(inside):
    return RankAndFilter(inside, cv=3).fit(FEATURE[:, None], Y, groups=GROUPS)


@pytest.mark.slow
def test_folds_are_brought_to_the_mean_and_deviation_of_all():
    # 16 rows to learn from in each fold, 24 at last: halfway between features 1 and 2.
    # A regressor's scores are taken for gains, whose scale is fixed.
    assert fitted(Grows()).threshold_ == pytest.approx(16 * 8.5)
    assert fitted(Ranks()).threshold_ == pytest.approx(24 * 8.5)
    curve = threshold_curve(Y, 24 * (FEATURE + 7), groups=GROUPS)
    np.testing.assert_allclose(fitted(Ranks()).threshold_curve_.thresholds, curve.thresholds)


@pytest.mark.filterwarnings("ignore:1 of 26 rows are unjudged")
def test_the_scale_is_that_of_judged_rows_with_finite_scores():
    class Hides(Ranks):
        def predict(self, X, groups=None):
            return np.where(X[:, 0] < 0, -np.inf, self.factor_ * (X[:, 0] + 7))

    X, groups = np.append(FEATURE, [-1.0, 99.0])[:, None], np.append(GROUPS, [0, 0])
    y = np.append(Y, [-1, np.nan])
    model = RankAndFilter(Hides(), cv=3).fit(X, y, groups=groups)
    # In two of three folds 17 rows are judged, in the other one 16, and 25 at last.
    assert model.threshold_ == pytest.approx(25 * 8.5)


def test_a_model_of_one_score_is_shifted_and_not_stretched():
    class OneScore(Ranks):
        def predict(self, X, groups=None):
            return np.full(len(X), self.factor_)

    assert set(np.unique(fitted(OneScore()).threshold_curve_.thresholds)) <= {-np.inf, 24.0, np.inf}
    # Nor if it is the model of all rows that has one score.
    assert to_scale(np.array([1.0, 3.0]), (2.0, 1.0), (5.0, 0.0)).tolist() == [4.0, 6.0]
