"""Rounds of one feature each: the algorithm step by step, and which queries and features count."""

import numpy as np
import pandas as pd
import pytest

from skfilterrank.metrics import (
    average_precision_score,
    forbidden_at_k,
    get_measure_names,
    make_ranking_scorer,
    ndcg_f_score,
)
from skfilterrank.ranking import AdaRankRanker
from thinned import thinned


@pytest.fixture(scope="module")
def small():
    """20 queries of 4 to 12 documents, rows mixed, gains of both signs, each query of several."""
    rng = np.random.default_rng(2)
    groups = np.repeat(np.arange(20), rng.integers(4, 13, 20))
    gains = rng.choice([-2.0, 0.0, 1.0, 3.0], len(groups))
    first = np.unique(groups, return_index=True)[1]
    gains[first], gains[first + 1] = -2.0, 3.0
    X = rng.normal(size=(len(groups), 5)) + gains[:, None] * [0.3, 0.3, -0.3, 0, 0.3]
    X[:, 4] = X[:, 4].round()
    mixed = rng.permutation(len(groups))
    return X[mixed], gains[mixed], groups[mixed]


def same_model(left, right):
    np.testing.assert_array_equal(left.features_, right.features_)
    np.testing.assert_allclose(left.alphas_, right.alphas_, rtol=1e-9)


OPTIMIZABLE = sorted(
    set(get_measure_names())
    - {"dcg", "sp", "ndcg_min", "stat_ap", "search_length", "recall_error"}
    - {"judged", "empty_list_rate", "false_reject_rate", "set_map"}
    - {"udcg", "num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret", "gm_map"}
    - {"rbp_residual", "unjudged", "relative_precision"}
)


@pytest.mark.slow
@pytest.mark.parametrize("name", thinned(OPTIMIZABLE))
def test_each_measure_gets_better(small, name):
    X, y, groups = small
    gains = {-2: 0, 0: 0, 1: 1, 3: 1}
    text = f"{name}@2" if name in ("f", "precision", "recall", "success") else name
    if name in ("forbidden", "any_forbidden"):
        gains, text = {-2: -1, 0: 0, 1: 1, 3: 1}, f"{name}@3"
    ranker = AdaRankRanker(measure=text, gains=gains).fit(X, y, groups)
    scorer = make_ranking_scorer(text, gains=gains)
    by_qid = pd.Series(y, index=pd.Index(groups, name="qid"))
    learned = scorer(ranker, X, by_qid)
    single = AdaRankRanker(measure=text, gains=gains, n_estimators=1).fit(X, y, groups)
    assert len(ranker.alphas_) >= 1
    assert learned >= scorer(single, X, by_qid) - 1e-12


def adarank(X, y, groups, strength, *, both=False, tol=1e-4):
    """AdaRank by the letter, with features that do not help taken back."""
    weak = [(j, sign) for sign in ([1, -1] if both else [1]) for j in range(X.shape[1])]
    rounds, scores = [], np.zeros(len(y))
    P = np.full(len(np.unique(groups)), 1 / len(np.unique(groups)))
    while True:
        E = {(j, sign): strength(sign * X[:, j]) for j, sign in weak}
        for j, sign in sorted(weak, key=lambda w: -(P * E[w]).sum()):
            up, down = (P * (1 + E[j, sign])).sum(), (P * (1 - E[j, sign])).sum()
            alpha = 0.5 * np.log(up / down)
            added = scores + alpha * sign * X[:, j]
            if strength(added).mean() > strength(scores).mean() + tol:
                break
        else:
            return rounds, scores
        scores = added
        rounds.append((j, sign * alpha, strength(scores).mean()))
        P = np.exp(-strength(scores))
        P /= P.sum()


@pytest.mark.slow
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("ndcg_f@3", lambda y, s, **kw: ndcg_f_score.per_query(y, s, k=3, **kw)),
        ("ap", average_precision_score.per_query),
        ("forbidden@3", lambda y, s, **kw: 1 - forbidden_at_k.per_query(y, s, k=3, **kw)),
    ],
)
def test_equals_the_algorithm(small, both, name, function):
    X, y, groups = small
    rounds, scores = adarank(X, y, groups, lambda s: function(y, s, groups=groups), both=both)
    ranker = AdaRankRanker(measure=name, both_directions=both, tol=1e-4).fit(X, y, groups)
    features, alphas, train_scores = zip(*rounds)
    assert len(features) > 1
    np.testing.assert_array_equal(ranker.features_, features)
    np.testing.assert_allclose(ranker.alphas_, alphas)
    np.testing.assert_allclose(ranker.train_scores_, train_scores)
    np.testing.assert_allclose(ranker.predict(X), scores)
    assert ranker.n_queries_ == 20
    assert ranker.best_iteration_ == len(alphas)


def test_first_rounds_by_hand():
    # Reciprocal rank. Feature 0 puts the relevant document first in queries 0 and 1 and second in
    # query 2; feature 1 second, second and first. E: (1, 1, 1/2) and (1/2, 1/2, 1).
    X = np.array([[2.0, 1.0], [1.0, 2.0], [2.0, 1.0], [1.0, 2.0], [1.0, 8.0], [2.0, 1.0]])
    y, groups = [1, 0, 1, 0, 1, 0], [0, 0, 1, 1, 2, 2]
    ranker = AdaRankRanker(measure="rr").fit(X, y, groups)
    first = 0.5 * np.log((2 + 2 + 1.5) / (0 + 0 + 0.5))
    # Then query 2 weighs exp(-1/2), the others exp(-1). Feature 0 comes first again: E is higher.
    # It changes nothing and is taken back; feature 1 puts query 2 right and leaves the others.
    P = np.exp([-1, -1, -0.5])
    second = 0.5 * np.log((P * [1.5, 1.5, 2]).sum() / (P * [0.5, 0.5, 0]).sum())
    np.testing.assert_array_equal(ranker.features_, [0, 1])
    np.testing.assert_allclose(ranker.alphas_, [first, second])
    np.testing.assert_allclose(ranker.train_scores_, [2.5 / 3, 1])
    np.testing.assert_allclose(ranker.coef_, [first, second])
    np.testing.assert_allclose(ranker.feature_importances_, ranker.coef_ / (first + second))


def test_perfect_feature_ends_training():
    X, y, groups = np.array([[1.0, 5.0], [2.0, 5.0], [0.0, 5.0]]), [1, 2, 0], [0, 0, 0]
    ranker = AdaRankRanker(measure="ndcg_f").fit(X, y, groups)
    assert ranker.features_.tolist() == [0]
    assert ranker.alphas_[0] == pytest.approx(np.log(2e9 - 1) / 2)
    assert ranker.train_scores_ == [1.0]
    # With a forbidden document, which no order hides, nDCG_f stays below 1; training ends as well.
    ranker = AdaRankRanker(measure="ndcg_f", tol=0.0).fit(X, [0, 1, -1], groups)
    assert ranker.features_.tolist() == [0]
    assert ranker.train_scores_[0] < 1


@pytest.mark.slow
def test_queries_that_no_order_changes_do_not_count(small):
    X, y, groups = small
    expected = AdaRankRanker(measure="ndcg_f@3").fit(X, y, groups)
    more = np.random.default_rng(1).normal(size=(9, 5)) * 100
    ranker = AdaRankRanker(measure="ndcg_f@3").fit(
        np.vstack([X, more]),
        np.append(y, [1, 2, 0, 2, 2, 2, -1, -1, -1]),
        np.append(groups, [90, 91, 92, 93, 93, 93, 94, 94, 94]),
    )
    same_model(ranker, expected)
    assert ranker.n_queries_ == 20
    # Of two documents precision@2 is what it is; without relevant documents AP has no value.
    by_precision = AdaRankRanker(measure="precision@2").fit(X, y, groups)
    again = AdaRankRanker(measure="precision@2").fit(
        np.vstack([X, more[:2]]), np.append(y, [0, 1]), np.append(groups, [90, 90])
    )
    same_model(again, by_precision)
    by_ap = AdaRankRanker(measure="ap").fit(X, y, groups)
    again = AdaRankRanker(measure="ap").fit(
        np.vstack([X, more[:2]]), np.append(y, [0, -1]), np.append(groups, [90, 90])
    )
    same_model(again, by_ap)


def test_features_must_gain_more_than_tol(small):
    X, y, groups = small
    gains = np.diff(AdaRankRanker(tol=0.0).fit(X, y, groups).train_scores_)
    assert len(gains) > 0
    tol = float(gains.min()) * 1.001
    assert (np.diff(AdaRankRanker(tol=tol).fit(X, y, groups).train_scores_) > tol).all()
    assert not AdaRankRanker(tol=1.0).fit(X, y, groups).coef_.any()
