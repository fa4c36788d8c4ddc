"""Queries may have the names that the package numbers them by: 0 to n - 1, also as text.

As texts, "10" sorts before "2", so that the number of a query is another query's name.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline

from all_estimators import CASES
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

X, Y, QUERY, _ = make_rank_and_filter(
    15, n_features=4, n_informative=3, documents_per_query=6, random_state=0
)
NOISE = np.random.default_rng(0).normal(size=len(Y))
MSE, LAMBDARANK = make_ranker("mse"), CASES["LambdaRankRanker"].estimator
SEARCH = GridSearchCV(MSE, {"gains": [None]}, cv=2)
TOGETHER = {
    "CalibratedRanker(mse)": CalibratedRanker(MSE, cv=3),
    "RankAndFilter(mse)": RankAndFilter(MSE, cv=3),
    "RankAndFilter(CalibratedRanker)": RankAndFilter(CalibratedRanker(MSE, cv=2), 0.5),
    "RankAndFilter(Pipeline)": RankAndFilter(make_pipeline(QueryScaler(), LAMBDARANK), cv=2),
    "RankAndFilter of two models": RankAndFilter(
        MSE, filter_estimator=QueryRanker(LogisticRegression()), cv=2
    ),
    "QueryRanker(RankAndFilter)": QueryRanker(RankAndFilter(Ridge(), cv=2)),
    "QueryRanker that stops early": QueryRanker(
        QueryRanker(CASES["RankAndFilter of a ranker"].estimator.estimator), validation_fraction=0.2
    ),
    "FilterOnly(RankAndFilter(mse))": FilterOnly(RankAndFilter(MSE, cv=2), random_state=0),
    "RankAndFilter(GridSearchCV)": RankAndFilter(SEARCH, cv=2),
    "GridSearchCV(RankAndFilter)": GridSearchCV(
        RankAndFilter(MSE), {"cv": [2, 3]}, cv=GroupKFold(3), error_score="raise"
    ),
}
OF_ROWS = {name: case.estimator for name, case in CASES.items() if case.kind.endswith("rows")}
OF_SCORES = {name: case for name, case in CASES.items() if case.kind in ("scores", "documents")}
IDS = {"integers": QUERY, "texts": QUERY.astype(str).astype(object)}
ORDERS = {"sorted": np.arange(len(Y)), "shuffled": np.random.default_rng(1).permutation(len(Y))}
NAMINGS = [("texts", "sorted"), ("texts", "shuffled"), ("integers", "shuffled")]
every_naming = pytest.mark.parametrize(
    ("ids", "order"),
    [
        pytest.param(IDS[naming], ORDERS[order], id=f"{naming}, {order}")
        for naming, order in NAMINGS
    ],
)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def table(values, ids):
    return pd.DataFrame(values, index=pd.Index(ids, name="qid"), columns=list("abcd"))


# The first of a kind by day with every naming, all others with texts in no order alone.
FIRST = {type(each): name for name, each in reversed(OF_ROWS.items())}.values()


def rankers_and_namings():
    for name, estimator in (OF_ROWS | TOGETHER).items():
        for naming, order in NAMINGS:
            by_day = name in FIRST or (naming, order) == ("texts", "shuffled")
            yield pytest.param(
                estimator,
                IDS[naming],
                ORDERS[order],
                id=f"{name}-{naming}, {order}",
                marks=() if by_day else pytest.mark.nightly,
            )


@pytest.mark.slow
@pytest.mark.parametrize(("estimator", "ids", "order"), rankers_and_namings())
def test_rankers(estimator, ids, order):
    ids, y, rows = ids[order], Y[order], table(X[order], ids[order])
    takes_groups = isinstance(estimator, GridSearchCV)
    by_index = clone(estimator).fit(rows, y, **{"groups": ids} if takes_groups else {})
    by_groups = clone(estimator)
    if not takes_groups:
        plain = rows.reset_index(drop=True)
        expected = by_groups.fit(plain, y, groups=ids).predict(plain, groups=ids)
        np.testing.assert_array_equal(by_index.predict(rows), expected)
        np.testing.assert_array_equal(by_index.predict(rows, groups=ids), expected)
    assert np.isfinite(by_index.score(rows, pd.Series(y, index=rows.index)))


@every_naming
@pytest.mark.parametrize("case", OF_SCORES.values(), ids=OF_SCORES)
def test_thresholds_and_selectors(case, ids, order):
    ids = ids[order]
    index = pd.Index(ids, name="qid")
    if case.kind == "documents":
        fitted = clone(case.estimator).fit(list(map(str, NOISE)), groups=ids, prior=NOISE**2)
        assert np.sort(fitted.ranking_)[0] == 1
        return
    scores, y = pd.Series(Y + NOISE, index=QUERY).to_numpy()[order], Y[order].astype(float)
    rows = pd.Series(scores, index=index)
    by_index = clone(case.estimator).fit(rows, y)
    by_groups = clone(case.estimator).fit(rows.reset_index(drop=True), y, groups=ids)
    shown = by_groups.predict(rows.reset_index(drop=True), groups=ids)
    np.testing.assert_array_equal(by_index.predict(rows), shown)
    np.testing.assert_array_equal(by_index.predict(rows, groups=ids), shown)


def cycled(value):
    """Arguments of six rows, as of all rows."""
    if isinstance(value, dict):
        return {name: cycled(each) for name, each in value.items()}
    return (
        [value[row % 6] for row in range(len(Y))] if isinstance(value, list | pd.Series) else value
    )


OF_LABELS = [
    path for path in public_functions() if {"y_true", "groups"} <= valid_arguments(path).keys()
]


@pytest.mark.slow
@pytest.mark.parametrize("path", OF_LABELS)
def test_functions_of_labels(path):
    given = valid_arguments(path)
    of_rows = {
        name: cycled(value)
        for name, value in given.items()
        if name.startswith(("y_", "pooled", "inclusion", "ties"))
    }
    groups = IDS["texts"][ORDERS["shuffled"]]
    of_rows["y_true"] = pd.Series(of_rows["y_true"], index=pd.Index(groups, name="qid"))
    by_index = call(path, **of_rows, groups=None)
    by_both = call(path, **of_rows, groups=groups)
    assert repr(by_index) == repr(by_both)


@every_naming
def test_sets_to_stop_early_by_and_a_difference_of_scores(ids, order):
    rows, y = table(X[order], ids[order]), Y[order]
    ranker = QueryRanker(CASES["RankAndFilter of a ranker"].estimator.estimator)
    model = RankAndFilter(QueryRanker(ranker), 0.0)
    model.fit(rows, y, eval_set=(rows, y), eval_groups=ids[order])
    assert np.isfinite(score_difference(model, rows, 0, 1).difference)
