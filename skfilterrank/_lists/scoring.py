"""Discounts of places, weights of queries, and means over queries and label sets with errors."""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from skfilterrank._base.checks import check_numbers, is_finite_number
from skfilterrank._lists.queries import GroupIndex, query_ids_of_index
from skfilterrank.exceptions import InputError, brief

# Every float64 is a whole multiple of 2**-1074.
_UNIT_BITS = 1074
# The mantissa is added in two halves, whose sums are integers that float64 holds exactly.
_LOW_BITS = 26
_MOST_AT_ONCE = 1 << 24
# Splits a float64 into two halves whose products are exact.
_SPLITTER = 2.0**27 + 1
# Limit of the exact method: the splitting of larger numbers may overflow.
_LARGEST = 2.0**500


def reciprocal(places, persistence=None) -> np.ndarray:
    """Compute ``1 / place``, the discount of reciprocal rank."""
    return 1 / np.asarray(places, dtype=np.float64)


def log_discount(places, persistence=None) -> np.ndarray:
    """Compute ``1 / log2(place + 1)``, the discount of DCG."""
    return 1 / np.log2(np.asarray(places, dtype=np.float64) + 1)


def geometric(places, persistence) -> np.ndarray:
    """Compute ``(1 - persistence) * persistence ** (place - 1)``, the weights of RBP."""
    return (1 - persistence) * persistence ** (np.asarray(places, dtype=np.float64) - 1)


EXPOSURES = {"ap": reciprocal, "ndcg": log_discount, "rbp": geometric}


def first_places(depth: int) -> np.ndarray:
    """Return the places 1, ..., depth."""
    return np.arange(1.0, depth + 1)


def inverse_dcg_span(gains, n_reached, n_listed: np.ndarray, k: int | None) -> np.ndarray:
    """Compute 1 / (I - W) of lists, from counts of their gains; 0 where no gain differs from 0.

    I is the ideal DCG@k with a filter: a sum over levels. Each adds its difference to the next
    lower level, times the discounts of as many first places as documents reach it. W is the worst
    DCG@k: that of the negative gains alone, the lowest first.

    Parameters
    ----------
    gains : ndarray of shape (n_levels,)
        Distinct gains, ascending.
    n_reached : sequence of n_levels - 1 arrays of int
        Number of documents that reach each level but the lowest.
    n_listed : ndarray of int
        Number of documents of each list; it is broadcast to the shape of these arrays.
    k : int or None
        Cut-off; None means none.

    Returns
    -------
    ndarray of the shape of these arrays
        The inverse of each list.
    """
    deepest = int(n_listed.max(initial=0))
    discount = log_discount(first_places(deepest))
    discount[deepest if k is None else k :] = 0.0
    summed = np.append(0.0, np.cumsum(discount))
    good, bad = np.maximum(gains, 0.0), np.minimum(gains, 0.0)
    span = np.zeros(np.broadcast_shapes(n_listed.shape, *(each.shape for each in n_reached)))
    span += (good[0] - bad[-1]) * summed[n_listed]
    for level, reached in enumerate(n_reached, 1):
        span += (good[level] - good[level - 1]) * summed[reached]
        span += (bad[level] - bad[level - 1]) * summed[n_listed - reached]
    return np.divide(1.0, span, out=np.zeros_like(span), where=span > 0)


# Parameter `query_weight`: weights by query id, or one weight per row.
QueryWeight = Mapping | ArrayLike | None


_HOW = (
    "give a dict or a Series of weights by query id, or one weight per row, the same for all rows "
    "of a query"
)


def query_weights(query_weight, index: GroupIndex) -> np.ndarray | None:
    """Return the weights of queries, scaled to a maximum of 1; None if all are equal."""
    return scaled(given_weights(query_weight, index))


def scaled(weights: np.ndarray | None) -> np.ndarray | None:
    """Divide weights by the largest; None if all are equal."""
    if weights is None:
        return None
    largest = weights.max()
    return None if (weights == largest).all() else weights / largest


def given_weights(query_weight, index: GroupIndex) -> np.ndarray | None:
    """Return the unscaled weight of each query, in the order of the query ids."""
    if query_weight is None:
        return None
    weights = _per_query(query_weight, index).astype(np.float64)
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        raise InputError(
            f"query_weight of query {_first(index, bad)} is {weights[bad][0]:g}: a weight must be "
            "a finite number from 0 up."
        )
    if weights.max() == 0:
        raise InputError(
            f"query_weight is 0 for each of the {index.n_queries} queries: at least one must count."
        )
    return weights


def _first(index, queries):
    """Return the first of some query ids as text for errors."""
    return brief(index.query_ids[queries].tolist()[0])


def _per_query(query_weight, index):
    """Return one weight for each query, with values not yet checked."""
    if isinstance(query_weight, Mapping):
        return _by_id(pd.Series(dict(query_weight), dtype=object), index)
    if isinstance(query_weight, pd.Series):
        ids = query_ids_of_index(query_weight)
        by_id = query_weight if ids is None else query_weight.set_axis(ids)
        n_given = len(query_weight)
        if n_given != index.n_rows or (by_id.index.is_unique and ids is not None):
            return _by_id(by_id, index)
        if n_given == index.n_queries and set(by_id.index) == set(index.query_ids):
            # With as many rows as queries, weights could go by position or by id.
            by_row, by_query = _by_row(query_weight, index), _by_id(by_id, index)
            if not np.array_equal(by_row, by_query):
                raise InputError(
                    "query_weight is a Series with one entry per query and per row, whose index "
                    "has the query ids in another order than the rows: name the index 'qid' if "
                    "weights go by it, or pass an array if they go by row."
                )
    return _by_row(query_weight, index)


def _by_id(weights, index):
    """Look up weights by query id; weights of other queries are ignored."""
    if not weights.index.is_unique:
        twice = weights.index[weights.index.duplicated()][0]
        raise InputError(
            f"query_weight has several weights for query {brief(twice)}, and {len(weights)} for "
            f"{index.n_rows} rows: {_HOW}."
        )
    places = weights.index.get_indexer(index.labels)
    if (places < 0).any():
        n_missing = int(np.count_nonzero(places < 0))
        raise InputError(
            f"query_weight has no weight for {n_missing} of {index.n_queries} queries, such as "
            f"{_first(index, places < 0)}: {_HOW}."
        )
    return check_numbers(weights.to_numpy()[places], "query_weight", entry="weight")


def _by_row(weights, index):
    """Return the weight of each query from one weight per row; raise if they differ in a query."""
    weights = check_numbers(weights, "query_weight", entry="weight", hint=f" Or {_HOW}.")
    if len(weights) != index.n_rows:
        raise InputError(
            f"query_weight has {len(weights)} entries for {index.n_rows} rows of "
            f"{index.n_queries} queries: {_HOW}."
        )
    in_order = weights[index.row_order()]
    first = in_order[np.cumsum(index.sizes) - index.sizes]
    differs = in_order != np.repeat(first, index.sizes)
    differs &= ~np.isnan(in_order) | ~np.isnan(np.repeat(first, index.sizes))
    if differs.any():
        place = int(differs.argmax())
        query = int(np.searchsorted(np.cumsum(index.sizes), place, side="right"))
        raise InputError(
            f"query_weight has weights {first[query]:g} and {in_order[place]:g} for rows of query "
            f"{_first(index, [query])}: all rows of a query must have one weight: {_HOW}."
        )
    return first


def ratio(part, whole) -> np.ndarray:
    """Compute part / whole; NaN (undefined) where the whole is not above 0."""
    result = np.full(np.shape(whole), np.nan)
    np.divide(part, whole, out=result, where=whole > 0)
    return result


def check_undefined(undefined) -> None:
    """Raise if `undefined` is neither a finite number nor "drop"."""
    is_drop = isinstance(undefined, str) and undefined == "drop"
    if not is_drop and not is_finite_number(undefined):
        raise InputError(f"undefined must be a finite number or 'drop', got {brief(undefined)}.")


def with_undefined(values, undefined) -> np.ndarray:
    """Replace the values of undefined queries (NaN) by `undefined`, unless it is "drop"."""
    if undefined != "drop":
        values[np.isnan(values)] = undefined
    return values


def mean_over_queries(values, weights=None) -> float:
    """Compute the mean over the queries whose value is not NaN; NaN if there is none.

    `weights` holds one number from 0 up for each query. If all weights of such queries are equal,
    the result is bit-equal to the unweighted mean.
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
    """Sum weighted values over the queries whose value is not NaN."""
    if weights is None:
        return float(np.nansum(values))
    return float(np.nansum(values[weights > 0] * weights[weights > 0]))


def _geometric_mean(values, weights=None):
    """Take the geometric mean, with values below 0.00001 replaced by it, as trec_eval does."""
    return float(np.exp(mean_over_queries(np.log(np.maximum(values, 1e-5)), weights)))


# Functions that average the values of all queries: the `over_queries` of measures.
OVER_QUERIES = {"mean": mean_over_queries, "sum": _sum, "geometric mean": _geometric_mean}


def number_over_queries(values, how: str, weights=None) -> float:
    """Combine the values of all queries into one number, with unscaled weights.

    The scale of the weights does not change a mean. In a sum, a query of weight 2 counts twice.
    """
    return OVER_QUERIES[how](values, weights if how == "sum" else scaled(weights))


def mean_and_error(values, weights=None, rounding=0.0) -> tuple[float, float, int]:
    """Return the mean, its standard error, and the number of queries with a weight above 0.

    If no values differ by more than `rounding`, the error is 0.
    """
    if weights is not None and not weights.all():
        values, weights = values[weights > 0], weights[weights > 0]
    n = len(values)
    if n < 2 or np.ptp(values) <= rounding:
        return mean_over_queries(values, weights), 0.0, n
    if weights is None:
        return values.mean(), values.std(ddof=1) / np.sqrt(n), n
    mean = mean_over_queries(values, weights)
    squares = np.sum((weights * (values - mean)) ** 2)
    return mean, np.sqrt(n / (n - 1) * squares) / weights.sum(), n


def t_interval(mean: float, error: float, n: float, confidence: float) -> tuple[float, float]:
    """Compute the interval of a mean of n values with a standard error; NaN for a single value."""
    if n < 2:
        return math.nan, math.nan
    from scipy.special import stdtrit  # measures need no scipy

    half = error * stdtrit(n - 1.0, 0.5 + confidence / 2)
    return float(mean - half), float(mean + half)


def t_test(mean: float, error: float, n: int) -> float:
    """Compute the two-sided p value of a mean; NaN for a single value."""
    if n < 2:
        return math.nan
    if not error:
        return 0.0
    from scipy.special import stdtr

    return float(2 * stdtr(n - 1.0, -abs(mean / error)))


def exact_sum(values: np.ndarray) -> int:
    """Sum finite float64 numbers exactly; the result counts units of 2**-1074."""
    total = 0
    for begin in range(0, len(values), _MOST_AT_ONCE):
        mantissas, exponents = np.frexp(values[begin : begin + _MOST_AT_ONCE])
        lowest = int(exponents.min())
        places = exponents - lowest
        mantissas = np.ldexp(mantissas, 53)
        high = np.floor(np.ldexp(mantissas, -_LOW_BITS))
        low = mantissas - np.ldexp(high, _LOW_BITS)
        for shift, part in ((_LOW_BITS, high), (0, low)):
            sums = np.bincount(places, part)
            for place in np.flatnonzero(sums):
                # Subnormal numbers have fewer bits: only zeros are shifted out.
                up = int(place) + lowest - 53 + _UNIT_BITS + shift
                whole = int(sums[place])
                total += whole << up if up >= 0 else whole >> -up
    return total


def _exact_sum_of_squares(values):
    """Sum squares without any rounding; each square is a sum of two float64."""
    squares = values * values
    scaled = values * _SPLITTER
    high = scaled - (scaled - values)
    low = values - high
    rest = ((high * high - squares) + 2 * high * low) + low * low
    return exact_sum(squares) + exact_sum(rest)


class Moments(NamedTuple):
    """Number, sum and sum of squares of values; sums count units of 2**-1074.

    Sums are integers, so adding the sums of parts in any order gives the exact total.
    """

    n: int = 0
    total: int = 0
    total_of_squares: int = 0

    @classmethod
    def of(cls, values: np.ndarray) -> "Moments":
        """Compute the moments of finite float64 values; NaN is skipped."""
        values = values[~np.isnan(values)]
        if not len(values):
            return cls()
        if np.abs(values).max() > _LARGEST:
            squares = sum((Fraction(value) ** 2 for value in values.tolist()), Fraction(0))
            return cls(len(values), exact_sum(values), int(squares * (1 << _UNIT_BITS)))
        return cls(len(values), exact_sum(values), _exact_sum_of_squares(values))

    def merge(self, other: "Moments") -> "Moments":
        """Add the moments of another part."""
        return Moments(*(mine + theirs for mine, theirs in zip(self, other)))

    @property
    def sum(self) -> float:
        """The sum, rounded once."""
        return self.total / (1 << _UNIT_BITS)

    @property
    def mean(self) -> float:
        """The mean, rounded once; NaN without values."""
        return self.total / (self.n << _UNIT_BITS) if self.n else math.nan

    @property
    def squares_about_mean(self) -> float:
        """Sum of the squared distances from the mean (M2), rounded once."""
        if not self.n:
            return math.nan
        unit = 1 << _UNIT_BITS
        return (self.n * self.total_of_squares * unit - self.total**2) / (self.n * unit * unit)

    @property
    def sd(self) -> float:
        """Standard deviation with n - 1 in the denominator; NaN for fewer than two values."""
        # If squares underflow, the difference may be below 0.
        squares = max(self.squares_about_mean, 0.0)
        return math.sqrt(squares / (self.n - 1)) if self.n > 1 else math.nan

    @property
    def error(self) -> float:
        """Standard error of the mean; NaN for fewer than two values."""
        return self.sd / math.sqrt(self.n) if self.n > 1 else math.nan


class DrawnMeans(NamedTuple):
    """Means of values over queries and label sets, with two kinds of errors.

    One error is that for these queries: only the drawn labels are uncertain. The other is that for
    queries in general: the queries are a sample, too. Arrays have one entry for each mean. Errors
    are kept as deviations: the standard error times the square root of the number of queries.
    """

    mean: np.ndarray
    """Mean over sets of the mean over queries."""
    within: np.ndarray
    """Deviation of the values of queries, from the mean of its squares over sets."""
    between: np.ndarray
    """Deviation by the draws: from (1 + 1 / m) times the variance of the means of m sets."""
    degrees: np.ndarray
    """Degrees of freedom for queries in general."""
    n_queries: np.ndarray | int
    n_draws: int

    @property
    def total(self) -> np.ndarray:
        """Deviation for queries in general."""
        return np.sqrt(self.within**2 + self.between**2)

    @property
    def share_of_draws(self) -> np.ndarray:
        """Share of the variance for queries in general that the draws cause; 0 without variance."""
        total = self.total**2
        # NaN, of a single query, is not 0, and so stays NaN.
        return np.divide(self.between**2, total, out=np.zeros_like(total), where=total != 0)

    def interval(self, confidence: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of Student's t interval for queries in general."""
        return self._ends(self.total, self.degrees, confidence)

    def interval_of_these(self, confidence: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of Student's t interval for these queries."""
        return self._ends(self.between, max(self.n_draws - 1, 1), confidence)

    def _ends(self, deviation, degrees, confidence):
        # Imported here: metrics need it for drawn label sets alone.
        from scipy.special import stdtrit

        width = stdtrit(degrees, (1 + confidence) / 2) * deviation / np.sqrt(self.n_queries)
        return self.mean - width, self.mean + width


def drawn_means(means: np.ndarray, deviations: np.ndarray, n_queries) -> DrawnMeans:
    """Combine the means of label sets by the rules of Rubin.

    Parameters
    ----------
    means : ndarray of shape (n_sets, ...)
        Mean over queries in each set. A single set has no error by draws.
    deviations : ndarray of shape (n_sets, ...)
        Standard deviation over queries (n - 1) in each set.
    n_queries : int or ndarray of shape (...)
        Number of queries.

    Returns
    -------
    DrawnMeans
        Means with errors. Equal sets have exactly the mean and the errors of one set.

    References
    ----------
    Rubin, D. B. Multiple Imputation for Nonresponse in Surveys, 1987, equations 3.1.2 to 3.1.5.
    Barnard, J. and Rubin, D. B. Small-sample degrees of freedom with multiple imputation.
    Biometrika 86(4), 1999.
    """
    n_sets, squares = len(means), deviations**2
    # Differences from the first set keep equal sets without rounding errors.
    within = np.sqrt(squares[0] + (squares - squares[0]).mean(axis=0))
    between = np.zeros_like(within)
    if n_sets > 1:
        variance = (means - means[0]).var(axis=0, ddof=1)
        between = np.sqrt(n_queries * (1 + 1 / n_sets) * variance)
    found = DrawnMeans(mean_of_sets(means), within, between, within, n_queries, n_sets)
    degrees = np.full(within.shape, n_queries - 1.0)
    share = found.share_of_draws
    with np.errstate(divide="ignore", invalid="ignore"):
        of_queries = degrees * n_queries / (n_queries + 2) * (1 - share)
        combined = 1 / (share**2 / max(n_sets - 1, 1) + 1 / of_queries)
    # Without a spread of the draws the interval is the usual one of a mean over queries.
    # Below one degree of freedom, quantiles say nothing.
    degrees = np.where(between > 0, np.maximum(combined, 1.0), degrees)
    return found._replace(degrees=np.where((within == 0) & (between > 0), n_sets - 1, degrees))


def mean_of_sets(values: np.ndarray) -> np.ndarray:
    """Compute the mean over sets, along the first axis; that of equal values is exact.

    Sets in which a value is NaN do not count; it is NaN if all are.
    """
    least, counts = np.fmin.reduce(values), ~np.isnan(values)
    above = np.where(counts, values - least, 0.0).sum(axis=0)
    return least + above / np.maximum(counts.sum(axis=0), 1)
