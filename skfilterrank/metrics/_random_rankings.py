"""Expected value of a random ranking of a query's documents: the lower bound of Karmaker and Feng.

Karmaker Santu and Feng, "Joint Upper & Lower Bound Normalization for IR Evaluation", 2022.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from zlib import crc32

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from skfilterrank._base.checks import check_choice, check_count, check_random_state, is_whole_number
from skfilterrank._base.results import Result
from skfilterrank._base.words import counted
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.lists import ListBlock, RankedLists
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.queries import BLOCK_CELLS, GroupIndex
from skfilterrank._lists.scoring import (
    check_undefined,
    first_places,
    log_discount,
    mean_over_queries,
    reciprocal,
    with_undefined,
)
from skfilterrank.exceptions import InputError, brief
from skfilterrank.metrics._average_precision import sum_precision_score


def ideal_list(block: ListBlock) -> ListBlock:
    """Return the pool in descending order of gain."""
    return block.relisted(np.where(block.judged, -block.gains, np.inf), "stable")


def tied_list(block: ListBlock) -> ListBlock:
    """Return the pool with all documents tied: the mean over ties is the mean over all rankings."""
    return block.relisted(np.where(block.judged, 0.0, np.inf), "average")


class SimulatedRankings:
    """Mean and standard error of a kernel over random rankings, drawn once for each set of gains.

    Parameters
    ----------
    kernel : callable
        Function of a block that returns the value of each query.
    n_samples : int
        Number of rankings per pool.
    seed : int
        Seed of the rankings, which depend on the gains of the pool besides.
    """

    def __init__(self, kernel, n_samples: int, seed: int):
        self._kernel, self._n_samples, self._seed = kernel, n_samples, seed
        self._numbers: dict[bytes, int] = {}
        self._results: list[tuple[float, float]] = []

    def pool_numbers(self, block: ListBlock) -> np.ndarray:
        """Return each query's row in `results`; rankings of a new pool are drawn first."""
        return np.array(
            [self._number_of(pool[:n]) for pool, n in zip(block.pool, block.n_judged)],
            dtype=np.intp,
        )

    @property
    def results(self) -> np.ndarray:
        """Mean of each pool and its standard error, NaN where undefined; shape (n_pools, 2)."""
        return np.array(self._results).reshape(-1, 2)

    def _number_of(self, pool):
        # Adding 0 makes -0.0 and 0.0 one gain.
        key = (pool + 0.0).tobytes()
        if key not in self._numbers:
            self._numbers[key] = len(self._results)
            values = self._values_of(pool, np.random.default_rng([self._seed, crc32(key)]))
            error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
            self._results.append((values.mean(), error))
        return self._numbers[key]

    def _values_of(self, pool, rng):
        """Compute the value of each drawn ranking."""
        if len(pool) == 0:
            # An empty pool is replaced by one unjudged document that is not retrieved.
            return RankedLists([np.nan], [-np.inf], groups=[0]).per_query(self._kernel)
        values, step = [], max(1, BLOCK_CELLS // len(pool))
        for begin in range(0, self._n_samples, step):
            n = min(step, self._n_samples - begin)
            lists = RankedLists(
                np.tile(pool, n),
                rng.random(n * len(pool)),
                groups=_equal_groups(n, len(pool)),
                ties="stable",
            )
            values.append(lists.per_query(self._kernel))
        return np.concatenate(values)


def _equal_groups(n_groups, size):
    """Return the index of consecutive groups of equal size."""
    numbers = np.arange(n_groups)
    return GroupIndex(numbers, np.full(n_groups, size), numbers * size, None, n_groups * size)


def check_seed(random_state, name: str = "random_state") -> int:
    """Return a seed that stays the same for all blocks of one call."""
    if is_whole_number(random_state):
        return check_count(random_state, name, least=0)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


_METHODS = ("auto", "exact", "simulation", "paper")


@dataclass(frozen=True, eq=False, repr=False)
class RandomRankingBound(Result):
    """Expected value of a measure under random rankings, with its standard error.

    Attributes
    ----------
    value : float or ndarray of shape (n_queries,)
        Mean over queries, or the value of each.
    standard_error : float or ndarray of shape (n_queries,)
        Standard error of each value; 0 where it is exact.
    """

    value: float | np.ndarray
    standard_error: float | np.ndarray

    def to_frame(self) -> pd.DataFrame:
        """Return columns "value" and "standard_error", with one row or a row for each query."""
        return pd.DataFrame({name: np.atleast_1d(each) for name, each in vars(self).items()})

    def _summary(self):
        mean = f"{np.mean(self.value):.4f}"
        if np.ndim(self.value):
            return f"{mean} in the mean of {counted(len(self.value), 'query')}"
        return f"{mean}, standard error {self.standard_error:.2g}"


def mean_dcg(block: ListBlock, k) -> np.ndarray:
    """Compute the expected DCG@k of a random ranking (equation 7)."""
    depth, n = block.depth(k), block.n_judged
    discount_sums = np.concatenate([[0.0], np.cumsum(log_discount(first_places(depth)))])
    return block.gains.sum(axis=1) / np.maximum(n, 1) * discount_sums[np.minimum(n, depth)]


def mean_sum_precision(block: ListBlock, k, *, method: str) -> np.ndarray:
    """Compute the expected SP@k of a random ranking; "paper" uses the formula of section 4.5.1."""
    n, depth = block.n_judged, block.depth(k)
    places = np.minimum(n, depth)
    share = block.n_relevant / np.maximum(n, 1)
    if method == "paper":
        return places * share**2
    harmonic = np.concatenate([[0.0], np.cumsum(reciprocal(first_places(depth)))])[places]
    # Share of relevant documents among the other documents, given that one document is relevant.
    others = np.maximum(block.n_relevant - 1, 0) / np.maximum(n - 1, 1)
    return share * (harmonic + others * (places - harmonic))


def random_ranking_bound(
    y_true: ArrayLike,
    measure: str = "dcg",
    *,
    groups: ArrayLike | None = None,
    k: int | None = None,
    gains: Gains = None,
    method: str = "auto",
    n_samples: int = 1000,
    random_state=None,
    undefined: float | str = 0.0,
    average: str | None = "mean",
) -> RandomRankingBound:
    """Compute the expected value of any measure under random rankings of each query.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Label of each (query, document) row, NaN where unjudged (left out). A Series may carry
        the query ids in an index level named "qid".
    measure : str, default="dcg"
        A name of the measure table, with a cut-off and options where wanted, such as "ap",
        "err@10" or "rbp(persistence=0.95)"; see :func:`get_measure_names`.
    groups : array-like of shape (n_rows,), default=None
        Query id of each row. None looks for an index level "qid" on `y_true`.
    k : int or None, default=None
        Cut-off, where the name does not give it.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`ndcg_f_score`.
    method : {"auto", "exact", "simulation", "paper"}, default="auto"
        "exact" takes the mean over all rankings, which is the value of a list whose documents
        are all tied; measures without a mean over ties do not have it, nor has "ul_normalized",
        which is not linear in what it normalises. "simulation" draws rankings. "auto" is exact
        where that is possible. "paper" is the formula that [1]_ prints for "sp", see Notes.
    n_samples : int, default=1000
        Number of rankings drawn per query, at least 2.
    random_state : int, RandomState instance or None, default=None
        Source of the drawn rankings. Pass an int for repeatable results.
    undefined : float or "drop", default=0.0
        Value of a query for which the measure is undefined; "drop" leaves such queries out of
        the mean and gives NaN in the per-query values.
    average : {"mean", None}, default="mean"
        "mean" returns the mean over queries, None one value per query.

    Returns
    -------
    RandomRankingBound
        Its attributes are ``value`` and ``standard_error``, 0 where the value is exact: floats, or
        arrays of shape (n_queries,), dtype float64, in the order of the sorted query ids.

    Raises
    ------
    ValueError
        For an unknown measure, two different cut-offs, ``method="exact"`` for a measure that
        has no mean over ties, ``method="paper"`` for another measure than "sp", and for the errors
        of :func:`dcg_bounds`.

    See Also
    --------
    ul_normalized_score : A measure normalised by it.

    Notes
    -----
    ``RLB[A@k]`` of [1]_, which gives it for DCG and the sum of precisions. All judged documents
    are ranked and none is hidden; to let unjudged documents take part, give them label 0.
    The rankings drawn for a query depend on the seed and on its gains alone. So the result does
    not change with row order, query ids or the other queries. Queries of equal gains share it,
    which the standard error of the mean takes into account. A simulation takes a Python loop
    over the distinct queries.

    Of N documents let Np be relevant, and ``p = Np / N``. The document at place i is relevant with
    probability p, and then each document above it with probability ``(Np - 1) / (N - 1)``::

        E[DCG@k] = E[gain] * sum of 1 / log2(i + 1) for i up to min(k, N)
        E[SP@k] = sum of (1 / i) * (p + (i - 1) * p * (Np - 1) / (N - 1)) for i up to min(k, N)

    Section 4.5.1 of [1]_ prints ``k * p**2`` for the latter, as if the precision at a place and
    the relevance of the document there were independent; "paper" is that with ``min(k, N)`` for k.
    It is too low, most of all where few documents are relevant: with one in N it gives
    ``k / N**2``, and the exact value is ``(1 + 1/2 + ... + 1/k) / N``.

    References
    ----------
    .. [1] Karmaker Santu and Feng, "Joint Upper & Lower Bound Normalization for IR Evaluation",
       2022.

    Examples
    --------
    >>> from skfilterrank.metrics import random_ranking_bound
    >>> random_ranking_bound([2, 1, 0], "ndcg_f@1", groups=["a"] * 3)
    <RandomRankingBound: 0.5000, standard error 0>
    >>> drawn = random_ranking_bound(
    ...     [2, 1, 0], "ndcg_f@1", groups=["a"] * 3, method="simulation", random_state=0
    ... )
    >>> abs(drawn.value - 0.5) < 4 * drawn.standard_error
    True

    Of two documents one is relevant: it comes first, of precision 1, or second, of 1/2.

    >>> random_ranking_bound([1, 0], "sp", groups=["a", "a"]).value
    0.75
    >>> random_ranking_bound([1, 0], "sp", groups=["a", "a"], method="paper").value
    0.5
    """
    parsed = parse_measure(measure).with_cutoff(k)
    if average is not None:
        parsed.for_means("a bound with average='mean' is given")
    entry, k, options = parsed
    check_choice(method, "method", _METHODS)
    n_samples = check_count(n_samples, "n_samples", least=2)
    check_undefined(undefined)
    check_choice(average, "average", ("mean", None))
    if method == "exact" and not entry.has_exact_mean:
        raise InputError(
            f"method='exact' is not possible for {brief(entry.name)}, whose value for tied "
            "documents is not the mean over their orders: take 'simulation'."
        )
    if method == "paper" and entry is not sum_precision_score:
        raise InputError(f"method='paper' is a formula for 'sp' alone, got {brief(entry.name)}.")
    kernel, seed = entry.bind(k, options), check_seed(random_state)
    lists = RankedLists(y_true, groups=groups, gains=gains)
    if method == "simulation" or not entry.has_exact_mean:
        rankings = SimulatedRankings(kernel, n_samples, seed)
        numbers = np.empty(lists.index.n_queries, dtype=np.intp)
        for block in lists.blocks():
            numbers[block.queries] = rankings.pool_numbers(block)
        values, errors = rankings.results[numbers].T.copy()
    else:
        if method == "paper":
            kernel = partial(mean_sum_precision, k=k, method="paper")
        values = lists.per_query(lambda block: kernel(tied_list(block)))
        errors, numbers = 0.0 * values, np.arange(len(values))
    if undefined != "drop":
        errors[np.isnan(values)] = 0.0
    values = with_undefined(values, undefined)
    if average is None:
        return RandomRankingBound(values, errors)
    return RandomRankingBound(mean_over_queries(values), _error_of_mean(errors, numbers))


def _error_of_mean(errors, numbers):
    """Compute the standard error of the mean; queries with equal gains share random rankings."""
    n_defined = np.count_nonzero(~np.isnan(errors))
    if n_defined == 0:
        return float("nan")
    totals = np.bincount(numbers, weights=np.nan_to_num(errors))
    return float(np.sqrt((totals**2).sum()) / n_defined)
