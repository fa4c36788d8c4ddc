"""One value per query: ratios, the value of undefined queries, and the mean."""

import numpy as np

from skfilterrank._core.checks import check_choice, is_finite_number
from skfilterrank._core.query_weights import given_weights, scaled
from skfilterrank.exceptions import InputError, brief

# What a measure returns: the mean over queries, or one value per query with average=None.
Scores = float | np.ndarray


def ratio(part, whole) -> np.ndarray:
    """part / whole; NaN, undefined, where the whole is not above 0."""
    result = np.full(np.shape(whole), np.nan)
    np.divide(part, whole, out=result, where=whole > 0)
    return result


def check_undefined(undefined) -> None:
    """A number, or "drop"."""
    is_drop = isinstance(undefined, str) and undefined == "drop"
    if not is_drop and not is_finite_number(undefined):
        raise InputError(f"undefined must be a finite number or 'drop', got {brief(undefined)}.")


def with_undefined(values, undefined) -> np.ndarray:
    """Give undefined queries (NaN) their value."""
    if undefined != "drop":
        values[np.isnan(values)] = undefined
    return values


def check_average(average, query_weight) -> None:
    """A mean, or the values of all queries, which have no weights."""
    check_choice(average, "average", ("mean", None))
    if average is None and query_weight is not None:
        raise InputError(
            "query_weight weighs queries in their mean, and average=None asks for no mean: leave "
            "one of the two out."
        )


def mean_of(values, average, query_weight, index, over_queries="mean") -> Scores:
    """What `average` asks for, of one value per query."""
    if average is None:
        return values
    return number_over_queries(values, over_queries, given_weights(query_weight, index))


def mean_over_queries(values, weights=None) -> float:
    """Mean of the queries that have a value; NaN where none has.

    `weights` holds one number from 0 up for each query. Where those that count are all alike, the
    mean is the plain one to the bit.
    """
    counted = ~np.isnan(values)
    if weights is not None:
        counted &= weights > 0
    if not counted.all():
        values = values[counted]
        weights = None if weights is None else weights[counted]
    if not len(values):
        return float("nan")
    if weights is None or (weights == weights[0]).all():
        return float(values.mean())
    return float(np.average(values, weights=weights))


def _sum(values, weights=None):
    """Sum of the queries that have a value, each times its weight."""
    if weights is None:
        return float(np.nansum(values))
    return float(np.nansum(values[weights > 0] * weights[weights > 0]))


def _geometric_mean(values, weights=None):
    """Of no value below 0.00001, as trec_eval takes it."""
    return float(np.exp(mean_over_queries(np.log(np.maximum(values, 1e-5)), weights)))


# How one number is made of the values of all queries: the `over_queries` of measures.
OVER_QUERIES = {"mean": mean_over_queries, "sum": _sum, "geometric mean": _geometric_mean}


def number_over_queries(values, how: str, weights=None) -> float:
    """Make one number of the values of all queries, by weights as they were given.

    Means do not depend on the scale of the weights; in a sum, a query of weight 2 counts twice.
    """
    return OVER_QUERIES[how](values, weights if how == "sum" else scaled(weights))
