"""How `fit` reads held-out sets: one law for every ranker that takes them."""

import gc
import pickle
import weakref

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRanker
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import DataWarning, InputError
from skfilterrank.ranking import (
    AdaRankRanker,
    CoordinateAscentRanker,
    LambdaRankRanker,
    QueryRanker,
    RankAndFilter,
    RankBoostRanker,
)

pytestmark = pytest.mark.slow

LAMBDARANK = LambdaRankRanker(n_estimators=3, n_jobs=1, min_child_samples=5)
WATCHING = {
    "AdaRankRanker": AdaRankRanker(n_estimators=3),
    "RankBoostRanker": RankBoostRanker(n_estimators=3),
    "CoordinateAscentRanker": CoordinateAscentRanker(max_iter=2, random_state=0),
    "LambdaRankRanker": LAMBDARANK,
    "RankAndFilter": RankAndFilter(LAMBDARANK, threshold=None),
    "QueryRanker": QueryRanker(make_pipeline("passthrough", AdaRankRanker(n_estimators=3))),
}
every_ranker = pytest.mark.parametrize("ranker", WATCHING.values(), ids=WATCHING)


@pytest.fixture(scope="module")
def parts():
    X, y, groups, _ = make_rank_and_filter(n_queries=90, random_state=0)
    y = y.astype(float)
    return [(X[rows], y[rows], groups[rows]) for rows in (groups % 3 == i for i in range(3))]


def curves(ranker, train, **held_out):
    """The held-out sets' curves."""
    fitted = clone(ranker).fit(*train, **held_out)
    while not hasattr(fitted, "evals_result_"):
        fitted = fitted[-1] if hasattr(fitted, "steps") else fitted.estimator_
    return {name: curve for name, curve in fitted.evals_result_.items() if name != "train"}


@every_ranker
def test_unjudged_rows_are_left_out_with_a_warning(parts, ranker):
    train, (X, y, groups), _ = parts
    judged = np.arange(len(y)) % 3 > 0
    unjudged = np.where(judged, y, np.nan)
    text = rf"^{(~judged).sum()} of {len(y)} rows of eval_set are unjudged \(NaN label\)"
    with pytest.warns(DataWarning, match=text) as caught:
        found = curves(ranker, train, eval_set=(X, unjudged), eval_groups=groups)
    assert caught[0].filename == __file__
    alone = {"eval_set": (X[judged], y[judged]), "eval_groups": groups[judged]}
    assert found == curves(ranker, train, **alone)
    with pytest.raises(InputError, match="eval_set holds no judged row"):
        curves(ranker, train, eval_set=(X, y * np.nan), eval_groups=groups)


@every_ranker
def test_one_set_or_several_in_a_list(parts, ranker):
    train, (X, y, groups), (X2, y2, groups2) = parts
    expected = curves(ranker, train, eval_set=[(X, y), (X2, y2)], eval_groups=[groups, groups2])
    assert list(expected) == ["valid_0", "valid_1"]
    several = {"eval_set": [[X, y], (X2, y2)], "eval_groups": (groups, groups2)}
    assert curves(ranker, train, **several) == expected
    with_ids = pd.Series(y, index=pd.Index(groups, name="qid"))
    for one in ({"eval_set": (X, y), "eval_groups": groups}, {"eval_set": (X, with_ids)}):
        assert curves(ranker, train, **one) == {"valid_0": expected["valid_0"]}


@every_ranker
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y, g: {"eval_set": X}, r"eval_set is one ndarray of shape .* its labels are mi"),
        (lambda X, y, g: {"eval_set": [X]}, r"eval_set\[0\] is one ndarray .*: expected \(X, y\)"),
        (lambda X, y, g: {"eval_set": [(X, y, g)]}, r"eval_set\[0\] is a tuple of 3: expected"),
        (lambda X, y, g: {"eval_set": ((X, y), (X, y))}, r"eval_set\[0\] is a tuple of 2: expect"),
        (lambda X, y, g: {"eval_set": (X, y)}, "eval_groups is missing"),
        (
            lambda X, y, g: {"eval_set": [(X, y)], "eval_groups": [g, g]},
            "eval_groups has 2 entries but eval_set has 1",
        ),
        (
            lambda X, y, g: {"eval_set": (X, y[:1]), "eval_groups": g},
            "eval_set has 1 labels but its X has",
        ),
        (
            lambda X, y, g: {"eval_set": (np.ma.array(X), y), "eval_groups": g},
            "X of eval_set is a masked array",
        ),
    ],
    ids=["array", "list of arrays", "three", "pairs", "no queries", "queries", "labels", "masked"],
)
def test_what_is_missing_is_named(parts, ranker, change, message):
    train, held_out, _ = parts
    with pytest.raises(InputError, match=message):
        curves(ranker, train, **change(*held_out))


@pytest.mark.filterwarnings("ignore:.*(was given no|without) query ids")
@pytest.mark.parametrize(
    "ranker",
    [
        CoordinateAscentRanker(max_iter=1, filter=True, random_state=0),
        clone(LAMBDARANK).set_params(gamma=1.0),
        RankAndFilter(clone(LAMBDARANK).set_params(gamma=1.0), threshold=None),
    ],
)
def test_rows_are_queries_where_they_are_in_training(parts, ranker):
    (X, y, _), (X_val, y_val, _), _ = parts
    alone = {"eval_set": (X_val, y_val), "eval_groups": np.arange(len(y_val))}
    expected = curves(ranker, (X, y), **alone)
    assert curves(ranker, (X, y), eval_set=(X_val, y_val)) == expected


@every_ranker
def test_a_fitted_ranker_keeps_no_rows(parts, ranker):
    X, y, groups = parts[0]
    X = np.hstack([X, np.random.default_rng(0).normal(size=(len(y), 60))])
    reference, n_bytes = weakref.ref(X), X.nbytes
    fitted = clone(ranker).fit(X, y, groups=groups, eval_set=(X, y), eval_groups=groups)
    del X
    gc.collect()
    assert reference() is None
    assert len(pickle.dumps(fitted)) < n_bytes / 2


def test_rows_of_held_out_sets_have_no_parameters(parts):
    train, (X, y, groups), _ = parts
    ranker = QueryRanker(LGBMRanker(n_estimators=3, early_stopping_rounds=2, verbose=-1))
    held_out = {"eval_set": (X, y), "eval_groups": groups}
    with pytest.raises(InputError, match=r"got lgbm__eval_sample_weight, but rows of eval_set"):
        clone(ranker).fit(*train, **held_out, lgbm__eval_sample_weight=[np.ones(len(y))])
    start = np.zeros(len(train[1]))
    with pytest.raises(InputError, match="init_score gives training rows scores to start from"):
        clone(ranker).fit(*train, **held_out, init_score=start)
    with pytest.raises(InputError, match="init_score gives training rows scores to start from"):
        clone(ranker).set_params(validation_fraction=0.3).fit(*train, init_score=start)
    clone(ranker).fit(*train, **held_out, init_score=None)
