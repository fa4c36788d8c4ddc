"""A search that compares candidates by preferences between their lists."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRanker
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, ParameterSampler

from skfilterrank.comparison import SystemScores, order_systems
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import lexicographic_preference
from skfilterrank.ranking import QueryRanker, search_by_preferences

X, Y, GROUPS, _ = make_rank_and_filter(n_queries=40, documents_per_query=8, random_state=0)

GRID = {"alpha": [1.0, 300.0, 1e3, 1e4]}


def search(estimator=None, candidates=GRID, **params):
    estimator = Ridge() if estimator is None else estimator
    params = {"groups": GROUPS, "n_resamples": 50} | params
    return search_by_preferences(estimator, candidates, X, Y, **params)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["recall", "precision"])
def test_winner_is_that_of_brute_force(kind):
    cv = GroupKFold(4)
    found = search(cv=cv, kind=kind)
    scores = []
    for alpha in GRID["alpha"]:
        scores.append(np.empty(len(Y)))
        for train, test in cv.split(X, Y, GROUPS):
            scores[-1][test] = Ridge(alpha=alpha).fit(X[train], Y[train]).predict(X[test])
    relevant = pd.Series(Y > 0).groupby(GROUPS).any().to_numpy()
    points = np.zeros(len(scores))
    for i, first in enumerate(scores):
        for j, second in enumerate(scores):
            if i != j:
                wins = lexicographic_preference(Y, first, second, groups=GROUPS, kind=kind)
                points[i] += (wins[relevant] + 1).sum() / 2
    expected = points / (len(scores) - 1) / relevant.sum()
    np.testing.assert_allclose(found.win_rate, expected, rtol=1e-12)
    assert found.best_index == expected.argmax()
    assert found.best_params == {"alpha": GRID["alpha"][expected.argmax()]}
    best = Ridge(**found.best_params).fit(X, Y)
    np.testing.assert_array_equal(found.best_estimator.predict(X), best.predict(X))


@pytest.mark.slow
def test_intervals_and_what_other_queries_would_choose():
    found = search(n_resamples=2000, confidence=0.9)
    ranks = found.preferences.ranks.to_numpy()[found.preferences.n_relevant > 0]
    shares = (4 - ranks) / 3
    half = norm.ppf(0.95) * shares.std(axis=0) / len(shares) ** 0.5
    np.testing.assert_allclose((found.high - found.low) / 2, half, rtol=0.15)
    assert (found.low < found.win_rate).all()
    assert (found.win_rate < found.high).all()
    assert found.share_best.sum() == pytest.approx(1)
    # What the two best differ by on a resample is about normal.
    first, second = np.argsort(-found.win_rate)[:2]
    difference = shares[:, first] - shares[:, second]
    chance = norm.cdf(difference.mean() / difference.std() * len(shares) ** 0.5)
    assert found.share_best[first] <= chance + 0.05
    none = search(n_resamples=0)
    assert np.isnan([none.low, none.high, none.share_best]).all()
    np.testing.assert_array_equal(none.win_rate, found.win_rate)


def test_equal_candidates_share_their_wins():
    found = search(candidates={"fit_intercept": [True], "alpha": [1.0, 1.0]})
    np.testing.assert_array_equal(found.win_rate, [0.5, 0.5])
    np.testing.assert_array_equal(found.share_best, [1, 0])


def test_other_orders_of_the_same_preferences():
    found = search()
    scores = SystemScores.from_preferences(found.preferences)
    order = order_systems(scores, n_resamples=0)
    win_rate = dict(zip(order.systems, order.scores, strict=True))
    np.testing.assert_allclose([win_rate[str(i)] for i in range(4)], found.win_rate, rtol=1e-12)
    assert set(order_systems(scores, method="mc4", n_resamples=0).systems) == set("0123")


@pytest.mark.slow
def test_rankers_classifiers_and_samplers():
    ranker = QueryRanker(LGBMRanker(n_estimators=3, n_jobs=1, verbose=-1))
    found = search(ranker, {"estimator__num_leaves": [2, 7]}, cv=2)
    assert found.best_estimator.predict(X).shape == Y.shape
    sampler = ParameterSampler({"C": [1e-6, 1.0]}, 2, random_state=0)
    labels = pd.Series(Y, index=pd.Index(GROUPS, name="qid"))
    found = search_by_preferences(LogisticRegression(), sampler, X, labels, n_resamples=0, cv=2)
    assert len(found.candidates) == 2
    assert search(candidates=[{"alpha": 1.0}, {"alpha": 2.0}], refit=False).best_estimator is None


def test_shown():
    found = search()
    assert repr(found) == "<PreferenceSearch: 4 candidates by lexirecall over 40 queries>"
    assert str(found).splitlines()[0].endswith("win rates with 95 % intervals")
    assert found.to_frame().index[0] == found.best_index


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"candidates": {"alpha": [1]}}, "candidates has 1 combination: give two or more"),
        ({"candidates": 3}, "candidates must be a dict"),
        ({"kind": "f"}, "kind must be one of"),
        ({"estimator": SimpleNamespace(fit=None)}, "estimator must be a scikit-learn estimator"),
        ({"groups": None}, "groups is missing"),
        ({"cv": [(np.arange(8), np.arange(8, 16))]}, "must hold out each row once"),
        ({"gains": {-1: 0, 0: 0, 1: 0, 2: 0}}, "no query with a relevant document"),
    ],
)
def test_errors(params, message):
    with pytest.raises(ValueError, match=message):
        search(**params)
