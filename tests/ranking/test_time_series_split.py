"""Splits by the time of queries: the past to learn from, what comes later to test."""

import warnings
from datetime import date

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit, cross_val_score

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import InputError
from skfilterrank.ranking import QueryTimeSeriesSplit, RankAndFilter
from skfilterrank.thresholds import CertifiedThreshold


def splits_of(cv, groups, times=None):
    found = clone(cv, safe=False)
    found.times = times
    found = found.split(np.zeros(len(groups)), groups=groups)
    return [(train.tolist(), test.tolist()) for train, test in found]


def expected(groups, times, n_splits, **params):
    """The splits of scikit-learn's TimeSeriesSplit on the list of queries, row by row."""
    times = [0] * len(groups) if times is None else times
    latest, first = {}, {}
    for row, (query, time) in enumerate(zip(groups, times)):
        first.setdefault(query, row)
        latest[query] = max(latest.get(query, time), time)
    queries = sorted(latest, key=lambda query: (latest[query], first[query]))
    found = []
    for sides in TimeSeriesSplit(n_splits, **params).split(queries):
        names = [{queries[place] for place in side} for side in sides]
        found.append(
            tuple([row for row, query in enumerate(groups) if query in side] for side in names)
        )
    return found


ROWS = st.lists(st.tuples(st.sampled_from("abcdefghij"), st.integers(0, 5)), min_size=1)


@pytest.mark.slow
@given(
    rows=ROWS,
    has_times=st.booleans(),
    n_splits=st.integers(2, 4),
    test_size=st.sampled_from([None, 1, 2]),
    gap=st.integers(0, 2),
)
def test_as_scikit_learns_on_a_list_of_queries(rows, has_times, n_splits, **params):
    groups, times = map(list, zip(*rows))
    times = times if has_times else None
    cv = QueryTimeSeriesSplit(n_splits=n_splits, **params)
    n_queries = len(set(groups))
    n_test = params["test_size"] or max(1, n_queries // (n_splits + 1))
    if n_queries - n_splits * n_test <= params["gap"]:
        needed = n_splits * n_test + params["gap"] + 1
        with pytest.raises(InputError, match=f"needs {needed} queries, got {n_queries}: "):
            splits_of(cv, groups, times)
    else:
        assert splits_of(cv, groups, times) == expected(groups, times, n_splits, **params)


def test_one_split_holds_out_the_newest():
    groups, times = list("aabbccdd"), [3, 4, 1, 1, 7, 2, 5, 5]
    assert splits_of(QueryTimeSeriesSplit(n_splits=1), groups, times) == [
        ([0, 1, 2, 3], [4, 5, 6, 7])
    ]
    a_quarter = QueryTimeSeriesSplit(n_splits=1, test_size=0.25)
    assert splits_of(a_quarter, groups, times) == [([0, 1, 2, 3, 6, 7], [4, 5])]
    assert QueryTimeSeriesSplit(n_splits=3).get_n_splits() == 3
    assert repr(a_quarter).startswith("QueryTimeSeriesSplit(gap=0, n")


@pytest.mark.parametrize(
    "times",
    [
        np.array(["2024-02-01", "2023-01-01", "2024-01-31"], dtype="datetime64[s]"),
        [date(2024, 2, 1), date(2023, 1, 1), date(2024, 1, 31)],
        ["2024-02-01", "2023-01-01", "2024-01-31"],
        # Two hours before the first, and one after the last.
        ["2024-02-01T01:00+02:00", "2023-01-01", "2024-01-31 22:00"],
        pd.Categorical(["2024-02-01", "2023-01-01", "2024-01-31"]),
        pd.Categorical(["new", "old", "later"], ["old", "later", "new"], ordered=True),
        pd.to_datetime(["2024-02-01", "2023-01-01", "2024-01-31"], utc=True),
        pd.Series([2.5, -1.0, 2.25]),
    ],
)
def test_times_of_any_type(times):
    given = QueryTimeSeriesSplit(n_splits=1, test_size=1, gap=1)
    assert splits_of(given, [5, 6, 7], times) == [([1], [0])]
    level = pd.MultiIndex.from_arrays([[5, 6, 7], times], names=["qid", "time"])
    y = pd.Series([1.0, 0.0, 1.0], index=level)
    for carriers in ((np.zeros(3), y), (y.to_frame(), None)):
        ((train, test),) = given.split(*carriers)
        assert (train.tolist(), test.tolist()) == ([1], [0])


@pytest.mark.parametrize(
    ("params", "times", "message"),
    [
        ({"n_splits": 0}, None, "n_splits must be a whole number from 1 up"),
        ({"gap": -1}, None, "gap must be a whole number from 0 up"),
        ({"test_size": 1.5}, None, "test_size must be None, a whole number from 1 up or a share"),
        ({"test_size": True}, None, "test_size must be None"),
        ({}, [1, 2], "times has 2 entries but there are 3 rows"),
        ({}, [1, np.nan, 3], "times is missing in row 1: give the time of each row"),
        ({}, ["12/20/2025", "1/2/2026", "2026"], "text '12/20/2025' in row 0, which is no date"),
        (
            {},
            ["2026-01-01", "8", "10"],
            "text '8' in row 1, which is no date of the form 2024",
        ),
        ({}, [1, "a", date(2024, 1, 1)], "times must be all numbers, all dates or all texts"),
    ],
)
def test_bad_parameters(params, times, message):
    cv = QueryTimeSeriesSplit(**({"n_splits": 1} | params))
    with pytest.raises(InputError, match=message):
        splits_of(cv, ["a", "b", "c"], times)


def test_times_in_another_order():
    y = pd.Series([1, 0, 1])
    days = pd.Series(["2026-01-01", "2026-01-02", "2026-01-03"])[::-1]
    split = QueryTimeSeriesSplit(1, times=days).split(np.zeros(3), y, ["a", "b", "c"])
    with pytest.raises(InputError, match="times and y have the same index in another order"):
        next(split)


def test_without_query_ids():
    with pytest.raises(InputError, match="groups is missing"):
        next(QueryTimeSeriesSplit().split(np.zeros(9)))


def timed(y, groups, times):
    """Labels with queries and times in their index."""
    return pd.Series(y, index=pd.MultiIndex.from_arrays([groups, times], names=["qid", "time"]))


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(n_queries=120, random_state=0)


@pytest.fixture(scope="module")
def times(data):
    """The queries of these numbers come in another order, on days."""
    return np.datetime64("2024-01-01") + (data.groups * 7 % 120).astype("timedelta64[D]")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skfilterrank.exceptions.FitWarning")
class TestInsideSearches:
    def test_groups_and_the_order_of_rows(self, data, times):
        order = np.argsort(times, kind="stable")
        X, y, groups = data.X[order], data.y[order], data.groups[order]
        model = RankAndFilter(LogisticRegression(), 0.5)
        scores = cross_val_score(
            model,
            X,
            pd.Series(y, index=pd.Index(groups, name="qid")),
            cv=QueryTimeSeriesSplit(n_splits=3),
        )
        by_hand = []
        for train, test in expected(groups.tolist(), None, 3):
            fitted = clone(model).fit(X[train], y[train], groups=groups[train])
            by_hand.append(fitted.score(X[test], y[test], groups=groups[test]))
        assert scores == pytest.approx(by_hand)

    def test_groups_are_given_to_a_search(self, data):
        search = GridSearchCV(
            LogisticRegression(), {"C": [1, 2]}, cv=QueryTimeSeriesSplit(n_splits=2)
        )
        search.fit(data.X, data.y > 0, groups=data.groups)
        assert search.n_splits_ == 2

    def test_times_by_an_index_level_and_by_the_constructor(self, data, times):
        model = RankAndFilter(LogisticRegression(), cv=QueryTimeSeriesSplit(n_splits=2))
        grid, cv = {"threshold": ["tune", None]}, QueryTimeSeriesSplit(n_splits=3)
        level = pd.MultiIndex.from_arrays([data.groups, times], names=["qid", "time"])
        by_level = GridSearchCV(model, grid, cv=cv)
        by_level.fit(data.X, pd.Series(data.y, index=level))
        of_all = QueryTimeSeriesSplit(n_splits=3, times=times)
        by_constructor = GridSearchCV(model, grid, cv=of_all)
        by_constructor.fit(data.X, pd.Series(data.y, index=level))
        order = np.argsort(times, kind="stable")
        by_rows = GridSearchCV(model, grid, cv=cv)
        index = pd.Index(data.groups[order], name="qid")
        by_rows.fit(data.X[order], pd.Series(data.y[order], index=index))
        for other in (by_constructor, by_rows):
            for name in ("split0_test_score", "split2_test_score"):
                assert by_level.cv_results_[name] == pytest.approx(other.cv_results_[name])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*as good on held-out queries")
class TestInRankAndFilter:
    def test_the_threshold_is_chosen_on_the_queries_that_are_tested(self, data, times):
        model = RankAndFilter(
            LogisticRegression(), cv=QueryTimeSeriesSplit(n_splits=3, test_size=20, times=times)
        )
        model.fit(data.X, data.y, groups=data.groups)
        assert model.cv_results_["n_queries"].tolist() == [20, 20, 20]
        scores, tested = [], []
        for train, test in expected(data.groups.tolist(), times.tolist(), 3, test_size=20):
            inner = LogisticRegression().fit(data.X[train], data.y[train] > 0)
            scores.append(inner.predict_proba(data.X[test])[:, 1])
            tested.append(test)
        tested = np.concatenate(tested)
        curve = clone(model.filter_).fit(
            np.concatenate(scores), data.y[tested], groups=data.groups[tested]
        )
        assert model.threshold_ == pytest.approx(curve.threshold_)

    def test_a_certificate_of_the_newest(self, data, times):
        safe = CertifiedThreshold({"any_forbidden@3": 0.5})
        model = RankAndFilter(
            LogisticRegression(), safe, cv=QueryTimeSeriesSplit(n_splits=1, test_size=0.4)
        )
        with warnings.catch_warnings(action="error"):
            model.fit(data.X, timed(data.y, data.groups, times))
        assert model.certificate_.facts["exact"]
        newest = times >= np.sort(np.unique(times))[72]
        inner = LogisticRegression().fit(data.X[~newest], data.y[~newest] > 0)
        alone = clone(safe).fit(
            inner.predict_proba(data.X[newest])[:, 1], data.y[newest], groups=data.groups[newest]
        )
        assert model.threshold_ == pytest.approx(alone.threshold_)
