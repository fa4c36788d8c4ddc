"""Parameters of `fit` with an entry for each row of a held-out set go where its rows go."""

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRanker, LGBMRegressor, early_stopping
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dealt import numbers_of_queries
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import DataWarning, InputError
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.ranking import QueryRanker
from skfilterrank.ranking._held_out_sets import held_out_rows

xgboost = pytest.importorskip("xgboost")

X, y, groups, start = make_rank_and_filter(120, random_state=0)
y = y - y.min()
TRAIN = groups < 80
HELD = np.flatnonzero(~TRAIN)
# The same rows, queries taking turns; within a query the order decides between ties.
TURNS = HELD[np.lexsort((groups[HELD], pd.Series(groups[HELD]).groupby(groups[HELD]).cumcount()))]
OF_QUERIES = np.random.default_rng(1).permutation(120) % 3 + 1.0
WEIGHT = OF_QUERIES[groups]
LGBM = {"n_estimators": 40, "verbose": -1, "num_leaves": 7, "n_jobs": 1}
XGB = {"n_estimators": 25, "early_stopping_rounds": 5, "n_jobs": 1, "max_depth": 3}
# Estimator, its parameters of fit that are of training rows, and those of held-out ones.
CASES = {
    "lightgbm": (LGBMRanker(**LGBM), {"init_score": start}, "eval_init_score", start),
    "lightgbm, weights": (LGBMRanker(**LGBM), {}, "eval_sample_weight", WEIGHT),
    "lightgbm, regressor": (LGBMRegressor(**LGBM), {}, "eval_sample_weight", WEIGHT),
    "xgboost": (
        xgboost.XGBRanker(**XGB),
        {"base_margin": 3 * start},
        "base_margin_eval_set",
        3 * start,
    ),
    "xgboost, weights": (xgboost.XGBRanker(**XGB), {}, "sample_weight_eval_set", WEIGHT),
}


def history(case, rows, *, labels=y, pair=False, prefix="", estimator=None, column=None):
    """What the held-out set was worth in each round."""
    own, training, name, values = CASES[case]
    column = values[rows] if column is None else column
    estimator = clone(own if estimator is None else estimator)
    params = {prefix + key: values[TRAIN] for key, values in training.items()}
    params[prefix + name] = column if pair else [column]
    if isinstance(own, LGBMRanker | LGBMRegressor):
        params[prefix + "callbacks"] = [early_stopping(5, verbose=False)]
    else:
        params[prefix + "verbose"] = False
    one = X[rows], labels[rows]
    ranker = QueryRanker(estimator).fit(
        X[TRAIN],
        y[TRAIN],
        groups=groups[TRAIN],
        eval_set=one if pair else [one],
        eval_groups=groups[rows] if pair else [groups[rows]],
        **params,
    )
    last = ranker.estimator_[-1] if prefix else ranker.estimator_
    results = last.evals_result_ if hasattr(last, "evals_result_") else last.evals_result()
    return np.concatenate([np.ravel(list(each.values())) for each in results.values()])


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_they_move_with_the_rows(case):
    expected = history(case, HELD)
    for pair in (False, True):
        np.testing.assert_allclose(history(case, TURNS, pair=pair), expected, rtol=1e-6)
    # Which would be no test of something that changes nothing.
    moved = OF_QUERIES[groups[HELD] // 2] if "weights" in case else CASES[case][3][TURNS]
    assert not np.array_equal(history(case, HELD, column=moved), expected)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_unjudged_rows_leave_with_theirs(case):
    labels = y.astype(float)
    labels[HELD[[3, 50]]] = np.nan
    with pytest.warns(DataWarning, match=r"2 of \d+ rows of eval_set are unjudged"):
        found = history(case, HELD, labels=labels)
    np.testing.assert_allclose(found, history(case, np.delete(HELD, [3, 50])), rtol=1e-6)


def test_steps_of_a_pipeline():
    estimator = make_pipeline(StandardScaler(), LGBMRanker(**LGBM))
    found = history("lightgbm", TURNS, prefix="lgbmranker__", estimator=estimator)
    expected = history("lightgbm", HELD, prefix="lgbmranker__", estimator=estimator)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_validation_fraction_starts_where_training_does():
    ranker = QueryRanker(LGBMRanker(**LGBM, early_stopping_rounds=5), validation_fraction=0.25)
    ranker.fit(X, y, groups=groups, init_score=100.0 * y)
    # The start already has the best order.
    held = held_out_rows(0.25, numbers_of_queries(X, y, groups))
    (values,) = ranker.estimator_.evals_result_["valid_0"].values()
    assert values[0] == ndcg_f_score(y[held], y[held], groups=groups[held])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"eval_sample_weight": [[1.0]]}, "eval_sample_weight has 1 entries but the X of its set"),
        ({"eval_sample_weight": [WEIGHT, WEIGHT]}, "eval_sample_weight is a list of 2, and there"),
        ({"eval_set": None}, "eval_sample_weight is given without eval_set"),
    ],
)
def test_bad_ones(params, message):
    given = {"eval_set": [(X[HELD], y[HELD])], "eval_groups": [groups[HELD]]}
    given |= {"eval_sample_weight": [WEIGHT[HELD]]} | params
    if given["eval_set"] is None:
        del given["eval_groups"]
    with pytest.raises(InputError, match=message):
        QueryRanker(LGBMRanker(**LGBM)).fit(X[TRAIN], y[TRAIN], groups=groups[TRAIN], **given)


def test_xgboost_weighs_whole_queries():
    weights = np.arange(len(HELD), dtype=float)
    with pytest.raises(InputError, match="sample_weight_eval_set must be the same for all rows"):
        QueryRanker(xgboost.XGBRanker(**XGB)).fit(
            X[TRAIN],
            y[TRAIN],
            groups=groups[TRAIN],
            eval_set=[(X[HELD], y[HELD])],
            eval_groups=[groups[HELD]],
            sample_weight_eval_set=[weights],
        )
