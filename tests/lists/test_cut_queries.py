"""Queries of which a ranker has seen other rows, and queries that it was fitted on."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import Ridge

from skfilterrank._lists.content import hash_rows
from skfilterrank._lists.cut_queries import (
    QuerySizes,
    count_known_queries,
    note_documents,
    unwatched,
    warn_of_cut_queries,
)
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.exceptions import DataWarning
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
    return count_known_queries(rankers, documents(X, groups))


def documents(X, groups):
    return GroupIndex.from_groups(groups).sums(hash_rows(X))


class TestKnownQueries:
    """A query is known by its documents, whatever its id and its other queries are."""

    @pytest.fixture
    def ranker(self):
        ranker = Ridge()
        note_documents(ranker, documents(X, GROUPS))
        return ranker

    def test_the_same_rows(self, ranker):
        assert known(ranker) == 3
        assert known(Ridge()) == 0

    def test_other_ids_and_other_order(self, ranker):
        order = np.random.RandomState(0).permutation(12)
        names = np.array(["x", "a", "b", "c"])[GROUPS[order]]
        assert known(ranker, X=X[order], groups=names) == 3
        assert known(ranker, X=pd.DataFrame(X[:4], columns=["u", "v"]), groups=[9] * 4) == 1

    def test_other_documents(self, ranker):
        changed = X.copy()
        changed[5, 1] += 1e-3
        assert known(ranker, X=changed) == 2
        assert known(ranker, X=X[1:], groups=GROUPS[1:]) == 2
        assert known(ranker, X=X, groups=np.repeat([1, 2], 6)) == 0

    def test_of_several_rankers_one_suffices(self, ranker):
        other = Ridge()
        note_documents(other, documents(X + 100, GROUPS))
        assert known(other, ranker) == 3
        assert known(other) == 0

    def test_a_second_fit_forgets_the_first(self, ranker):
        note_documents(ranker, documents(X + 100, GROUPS))
        assert known(ranker) == 0
        note_documents(ranker, None)
        assert known(ranker, X=X + 100) == 0


def sizes_of(counts):
    """The sizes of queries 0, 1, ...; 0 leaves a query out."""
    ids = np.repeat(np.arange(len(counts)), counts)
    return QuerySizes.of(GroupIndex.from_groups(ids))


def split_from(seen, fitted, *, is_judged=True):
    return sizes_of(seen).is_split_from(sizes_of(fitted), is_judged=is_judged)


class TestSizes:
    whole = np.random.default_rng(0).integers(8, 40, 200)
    part = np.random.default_rng(1).binomial(whole, 0.25)

    def test_a_random_split_of_rows(self):
        assert split_from(self.part, self.whole - self.part)
        assert split_from(self.part, self.whole - self.part, is_judged=False)
        # Whole lists come later, or the larger part.
        assert not split_from(self.whole, self.whole)
        assert not split_from(self.whole, self.part)
        assert not split_from(self.whole - self.part, self.part)

    def test_a_single_query_is_none_and_few_are_told_of_where_they_are_judged(self):
        assert not split_from([3, 0, 9], [5, 8, 0])
        assert split_from([3, 2], [5, 8])
        assert not split_from([3, 2], [5, 8], is_judged=False)

    def test_most_shared_queries_are_as_they_were(self):
        few = self.whole.copy()
        few[:5] -= 3
        assert not split_from(few, self.whole)

    def test_lists_that_are_cut_at_one_length_and_other_queries_of_the_same_ids(self):
        assert not split_from(np.full(50, 10), np.full(50, 100))
        others = np.random.default_rng(2).integers(8, 40, 200)
        assert not split_from(others, self.whole)

    def test_sorted_rows_that_are_cut_in_two_places(self):
        seen, fitted = self.whole.copy(), self.whole.copy()
        seen[:80] = seen[121:] = fitted[81:120] = 0
        seen[80], fitted[80] = 1, self.whole[80] - 1
        seen[120], fitted[120] = self.whole[120] - 2, 2
        assert split_from(seen, fitted)
        assert not split_from(seen, fitted, is_judged=False)

    def test_ids_of_any_type(self):
        for ids in (["a", "b"], [1.5, 2.5], pd.to_datetime(["2020-01-01", "2021-01-01"])):
            found = [
                QuerySizes.of(GroupIndex.from_groups(np.repeat(ids, n))) for n in ([3, 2], [5, 8])
            ]
            assert found[0].is_split_from(found[1], is_judged=True)
            assert found[0].hashes.dtype == np.int64
            assert found[0].sizes.dtype == np.int32


def test_what_a_ranker_keeps_is_of_its_last_fit():
    ranker = Mean().fit(X, GROUPS, groups=GROUPS)
    assert ranker._fitted_sizes.sizes.tolist() == [4, 4, 4]
    again = pickle.loads(pickle.dumps(ranker))
    np.testing.assert_array_equal(again._fitted_sizes.hashes, ranker._fitted_sizes.hashes)
    assert not hasattr(clone(ranker), "_fitted_sizes")
    assert ranker.fit(X, GROUPS)._fitted_sizes is None


def test_estimators_inside_say_nothing():
    ranker = Mean().fit(X, GROUPS, groups=GROUPS)
    other = [3, 1, 1, 2]
    with pytest.warns(DataWarning, match="queries are split"):
        warn_of_cut_queries(ranker, other, is_judged=True)
    with warnings.catch_warnings(action="error"):
        with unwatched():
            warn_of_cut_queries(ranker, other, is_judged=True)
        for groups in (None, [], GROUPS, ["new", "ids"], [3] * 2, np.array([3, 3])):
            warn_of_cut_queries(ranker, groups, is_judged=True)
        warn_of_cut_queries(ranker, other)


@pytest.mark.parametrize("is_judged", [True, False])
@pytest.mark.parametrize("share", [0.2, 0.5])
@pytest.mark.parametrize("lengths", [[2], [3], [4], [2, 3, 4]])
def test_short_lists(lengths, share, is_judged):
    rng = np.random.default_rng(0)
    whole = rng.choice(lengths, 300)
    part = rng.binomial(whole, share)
    assert split_from(part, whole - part, is_judged=is_judged)
    # Other queries with the same ids, of which requests are served.
    assert is_judged or not split_from(rng.permutation(whole), whole, is_judged=False)
    # The same queries, some of them, or some beside new ones.
    for seen, fitted in ((whole, whole), (whole[:100], whole), (whole, whole[:100])):
        assert not split_from(seen, fitted, is_judged=is_judged)


def test_a_row_of_each_query_may_be_the_same():
    ones, more = np.ones(50, dtype=int), np.full(50, 4)
    assert not split_from(ones, ones)
    assert not split_from([*ones, *more], [*ones, *(0 * more)])
    assert not split_from(ones[:3], [*ones, *more])
