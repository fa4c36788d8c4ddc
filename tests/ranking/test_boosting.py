"""What CoordinateAscentRanker, AdaRankRanker and RankBoostRanker do alike with their rows."""

import numpy as np
import pytest
from scipy import sparse

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import FitWarning
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.ranking import (
    AdaRankRanker,
    CoordinateAscentRanker,
    RankAndFilter,
    RankBoostRanker,
)
from skfilterrank.ranking._boosting.boosting import run_rounds


def coordinate_ascent(measure="ndcg_f@3", n=4, **settings):
    return CoordinateAscentRanker(
        measure=measure, max_iter=n, tol=0.0, random_state=0, init="uniform", **settings
    )


def adarank(measure="ndcg_f@3", n=40, **settings):
    return AdaRankRanker(measure=measure, n_estimators=n, tol=0.0, both_directions=True, **settings)


def rankboost(measure="ndcg_f@3", n=60, **settings):
    return RankBoostRanker(measure=measure, n_estimators=n, **settings)


RANKERS = pytest.mark.parametrize("make", [coordinate_ascent, adarank, rankboost])


@pytest.fixture(scope="module")
def judged():
    X, y, groups, _ = make_rank_and_filter(n_queries=90, random_state=0)
    X = np.hstack([X, np.random.default_rng(0).normal(size=(len(y), 20))])
    return X, y.astype(float), groups


@pytest.fixture(scope="module")
def parts(judged):
    X, y, groups = judged
    return [(X[rows], y[rows], groups[rows]) for rows in (groups % 3 == i for i in range(3))]


@RANKERS
def test_no_query_ids(judged, make):
    X, y, _ = judged
    message = "was given no query ids: each row is its own query, so that there is no order"
    with pytest.warns(UserWarning, match=message) as caught:
        ranker = make().fit(X, y)
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(ranker.predict(X), 0.0)
    # Each row is its own query here too.
    alone = np.arange(len(y))
    with pytest.warns(FitWarning, match="score was given no query ids"):
        assert ranker.score(X, y) == ndcg_f_score(y, np.zeros(len(y)), groups=alone, k=3)


@RANKERS
@pytest.mark.parametrize("measure", ["ndcg_f@3", "forbidden@3"])
def test_the_mean_of_held_out_sets_decides(parts, make, measure):
    train, first, (X, y, groups) = parts
    # Of the second set the order is upside down, so that it stalls at once or late.
    second = X, -y[np.random.default_rng(1).permutation(len(y))], groups
    evaluation = {
        "eval_set": [(first[0], first[1]), (second[0], second[1])],
        "eval_groups": [first[2], second[2]],
    }
    patience = 2
    sign = -1 if measure == "forbidden@3" else 1
    whole = make(measure, n=30).fit(*train, **evaluation)
    ranker = make(measure, n=30, early_stopping_rounds=patience).fit(*train, **evaluation)
    curves = [sign * np.array(whole.evals_result_[f"valid_{i}"][measure]) for i in (0, 1)]
    start = 0 if make is coordinate_ascent else 1

    def stop(curve):
        best = 0
        for i in range(len(curve)):
            if curve[i] > curve[best]:
                best = i
            elif i - best >= patience:
                break
        return best + start

    assert ranker.best_iteration_ == stop(np.mean(curves, axis=0))


class Counter:
    """A learner that does nothing but count its rounds."""

    n_rounds = 0

    def step(self):
        self.n_rounds += 1
        return True

    def contribution(self, number, X):
        return number


class Curve:
    """A held-out set whose values are known."""

    X = None

    def __init__(self, *values):
        self.values = values

    def add(self, number):
        return self.values[number]


@pytest.mark.parametrize(
    ("patience", "n_best", "n_rounds"), [(None, None, 5), (1, 3, 4), (2, 3, 5), (3, 3, 5)]
)
def test_rounds_stop_by_the_mean_of_the_sets(patience, n_best, n_rounds):
    # The means are 0.15, 0.3, 0.4, 0.3, 0.4: the first of the best is round 3.
    held_out = [Curve(0.1, 0.5, 0.2, 0.3, 0.5), Curve(0.2, 0.1, 0.6, 0.3, 0.3)]
    learner = Counter()
    found = run_rounds(learner, held_out, n_rounds=5, patience=patience, verbose=0)
    assert (found, learner.n_rounds) == (n_best, n_rounds)


def test_filtering_needs_no_queries_in_rank_and_filter(judged):
    X, y, _ = judged
    with pytest.warns(UserWarning, match="fitted without query ids"):
        model = RankAndFilter(coordinate_ascent(n=1, filter=True), k=3, cv=3).fit(X, y)
    with pytest.warns(FitWarning, match="score was given no query ids"):
        assert model.score(X, y) > 0
    with pytest.raises(ValueError, match="CoordinateAscentRanker needs queries"):
        RankAndFilter(coordinate_ascent(n=1), k=3, cv=3).fit(X, y)


def test_score_of_a_threshold_filters(judged):
    X, y, groups = judged
    ranker = coordinate_ascent(n=2, filter=True).fit(X, y, groups)
    scores = ranker.predict(X)
    shown = np.where(scores >= 0, scores, -np.inf)
    assert ranker.score(X, y, groups) == ndcg_f_score(y, shown, groups=groups, k=3)
    assert ranker.score(X, y, groups) == pytest.approx(ranker.best_score_)
    ranker = CoordinateAscentRanker(measure="rbp(persistence=0.5)@3", max_iter=1)
    ranker.fit(X, y, groups)
    assert ranker.score(X, y, groups) == pytest.approx(ranker.best_score_)


@RANKERS
def test_cells_stored_in_parts_stay_as_they_are(make):
    X = sparse.csc_array((np.ones(6), [0, 0, 1, 2, 1, 3], [0, 4, 6]), shape=(4, 2))
    ranker = make(n=1).fit(X, [2, 1, 0, 0], [0, 0, 1, 1])
    np.testing.assert_array_equal(X.data, np.ones(6))
    np.testing.assert_array_equal(ranker.predict(X), ranker.predict(X.toarray()))
    assert X.nnz == 6
