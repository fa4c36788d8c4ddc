"""Measures as sums over documents, which is what makes an exact line search possible.

A document of a query adds ``weight * worth(place, level)``: its place in the list, and its level,
the number of relevant documents from the top down to it, are all that changes with the ranking.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from skfilterrank._groups import GroupIndex
from skfilterrank.exceptions import InputError, brief
from skfilterrank.metrics._bounds.pools import ideal_list, tied_list
from skfilterrank.metrics._bounds.random_ranking import (
    find_measure,
    mean_dcg,
    mean_sum_precision,
)
from skfilterrank.metrics._core.lists import RankedLists
from skfilterrank.metrics._core.measure import MEASURES, ParsedMeasure
from skfilterrank.metrics._forbidden.dcg_kernels import discounts, ideal_dcg
from skfilterrank.metrics._incomplete.sampled_ap import EPSILON
from skfilterrank.metrics._robustness.exposure import resolve_exposure


@dataclass(frozen=True, eq=False)
class Terms:
    """A measure of every query as a sum over its documents.

    Attributes
    ----------
    weights : ndarray of shape (n_rows,)
        Weight of each document; those of weight 0 never matter.
    worth : callable
        ``worth(place, level, query)``, arrays of one shape; `query` broadcasts to it. Places and
        levels count from 1; `level` is None unless `uses_levels`.
    uses_levels : bool
        Whether `worth` reads levels. All documents of weight other than 0 are relevant then.
    offset : ndarray of shape (n_queries,) or float
        What is added to the sum of each query.
    finish : callable or None
        ``finish(values, query)`` turns sums of queries into the measure, where it is not the sum.
    """

    weights: np.ndarray
    worth: Callable
    uses_levels: bool = False
    offset: np.ndarray | float = 0.0
    finish: Callable | None = None


class _Data:
    """What terms are made from."""

    def __init__(self, gains, index: GroupIndex, parsed: ParsedMeasure):
        self.gains = gains
        self.index = index
        self.codes = index.codes()
        self.n = index.sizes.astype(np.float64)
        self.relevant = (gains > 0).astype(np.float64)
        self.m = np.bincount(self.codes, self.relevant, minlength=index.n_queries)
        self.measure, self.k, self.options = parsed

    def option(self, name):
        """A checked option."""
        value = self.options.get(name, self.measure.defaults[name])
        return self.measure.options[name](value)

    def per_query(self, kernel):
        """A number per query from its judgments alone."""
        zeros = np.zeros(len(self.gains))
        return RankedLists(self.gains, zeros, groups=self.index).per_query(kernel)

    def over(self, divisor, values=None):
        """Weights of relevant documents: the values over a number per query, 0 where that is 0."""
        share = np.zeros(len(divisor))
        np.divide(1.0, divisor, out=share, where=divisor > 0)
        return (self.relevant if values is None else values) * share[self.codes]

    def table(self, values):
        """Worth by place: `values` of the places from 1, 0 below the cut-off."""
        values = np.append(0.0, values)
        if self.k is not None:
            values[self.k + 1 :] = 0.0
        return lambda place, level, query: values.take(place)

    @property
    def places(self):
        """All places from 1."""
        return np.arange(1.0, self.n.max() + 1)

    def in_top(self, worth):
        """0 below the cut-off."""
        if self.k is None:
            return worth
        return lambda place, level, query: np.where(
            place <= self.k, worth(place, level, query), 0.0
        )


def _dcg(data):
    """DCG, and whatever lies between two bounds of it."""
    worth = data.table(discounts(len(data.places)))
    bounds = data.measure.bounds
    if bounds is None:
        return Terms(data.gains, worth)
    low = data.per_query(lambda block: bounds(block, data.k)[0])
    high = data.per_query(lambda block: bounds(block, data.k)[1])
    weights = data.over(high - low, data.gains)
    return Terms(
        weights, worth, offset=-np.divide(low, high - low, out=np.zeros(len(low)), where=high > low)
    )


def _ndcg_0(data):
    ideal = data.per_query(lambda block: ideal_dcg(block, data.k, filtering=True))
    worth = data.table(discounts(len(data.places)))
    return Terms(data.over(ideal, np.maximum(data.gains, 0.0)), worth)


def _precision(data):
    return Terms(data.relevant / data.k, data.table(np.ones(len(data.places))))


def _recall(data):
    return Terms(data.over(data.m), data.table(np.ones(len(data.places))))


def _forbidden(data):
    shown = np.minimum(data.n, data.k)
    bad = (data.gains < 0).astype(np.float64)
    return Terms(data.over(shown, bad), data.table(np.ones(len(data.places))))


def _r_precision(data):
    return Terms(
        data.over(data.m), lambda place, level, query: (place <= data.m[query]).astype(np.float64)
    )


def _success(data):
    worth = data.in_top(lambda place, level, query: (level == 1).astype(np.float64))
    return Terms(data.relevant, worth, uses_levels=True)


def _rr(data):
    worth = data.in_top(lambda place, level, query: (level == 1) / place)
    return Terms(data.relevant, worth, uses_levels=True)


def _sp(data):
    worth = data.in_top(lambda place, level, query: level / place)
    return Terms(data.relevant, worth, uses_levels=True)


def _ap(data):
    normalize = data.option("normalize")
    divisor = data.m
    if normalize == "k":
        if data.k is None:
            raise InputError("measure has normalize='k', which needs a cut-off such as 'ap@10'.")
        divisor = np.full(len(data.m), float(data.k))
    elif normalize == "min" and data.k is not None:
        divisor = np.minimum(data.m, data.k)
    worth = data.in_top(lambda place, level, query: level / place)
    return Terms(data.over(divisor), worth, uses_levels=True)


def _induced_ap(data):
    # All documents are judged in training.
    worth = data.in_top(lambda place, level, query: level / place)
    return Terms(data.over(data.m), worth, uses_levels=True)


def _inferred_ap(data):
    def worth(place, level, query):
        above = place - 1
        return (1 + above * (level - 1 + EPSILON) / (above + 2 * EPSILON)) / place

    return Terms(data.over(data.m), worth, uses_levels=True)


def _bpref(data):
    variant = data.option("variant")
    n_nonrelevant = data.n - data.m
    most = n_nonrelevant if variant == "printed" else data.m
    whole = np.minimum(n_nonrelevant, most) if variant == "trec_eval" else data.m
    whole = np.maximum(whole, 1)

    def worth(place, level, query):
        return 1 - np.minimum(place - level, most[query]) / whole[query]

    return Terms(data.over(data.m), worth, uses_levels=True)


def _rbp(data):
    p = data.option("persistence")
    is_binary = data.option("relevance") == "binary"
    weights = data.relevant if is_binary else np.maximum(data.gains, 0.0)
    return Terms(weights, data.table((1 - p) * p ** (data.places - 1)))


def _tse(data):
    exposure = resolve_exposure(data.option("exposure"), persistence=data.option("persistence"))
    values = np.append(0.0, exposure(data.places))

    def worth(place, level, query):
        return np.where(level == data.m[query], values.take(place), 0.0)

    return Terms(data.relevant, worth, uses_levels=True)


def _search_length(data):
    def worth(place, level, query):
        return np.where(level == data.m[query], place - level, 0.0)

    return Terms(data.relevant, worth, uses_levels=True)


def _recall_error(data):
    weights = data.over(data.m)
    offset = np.where(data.m > 0, -(data.m + 1) / 2, 0.0)
    return Terms(weights, lambda place, level, query: place.astype(np.float64), offset=offset)


def _n_items(data):
    """Number of items of each query, as the measures of robustness count them."""
    n_items = data.option("n_items")
    return data.n + data.m if n_items is None else np.full(len(data.n), float(n_items))


def _lexicographic(data, count):
    """The share of worse placements, from `count(place, level, n, m)` of each relevant item."""
    n, m = _n_items(data).astype(np.int64), data.m.astype(np.int64)
    factorial = gammaln(np.arange(1.0, n.max() + 3))

    def log_choose(n, m):
        return factorial.take(n) - factorial.take(m) - factorial.take(n - m)

    log_all = log_choose(n, m)
    # 1 less than all placements.
    is_open = (m > 0) & (m < n)
    log_others = np.where(is_open, log_all + np.log1p(-np.exp(-np.where(is_open, log_all, 1))), 0)

    def worth(place, level, query):
        above, below, is_counted = count(place, level, n[query], m[query])
        above, below = np.where(is_counted, above, 0), np.where(is_counted, below, 0)
        return np.where(is_counted, np.exp(log_choose(above, below) - log_others[query]), 0.0)

    return worth, is_open


def _lexirecall(data):
    worth, is_open = _lexicographic(
        data, lambda place, level, n, m: (place - 1, level, place > level)
    )
    weights = -data.relevant * is_open[data.codes]
    return Terms(weights, worth, uses_levels=True, offset=(data.m > 0).astype(np.float64))


def _lexiprecision(data):
    worth, is_open = _lexicographic(
        data, lambda place, level, n, m: (n - place, m - level + 1, n - place >= m - level + 1)
    )
    weights = data.relevant * is_open[data.codes]
    offset = ((data.m > 0) & ~is_open).astype(np.float64)
    return Terms(weights, worth, uses_levels=True, offset=offset)


def _metric_lexirecall(data):
    n = _n_items(data)
    ratio = 1 / (1 + n + data.option("epsilon"))

    def worth(place, level, query):
        weight = ratio[query] ** (data.m[query] - level)
        weight = weight * np.where(level == 1, 1.0, 1 - ratio[query])
        return weight * ((n[query] - place) / n[query])

    return Terms(data.relevant, worth, uses_levels=True)


def _ul_normalized(data):
    """Any measure that is a sum, and never negative, between its random and its ideal value."""
    inner = find_measure(data.option("measure"), data.k)
    name = inner.measure.name
    terms = exact_terms(data.gains, data.index, inner)
    if terms is None or terms.finish or "average" not in inner.measure.ties:
        return None
    kernel = inner.measure.bind(inner.k, inner.options)
    if name == "dcg":
        upper = data.per_query(lambda block: ideal_dcg(block, inner.k, filtering=False))
        lower = data.per_query(lambda block: mean_dcg(block, inner.k))
    else:
        upper = data.per_query(lambda block: kernel(ideal_list(block)))
        lower = data.per_query(lambda block: kernel(tied_list(block)))
    if name == "sp":
        depth = data.n if inner.k is None else np.minimum(data.n, inner.k)
        best = np.minimum(depth, data.m)
        upper = np.where(best > 0, depth, 0.0) if data.option("norm") == "k" else best
        method = data.option("expectation")
        lower = data.per_query(lambda block: mean_sum_precision(block, inner.k, method=method))
    is_defined = upper - lower > 1e-12 * upper
    upper, lower = np.where(is_defined, upper, 1.0), np.where(is_defined, lower, 0.5)

    def finish(values, query):
        low, high = lower[query], upper[query]
        if data.option("variant") == "v1":
            total = np.maximum(values + low, np.finfo(float).tiny)
            result = values * values / (high * total)
        else:
            room = np.where(values >= low, high - low, np.maximum(low, np.finfo(float).tiny))
            result = (values - low) / room
        return np.where(is_defined[query], result, 0.0)

    return Terms(terms.weights, terms.worth, terms.uses_levels, terms.offset, finish)


_EXACT = {
    "ap": _ap,
    "bpref": _bpref,
    "dcg": _dcg,
    "forbidden": _forbidden,
    "induced_ap": _induced_ap,
    "inferred_ap": _inferred_ap,
    "lexiprecision": _lexiprecision,
    "lexirecall": _lexirecall,
    "metric_lexirecall": _metric_lexirecall,
    "ndcg": _dcg,
    "ndcg_0": _ndcg_0,
    "ndcg_f": _dcg,
    "ndcg_min": _dcg,
    "precision": _precision,
    "r_precision": _r_precision,
    "rbp": _rbp,
    "recall": _recall,
    "recall_error": _recall_error,
    "rr": _rr,
    "search_length": _search_length,
    "sp": _sp,
    "success": _success,
    "tse": _tse,
    "ul_normalized": _ul_normalized,
}
# The same whatever the order of the documents, and in need of a column besides.
_NEVER = ("empty_list_rate", "false_reject_rate", "judged", "stat_ap")
# Beyond, a table of factorials is too long, and their differences too inexact.
_MOST_ITEMS = 10**6
_ONLY_WITH_K = ("forbidden", "precision", "recall", "success")


def exact_terms(gains, index: GroupIndex, parsed: ParsedMeasure) -> Terms | None:
    """The measure as a sum over documents, or None where it is not one."""
    if parsed.options.get("scale", "share") != "share":
        return None
    if (parsed.options.get("n_items") or 0) > _MOST_ITEMS:
        return None
    make = _EXACT.get(parsed.measure.name)
    return None if make is None else make(_Data(gains, index, parsed))


def check_optimizable(parsed: ParsedMeasure) -> None:
    """Raise for a measure that no order of the documents improves."""
    name = parsed.measure.name
    if name in _NEVER:
        reason = "it needs a column of inclusion probabilities"
        if name != "stat_ap":
            reason = "it is the same for every order of a query's documents"
        possible = [other for other in sorted(MEASURES) if other not in _NEVER]
        raise InputError(
            f"measure={brief(name)} cannot be optimized: {reason}. Those that can: "
            f"{', '.join(possible)}."
        )
    if name in _ONLY_WITH_K and parsed.k is None:
        raise InputError(
            f"measure={brief(name)} without a cut-off is the same for every order of a query's "
            f"documents: give one, such as '{name}@10'."
        )
