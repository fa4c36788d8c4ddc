"""The check of held-out values finds each kind of leak, and says what it found."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.model_selection import GroupKFold, KFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from skfilterrank.exceptions import InputError
from skfilterrank.testing import check_no_leak


def out_of_fold(estimator, X, y, groups):
    return cross_val_predict(estimator, X, y, groups=groups, cv=GroupKFold(4))


def by_rows(estimator, X, y, groups):
    return cross_val_predict(estimator, X, y, cv=KFold(4, shuffle=True, random_state=0))


def one_query_too_many(estimator, X, y, groups):
    """One query of the first fold is learned from, too."""
    scores = out_of_fold(estimator, X, y, groups)
    train, test = next(GroupKFold(4).split(X, y, groups))
    also = np.append(train, test[groups[test] == groups[test[0]]])
    scores[test] = clone(estimator).fit(X[also], y[also]).predict(X[test])
    return scores


def with_a_threshold_of_its_own_labels(estimator, X, y, groups):
    scores = out_of_fold(estimator, X, y, groups)
    lowest = pd.Series(np.where(y > 0, scores, np.inf)).groupby(groups).transform("min")
    return np.where(scores >= lowest, scores, -np.inf)


def with_a_threshold_of_all_queries(estimator, X, y, groups):
    """The cut with the best F1 over all rows."""
    scores = out_of_fold(estimator, X, y, groups)
    order = np.argsort(-scores)
    good = y[order] > 0
    f1 = 2 * np.cumsum(good) / (np.arange(1, y.size + 1) + good.sum())
    return np.where(scores >= scores[order][f1.argmax()], scores, -np.inf)


def of_labels_alone(estimator, X, y, groups):
    return {"mean": y.mean()}


@pytest.mark.slow
def test_sound_values_pass_in_any_form():
    def in_all_forms(estimator, X, y, groups):
        scores = out_of_fold(estimator, X, y, groups)
        table = pd.DataFrame({"score": scores, "twice": 2 * scores})
        return {"table": table, "pair": (scores.mean(), [scores.std()]), "nothing": y.size}

    check_no_leak(in_all_forms, random_state=0)
    check_no_leak(out_of_fold, n_queries=4, random_state=3)


@pytest.mark.parametrize(
    ("held_out", "message"),
    [
        (
            by_rows,
            r"a value of row 0 \(query 8\) is .* if the estimator remembers the queries of",
        ),
        (
            one_query_too_many,
            r"a value of row \d+ \(query \d+\) is .* if the estimator remembers",
        ),
        (with_a_threshold_of_its_own_labels, r"a value of row \d+ changes with .* own query 0"),
        (of_labels_alone, "mean: no value changes if the estimator knows all labels"),
        (lambda *of: {"a": by_rows(*of), "b": 1.0}, "^a of row 0 "),
        (lambda *of: [1.0, {"in": by_rows(*of) @ of[2]}], "^in is "),
    ],
)
def test_leaks_are_named(held_out, message):
    with pytest.raises(AssertionError, match=message):
        check_no_leak(held_out, random_state=0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"held_out": 3},
            "held_out must be a function that takes an estimator, X, y and groups, got 3",
        ),
        ({"held_out": lambda *of: "good"}, "held_out must return numbers"),
        ({"held_out": lambda *of: {}}, "held_out must return numbers, got {}"),
        ({"held_out": out_of_fold, "n_queries": 3}, "n_queries must be a whole number from 4 up"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(InputError, match=re.escape(message)):
        check_no_leak(**arguments)


@pytest.mark.parametrize(("n_queries", "seed"), [(8, 0), (20, 1), (60, 0), (60, 1), (60, 2)])
def test_a_threshold_of_all_queries_is_found_among_many(n_queries, seed):
    with pytest.raises(AssertionError, match=r"row \d+ changes with the labels of its own query"):
        check_no_leak(with_a_threshold_of_all_queries, n_queries=n_queries, random_state=seed)


def test_columns_of_rows_are_of_their_queries():
    """The row and the query in the message are those where the value is."""

    def two_columns(estimator, X, y, groups):
        scores = out_of_fold(estimator, X, y, groups)
        own = np.where(groups == 2, y, 0.0)
        own[np.arange(y.size) != np.flatnonzero(groups == 2)[4]] = 0.0
        places.add(np.flatnonzero(groups == 2)[4])
        return np.column_stack([scores, scores + own])

    places = set()
    with pytest.raises(
        AssertionError, match="changes with the labels of its own query 2:"
    ) as found:
        check_no_leak(two_columns, random_state=0)
    assert f"a value of row {places.pop()} changes" in str(found.value)


def held_out_rows(groups):
    return np.flatnonzero(groups % 2 == 0)


def as_series(values):
    """With the numbers of the rows, in another order."""

    def held_out(estimator, X, y, groups):
        rows = np.argsort(groups % 2, kind="stable")[::-1]
        return pd.Series(values(estimator, X, y, groups)[rows], index=rows)

    return held_out


def test_a_series_says_whose_its_values_are():
    check_no_leak(as_series(out_of_fold), random_state=0)
    with pytest.raises(AssertionError, match=r"row \d+ changes with the labels of its own query 0"):
        check_no_leak(as_series(with_a_threshold_of_its_own_labels), random_state=0)

    def one_row(estimator, X, y, groups):
        """Row 4 of query 2 has its own label added."""
        scores = out_of_fold(estimator, X, y, groups)
        row = np.flatnonzero(groups == 2)[4]
        scores[row] += y[row]
        rows.add(row)
        return scores

    rows = set()
    with pytest.raises(AssertionError, match="changes with the labels of its own query 2") as found:
        check_no_leak(as_series(one_row), random_state=0)
    assert f"a value of row {rows.pop()} changes" in str(found.value)


def test_labels_are_turned_to_extremes():
    """What the labels turned round would leave as it is, here the number of middling ones."""

    def of_middling(estimator, X, y, groups):
        middling = pd.Series((y == 0) | (y == 1)).groupby(groups).transform("sum")
        return out_of_fold(estimator, X, y, groups) + middling.to_numpy()

    with pytest.raises(AssertionError, match="changes with the labels of its own query 0"):
        check_no_leak(of_middling, random_state=0)


@pytest.mark.parametrize(
    ("form", "name"),
    [
        (lambda values: values, "a value"),
        (lambda values: pd.Series(values), "a value"),
        (lambda values: {"a": values[:12] - 1.0, "b": values}, "b"),
        (lambda values: [values, values], "a value[0]"),
        (lambda values: values[:12], "a value"),
    ],
)
def test_values_of_some_rows_are_refused(form, name):
    def of_test(estimator, X, y, groups):
        return form(out_of_fold(estimator, X, y, groups)[held_out_rows(groups)])

    expected = "one value for each of the 120 rows, in the order of the rows, or a Series with .* "
    with pytest.raises(InputError, match=expected + rf"got \d+ values as {re.escape(name)}\."):
        check_no_leak(of_test, random_state=0)


def test_values_of_folds_and_queries_and_long_curves_pass():
    def means(estimator, X, y, groups):
        scores = pd.Series(out_of_fold(estimator, X, y, groups))
        curve = np.sort(scores)[np.newaxis, :60]
        of_folds = [scores[groups % 6 == fold].mean() for fold in range(6)]
        return scores.groupby(groups).mean(), np.array(of_folds), curve

    check_no_leak(means, random_state=0)
    check_no_leak(means, n_queries=12, random_state=0)


def test_drawn_values_are_no_leak():
    rng = np.random.default_rng(0)

    def drawn(estimator, X, y, groups):
        return {
            "mean": 1.0,
            "noisy": out_of_fold(estimator, X, y, groups) + rng.normal(size=y.size),
        }

    message = (
        r"same values in each call, but noisy of row 0 \(query \d+\) differs .* Set random_state"
    )
    with pytest.raises(InputError, match=message):
        check_no_leak(drawn, random_state=0)


def test_the_estimator_needs_all_columns():
    def of_best(estimator, X, y, groups):
        return out_of_fold(make_pipeline(SelectKBest(f_regression, k=1), estimator), X, y, groups)

    with pytest.raises(
        InputError, match="needs all 3 columns of X, got 1: remove the step that selects"
    ):
        check_no_leak(of_best, random_state=0)


def test_the_rows_of_a_caller_are_its_own():
    """What a function writes to is no matter of the next call."""

    def writes(estimator, X, y, groups):
        scores = out_of_fold(estimator, X, y, groups)
        X[:], y[:] = 0.0, 0.0
        return scores

    check_no_leak(writes, random_state=0)
