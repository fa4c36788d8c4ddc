"""Arguments whose rows are queries in another order are refused, wherever rows are taken."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from all_estimators import CASES, DATA, quietly
from public_calls import FEATURES, GROUPS, LABELS, SCORES, call, public_functions, valid_arguments
from skfilterrank import plot
from skfilterrank.exceptions import InputError
from skfilterrank.judgments import PriorSelector
from skfilterrank.metrics import make_ranking_scorer
from skfilterrank.ranking import QueryScaler, RankAndFilter
from skfilterrank.thresholds import RiskMonitor, TunedThreshold
from thinned import thinned

# Arguments with an entry for each row, whose index may hold query ids.
ROWS = ("y_true", "y_score", "y_score_a", "y_score_b", "y_scores", "systems", "X", "y")
ESTIMATORS = [name for name, case in CASES.items() if case.kind == "rows"]


def with_ids(values, ids):
    """Give each column or table of an argument an index of query ids."""
    if isinstance(values, dict):
        return {name: with_ids(column, ids) for name, column in values.items()}
    index = pd.Index(ids, name="qid")
    kind = pd.Series if np.ndim(values) == 1 else pd.DataFrame
    if isinstance(values, pd.DataFrame):
        return values.set_index(index)
    return kind(np.asarray(values), index=index)


def carriers():
    """Yield each public function that takes query ids, and each argument that may hold them."""
    for path, function in public_functions().items():
        names = inspect.signature(function).parameters
        if "groups" in names:
            for name in ROWS:
                if name in names:
                    yield path, name


@pytest.mark.slow
@pytest.mark.parametrize(("path", "name"), thinned(carriers(), parts=2))
def test_functions(path, name):
    values = valid_arguments(path)[name]
    ids = GROUPS
    with warnings.catch_warnings(action="ignore"):
        call(path, **{name: with_ids(values, ids), "groups": ids})
        with pytest.raises(InputError, match="name different queries in 6 of 6 rows"):
            call(path, **{name: with_ids(values, ids[::-1]), "groups": ids})


def frames(case):
    """Return X, y and query ids of an estimator's data, all queries of one size."""
    (X, y), params = DATA[case.kind][0].args, DATA[case.kind][0].kwargs
    ids = np.array([f"q{number}" for number in params["groups"]])
    return with_ids(X, ids), with_ids(y, ids), ids


def refuses(method, *args, **kwargs):
    """Check that a call is refused for its order of rows."""
    with pytest.raises(InputError, match=r"name different queries in \d+ of \d+ rows, the first"):
        quietly(method, *args, **kwargs)


def methods(estimator):
    """Yield the fitted methods that take rows and query ids."""
    for name, method in inspect.getmembers(estimator, inspect.ismethod):
        if (
            not name.startswith(("_", "set_", "fit"))
            and "groups" in inspect.signature(method).parameters
        ):
            yield method, "y" in inspect.signature(method).parameters


@pytest.mark.slow
@pytest.mark.parametrize("name", thinned(ESTIMATORS, parts=2))
def test_estimators(name):
    X, y, ids = frames(CASES[name])
    model = quietly(CASES[name].estimator.fit, X, y, groups=ids)
    refuses(model.fit, X, y[::-1])
    refuses(model.fit, X.reset_index(drop=True), y, groups=ids[::-1])
    refuses(model.fit, X, y.to_numpy(), groups=ids[::-1])
    if "eval_set" in inspect.signature(model.fit).parameters:
        refuses(model.fit, X, y, eval_set=[(X, y[::-1])])
        refuses(model.fit, X, y, eval_set=[(X, y)], eval_groups=[ids[::-1]])
    found = list(methods(model))
    assert len(found) >= 2
    for method, takes_y in found:
        refuses(method, X, *([y] if takes_y else []), groups=ids[::-1])
        if takes_y:
            refuses(method, X, y[::-1])


CURVE = TunedThreshold().fit(SCORES, LABELS, groups=GROUPS)
LINEAR = LinearRegression().fit(FEATURES, LABELS)
SCORE_ROWS = {"y_true": LABELS, "y_score": SCORES}
# Calls of an argument with an entry for each row, by name, of which one holds the query ids.
OTHERS = {
    "make_ranking_scorer": (
        lambda X, y, groups: make_ranking_scorer("ap")(LINEAR, X, y, groups=groups),
        {"X": FEATURES, "y": LABELS},
    ),
    "make_ranking_scorer of several": (
        lambda X, y, groups: make_ranking_scorer(["ap"])(LINEAR, X, y, groups=groups),
        {"X": FEATURES, "y": LABELS},
    ),
    "ThresholdCurveDisplay.from_estimator": (
        lambda X, y, groups: plot.ThresholdCurveDisplay.from_estimator(CURVE, X, y, groups=groups),
        {"X": SCORES, "y": LABELS},
    ),
    "RiskMonitor": (
        lambda y_true, y_score, groups: RiskMonitor({"any_forbidden": 0.05}).update(
            y_true, y_score, groups=groups
        ),
        SCORE_ROWS,
    ),
    "QueryScaler.fit_transform": (QueryScaler().fit_transform, {"X": FEATURES, "y": LABELS}),
    "QueryScaler.transform": (QueryScaler().fit(FEATURES).transform, {"X": FEATURES}),
    "PriorSelector": (
        lambda X, prior, groups: PriorSelector().fit(X, prior=prior, groups=groups),
        {"X": FEATURES, "prior": SCORES},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "argument"), [(name, each) for name, (_, rows) in OTHERS.items() for each in rows]
)
def test_everything_else(name, argument):
    function, rows = OTHERS[name]
    function(**rows | {argument: with_ids(rows[argument], GROUPS)}, groups=GROUPS)
    wrong = with_ids(rows[argument], GROUPS[::-1])
    refuses(function, **rows | {argument: wrong}, groups=GROUPS)


def test_other_names_of_the_same_queries():
    y = with_ids(LABELS, GROUPS)
    expected = call("metrics.ndcg_f_score")
    for codes in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0], list("bbbxxx")):
        assert call("metrics.ndcg_f_score", y_true=y, groups=codes) == expected
    X, y = with_ids(FEATURES, [1, 1, 1, 2, 2, 2]), with_ids(LABELS, list("111222"))
    RankAndFilter(LINEAR, threshold=None).fit(X, y)


def test_documents_of_a_query_in_another_order():
    index = pd.MultiIndex.from_arrays([GROUPS, list("uvwxyz")], names=["qid", "docno"])
    X, y = pd.DataFrame(FEATURES, index=index), pd.Series(LABELS, index=index)
    model = RankAndFilter(LinearRegression(), threshold=None)
    model.fit(X, y)
    moved = y.iloc[[1, 0, 2, 3, 4, 5]]
    with pytest.raises(InputError, match=r"order \(in row 0: \('a', 'u'\) and \('a', 'v'\)\), and"):
        model.fit(X, moved)
    model.fit(X, moved.loc[X.index])


def test_labels_of_other_queries():
    X, y = with_ids(FEATURES, list("aaabbb")), with_ids(LABELS, list("cccddd"))
    refuses(RankAndFilter(LINEAR, threshold=None).fit, X, y)
