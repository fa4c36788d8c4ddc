"""Neither what queries are called nor the order of rows changes what is learned."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge

from all_estimators import CASES, DATA, Data, asked
from all_thresholds import THRESHOLDS
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.ranking import RankAndFilter
from skfilterrank.thresholds import (
    CertifiedThreshold,
    LearnedThreshold,
    TunedThreshold,
    risk_certificate,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::skfilterrank.exceptions.SkfilterrankWarning"),
]
NAMES = {
    "reversed": lambda numbers: numbers.max() - numbers,
    "texts": lambda numbers: np.char.add("q", numbers.astype(str)),
}
# Trees of other libraries depend on the order of rows.
OF_ROWS = ("RankAndFilter of a ranker", "QueryRanker")
KINDS = ("rows", "scores", "documents", "judgments")


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


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.kind in KINDS])
def test_estimators(name):
    case = CASES[name]
    data = DATA[case.kind][0]
    every = np.arange(len(data.kwargs["groups"]))
    expected = asked(case.fit(clone(case.estimator), data), data)
    for names in NAMES.values():
        renamed = taken(data, every, names)
        found = asked(case.fit(clone(case.estimator), renamed), renamed)
        for one, two in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, two)
    has_ties = case.kind == "documents" and "random_state" not in case.estimator.get_params()
    if name in OF_ROWS or has_ties:
        return
    order = np.random.default_rng(1).permutation(every)
    mixed = taken(data, order, lambda numbers: numbers)
    found = asked(case.fit(clone(case.estimator), mixed), mixed)
    for one, two in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, np.asarray(two)[order], rtol=1e-7, atol=1e-12)


@pytest.fixture(scope="module")
def rows():
    """Labels, scores, other scores, and queries."""
    _, y, groups, scores = make_rank_and_filter(60, documents_per_query=8, random_state=0)
    noise = np.random.default_rng(0).normal(size=len(y))
    return y.astype(float), scores, (y < 0) + noise, groups


RISKS = {"any_forbidden@3": 0.7, "forbidden@3": 0.6}
TWO = {
    f"{kind.__name__}, {rule}": kind(*args, rule=rule)
    for kind, args in ((TunedThreshold, ("ndcg_f@3",)), (CertifiedThreshold, (RISKS,)))
    for rule in ("ratio", "harm")
}
LEARNED = LearnedThreshold("ndcg_f@3", cv=3, random_state=0)
BY_DAY = {"learned": LEARNED} | TWO
EVERY = THRESHOLDS | BY_DAY


# Other thresholds of one score are among the estimators above; what they compare is for the night.
@pytest.mark.parametrize(
    "name",
    [*BY_DAY, *(pytest.param(name, marks=pytest.mark.nightly) for name in THRESHOLDS)],
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
    model = RankAndFilter(Ridge(), filter_estimator=LogisticRegression(), measure="ndcg_f@3")
    X = np.column_stack((scores, hide))
    model.fit(X, y, groups=groups)
    return [model.filter_.level_, model.filter_.held_out_.loc["threshold", "value"]]


FUNCTIONS = (
    of_certificate,
    of_answered_queries,
    of_clusters,
    of_calibrated_threshold,
    of_two_models,
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
