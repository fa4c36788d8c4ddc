"""Whether values that are said to be held out come from models that have seen their queries."""

import warnings
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from skfilterrank._core.checks import check_count, check_random_state
from skfilterrank.exceptions import InputError, SkfilterrankWarning, brief

_N_DOCUMENTS = 6
# Queries whose labels are turned round, one at a time.
_N_TURNED = 3
# Columns of X: a score that tells a little, the number of the query, and the label.
_SCORE, _QUERY, _LABEL = range(3)


class Canary(RegressorMixin, BaseEstimator):
    """An estimator that ranks the rows of some queries by their labels.

    The scores of these rows are those of the first column of X in another order, so that their mean
    and their spread stay the same.

    Parameters
    ----------
    knows : {"nothing", "queries of fit", "everything"}
        Whose labels it knows, which `X` has in its third column; the second has their queries.
    """

    def __init__(self, knows="nothing"):
        self.knows = knows

    def fit(self, X, y):
        """Remember the queries of the rows."""
        X, y = validate_data(self, X, y, y_numeric=True)
        self.queries_ = np.unique(X[:, _QUERY])
        return self

    def predict(self, X):
        """The first column, in the order of the labels where it knows them."""
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


def check_no_leak(held_out: Callable, *, n_queries: int = 20, random_state=0) -> None:
    """Check that no value of a held-out query comes from a model that has seen this query.

    Parameters
    ----------
    held_out : callable
        ``held_out(estimator, X, y, groups)`` puts a clone of the estimator, a regressor, into
        whatever is to be checked, and returns what is said to be held out or out of fold: a number,
        an array, a Series, a DataFrame, or a dict, list or tuple of such. It must give the same
        whenever it is called with the same arguments: set each `random_state`.
    n_queries : int, default=20
        Number of queries, at least 4, of 6 documents each.
    random_state : int, RandomState instance or None, default=0
        Seed of the rows.

    Raises
    ------
    AssertionError
        If values change where the estimator remembers the labels of the queries that it was fitted
        on; if the value of a row changes with the labels of its own query; or if no value changes
        where the estimator knows all labels, since nothing is checked then.
    ValueError
        If `held_out` is no function or returns what are no numbers, or `n_queries` is below 4.

    See Also
    --------
    check_ranker : What else holds of all rankers.

    Notes
    -----
    `held_out` is called with three estimators, which score a row by its first feature. One knows
    nothing else. One remembers the queries of `fit`, and ranks the documents of those by their
    labels: if its held-out values differ from those of the first, a model was asked about a query
    that it was fitted on. One knows all labels: if all its values are those of the first, too, they
    do not depend on the estimator. All give a set of rows of whole queries the same mean and spread
    of scores, so that bringing the scores of folds to one scale is no leak.

    What has a value for each row, in an array of that length, is tried with the labels of one query
    turned round, too: its own values must stay the same. So a threshold that was learned from the
    labels of the query that it filters is found. In a mean over queries such a threshold cannot be
    told from the labels that the mean itself is of: return the values of each row where there are
    any.

    Labels are -1, 0, 1 and 2. Warnings of the library are not shown.

    Examples
    --------
    >>> from skfilterrank.ranking import RankAndFilter
    >>> from skfilterrank.testing import check_no_leak
    >>> def with_five_folds(estimator, X, y, groups):
    ...     return RankAndFilter(estimator, cv=5).fit(X, y, groups=groups).held_out_score_
    >>> check_no_leak(with_five_folds)

    A score of the rows that the model was fitted on is no held-out score:

    >>> def in_sample(estimator, X, y, groups):
    ...     return RankAndFilter(estimator, cv=5).fit(X, y, groups=groups).score(X, y, groups)
    >>> check_no_leak(in_sample)
    Traceback (most recent call last):
        ...
    AssertionError: a value is ... where the estimator remembers the queries of its fit, and ...
    """
    if not callable(held_out) or isinstance(held_out, type):
        raise InputError(
            f"held_out must be a function of an estimator, X, y and groups, got {brief(held_out)}."
        )
    n_queries = check_count(n_queries, "n_queries", least=4)
    X, y, groups = _rows(n_queries, random_state)
    plain = _asked(held_out, Canary(), X, y, groups)
    remembered = _asked(held_out, Canary("queries of fit"), X, y, groups)
    for name, values in plain.items():
        row = _first_other(values, remembered.get(name, np.empty(0)))
        if row is not None:
            there = remembered[name].ravel()[row] if name in remembered else np.nan
            raise AssertionError(
                f"{name} is {there:.6g} where the estimator remembers the queries of its fit, and "
                f"{values.ravel()[row]:.6g} where it does not: it comes from a model that was "
                "fitted on the query. Split whole queries, such as by GroupKFold with groups, and "
                "score each by a model of the others."
            )
    _check_own_labels(held_out, plain, X, y, groups)
    known = _asked(held_out, Canary("everything"), X, y, groups)
    if all(
        _first_other(values, known.get(name, np.empty(0))) is None for name, values in plain.items()
    ):
        raise AssertionError(
            f"{', '.join(plain)}: no value changes where the estimator knows all labels, so that "
            "nothing is checked. Hand the estimator on, and return what depends on its scores."
        )


def _check_own_labels(held_out, plain, X, y, groups):
    """Raise where the values of a query's rows change with its own labels."""
    of_rows = [name for name, values in plain.items() if values.shape == y.shape]
    if not of_rows:
        return
    for query in np.unique(groups)[:_N_TURNED]:
        own = groups == query
        turned = y.copy()
        turned[own] = y.min() + y.max() - y[own]
        changed = _asked(held_out, Canary(), X, turned, groups)
        for name in of_rows:
            if _first_other(plain[name][own], changed[name][own]) is not None:
                raise AssertionError(
                    f"{name} of the rows of query {query} changes with the labels of query "
                    f"{query}: something is learned from them, such as a threshold. Learn it from "
                    "other queries."
                )


def _rows(n_queries, random_state):
    """Features, labels and queries; a query's rows stand apart."""
    rng = check_random_state(random_state)
    groups = rng.permutation(np.repeat(np.arange(n_queries), _N_DOCUMENTS))
    y = np.empty(len(groups))
    for query in range(n_queries):
        # Each query has forbidden and good documents, so that all measures have a value.
        others = rng.choice([-1.0, 0.0, 1.0, 2.0], _N_DOCUMENTS - 2)
        y[groups == query] = rng.permutation(np.append(others, [-1.0, 2.0]))
    X = np.column_stack([y + rng.normal(0.0, 1.5, len(y)), groups, y])
    return X, y, groups


def _asked(held_out, estimator, X, y, groups) -> dict[str, np.ndarray]:
    """What a function returns, as arrays by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkfilterrankWarning)
        returned = held_out(estimator, X.copy(), y.copy(), groups.copy())
    found: dict[str, np.ndarray] = {}
    _collect(returned, "a value", found)
    if not found:
        raise InputError(f"held_out must return numbers, got {brief(returned)}.")
    return found


def _collect(value, name, found):
    """Add the numbers of a value to those that were found."""
    if isinstance(value, pd.DataFrame):
        value = {column: value[column] for column in value}
    if isinstance(value, Mapping):
        for key, each in value.items():
            _collect(each, str(key), found)
        return
    try:
        found[name] = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        if not isinstance(value, list | tuple):
            raise InputError(
                f"held_out must return numbers, arrays of them, or a dict of such, got "
                f"{brief(value)} as {name}."
            ) from None
        for number, each in enumerate(value):
            _collect(each, f"{name}[{number}]", found)


def _first_other(values, others):
    """Place of the first value that differs by more than rounding, None where none does."""
    if values.shape != others.shape:
        return 0
    is_other = ~np.isclose(values, others, rtol=1e-7, atol=1e-9, equal_nan=True).ravel()
    return int(is_other.argmax()) if is_other.any() else None
