"""Check that a value for a held-out query does not depend on a model fitted on this query."""

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
# Largest number of queries whose labels are changed, one query at a time.
_N_TURNED = 20
# Columns of X: a score that is correlated with the label, the number of the query, and the label.
_SCORE, _QUERY, _LABEL = range(3)


class Canary(RegressorMixin, BaseEstimator):
    """Regressor that ranks rows by their labels if it knows these, to reveal leaks.

    Rows with known labels get the scores from the first column of X, sorted by label. Their mean
    and spread stay the same.

    Parameters
    ----------
    knows : {"nothing", "queries of fit", "everything"}
        Rows whose labels `predict` uses: no rows, rows of queries that `fit` has seen, or all rows.
        X holds the query of each row in its second column and the label in its third.
    """

    def __init__(self, knows="nothing"):
        self.knows = knows

    def fit(self, X, y):
        """Store the queries of the training rows."""
        X, y = validate_data(self, X, y, y_numeric=True)
        if X.shape[1] <= _LABEL:
            raise InputError(
                f"the estimator of check_no_leak needs all {_LABEL + 1} columns of X, got "
                f"{X.shape[1]}: remove the step that selects columns before it."
            )
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


def check_no_leak(held_out: Callable, *, n_queries: int = 20, random_state=None) -> None:
    """Check that no value of a held-out query comes from a model that has seen this query.

    Parameters
    ----------
    held_out : callable
        Function ``held_out(estimator, X, y, groups)`` that runs the code to check. It must use a
        clone of the given estimator, a regressor, as the model, and return held-out (out-of-fold)
        values: a number, an array, a Series, a DataFrame, or a dict, list or tuple of these. Values
        for rows must cover all rows in their order, or be a Series or DataFrame with the numbers of
        all rows as index. Calls with the same arguments must return the same values, so set each
        `random_state`.
    n_queries : int, default=20
        Number of queries, at least 4, of 6 documents each.
    random_state : int, RandomState instance or None, default=None
        Seed of the rows. Pass an int for the same rows in every call.

    Raises
    ------
    AssertionError
        If values change when the estimator remembers the labels of the queries on which it was
        fitted; if the value of a row changes with the labels of its own query; or if no value
        changes when the estimator knows all labels, because nothing is checked then.
    ValueError
        If `held_out` is not a function, does not return numbers, returns values for only some rows,
        returns other values when it is called again, or passes on fewer columns of X than it got;
        or if `n_queries` is below 4.

    See Also
    --------
    check_ranker : Check all other properties of a ranker.

    Notes
    -----
    `held_out` is called with three estimators. All of them score a row by its first feature, with
    these differences:

    - The first estimator uses nothing else.
    - The second estimator remembers the queries of `fit`, and ranks the documents of these queries
      by their labels. If its values differ from those of the first, a model has predicted a query
      on which it was fitted.
    - The third estimator ranks all documents by their labels. If its values do not differ from
      those of the first, the values do not depend on the estimator.

    All three give the documents of a query the same mean and spread of scores, so a common scaling
    of the scores of folds is not reported as a leak.

    If there are values for rows, `held_out` is called again with changed labels of one query, for
    up to 20 random queries. Either all documents of the query become good except the one with the
    highest score, or all become forbidden except the one with the lowest score. The values for rows
    of this query must stay the same. This finds, for example, a threshold that was learned from all
    queries.

    These leaks are not found:

    - A number that was learned from labels of the query, but that a change of one query does not
      move, such as a median of many labels or a threshold from a coarse grid. One query has more
      influence among few queries, so keep `n_queries` low.
    - A threshold that only affects a mean over queries, because the mean depends on the labels
      anyway. Return values for rows if there are any.
    - Anything that was learned from features without labels.
    - A model other than the given estimator, if only a mean is returned.

    Values for only some of the rows are an error, because it is unknown to which rows they belong;
    set the values for other rows to NaN. An array counts as such if its length is a multiple of 6,
    the number of documents per query, and if it is longer than the number of queries or contains
    scores. For another array of such a length, such as a curve, return ``values[np.newaxis]``.

    Labels are -1, 0, 1 and 2. Warnings of the library are not shown.

    Examples
    --------
    >>> from skfilterrank.ranking import RankAndFilter
    >>> from skfilterrank.testing import check_no_leak
    >>> def with_five_folds(estimator, X, y, groups):
    ...     return RankAndFilter(estimator, cv=5).fit(X, y, groups=groups).held_out_score_
    >>> check_no_leak(with_five_folds, random_state=0)

    A score for the rows on which the model was fitted is not a held-out score:

    >>> def in_sample(estimator, X, y, groups):
    ...     return RankAndFilter(estimator, cv=5).fit(X, y, groups=groups).score(X, y, groups)
    >>> check_no_leak(in_sample, random_state=0)
    Traceback (most recent call last):
        ...
    AssertionError: a value is ... if the estimator remembers the queries of its fit, and ...

    A threshold that is learned from all queries depends on the labels of each query, too:

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
            "held_out must be a function that takes an estimator, X, y and groups, got "
            f"{brief(held_out)}."
        )
    n_queries = check_count(n_queries, "n_queries", least=4)
    rng = check_random_state(random_state)
    X, y, groups = _rows(n_queries, rng)
    plain = _asked(held_out, Canary(), X, y, groups)
    again = _asked(held_out, Canary(), X, y, groups)
    if found := _first_difference(plain, again) or _first_difference(again, plain):
        raise InputError(
            f"held_out must return the same values in each call, but {_named(*found, groups)} "
            "differs between two calls with the same arguments. Set random_state in it."
        )
    remembered = _asked(held_out, Canary("queries of fit"), X, y, groups)
    if found := _first_difference(plain, remembered):
        name, values, place = found
        there = remembered[name].ravel()[place] if name in remembered else np.nan
        raise AssertionError(
            f"{_named(*found, groups)} is {there:.6g} if the estimator remembers the queries of "
            f"its fit, and {values.ravel()[place]:.6g} if it does not: it comes from a model that "
            "was fitted on the query. Split by whole queries, for example with GroupKFold and "
            "groups, and score each query with a model of other queries."
        )
    _check_own_labels(held_out, plain, X, y, groups, rng)
    known = _asked(held_out, Canary("everything"), X, y, groups)
    if not _first_difference(plain, known):
        raise AssertionError(
            f"{', '.join(plain)}: no value changes if the estimator knows all labels, so nothing "
            "is checked. Use the given estimator in held_out, and return values that depend on its "
            "scores."
        )


def _check_own_labels(held_out, plain, X, y, groups, rng):
    """Raise an error if a value for a row changes with the labels of its own query.

    `plain` holds the values for the unchanged labels.
    """
    of_rows = [name for name, values in plain.items() if values.shape[:1] == y.shape]
    if not of_rows:
        return
    queries = np.unique(groups)
    drawn = rng.choice(queries, min(_N_TURNED, len(queries)), replace=False)
    for query in np.sort(drawn):
        own = np.flatnonzero(groups == query)
        by_score = own[np.argsort(X[own, _SCORE])]
        # One document keeps the opposite label, because measures may need good and forbidden ones.
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
                        "something is learned from these labels, such as a threshold. Learn it "
                        "from other queries."
                    )


def _named(name, values, place, groups):
    """Describe a value for a message: its name, and its row and query or its position."""
    if not values.ndim or not values.size:
        return name
    if values.shape[:1] == groups.shape:
        row = _row_of(values, place)
        return f"{name} of row {row} (query {groups[row]})"
    where = ", ".join(str(at) for at in np.unravel_index(place, values.shape))
    return f"{name}[{where}]"


def _row_of(values, place):
    """Return the row of the value at a flat position of an array with one or more columns."""
    return place // max(1, values.size // len(values))


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


def _asked(held_out, estimator, X, y, groups) -> dict[str, np.ndarray]:
    """Call `held_out`, and return its values as arrays by name; raise if they are not valid."""
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
                f"a mean; got {len(values)} values as {name}. If they are not values for rows, "
                "return values[np.newaxis]."
            )
    return found


def _flat(value, name, n_rows):
    """Yield (name, array) for each number or array in a returned value, at any depth."""
    if isinstance(value, pd.DataFrame):
        value = {column: value[column] for column in value}
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _flat(each, str(key), n_rows)
    elif isinstance(value, list | tuple) and not _is_plain(value):
        for number, each in enumerate(value):
            yield from _flat(each, f"{name}[{number}]", n_rows)
    else:
        # A Series with the numbers of all rows as index is brought into the order of the rows.
        if isinstance(value, pd.Series) and set(value.index) == set(range(n_rows)):
            value = value.sort_index()
        try:
            yield name, np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(
                "held_out must return numbers, arrays of numbers, or a dict of these, got "
                f"{brief(value)} as {name}."
            ) from None


def _is_plain(values):
    """Return True for a list that is not empty and holds only numbers."""
    return bool(values) and all(isinstance(each, Number) for each in values)


def _are_some_rows(values, scores, n_queries):
    """Return True if values seem to be for the rows of only some queries."""
    if not values.ndim or len(values) == len(scores):
        return False
    if not len(values) or len(values) % _N_DOCUMENTS or len(values) == n_queries:
        return False
    return len(values) > n_queries or np.isin(values, scores).mean() >= 0.5


def _first_difference(plain, found) -> tuple[str, np.ndarray, int] | None:
    """Find the first value in `plain` that differs in `found`.

    Returns its name, the array, and its flat position there; None if no value differs.
    """
    for name, values in plain.items():
        place = _first_other(values, found.get(name, np.empty(0)))
        if place is not None:
            return name, values, place
    return None


def _first_other(values, others):
    """Return the flat position of the first value that differs by more than rounding, or None.

    It is 0 if the shapes differ.
    """
    if values.shape != others.shape:
        return 0
    is_other = ~np.isclose(values, others, rtol=1e-7, atol=1e-9, equal_nan=True).ravel()
    return int(is_other.argmax()) if is_other.any() else None
