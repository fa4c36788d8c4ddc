"""Scores of folds on the scale of the model of all rows: values by hand."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

from skfilterrank.ranking import RankAndFilter
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


def fitted(**params):
    return RankAndFilter(Grows(), cv=3, **params).fit(FEATURE[:, None], Y, groups=GROUPS)


@pytest.mark.slow
def test_folds_are_brought_to_the_mean_and_deviation_of_all():
    # 16 rows to learn from in each fold, 24 at last: halfway between features 1 and 2.
    assert fitted(rescale=False).threshold_ == pytest.approx(16 * 8.5)
    assert fitted(rescale=True).threshold_ == pytest.approx(24 * 8.5)
    # A regressor's scores are taken for gains, whose scale is fixed.
    assert fitted().threshold_ == fitted(rescale=False).threshold_
    curve = threshold_curve(Y, 24 * (FEATURE + 7), groups=GROUPS)
    np.testing.assert_allclose(fitted(rescale=True).threshold_curve_.thresholds, curve.thresholds)


def test_a_model_of_one_score_is_shifted_and_not_stretched():
    class OneScore(Grows):
        def predict(self, X):
            return np.full(len(X), self.factor_)

    model = RankAndFilter(OneScore(), cv=3, rescale=True)
    model.fit(FEATURE[:, None], Y, groups=GROUPS)
    assert set(np.unique(model.threshold_curve_.thresholds)) <= {-np.inf, 24.0, np.inf}
