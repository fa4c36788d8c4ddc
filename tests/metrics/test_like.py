"""`like=` gives the numbers that other libraries report, asked of the libraries themselves."""

import numpy as np
import pytest
from catboost.utils import eval_metric
from lightgbm import LGBMRanker
from sklearn.linear_model import Ridge
from sklearn.metrics import dcg_score, ndcg_score
from xgboost import XGBRanker

from skfilterrank._response import document_scores
from skfilterrank.exceptions import InputError
from skfilterrank.metrics import evaluate, make_ranking_scorer
from skfilterrank.metrics._like import LIKE
from skfilterrank.ranking import QueryRanker

rng = np.random.default_rng(0)
SIZES = rng.integers(1, 15, 60)
QID = np.repeat(np.arange(60), SIZES)
X = rng.normal(size=(len(QID), 3)).round(1)
GRADES = np.clip(np.round(X[:, 0] + rng.normal(size=len(QID))), 0, 3)
# Queries without and of nothing but relevant documents; trees of few leaves make ties.
GRADES[QID % 7 == 0] = 0
GRADES[QID % 11 == 3] = 2
BINARY = (GRADES > 0).astype(float)
TREES = {"n_estimators": 2, "n_jobs": 1}


def of_lightgbm(name, k, y):
    """A ranker, and the number of its last round."""
    ranker = LGBMRanker(**TREES, num_leaves=4, min_child_samples=5, verbose=-1)
    metric = {"ndcg": "ndcg", "ap": "map"}[name]
    how = {"eval_metric": metric, "eval_at": [k], "eval_X": (X + 0,), "eval_y": (y,)}
    ranker.fit(X, y, group=SIZES, eval_group=[SIZES], **how)
    (rounds,) = ranker.evals_result_.values()
    return ranker, rounds[f"{metric}@{k}"][-1]


def of_xgboost(name, k, y):
    """A ranker, and the number of its last round."""
    metric = f"{ {'ndcg': 'ndcg', 'ap': 'map'}[name] }@{k}"
    ranker = XGBRanker(**TREES, max_depth=2, eval_metric=metric)
    ranker.fit(X, y, qid=QID, eval_set=[(X, y)], eval_qid=[QID], verbose=False)
    return ranker, ranker.evals_result()["validation_0"][metric][-1]


def of_catboost(name, k, y):
    """A ranker, and what CatBoost says of its scores."""
    ranker, _ = of_lightgbm("ndcg", k, y)
    metric = {"ndcg": "NDCG", "ap": "MAP", "recall": "RecallAt", "rr": "MRR"}[name]
    (number,) = eval_metric(y, ranker.predict(X), f"{metric}:top={k}", group_id=QID)
    return ranker, number


def of_sklearn(name, k, y):
    """A ranker, and the mean of scikit-learn's number over queries."""
    ranker, _ = of_lightgbm("ndcg", k, y)
    scores, measure = ranker.predict(X), {"ndcg": ndcg_score, "dcg": dcg_score}[name]
    # It refuses queries of one document: one that is worth nothing is added at the end of each.
    rows = (np.flatnonzero(query == QID) for query in range(60))
    values = [
        measure([np.append(y[each], 0)], [np.append(scores[each], scores.min() - 1)], k=k)
        for each in rows
    ]
    return ranker, np.mean(values)


ASK = {
    "lightgbm": of_lightgbm,
    "xgboost": of_xgboost,
    "catboost": of_catboost,
    "scikit-learn": of_sklearn,
}


@pytest.mark.parametrize("k", [1, 5, 10])
@pytest.mark.parametrize("labels", ["grades", "binary"])
@pytest.mark.parametrize(
    ("library", "name"), [(library, name) for library in LIKE for name in LIKE[library]]
)
def test_the_number_is_the_library_s(library, name, labels, k):
    if (library, name, labels) == ("xgboost", "ap", "grades"):
        pytest.skip("XGBoost's map takes labels 0 and 1 alone")
    y = GRADES if labels == "grades" else BINARY
    ranker, theirs = ASK[library](name, k, y)
    text = f"{name}@{k}"
    ours = make_ranking_scorer(text, like=library)(ranker, X, y, groups=QID)
    assert ours == pytest.approx(theirs, abs=1e-12)
    scores = document_scores(ranker, X)
    table = evaluate(y, scores, [f"{each}@{k}" for each in LIKE[library]], groups=QID, like=library)
    assert table[text].mean() == pytest.approx(theirs, abs=1e-12)
    if library != "scikit-learn":
        # Plain numbers are others, or there would be no need of this.
        assert evaluate(y, scores, text, groups=QID)[text].mean() != table[text].mean() or k == 1


@pytest.mark.parametrize(
    ("measure", "params", "message"),
    [
        ("ndcg@10", {"like": "lgbm"}, "like must be one of 'lightgbm', 'xgboost', 'catboost'"),
        ("ndcg_f@10", {"like": "lightgbm"}, "like='lightgbm' knows no 'ndcg_f', but ndcg, ap: "),
        ("ndcg@10", {"like": "lightgbm", "gains": {0: 0}}, "gains is given, and like='lightgbm'"),
        ("ndcg@10", {"like": "catboost", "ties": "best"}, "ties is given, and like='catboost' se"),
        ("ndcg", {"like": "xgboost", "undefined": "drop"}, "undefined is given, and like='xgboos"),
        ("ap(normalize=k)@5", {"like": "catboost"}, "normalize is given, and like='catboost' set"),
    ],
)
def test_what_contradicts_a_library_is_an_error(measure, params, message):
    with pytest.raises(InputError, match=message):
        make_ranking_scorer(measure, **params)
    with pytest.raises(InputError, match=message):
        evaluate(BINARY, X[:, 0], measure, groups=QID, **params)


def test_a_scorer_says_what_it_is_like():
    scorer = make_ranking_scorer("ndcg@10", like="lightgbm")
    written = "make_ranking_scorer('ndcg@10', like='lightgbm')"
    assert repr(scorer) == written
    fitted = QueryRanker(Ridge()).fit(X, GRADES, groups=QID)
    again = eval(written, {"make_ranking_scorer": make_ranking_scorer})
    assert scorer(fitted, X, GRADES, QID) == again(fitted, X, GRADES, QID)
