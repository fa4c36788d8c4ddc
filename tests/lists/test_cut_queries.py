"""Queries of which a ranker has seen other rows, and queries that it was fitted on."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, cross_validate

from skfilterrank._lists.cut_queries import (
    count_known_queries,
    note_documents,
    note_queries,
    warn_of_cut_queries,
)
from skfilterrank.exceptions import DataWarning
from skfilterrank.metrics import make_ranking_scorer
from skfilterrank.ranking import RankerMixin

X = np.arange(24.0).reshape(12, 2) % 7
GROUPS = np.repeat([3, 1, 2], [4, 4, 4])


class Mean(RankerMixin, BaseEstimator):
    """A ranker that remembers what it was fitted on, as all do."""

    def fit(self, X, y, groups=None):
        self._find_groups(X, y, groups)
        return self

    def predict(self, X, groups=None):
        return np.asarray(X)[:, 0]


def known(*rankers, X=X, groups=GROUPS):
    return count_known_queries(rankers, X, groups)


class TestKnownQueries:
    """A query is known by its documents, whatever its id and its other queries are."""

    @pytest.fixture
    def ranker(self):
        ranker = Ridge()
        note_documents(ranker, X, GROUPS)
        return ranker

    def test_the_same_rows(self, ranker):
        assert known(ranker) == 3
        assert known(Ridge()) == 0
        assert known(ranker, groups=None) == 0

    def test_other_documents(self, ranker):
        changed = X.copy()
        changed[5, 1] += 1e-9
        assert known(ranker, X=changed) == 2
        assert known(ranker, X=X[1:], groups=GROUPS[1:]) == 2
        assert known(ranker, X=X, groups=np.repeat([1, 2], 6)) == 0

    def test_of_several_rankers_one_suffices(self, ranker):
        other = Ridge()
        note_documents(other, X + 100, GROUPS)
        assert known(other, ranker) == 3
        assert known(other) == 0

    def test_numbers_alone_tell(self):
        table = pd.DataFrame({"text": ["a", "b"], "x": [1.0, None], "y": [1, 2]})
        ranker = Ridge()
        note_documents(ranker, table, [1, 2])
        assert known(ranker, X=table.assign(text="c"), groups=[1, 2]) == 2
        assert known(ranker, X=table.assign(y=3), groups=[1, 2]) == 0
        for rows in (table[["text"]], ["a", "b"]):
            note_documents(ranker, rows, [1, 2])
            assert known(ranker, X=rows, groups=[1, 2]) == 0

    def test_a_second_fit_forgets_the_first(self, ranker):
        note_documents(ranker, X + 100, GROUPS)
        assert known(ranker) == 0
        note_documents(ranker, X, None)
        assert known(ranker, X=X + 100) == 0


def splits(cv, **options):
    """Warnings of a cross-validation, and how many."""
    y = pd.Series(np.arange(12) % 2, pd.Index(GROUPS, name="qid"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cross_validate(Mean(), X, y, cv=cv, groups=GROUPS, error_score="raise", **options)
    return [str(each.message).partition(":")[0] for each in caught if each.category is DataWarning]


@pytest.mark.slow
@pytest.mark.parametrize("scoring", [None, make_ranking_scorer("ap")])
def test_cut_queries_are_warned_of_once(scoring):
    assert splits(GroupKFold(3), scoring=scoring) == []
    assert splits(KFold(3), scoring=scoring, return_train_score=True) == []
    assert splits(KFold(6), scoring=scoring) == ["cv splits queries"]


def test_one_query_on_both_sides_is_enough():
    # The last row of query 2 is held out, and its others are learned from.
    assert splits(PredefinedSplit([-1] * 11 + [0])) == ["cv splits queries"]
    assert splits(PredefinedSplit([-1] * 8 + [0] * 4)) == []


def test_outside_of_cross_validation_nothing_is_said():
    ranker = Ridge()
    note_queries(ranker, GROUPS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_cut_queries(ranker, GROUPS[:2])
        warn_of_cut_queries(ranker, None)
