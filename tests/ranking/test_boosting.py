"""Rounds of boosting, and the held-out sets that they stop by."""

from itertools import product

import numpy as np
import pytest

from feature_rankers import RANKERS, coordinate_ascent
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.ranking import AdaRankRanker, RankBoostRanker, _feature_ranker


@pytest.fixture(scope="module")
def parts(judged):
    X, y, groups = judged
    return [(X[rows], y[rows], groups[rows]) for rows in (groups % 3 == i for i in range(3))]


@pytest.mark.slow
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
    ("patience", "n_best", "n_rounds"), [(None, 5, 5), (1, 3, 4), (2, 3, 5), (3, 3, 5)]
)
def test_rounds_stop_by_the_mean_of_the_sets(patience, n_best, n_rounds, monkeypatch):
    # The means are 0.15, 0.3, 0.4, 0.3, 0.4: the first of the best is round 3.
    held_out = [Curve(0.1, 0.5, 0.2, 0.3, 0.5), Curve(0.2, 0.1, 0.6, 0.3, 0.3)]
    learner = Counter()
    monkeypatch.setattr(_feature_ranker, "HeldOutCurve", lambda rows, parsed: rows)
    ranker = AdaRankRanker(n_estimators=5, early_stopping_rounds=patience)
    found = ranker._run_rounds(learner, held_out, parse_measure("ap"))
    assert (found, learner.n_rounds) == (n_best, n_rounds)


@pytest.mark.filterwarnings("ignore:.* and no query has two")
@pytest.mark.parametrize(
    ("kind", "case"),
    [
        *product(
            [AdaRankRanker, RankBoostRanker], ["one gain", "one document", "constant features"]
        ),
        (RankBoostRanker, "all missing"),
    ],
)
def test_nothing_to_learn_gives_zeros(judged, kind, case):
    X, y, groups = judged
    y = np.ones_like(y) if case == "one gain" else y
    groups = np.arange(len(y)) if case == "one document" else groups
    filled = {"constant features": 1.0, "all missing": np.nan}
    X = np.full_like(X, filled[case]) if case in filled else X
    ranker = kind().fit(X, y, groups, eval_set=(X, y), eval_groups=groups)
    assert len(ranker.alphas_) == ranker.best_iteration_ == 0
    assert not ranker.predict(X).any()
    assert not ranker.feature_importances_.any()
    assert ranker.evals_result_ == {"valid_0": {"ndcg_f@10": []}}


@pytest.mark.parametrize(
    ("kind", "patience", "settings"),
    [
        pytest.param(
            AdaRankRanker, 3, {"both_directions": True, "tol": 0.0}, marks=pytest.mark.slow
        ),
        (RankBoostRanker, 15, {"n_estimators": 500}),
    ],
)
def test_early_stopping(halves, kind, patience, settings):
    (X, y, groups), (X_val, y_val, groups_val) = halves
    ranker = kind(measure="ndcg_f@3", early_stopping_rounds=patience, **settings)
    ranker.fit(X, y, groups, eval_set=[(X_val, y_val)], eval_groups=[groups_val])
    curve = ranker.evals_result_["valid_0"]["ndcg_f@3"]
    assert ranker.best_iteration_ == 1 + int(np.argmax(curve))
    assert len(curve) == len(ranker.alphas_) == ranker.best_iteration_ + patience
    measured = ndcg_f_score(y_val, ranker.predict(X_val), groups=groups_val, k=3)
    assert measured == pytest.approx(max(curve))
    whole = kind(measure="ndcg_f@3", **settings).fit(X, y, groups)
    assert len(whole.alphas_) > len(ranker.alphas_)
    settings = settings | {"n_estimators": ranker.best_iteration_}
    same = kind(measure="ndcg_f@3", **settings).fit(X, y, groups)
    np.testing.assert_array_equal(same.predict(X_val), ranker.predict(X_val))
    np.testing.assert_allclose(same.feature_importances_, ranker.feature_importances_)
