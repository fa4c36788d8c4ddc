"""Splits by query: ways to give them, and what is told of them."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, GroupShuffleSplit, KFold

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.ranking import RankAndFilter


class FirstColumn(RegressorMixin, BaseEstimator):
    """Scores a document by its first feature."""

    def fit(self, X, y):
        self.y_ = np.asarray(y)
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0].astype(float)


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(n_queries=300, n_features=8, bayes=False, random_state=0)


class TestSplits:
    @pytest.mark.parametrize(
        ("cv", "n_folds"),
        [
            (None, 5),
            (3, 3),
            (np.int64(4), 4),
            (0.25, 1),
            (GroupKFold(2, shuffle=True, random_state=0), 2),
            (GroupShuffleSplit(3, random_state=1), 3),
        ],
    )
    def test_ways_to_say_cv(self, data, cv, n_folds):
        model = RankAndFilter(Ridge(), cv=cv).fit(data.X, data.y, groups=data.groups)
        assert len(model.cv_results_["n_queries"]) == n_folds

    def test_iterable_of_splits_gives_what_its_splitter_gives(self, data):
        splits = list(GroupKFold(3, shuffle=True, random_state=0).split(data.X, groups=data.groups))
        first = RankAndFilter(Ridge(), cv=splits).fit(data.X, data.y, groups=data.groups)
        other = RankAndFilter(Ridge(), cv=3).fit(data.X, data.y, groups=data.groups)
        assert first.threshold_ == other.threshold_

    def test_no_query_is_on_both_sides(self, data):
        seen = []

        class Spy(FirstColumn):
            def fit(self, X, y):
                seen.append(set(np.asarray(X)[:, 1]))
                return super().fit(X, y)

            def predict(self, X):
                assert len(seen) == 6 or not seen[-1] & set(np.asarray(X)[:, 1])
                return super().predict(X)

        X = np.column_stack([data.X[:, 0], data.groups])
        RankAndFilter(Spy()).fit(X, data.y, groups=data.groups)
        assert len(seen) == 6

    def test_splitter_that_cuts_queries_is_warned_about(self, data):
        model = RankAndFilter(Ridge(), cv=list(KFold(3).split(data.X)))
        with pytest.warns(UserWarning, match=r"cv splits queries: \d+ have rows on both sides"):
            model.fit(data.X, data.y, groups=data.groups)
