"""Parameters that LambdaRankRanker hands to LightGBM, and those it refuses."""

import joblib
import numpy as np
import pytest

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.ranking import LambdaRankRanker

# --- the gradient ------------------------------------------------------------------------------

FEW = {"n_estimators": 15, "num_leaves": 7, "min_child_samples": 5, "n_jobs": 1}


@pytest.fixture(scope="module")
def judged():
    X, y, groups, _ = make_rank_and_filter(n_queries=250, random_state=0)
    return X, y.astype(float), groups


@pytest.fixture(scope="module")
def separable():
    """30 queries of 6 documents; the only informative feature orders the gains -1, 1, 2."""
    rng = np.random.default_rng(0)
    y = np.tile([-1.0, -1.0, 1.0, 1.0, 2.0, 2.0], 30)
    X = np.column_stack([y + rng.uniform(-0.2, 0.2, 180), rng.normal(size=180)])
    return X, y, np.repeat(np.arange(30), 6)


@pytest.mark.slow
def test_seeds_and_further_parameters_reach_lightgbm(judged):
    X, y, groups = judged
    drawn = {**FEW, "subsample": 0.5, "subsample_freq": 1}

    def scores(**settings):
        return LambdaRankRanker(**drawn, **settings).fit(X, y, groups).predict(X)

    np.testing.assert_array_equal(scores(random_state=3), scores(random_state=3))
    assert (scores(random_state=3) != scores(random_state=4)).any()
    generator = np.random.RandomState
    np.testing.assert_array_equal(
        scores(random_state=generator(3)), scores(random_state=generator(3))
    )
    assert len(np.unique(scores(params={"max_bin": 2, "linear_tree": False}))) < len(
        np.unique(scores())
    )


def test_threads_and_speech_of_lightgbm(separable):
    def params(**settings):
        ranker = LambdaRankRanker(**(FEW | {"n_estimators": 1} | settings)).fit(*separable)
        return ranker.booster_.params

    # Of LightGBM's numbers of threads 0 leaves it to choose.
    assert [params(n_jobs=n)["num_threads"] for n in (None, 1, 2)] == [0, 1, 2]
    assert params(n_jobs=-1)["num_threads"] == joblib.cpu_count()
    assert params()["verbosity"] == -1
    assert params(random_state=7)["seed"] == 7
    assert "seed" not in params()


# --- early stopping ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"k": 0}, "k must be None"),
        ({"k": 2.0}, "k must be None"),
        ({"gamma": -1}, "gamma must be a finite number from 0 up, got -1"),
        ({"gamma": float("nan")}, "gamma must be"),
        ({"sigmoid": 0}, "sigmoid must be a finite number above 0"),
        ({"n_estimators": 0}, "n_estimators must be a whole number from 1"),
        ({"verbose": -1}, "verbose must be"),
        ({"early_stopping_rounds": 0}, "early_stopping_rounds must be"),
        ({"early_stopping_rounds": 3}, "needs eval_set"),
        ({"gains": "exp3"}, "gains must be None"),
        ({"gains": {-1: -1, 1: 1}}, "no entry in gains"),
        ({"params": [1]}, "params must be a dict"),
        ({"params": {"eta": 0.3}}, "must not hold 'eta': set learning_rate="),
        ({"params": {"objective": "binary"}}, "its own objective"),
    ],
)
def test_parameters_out_of_range(separable, settings, message):
    X, y, groups = separable
    with pytest.raises(ValueError, match=message):
        LambdaRankRanker(**settings).fit(X, y, groups)


# --- real data ---------------------------------------------------------------------------------
