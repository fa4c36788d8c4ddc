"""`like=` gives the numbers that other libraries report, asked of the libraries themselves."""

import pickle
from functools import cache

import numpy as np
import pytest
from catboost.utils import eval_metric
from lightgbm import LGBMRanker
from sklearn.linear_model import Ridge
from sklearn.metrics import dcg_score, ndcg_score
from xgboost import XGBRanker

from held_out_rows import held_out_rows
from measure_table import MEASURES
from skfilterrank._estimators.responses import document_scores
from skfilterrank.exceptions import InputError
from skfilterrank.metrics import evaluate, get_measure, make_ranking_scorer, random_ranking_bound
from skfilterrank.ranking import CoordinateAscentRanker, QueryRanker, RankAndFilter
from skfilterrank.thresholds import threshold_curve

# Version 9 of trec_eval is told by tests/metrics/test_measure_names.py.
LIKE = {
    library: [name for name, measure in MEASURES.items() if library in measure.as_in]
    for library in ("lightgbm", "xgboost", "catboost", "scikit-learn")
}
rng = np.random.default_rng(0)
SIZES = rng.integers(1, 15, 60)
QID = np.repeat(np.arange(60), SIZES)
X = rng.normal(size=(len(QID), 3)).round(1)
GRADES = np.clip(np.round(X[:, 0] + rng.normal(size=len(QID))), 0, 3)
# Queries without and of nothing but relevant documents; trees of few leaves make ties.
GRADES[QID % 7 == 0] = 0
GRADES[QID % 11 == 3] = 2
BINARY = (GRADES > 0).astype(float)
LABELS = {"grades": GRADES, "binary": BINARY}
TREES = {"n_estimators": 2, "n_jobs": 1}


@cache
def of_lightgbm(name, k, labels):
    """A ranker, and the number of its last round."""
    y = LABELS[labels]
    ranker = LGBMRanker(**TREES, num_leaves=4, min_child_samples=5, verbose=-1)
    metric = {"ndcg": "ndcg", "ap": "map"}[name]
    how = {"eval_metric": metric, "eval_at": [k], **held_out_rows(ranker, X + 0, y)}
    ranker.fit(X, y, group=SIZES, eval_group=[SIZES], **how)
    (rounds,) = ranker.evals_result_.values()
    return ranker, rounds[f"{metric}@{k}"][-1]


def of_xgboost(name, k, labels):
    """A ranker, and the number of its last round."""
    y = LABELS[labels]
    metric = f"{ {'ndcg': 'ndcg', 'ap': 'map'}[name] }@{k}"
    ranker = XGBRanker(**TREES, max_depth=2, eval_metric=metric)
    ranker.fit(X, y, qid=QID, eval_set=[(X, y)], eval_qid=[QID], verbose=False)
    return ranker, ranker.evals_result()["validation_0"][metric][-1]


def of_catboost(name, k, labels):
    """A ranker, and what CatBoost says of its scores."""
    y = LABELS[labels]
    ranker, _ = of_lightgbm("ndcg", k, labels)
    metric = {"ndcg": "NDCG", "ap": "MAP", "recall": "RecallAt", "rr": "MRR"}[name]
    (number,) = eval_metric(y, ranker.predict(X), f"{metric}:top={k}", group_id=QID)
    return ranker, number


def of_sklearn(name, k, labels):
    """A ranker, and the mean of scikit-learn's number over queries."""
    y = LABELS[labels]
    ranker, _ = of_lightgbm("ndcg", k, labels)
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


@pytest.mark.slow
@pytest.mark.parametrize(("labels", "k"), [("grades", 10), ("binary", 1), ("binary", 5)])
@pytest.mark.parametrize(
    ("library", "name"), [(library, name) for library in LIKE for name in LIKE[library]]
)
def test_the_number_is_the_library_s(library, name, labels, k):
    if (library, name, labels) == ("xgboost", "ap", "grades"):
        pytest.skip("XGBoost's map takes labels 0 and 1 alone")
    y = LABELS[labels]
    ranker, theirs = ASK[library](name, k, labels)
    text = f"{name}@{k}"
    ours = make_ranking_scorer(text, like=library)(ranker, X, y, groups=QID)
    assert ours == pytest.approx(theirs, abs=1e-12)
    scores = document_scores(ranker, X)
    table = evaluate(y, scores, [f"{each}@{k}" for each in LIKE[library]], groups=QID, like=library)
    assert table.means[text] == pytest.approx(theirs, abs=1e-12)
    if library != "scikit-learn":
        # Plain numbers are others, or there would be no need of this.
        assert evaluate(y, scores, text, groups=QID).means[text] != table.means[text] or k == 1


@pytest.mark.parametrize("name", ["ndcg", "ap"])
def test_without_a_cutoff_xgboost_ends_at_document_32(name):
    queries = np.repeat(np.arange(6), 60)
    values = np.random.default_rng(1).normal(size=(len(queries), 3))
    # Hard to learn, so that much of what is relevant stands below.
    labels = (np.random.default_rng(2).random(len(queries)) < 0.6).astype(float)
    metric = {"ndcg": "ndcg", "ap": "map"}[name]
    ranker = XGBRanker(**TREES, max_depth=2, eval_metric=metric)
    known = {"eval_set": [(values, labels)], "eval_qid": [queries], "verbose": False}
    ranker.fit(values, labels, qid=queries, **known)
    theirs = ranker.evals_result()["validation_0"][metric][-1]
    scorers = make_ranking_scorer([name, f"{name}@32"], like="xgboost")
    ours = scorers(ranker, values, labels, groups=queries)
    assert ours[f"{name}@32"] == pytest.approx(theirs, abs=1e-12)
    assert ours[name] != pytest.approx(theirs, abs=1e-4)


@pytest.mark.parametrize(
    ("measure", "params", "message"),
    [
        ("ndcg@10", {"like": "lgbm"}, "like must be one of 'lightgbm', 'xgboost', 'catboost'"),
        ("ndcg_f@10", {"like": "lightgbm"}, "like='lightgbm' has no 'ndcg_f'; it has ap, ndcg\\. "),
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


LIKES = [(library, name) for library in LIKE for name in LIKE[library]]


@pytest.mark.slow
@pytest.mark.parametrize(("library", "name"), LIKES)
@pytest.mark.parametrize("k", [None, 3])
def test_a_name_gives_what_the_argument_gives(library, name, k):
    """In a list with others, whatever ties and undefined queries are to the others."""
    scores, at = X[:, 0], "" if k is None else f"@{k}"
    named, plain = f"{name}(like={library}){at}", f"{name}{at}"
    expected = evaluate(GRADES, scores, plain, groups=QID, like=library).per_query[plain]
    for others in ({}, {"ties": "best", "undefined": "drop"}):
        table = evaluate(GRADES, scores, ["ap@2", named, plain], groups=QID, **others).per_query
        np.testing.assert_array_equal(table[named], expected)
        alone = evaluate(GRADES, scores, plain, groups=QID, **others).per_query[plain]
        np.testing.assert_array_equal(table[plain], alone)
    # Document ids order the rows of a run.
    tied = evaluate(
        GRADES, scores, named, groups=QID, ties=rng.permutation(len(QID)).astype(str)
    ).per_query
    np.testing.assert_array_equal(tied[named], expected)


@pytest.mark.parametrize(
    "written", ["ndcg(like=lightgbm)@10", "nDCG(like='lightgbm')@10", "ndcg( like = lightgbm )@10"]
)
def test_one_canonical_name(written):
    parsed = get_measure(written)
    assert parsed.text == "ndcg(like=lightgbm)@10"
    again = pickle.loads(pickle.dumps(parsed))
    assert again.text == parsed.text
    assert again.utility(GRADES, X[:, 0], groups=QID) == parsed.utility(GRADES, X[:, 0], groups=QID)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ndcg(like=lgbm)", "like must be one of 'lightgbm', 'xgboost', 'catboost'"),
        ("ndcg_f(like=lightgbm)@10", "like='lightgbm' has no 'ndcg_f'; it has ap, ndcg\\. "),
        ("ndcg(like=lightgbm,gains=exp2)", "gives like and gains: give one of them"),
        ("ap(rel=2,like=catboost)", "gives like and rel: give one of them"),
        ("ap(like=catboost,normalize=k)@5", "normalize is given, and like='catboost' sets it"),
        ("ndcg(like=lightgbm,like=xgboost)", "gives like twice"),
        ("ul_normalized(measure=ndcg(like=lightgbm))", "measure must be a measure of skfilterrank"),
    ],
)
def test_a_name_that_contradicts_itself_is_an_error(name, message):
    with pytest.raises(InputError, match=message):
        get_measure(name)
    with pytest.raises(InputError, match=message):
        QueryRanker(Ridge(), measure=name).fit(X, GRADES, groups=QID).score(X, GRADES, groups=QID)


@pytest.mark.slow
def test_a_name_works_wherever_measures_are_named(tmp_path):
    name, ranker = "ndcg(like=lightgbm)@5", QueryRanker(Ridge()).fit(X, GRADES, groups=QID)
    scores = ranker.predict(X).round(1)
    expected = evaluate(GRADES, scores, "ndcg@5", groups=QID, like="lightgbm").means.iloc[0]
    assert get_measure(name)(GRADES, scores, groups=QID) == expected
    curve = threshold_curve(GRADES, scores, groups=QID, measure=name)
    shown = [np.where(scores >= t, scores, -np.inf) for t in curve.thresholds]
    values = [evaluate(GRADES, each, name, groups=QID).means[name] for each in shown]
    np.testing.assert_allclose(curve.values, values, rtol=1e-12)
    model = RankAndFilter(Ridge(), measure=name, cv=3).fit(X, GRADES, groups=QID)
    assert 0 < model.best_score_ <= 1
    scorers = make_ranking_scorer([name, "ap(like=lightgbm)@5", "ndcg@5"])
    both = make_ranking_scorer(["ndcg@5", "ap@5"], like="lightgbm")(ranker, X, GRADES, groups=QID)
    of_names = scorers(ranker, X, GRADES, groups=QID)
    assert [of_names[name], of_names["ap(like=lightgbm)@5"]] == [*both.values()]
    learned = CoordinateAscentRanker(measure=name, max_iter=1, random_state=0)
    assert learned.fit(X, GRADES, groups=QID).score(X, GRADES, groups=QID) > expected - 0.1
    bound = random_ranking_bound(
        GRADES, groups=QID, measure="dcg(like=scikit-learn)@5", random_state=0
    )
    assert (
        bound.value
        == random_ranking_bound(GRADES, groups=QID, measure="dcg@5", random_state=0).value
    )


def test_a_scorer_says_what_it_is_like():
    scorer = make_ranking_scorer("ndcg@10", like="lightgbm")
    written = "make_ranking_scorer('ndcg@10', like='lightgbm')"
    assert repr(scorer) == written
    fitted = QueryRanker(Ridge()).fit(X, GRADES, groups=QID)
    again = eval(written, {"make_ranking_scorer": make_ranking_scorer})
    assert scorer(fitted, X, GRADES, QID) == again(fitted, X, GRADES, QID)
