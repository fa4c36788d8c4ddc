"""Scorers of several measures: one prediction, one dict of values."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    GroupKFold,
    cross_validate,
)

from measure_table import MEASURES
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import InputError
from skfilterrank.metrics import average_precision_score, make_ranking_scorer, ndcg_score
from skfilterrank.metrics._scorer import RankingScorer, RankingScorers
from skfilterrank.ranking import FilterOnly, RankAndFilter
from skfilterrank.thresholds import PerQueryThreshold

X, Y, GROUPS, _ = make_rank_and_filter(n_queries=60, random_state=0)
CARRIES = pd.Series(Y, index=pd.Index(GROUPS, name="qid"))
NAMES = ["ndcg@10", "ap", "forbidden@3", "rbp(persistence=0.5)@10"]
KEYS = ["ndcg@10", "ap", "neg_forbidden@3", "rbp(persistence=0.5)@10"]
SCORERS = make_ranking_scorer(NAMES)
CV = GroupKFold(3)
PREDICTIONS = []


class Counted(Ridge):
    """Says how often it predicts."""

    def predict(self, X):
        PREDICTIONS.append(len(X))
        return super().predict(X)


@pytest.fixture(params=["series", "routing"])
def way(request):
    """Labels and arguments of `cross_validate`."""
    if request.param == "series":
        yield CARRIES, {"groups": GROUPS}
        return
    with config_context(enable_metadata_routing=True):
        yield Y, {"params": {"groups": GROUPS}}


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        Ridge(),
        RankAndFilter(LogisticRegression(), PerQueryThreshold()),
        FilterOnly(RankAndFilter(Ridge()), random_state=0),
        FixedThresholdClassifier(LogisticRegression(), threshold=0.3),
    ],
)
def test_values_are_those_of_single_scorers(model):
    y = np.where(Y > 0, 1, -1) if "Fixed" in str(model) else Y
    carried = pd.Series(y, index=CARRIES.index)
    model.fit(X, carried)
    found = SCORERS(model, X, carried)
    assert list(found) == KEYS
    assert found == {
        key: make_ranking_scorer(name)(model, X, carried)
        for key, name in zip(KEYS, NAMES, strict=True)
    }
    assert found["neg_forbidden@3"] < 0


@pytest.mark.slow
def test_every_measure_of_the_table():
    model, gains = Ridge().fit(X, Y), {-1: 0, 0: 0, 1: 1, 2: 2}
    names = [name for name, entry in MEASURES.items() if not entry.columns]
    found = make_ranking_scorer(names, gains=gains)(model, X, CARRIES)
    for (key, value), name in zip(found.items(), names, strict=True):
        greater = MEASURES[name].greater_is_better
        assert key == name if greater else key == f"neg_{name}"
        assert value == make_ranking_scorer(name, gains=gains)(model, X, CARRIES)
        direct = MEASURES[name](Y, model.predict(X), groups=GROUPS, gains=gains)
        assert value == (direct if greater else -direct)


@pytest.mark.slow
def test_one_prediction(way):
    y, how = way
    PREDICTIONS.clear()
    found = cross_validate(Counted(), X, y, scoring=SCORERS, cv=CV, error_score="raise", **how)
    assert len(PREDICTIONS) == 3
    assert [key for key in found if key.startswith("test_")] == [f"test_{key}" for key in KEYS]
    PREDICTIONS.clear()
    single = cross_validate(Counted(), X, y, scoring=dict(SCORERS), cv=CV, **how)
    assert len(PREDICTIONS) == 3 * len(NAMES)
    for key in KEYS:
        assert np.array_equal(found[f"test_{key}"], single[f"test_{key}"])


def test_refit_by_one_of_them(way):
    y, _ = way
    search = GridSearchCV(
        Ridge(), {"alpha": [0.1, 1e5]}, scoring=SCORERS, cv=CV, refit="neg_forbidden@3",
        n_jobs=2,
    )  # fmt: skip
    search = clone(search).fit(X, y, groups=GROUPS)
    assert search.best_index_ == np.argmax(search.cv_results_["mean_test_neg_forbidden@3"])
    for key in KEYS:
        assert np.isfinite(search.cv_results_[f"mean_test_{key}"]).all()
    assert search.score(X, CARRIES) == SCORERS(search, X, CARRIES)["neg_forbidden@3"]


def test_parameters_go_to_the_measures_that_have_them():
    model = Ridge().fit(X, Y)
    params = {"k": 5, "gains": "exp2", "undefined": "drop", "ties": "worst", "persistence": 0.3}
    found = make_ranking_scorer(["ndcg", "ap", "rbp"], **params)(model, X, CARRIES)
    assert list(found) == ["ndcg@5", "ap@5", "rbp@5"]
    how = {"k": 5, "gains": "exp2", "undefined": "drop", "ties": "worst", "groups": GROUPS}
    assert found["ndcg@5"] == ndcg_score(Y, model.predict(X), **how)
    assert found["ap@5"] == average_precision_score(Y, model.predict(X), **how)
    single = make_ranking_scorer("rbp", **params)
    assert found["rbp@5"] == single(model, X, CARRIES)


def test_it_is_a_mapping_of_scorers():
    assert isinstance(SCORERS, RankingScorers)
    assert len(SCORERS) == 4
    model = Ridge().fit(X, Y)
    for key, value in SCORERS(model, X, CARRIES).items():
        assert type(SCORERS[key]) is RankingScorer
        assert SCORERS[key](model, X, CARRIES) == value
    with pytest.raises(KeyError, match="ndcg@11"):
        SCORERS["ndcg@11"]
    scorers = make_ranking_scorer(["ap", "rbp"], persistence=0.3, ties="worst")
    assert repr(scorers["ap"]) == "make_ranking_scorer('ap', ties='worst')"
    assert repr(scorers["rbp"]) == "make_ranking_scorer('rbp', persistence=0.3, ties='worst')"


@pytest.mark.parametrize(
    ("names", "params", "message"),
    [
        ([], {}, "measures is empty"),
        (["ap", "map"], {}, "measures names 'ap' twice, as 'ap' and 'map'"),
        (["ap", "ap@5"], {"k": 5}, "measures names 'ap@5' twice"),
        (["ap", "qwa"], {"k": 5}, "'qwa' has no cut-off"),
        (["ap@3", "ndcg"], {"k": 5}, "k=5 contradicts the cut-off of 'ap@3'"),
        (["ap", "ndcq"], {}, "'ndcq' is not a measure: did you mean 'ndcg'"),
        (["ap", "ndcg"], {"persistence": 0.3}, "'ap', 'ndcg' have no parameter persistence: they"),
        (["ap", "rbp(persistence=0.2)"], {"persistence": 0.3}, "persistence=0.3 contradicts 'rbp"),
        (["ap", "lexirecall"], {"ties": "average"}, "ties must be one of 'worst', 'best'"),
        ([None], {}, "measures must be a name or a list of names"),
    ],
)
def test_errors(names, params, message):
    with pytest.raises(InputError, match=message):
        make_ranking_scorer(names, **params)
