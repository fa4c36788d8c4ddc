"""Check that a value for a held-out query does not depend on a model fitted on this query."""

import warnings
from collections.abc import Mapping

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from skfilterrank.exceptions import SkfilterrankWarning

_N_DOCUMENTS = 6
# Largest number of queries whose labels are changed, one query at a time.
_N_TURNED = 20
# Columns of X: a score that is correlated with the label, the number of the query, and the label.
_SCORE, _QUERY, _LABEL = range(3)


class Canary(RegressorMixin, BaseEstimator):
    """Regressor that ranks rows by their labels if it knows these, to reveal leaks.

    `knows` is "nothing", "queries of fit" or "everything". Rows with known labels get the scores
    from the first column of X, sorted by label. Their mean and spread stay the same, so that a
    common scaling of the scores of folds is not reported as a leak.
    """

    def __init__(self, knows="nothing"):
        self.knows = knows

    def fit(self, X, y):
        """Store the queries of the training rows."""
        X, y = validate_data(self, X, y, y_numeric=True)
        self.queries_ = np.unique(X[:, _QUERY])
        return self

    def predict(self, X):
        """Return the first column of X; rows with known labels are sorted by label."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        scores = X[:, _SCORE].copy()
        if self.knows == "everything":
            known = np.arange(len(X))
        elif self.knows == "queries of fit":
            known = np.flatnonzero(np.isin(X[:, _QUERY], self.queries_))
        else:
            return scores
        order = np.lexsort((scores[known], X[known, _LABEL]))
        scores[known[order]] = np.sort(scores[known])
        return scores


def check_no_leak(held_out, *, n_queries=20):
    """Check that no value of a held-out query comes from a model that has seen this query.

    ``held_out(estimator, X, y, groups)`` runs the code to check around a clone of the given
    regressor. It returns a number, an array, a Series, a DataFrame, or a dict, list or tuple of
    these. An array with one entry per row has the values of the rows.

    It is called with an estimator that scores by its first feature alone, with one that remembers
    the labels of the queries of its fit (a value that differs comes from a model that was fitted on
    the query), and with one that knows all labels (no value differs: nothing is checked). Values of
    rows must also stay if labels of their own query change: this finds a threshold of all queries.
    """
    rng = np.random.default_rng(0)
    X, y, groups = _rows(n_queries, rng)
    plain = _asked(held_out, Canary(), X, y, groups)
    again = _asked(held_out, Canary(), X, y, groups)
    assert not _different(plain, again), "other values when called again"
    remembered = _asked(held_out, Canary("queries of fit"), X, y, groups)
    found = _different(plain, remembered)
    assert not found, f"{found} changes if the estimator remembers the queries of its fit"
    _check_own_labels(held_out, plain, X, y, groups, rng)
    known = _asked(held_out, Canary("everything"), X, y, groups)
    assert _different(plain, known), "no value changes if the estimator knows all labels"


def _check_own_labels(held_out, plain, X, y, groups, rng):
    """Check that values of rows do not change with the labels of their own query."""
    of_rows = [name for name, values in plain.items() if values.shape[:1] == y.shape]
    queries = np.unique(groups)
    drawn = rng.choice(queries, min(_N_TURNED, len(queries)), replace=False) if of_rows else ()
    for query in drawn:
        own = np.flatnonzero(groups == query)
        by_score = own[np.argsort(X[own, _SCORE])]
        # One document keeps the opposite label, because measures may need good and forbidden ones.
        for other, but, label in ((2.0, by_score[-1], -1.0), (-1.0, by_score[0], 2.0)):
            turned = y.copy()
            turned[own] = other
            turned[but] = label
            changed = _asked(held_out, Canary(), X, turned, groups)
            for name in of_rows:
                assert _are_same(plain[name][own], changed[name][own]), (
                    f"{name} of query {query} changes with the labels of its own query"
                )


def _rows(n_queries, rng):
    """Draw X, y and groups, with the rows of the queries in mixed order."""
    groups = rng.permutation(np.repeat(np.arange(n_queries), _N_DOCUMENTS))
    y = np.empty(len(groups))
    for query in range(n_queries):
        # Each query has a forbidden and a good document, so that all measures are defined.
        others = rng.choice([-1.0, 0.0, 1.0, 2.0], _N_DOCUMENTS - 2)
        y[groups == query] = rng.permutation(np.append(others, [-1.0, 2.0]))
    X = np.column_stack([y + rng.normal(0.0, 1.5, len(y)), groups, y])
    return X, y, groups


def _asked(held_out, estimator, X, y, groups):
    """Call `held_out`, and return its values as arrays by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkfilterrankWarning)
        return dict(_flat(held_out(estimator, X.copy(), y.copy(), groups.copy()), "value"))


def _flat(value, name):
    """Yield (name, array) for each number or array in a returned value, at any depth."""
    if isinstance(value, pd.DataFrame | Mapping):
        for key, each in value.items():
            yield from _flat(each, f"{name} {key}")
    elif isinstance(value, list | tuple):
        for number, each in enumerate(value):
            yield from _flat(each, f"{name} {number}")
    else:
        yield name, np.asarray(value, dtype=np.float64)


def _different(plain, found):
    """Return the names of the values that differ."""
    return [name for name, values in plain.items() if not _are_same(values, found[name])]


def _are_same(values, others):
    """Return True if values differ by no more than rounding."""
    return values.shape == others.shape and np.allclose(
        values, others, rtol=1e-7, atol=1e-9, equal_nan=True
    )
