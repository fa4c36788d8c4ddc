"""Splits by query: ways to give them, and what is told of them."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, GroupShuffleSplit, KFold

from dealt import dealt_splits
from given_scores import GivenScores
from skfilterrank.exceptions import InputError
from skfilterrank.ranking import RankAndFilter


class TestSplits:
    @pytest.mark.slow
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
        splits = dealt_splits(3, data.X, data.y, data.groups)
        first = RankAndFilter(Ridge(), cv=splits).fit(data.X, data.y, groups=data.groups)
        other = RankAndFilter(Ridge(), cv=3).fit(data.X, data.y, groups=data.groups)
        assert first.threshold_ == other.threshold_

    def test_no_query_is_on_both_sides(self, data):
        seen = []

        class Spy(GivenScores):
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


# Ten queries of three documents; the one feature is the number of the query.
GROUPS = np.repeat(np.arange(10), 3)

X = GROUPS[:, None].astype(float)

Y = np.tile([-1, 0, 1], 10)


class Noted(RegressorMixin, BaseEstimator):
    """Notes the queries that it learns from."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y):
        """Note the queries, which are the feature."""
        self.seen.append(frozenset(X[:, 0].astype(int)))
        return self

    def predict(self, X):
        """Score by nothing."""
        return X[:, 0] % 2


def held_out(**params):
    """The queries that each split holds out of the training, in order."""
    Noted.seen.clear()
    RankAndFilter(Noted(), **params).fit(X, Y, groups=GROUPS)
    return [set(range(10)) - queries for queries in Noted.seen]


def test_five_folds_of_whole_queries_by_default():
    *folds, of_all = held_out()
    assert [len(queries) for queries in folds] == [2] * 5
    assert sorted(query for queries in folds for query in queries) == list(range(10))
    assert of_all == set()
    assert held_out(cv=5) == [*folds, of_all]  # every time the same
    assert [len(queries) for queries in held_out(cv=3)] == [4, 3, 3, 0]


def test_a_share_is_one_split():
    assert [len(queries) for queries in held_out(cv=0.3, refit=False)] == [3]
    assert held_out(cv=0.3, refit=False) == held_out(cv=0.3, refit=False)
    # One query is left to learn from.
    assert [len(queries) for queries in held_out(cv=0.99, refit=False)] == [9]


def test_a_splitter_numbers_queries_in_the_order_of_their_ids():
    expected = [set(GROUPS[test]) for _, test in GroupKFold(5).split(X, groups=GROUPS)]
    assert held_out(cv=GroupKFold(5)) == [*expected, set()]


def test_given_splits_are_taken_as_they_are():
    rows = np.arange(30)
    assert held_out(cv=[(rows[6:], rows[:6]), (rows[:24], rows[24:])]) == [{0, 1}, {8, 9}, set()]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"cv": 1}, "cv must be None, a number of folds from 2 up"),
        ({"cv": 1.0}, "a share between 0 and 1"),
        ({"cv": True}, "got True"),
        ({"cv": "five"}, "got 'five'"),
        (
            {"cv": 11},
            "cv=11 needs at least 11 queries but their number is 10 .n_samples=30.: lower",
        ),
        ({"cv": []}, r"cv makes no split: expected at least one \(train, test\)"),
        ({"cv": [(1, 2, 3)]}, r"cv must hold pairs \(train, test\) of row numbers"),
        ({"cv": [([0.5], [1.0])]}, "cv must hold pairs"),
        ({"cv": [([0, 1], [30])]}, "cv names row 30 but there are 30 rows"),
        (
            {"cv": 2, "refit": False},
            "refit=False keeps the model of the only split, but cv makes 2",
        ),
    ],
)
def test_bad_splits(params, message):
    with pytest.raises(InputError, match=message):
        held_out(**params)
