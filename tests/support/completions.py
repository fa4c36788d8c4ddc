"""Rows of which half are judged, and an estimator that remembers what it was fitted on."""

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, RegressorMixin

from skfilterrank.datasets import make_rank_and_filter

NAN = np.nan


class Recorder(RegressorMixin, BaseEstimator):
    """Remembers what it was fitted on."""

    def fit(self, X, y, groups=None, sample_weight=None):
        self.X_, self.y_, self.groups_, self.weights_ = X, y, groups, sample_weight
        return self

    def predict(self, X):
        return np.zeros(len(X))


def make_data(n_queries):
    X, y, groups, _ = make_rank_and_filter(
        n_queries=n_queries, documents_per_query=20, class_sep=2.0, random_state=0
    )
    truth = pd.Series(y, index=pd.Index(groups, name="qid"), dtype=float)
    judged = np.random.RandomState(0).rand(len(y)) < 0.5
    return X, truth.where(judged), groups, truth
