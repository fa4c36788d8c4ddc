"""The check that held-out values come from models that have not seen their queries."""

import warnings
from collections.abc import Callable, Mapping
from numbers import Number

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from skfilterrank._lists.checks import check_count, check_random_state
from skfilterrank.exceptions import InputError, SkfilterrankWarning, brief

_N_DOCUMENTS = 6
# Queries whose labels are turned, one at a time, at most.
_N_TURNED = 20
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
        if X.shape[1] <= _LABEL:
            raise InputError(
                f"the estimator of check_no_leak needs all {_LABEL + 1} columns of X, got "
                f"{X.shape[1]}: put no selection of columns before it."
            )
        self.queries_ = np.unique(X[:, _QUERY])
        return self

    def predict(self, X):
        """Return the first column, in the order of the labels where it knows them."""
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


def check_no_leak(held_out: Callable, *, n_queries: int = 20, random_state=None) -> None:
    """Check that no value of a held-out query comes from a model that has seen this query.

    Parameters
    ----------
    held_out : callable
        ``held_out(estimator, X, y, groups)`` puts a clone of the estimator, a regressor, into
        whatever is to be checked, and returns what is said to be held out or out of fold: a number,
        an array, a Series, a DataFrame, or a dict, list or tuple of such. Values of rows are one
        for each row, in the order of the rows, or a Series or DataFrame with the numbers of all
        rows as index. It must give the same whenever it is called with the same arguments: set
        each `random_state`.
    n_queries : int, default=20
        Number of queries, at least 4, of 6 documents each.
    random_state : int, RandomState instance or None, default=None
        Seed of the rows. Pass an int for the same rows in every call.

    Raises
    ------
    AssertionError
        If values change where the estimator remembers the labels of the queries that it was fitted
        on; if the value of a row changes with the labels of its own query; or if no value changes
        where the estimator knows all labels, since nothing is checked then.
    ValueError
        If `held_out` is no function, returns what are no numbers, or the values of some rows
        alone, gives other values when it is called again, or hands fewer columns
        on than it got; or if `n_queries` is below 4.

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

    What has values of rows is called again with the labels of one query turned, for up to 20
    queries drawn, in two ways: all its documents good but the best scored, and all forbidden but
    the worst scored. Its own values must stay the same. So a threshold that was learned from all
    queries is found.

    What is not found: a number that was learned from the labels of the query and moves for none of
    the queries that were turned, such as a median of many labels, or a threshold of a coarse grid;
    the more queries, the less one of them moves it, so leave `n_queries` low. A threshold in a mean
    over queries, which cannot be told from the labels that the mean itself is of: return the
    values of rows where there are any. What is learned from features alone. And a model other than
    the estimator that is handed on, if only a mean is returned.

    An array of some rows only is an error, since nothing says whose they are; set the others to
    NaN. It is told by its length, a multiple of the 6 documents of a query, and by being longer
    than the number of queries or made of scores. What is that long by chance, such as a curve,
    goes in as an array of one row, ``values[np.newaxis]``.

    Labels are -1, 0, 1 and 2. Warnings of the library are not shown.

    Examples
    --------
    >>> from skfilterrank.ranking import RankAndFilter
    >>> from skfilterrank.testing import check_no_leak
    >>> def with_five_folds(estimator, X, y, groups):
    ...     return RankAndFilter(estimator, cv=5).fit(X, y, groups=groups).held_out_score_
    >>> check_no_leak(with_five_folds, random_state=0)

    A score of the rows that the model was fitted on is no held-out score:

    >>> def in_sample(estimator, X, y, groups):
    ...     return RankAndFilter(estimator, cv=5).fit(X, y, groups=groups).score(X, y, groups)
    >>> check_no_leak(in_sample, random_state=0)
    Traceback (most recent call last):
        ...
    AssertionError: a value is ... where the estimator remembers the queries of its fit, and ...

    So is a threshold of all queries, their own among them, which one query moves:

    >>> from sklearn.model_selection import GroupKFold, cross_val_predict
    >>> def above_the_forbidden(estimator, X, y, groups):
    ...     scores = cross_val_predict(estimator, X, y, groups=groups, cv=GroupKFold(5))
    ...     return scores - scores[y < 0].mean()
    >>> check_no_leak(above_the_forbidden, random_state=0)
    Traceback (most recent call last):
        ...
    AssertionError: a value of row ... changes with the labels of its own query 0: something is ...
    """
    if not callable(held_out) or isinstance(held_out, type):
        raise InputError(
            f"held_out must be a function of an estimator, X, y and groups, got {brief(held_out)}."
        )
    n_queries = check_count(n_queries, "n_queries", least=4)
    rng = check_random_state(random_state)
    X, y, groups = _rows(n_queries, rng)
    plain = _asked(held_out, Canary(), X, y, groups)
    again = _asked(held_out, Canary(), X, y, groups)
    if found := _first_difference(plain, again) or _first_difference(again, plain):
        raise InputError(
            f"held_out is not repeatable: {_named(*found, groups)} differs between two calls with "
            "the same arguments. Set random_state where it draws."
        )
    remembered = _asked(held_out, Canary("queries of fit"), X, y, groups)
    if found := _first_difference(plain, remembered):
        name, values, place = found
        there = remembered[name].ravel()[place] if name in remembered else np.nan
        raise AssertionError(
            f"{_named(*found, groups)} is {there:.6g} where the estimator remembers the queries of "
            f"its fit, and {values.ravel()[place]:.6g} where it does not: it comes from a model "
            "that was fitted on the query. Split whole queries, such as by GroupKFold with groups, "
            "and score each by a model of the others."
        )
    _check_own_labels(held_out, plain, X, y, groups, rng)
    known = _asked(held_out, Canary("everything"), X, y, groups)
    if not _first_difference(plain, known):
        raise AssertionError(
            f"{', '.join(plain)}: no value changes where the estimator knows all labels, so that "
            "nothing is checked. Hand the estimator on, and return what depends on its scores."
        )


def _check_own_labels(held_out, plain, X, y, groups, rng):
    """Raise an error where the values of a query's rows change with its own labels."""
    of_rows = [name for name, values in plain.items() if values.shape[:1] == y.shape]
    if not of_rows:
        return
    queries = np.unique(groups)
    drawn = rng.choice(queries, min(_N_TURNED, len(queries)), replace=False)
    for query in np.sort(drawn):
        own = np.flatnonzero(groups == query)
        by_score = own[np.argsort(X[own, _SCORE])]
        # Both leave a forbidden and a good document, which measures may need.
        for other, but, label in ((2.0, by_score[-1], -1.0), (-1.0, by_score[0], 2.0)):
            turned = y.copy()
            turned[own] = other
            turned[but] = label
            changed = _asked(held_out, Canary(), X, turned, groups)
            for name in of_rows:
                values, others = plain[name], changed.get(name, np.empty(0))
                rows = own if values.shape == others.shape else ...
                place = _first_other(values[rows], others[rows])
                if place is not None:
                    row = np.arange(len(y))[rows][_row_of(values[rows], place)]
                    raise AssertionError(
                        f"{name} of row {row} changes with the labels of its own query {query}: "
                        "something is learned from them, such as a threshold. Learn it from other "
                        "queries."
                    )


def _named(name, values, place, groups):
    """Name a value, with its row and query where it has one."""
    if not values.ndim or not values.size:
        return name
    if values.shape[:1] == groups.shape:
        row = _row_of(values, place)
        return f"{name} of row {row} (query {groups[row]})"
    where = ", ".join(str(at) for at in np.unravel_index(place, values.shape))
    return f"{name}[{where}]"


def _row_of(values, place):
    """Find the row of a value, in an array with one or more columns."""
    return place // max(1, values.size // len(values))


def _rows(n_queries, rng):
    """Draw features, labels and queries in mixed order."""
    groups = rng.permutation(np.repeat(np.arange(n_queries), _N_DOCUMENTS))
    y = np.empty(len(groups))
    for query in range(n_queries):
        # Each query has forbidden and good documents, so that all measures have a value.
        others = rng.choice([-1.0, 0.0, 1.0, 2.0], _N_DOCUMENTS - 2)
        y[groups == query] = rng.permutation(np.append(others, [-1.0, 2.0]))
    X = np.column_stack([y + rng.normal(0.0, 1.5, len(y)), groups, y])
    return X, y, groups


def _asked(held_out, estimator, X, y, groups) -> dict[str, np.ndarray]:
    """Call the function, and return its values as arrays by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkfilterrankWarning)
        returned = held_out(estimator, X.copy(), y.copy(), groups.copy())
    found = dict(_flat(returned, "a value", len(y)))
    if not found:
        raise InputError(f"held_out must return numbers, got {brief(returned)}.")
    for name, values in found.items():
        if _are_some_rows(values, X[:, _SCORE], len(np.unique(groups))):
            raise InputError(
                f"held_out must return one value for each of the {len(y)} rows, in the order of "
                "the rows, or a Series with the numbers of all rows as index, or a number such as "
                f"a mean; got {len(values)} values as {name}. If they are no values of rows, "
                "return values[np.newaxis]."
            )
    return found


def _flat(value, name, n_rows):
    """Yield the name of each number or array in a value, and it as an array."""
    if isinstance(value, pd.DataFrame):
        value = {column: value[column] for column in value}
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _flat(each, str(key), n_rows)
    elif isinstance(value, list | tuple) and not _is_plain(value):
        for number, each in enumerate(value):
            yield from _flat(each, f"{name}[{number}]", n_rows)
    else:
        # The numbers of all rows as index tell their order.
        if isinstance(value, pd.Series) and set(value.index) == set(range(n_rows)):
            value = value.sort_index()
        try:
            yield name, np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(
                f"held_out must return numbers, arrays of them, or a dict of such, got "
                f"{brief(value)} as {name}."
            ) from None


def _is_plain(values):
    """Tell whether a list holds numbers alone."""
    return bool(values) and all(isinstance(each, Number) for each in values)


def _are_some_rows(values, scores, n_queries):
    """Tell whether values seem to be of the rows of some queries."""
    if not values.ndim or len(values) == len(scores):
        return False
    if not len(values) or len(values) % _N_DOCUMENTS or len(values) == n_queries:
        return False
    return len(values) > n_queries or np.isin(values, scores).mean() >= 0.5


def _first_difference(plain, found) -> tuple[str, np.ndarray, int] | None:
    """Find the first of the plain values that another call does not give: name, values, place."""
    for name, values in plain.items():
        place = _first_other(values, found.get(name, np.empty(0)))
        if place is not None:
            return name, values, place
    return None


def _first_other(values, others):
    """Find the first value that differs by more than rounding; None if there is none."""
    if values.shape != others.shape:
        return 0
    is_other = ~np.isclose(values, others, rtol=1e-7, atol=1e-9, equal_nan=True).ravel()
    return int(is_other.argmax()) if is_other.any() else None
