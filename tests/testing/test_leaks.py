"""The check of held-out values finds each kind of leak, and says what it found."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold, cross_val_predict

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


def of_labels_alone(estimator, X, y, groups):
    return {"mean": y.mean()}


def test_sound_values_pass_in_any_form():
    def in_all_forms(estimator, X, y, groups):
        scores = out_of_fold(estimator, X, y, groups)
        table = pd.DataFrame({"score": scores, "twice": 2 * scores})
        return {"table": table, "pair": (scores.mean(), [scores.std()]), "nothing": y.size}

    check_no_leak(in_all_forms)
    check_no_leak(out_of_fold, n_queries=4, random_state=3)


@pytest.mark.parametrize(
    ("held_out", "message"),
    [
        (by_rows, "a value is .* where the estimator remembers the queries of its fit, and"),
        (one_query_too_many, "a value is .* where the estimator remembers the queries of its fit"),
        (with_a_threshold_of_its_own_labels, "a value of the rows of query 0 changes with the"),
        (of_labels_alone, "mean: no value changes where the estimator knows all labels"),
        (lambda *of: {"a": by_rows(*of), "b": 1.0}, "^a is "),
        (lambda *of: [1.0, {"in": by_rows(*of) @ of[2]}], "^in is "),
    ],
)
def test_leaks_are_named(held_out, message):
    with pytest.raises(AssertionError, match=message):
        check_no_leak(held_out)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"held_out": 3}, "held_out must be a function of an estimator, X, y and groups, got 3"),
        ({"held_out": lambda *of: "good"}, "held_out must return numbers"),
        ({"held_out": lambda *of: {}}, "held_out must return numbers, got {}"),
        ({"held_out": out_of_fold, "n_queries": 3}, "n_queries must be a whole number from 4 up"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(InputError, match=re.escape(message)):
        check_no_leak(**arguments)


def test_the_rows_of_a_caller_are_its_own():
    """What a function writes to is no matter of the next call."""

    def writes(estimator, X, y, groups):
        scores = out_of_fold(estimator, X, y, groups)
        X[:], y[:] = 0.0, 0.0
        return scores

    check_no_leak(writes)
