"""Estimators whose scores are a column of X, or one value."""

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from skfilterrank.ranking import CalibratedRanker


class GivenScores(RegressorMixin, BaseEstimator):
    """Predict the first column of X, or X itself; nothing is learned."""

    def fit(self, X, y=None):
        return self

    def predict(self, X):
        X = np.asarray(X, dtype=np.float64)
        return X if X.ndim == 1 else X[:, 0]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.requires_fit = False
        return tags


class Constant(RegressorMixin, BaseEstimator):
    def __init__(self, value=0.0):
        self.value = value

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.full(len(X), self.value)


def as_column(scores):
    return np.asarray(scores, dtype=float)[:, None]


def prefit(scores, labels, **options):
    """A model calibrated on these scores, as they are."""
    inner = GivenScores().fit(as_column(scores), labels)
    model = CalibratedRanker(inner, cv="prefit", **options)
    return model.fit(as_column(scores), labels, groups=np.arange(len(scores)))
