"""Scores in, shown list out: estimators around no estimator."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.ranking import CalibratedRanker, RankAndFilter
from skfilterrank.thresholds import (
    FixedThreshold,
    TunedThreshold,
    threshold_curve,
)


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(n_queries=300, random_state=0)


def forms(scores):
    """Every form in which scores come."""
    yield scores
    yield scores.tolist()
    yield scores[:, None]
    yield pd.Series(scores)
    yield pd.DataFrame({"whatever": scores})
    yield pd.DataFrame({"docno": "d", "score": scores, "rank": 1})
    yield sparse.csr_matrix(scores[:, None])


@pytest.mark.slow
def test_the_threshold_is_that_of_all_rows_in_every_form(data):
    curve = threshold_curve(data.y, data.bayes_scores, groups=data.groups, measure="ndcg_f@3")
    for X in forms(data.bayes_scores):
        model = TunedThreshold("ndcg_f@3").fit(X, data.y, groups=data.groups)
        assert model.threshold_ == curve.best_threshold
        assert model.best_score_ == pytest.approx(curve.best_value)
        shown = model.predict(X)
        np.testing.assert_array_equal(shown > -np.inf, data.bayes_scores >= model.threshold_)
        assert model.score(X, data.y, groups=data.groups) == pytest.approx(curve.best_value)


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_types_of_scores(data, dtype):
    scores = (100 * data.bayes_scores).astype(dtype)
    model = TunedThreshold("ndcg_f@3").fit(scores, data.y, groups=data.groups)
    assert model.predict(scores).dtype == np.float64


def test_around_and_inside_a_calibrated_ranker(data):
    calibrated = CalibratedRanker("passthrough")
    calibrated.fit(data.bayes_scores, data.y, groups=data.groups)
    p = calibrated.predict_proba(data.bayes_scores)[:, 1]
    order = np.argsort(data.bayes_scores)
    assert np.all(np.diff(p[order]) >= 0)
    model = RankAndFilter(calibrated, measure="ndcg_f@3").fit(
        data.bayes_scores, data.y, groups=data.groups
    )
    value = ndcg_f_score(data.y, model.predict(data.bayes_scores), groups=data.groups, k=3)
    assert value > ndcg_f_score(data.y, data.bayes_scores, groups=data.groups, k=3)


def test_filtered_scores_stay_filtered(data):
    scores = np.where(data.bayes_scores < -0.5, -np.inf, data.bayes_scores)
    model = FixedThreshold(None).fit(scores, data.y, groups=data.groups)
    np.testing.assert_array_equal(model.predict(scores), scores)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((2, 3)), r"X must have shape \(n_rows,\) or \(n_rows, 1\), got \(2, 3\)"),
        (pd.DataFrame({"a": [1, 2], "b": [1, 2]}), "or one named 'score', got the columns 'a'"),
        ([np.nan, 1], "X holds 1 NaN, the first at row 0"),
        ([np.inf, 1], "X holds 1 .inf"),
        (["a", "b"], "X must hold numbers"),
        (np.zeros((2, 1, 1)), "X must hold one score per row"),
        ([1.0], "y has 2 labels but X has 1 rows"),
    ],
)
def test_bad_scores(X, message):
    with pytest.raises(ValueError, match=message):
        CalibratedRanker("passthrough").fit(X, [1, -1], groups=["a", "a"])


def test_another_word(data):
    with pytest.raises(ValueError, match="got 'passtrough'"):
        CalibratedRanker("passtrough").fit(data.bayes_scores, data.y, groups=data.groups)
