"""Neither what queries are called nor the order of rows changes what is learned."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline

from all_estimators import CASES, DATA, LIGHTGBM, LOGISTIC, Case, Data, asked, by_day
from all_thresholds import THRESHOLDS
from public_calls import call, public_functions, valid_arguments
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.ranking import (
    CalibratedRanker,
    FilterOnly,
    QueryRanker,
    QueryScaler,
    RankAndFilter,
    make_ranker,
    score_difference,
)
from skfilterrank.thresholds import (
    CertifiedThreshold,
    LearnedThreshold,
    TunedThreshold,
    risk_certificate,
)
from thinned import thinned

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::UserWarning")]
# As texts, "10" sorts before "2": the number of a query is another query's name.
NAMES = {
    "reversed": lambda numbers: numbers.max() - numbers,
    "texts": lambda numbers: numbers.astype(str).astype(object),
}
MSE, LAMBDARANK = make_ranker("mse", learner="linear"), CASES["LambdaRankRanker"].estimator
TOGETHER = {
    "CalibratedRanker(mse)": CalibratedRanker(MSE, cv=3),
    "RankAndFilter(mse)": RankAndFilter(MSE, cv=3),
    "RankAndFilter(CalibratedRanker)": RankAndFilter(CalibratedRanker(MSE, cv=2), 0.5),
    "RankAndFilter(Pipeline)": RankAndFilter(make_pipeline(QueryScaler(), LAMBDARANK), cv=2),
    "RankAndFilter of two models": RankAndFilter(MSE, filter_estimator=QueryRanker(LOGISTIC), cv=2),
    "RankAndFilter(GridSearchCV)": RankAndFilter(GridSearchCV(MSE, {"gains": [None]}, cv=2), cv=2),
    "QueryRanker(RankAndFilter)": QueryRanker(RankAndFilter(Ridge(), cv=2)),
    "QueryRanker that stops early": QueryRanker(QueryRanker(LIGHTGBM), validation_fraction=0.2),
    "FilterOnly(RankAndFilter(mse))": FilterOnly(RankAndFilter(MSE, cv=2), random_state=0),
}
# Trees of other libraries depend on the order of rows.
OF_ROWS = ("RankAndFilter of a ranker", "QueryRanker", "QueryRanker that stops early")
KINDS = ("rows", "scores", "documents", "judgments")
ALONE = {name: case for name, case in CASES.items() if case.kind in KINDS}
TOGETHER = {name: Case(estimator, "rows") for name, estimator in TOGETHER.items()}
ESTIMATORS = ALONE | TOGETHER


def taken(data, rows, names):
    """Some rows, with other names of their queries."""
    args = tuple(
        [each[row] for row in rows]
        if isinstance(each, list)
        else each.iloc[rows]
        if hasattr(each, "iloc")
        else each[rows]
        for each in data.args
    )
    kwargs = {name: np.asarray(values)[rows] for name, values in data.kwargs.items()}
    return Data(args, kwargs | {"groups": names(kwargs["groups"])})


def in_index(data):
    """The same data with the queries in the index of X, where it can have one."""
    if isinstance(data.args[0], list):
        return data
    X, *rest = data.args
    index = pd.Index(data.kwargs["groups"], name="qid")
    X = X.set_axis(index) if isinstance(X, pd.DataFrame) else pd.Series(X, index=index)
    return Data((X, *rest), {})


@pytest.mark.parametrize("name", thinned([*by_day(ALONE), *by_day(TOGETHER)], parts=2))
def test_estimators(name):
    case = ESTIMATORS[name]
    data = DATA[case.kind][0]
    every = np.arange(len(data.kwargs["groups"]))

    def said(data):
        return asked(case.fit(clone(case.estimator), data), data)

    expected = said(data)
    reverse, texts = NAMES.values()
    for one, two in zip(said(in_index(taken(data, every, texts))), expected, strict=True):
        np.testing.assert_array_equal(one, two)
    has_ties = case.kind == "documents" and "random_state" not in case.estimator.get_params()
    if name in OF_ROWS or has_ties:
        return
    order = np.random.default_rng(1).permutation(every)
    for one, two in zip(said(taken(data, order, reverse)), expected, strict=True):
        # Its trees give equal scores, which are ranked in the order of the rows.
        if name == "RankAndFilter(Pipeline)" and np.asarray(two).dtype.kind == "i":
            continue
        np.testing.assert_allclose(one, np.asarray(two)[order], rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("names", thinned(NAMES, turn=1, parts=2))
def test_sets_to_stop_early_by_searches_and_a_difference_of_scores(names):
    (X, y), queries = DATA["rows"][0]
    y = np.nan_to_num(y)
    ids = NAMES[names](queries["groups"])
    rows = X.set_axis(pd.Index(ids, name="qid"))
    model = RankAndFilter(QueryRanker(QueryRanker(LIGHTGBM)), 0.0)
    model.fit(rows, y, eval_set=(rows, y), eval_groups=ids)
    assert np.isfinite(score_difference(model, rows, 0, 1).difference)
    search = GridSearchCV(RankAndFilter(MSE), {"cv": [2, 3]}, cv=GroupKFold(2), error_score="raise")
    assert np.isfinite(search.fit(rows, y, groups=ids).score(rows, pd.Series(y, index=rows.index)))


OF_LABELS = [
    path for path in public_functions() if {"y_true", "groups"} <= valid_arguments(path).keys()
]
# Fifteen queries of six rows, in no order.
MIXED = np.random.default_rng(1).permutation(np.repeat(np.arange(15), 6))


def cycled(value):
    """Arguments of six rows, as of all rows."""
    if isinstance(value, dict):
        return {name: cycled(each) for name, each in value.items()}
    return [value[row % 6] for row in range(len(MIXED))]


@pytest.mark.parametrize("path", thinned(OF_LABELS, turn=1, parts=2))
def test_functions_of_labels(path):
    of_rows = {
        name: cycled(value)
        for name, value in valid_arguments(path).items()
        if name.startswith(("y_", "pooled", "inclusion", "ties"))
    }
    groups = NAMES["texts"](MIXED)
    of_rows["y_true"] = pd.Series(of_rows["y_true"], index=pd.Index(groups, name="qid"))
    by_index = call(path, **of_rows, groups=None)
    assert repr(by_index) == repr(call(path, **of_rows, groups=groups))


@pytest.fixture(scope="module")
def rows():
    """Labels, scores, other scores, and queries."""
    _, y, groups, scores = make_rank_and_filter(30, documents_per_query=6, random_state=0)
    noise = np.random.default_rng(0).normal(size=len(y))
    return y.astype(float), scores, (y < 0) + noise, groups


RISKS = {"any_forbidden@3": 0.7, "forbidden@3": 0.6}
TWO = {
    f"{kind.__name__}, {rule}": kind(*args, rule=rule)
    for kind, args in ((TunedThreshold, ("ndcg_f@3",)), (CertifiedThreshold, (RISKS,)))
    for rule in ("ratio", "harm")
}
LEARNED = LearnedThreshold("ndcg_f@3", cv=2, random_state=0)
BY_DAY = TWO | {"learned": LEARNED}
EVERY = THRESHOLDS | BY_DAY


# Other thresholds of one score are among the estimators above; what they compare is for the night.
@pytest.mark.parametrize(
    "name",
    [*thinned(BY_DAY), *(pytest.param(name, marks=pytest.mark.nightly) for name in THRESHOLDS)],
)
def test_thresholds(rows, name):
    y, scores, hide, groups = rows

    def facts(rows, names):
        given, read = {"groups": names(groups[rows])}, scores[rows]
        if name in TWO:
            read = np.column_stack([scores, hide])[rows]
        cut = clone(EVERY[name]).fit(read, y[rows], **given)
        shown = np.empty(len(y))
        shown[rows] = cut.predict(read, **given)
        compared = np.nan_to_num(getattr(cut, "held_out_", np.empty(0))).ravel()
        return [cut.level_, getattr(cut, "best_score_", 0.0), *compared, *shown]

    every = np.arange(len(y))
    expected = facts(every, lambda numbers: numbers)
    for names in NAMES.values():
        np.testing.assert_array_equal(facts(every, names), expected)
    order = np.random.default_rng(1).permutation(every)
    np.testing.assert_allclose(facts(order, NAMES["texts"]), expected, rtol=1e-9)


def everything(found):
    """All numbers of the bounds of risks."""
    return [
        getattr(bound, name)
        for bound in found.risks.values()
        for name in ("observed", "upper_bound", "lower_bound", "n_queries", "n_left_out")
    ]


def of_certificate(y, scores, hide, groups, **more):
    risks = {"any_forbidden@3": 0.7, "forbidden@3": 0.6, "empty_list_rate": 0.9}
    return everything(risk_certificate(y, scores, 0.2, groups=groups, risks=risks, **more))


def of_answered_queries(y, scores, hide, groups):
    return of_certificate(y, scores, hide, groups, among="answered")


def of_clusters(y, scores, hide, groups):
    # Queries that share their first document share a cluster.
    first = pd.Series(y).groupby(groups).transform("max").to_numpy()
    size = pd.Series(np.round(scores, 1)).groupby(groups).transform("max").to_numpy()
    return of_certificate(y, scores, hide, groups, clusters=[*zip(first, size)])


def of_calibrated_threshold(y, scores, hide, groups):
    threshold = CertifiedThreshold({"forbidden@3": 0.6}, rule="ratio", confidence_level=0.8)
    found = threshold.fit(np.column_stack([scores, hide]), y, groups=groups).certificate_
    return [found.threshold, *everything(found)]


def of_two_models(y, scores, hide, groups):
    model = RankAndFilter(Ridge(), filter_estimator=LOGISTIC, measure="ndcg_f@3", cv=2)
    X = np.column_stack((scores, hide))
    model.fit(X, y, groups=groups)
    return [model.filter_.level_, model.filter_.held_out_.loc["threshold", "value"]]


FUNCTIONS = (
    of_certificate,
    of_answered_queries,
    of_clusters,
    of_calibrated_threshold,
    pytest.param(of_two_models, marks=pytest.mark.nightly),
)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_certificates_and_curves(rows, function):
    expected = function(*rows)
    y, scores, hide, groups = rows
    for names in NAMES.values():
        renamed = function(y, scores, hide, names(groups))
        np.testing.assert_allclose(renamed, expected, rtol=1e-12)
    order = np.random.default_rng(1).permutation(len(y))
    mixed = function(*(each[order] for each in (y, scores, hide)), NAMES["texts"](groups[order]))
    np.testing.assert_allclose(mixed, expected, rtol=1e-9)
