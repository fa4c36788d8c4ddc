"""Rank aggregation: each query orders the systems; combine these orders into one."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from skfilterrank._base.checks import check_choice, check_count, check_share
from skfilterrank._base.results import Result
from skfilterrank._base.rounding import merge_values
from skfilterrank._base.system_pairs import draw_resamples
from skfilterrank._base.words import counted, interval_text, progress_bar
from skfilterrank.comparison._system_scores import SystemScores
from skfilterrank.exceptions import InputError

# Largest number of array entries in memory at a time.
_CELLS = 2**22
# Standard deviations below this one are rounding errors.
_LEAST_SPREAD = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class SystemOrder(Result):
    """One order of systems over all queries, from :func:`order_systems`."""

    method: str
    measure: str
    systems: tuple[str, ...]
    scores: np.ndarray
    rank: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n_wins: np.ndarray
    confidence_level: float
    n_queries: int
    n_resamples: int

    def to_frame(self) -> pd.DataFrame:
        """Return a DataFrame with one row per system, the best first.

        Its columns are "rank", the interval "low" and "high" of the rank, and "score".
        """
        return pd.DataFrame(
            {"rank": self.rank, "low": self.low, "high": self.high, "score": self.scores},
            index=pd.Index(self.systems, name="system"),
        )

    def _summary(self):
        return (
            f"{len(self.systems)} systems by {self.method} over "
            f"{counted(self.n_queries, 'query')} ({self.measure})"
        )

    def _head(self):
        intervals = (
            f", ranks with {interval_text(self.confidence_level)}s" if self.n_resamples else ""
        )
        return self._summary() + intervals

    def _table(self):
        table = self.to_frame().rename_axis(index=None)
        for name in ("rank", "low", "high"):
            table[name] = table[name].map("{:g}".format)
        return table if self.n_resamples else table.drop(columns=["low", "high"])


def order_systems(
    scores,
    *,
    measure: str | None = None,
    method: str = "win_rate",
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    random_state=None,
    verbose: int = 0,
) -> SystemOrder:
    """Combine the orders of systems for the single queries into one order.

    Each query orders the systems by their values, and the size of a difference does not count,
    except by "safe", which adds standardised means. Use this function for preferences such as
    lexirecall, whose means over queries have little meaning, or if queries with large differences
    should not dominate.

    Parameters
    ----------
    scores : SystemScores, or what :meth:`SystemScores.of` reads
        Values of at least two systems. Except by "safe", only the order of the systems for each
        query is used.
    measure : str or None, default=None
        Name of the measure, if `scores` has several.
    method : {"win_rate", "safe"}, default="win_rate"
        Method that scores the systems:

        - "win_rate": share of comparisons that the system wins. A comparison is between this
          system and one other system for one query; a tie counts as half a win.
        - "safe": for values by drawn label sets only. It is the mean of two means over queries,
          each standardised over the systems: that by drawn labels, and that of condensed lists
          (without the documents whose labels are drawn). Drawn labels err with their model, and
          condensed lists with the few judged documents. An error of one of the two counts half.
    confidence_level : float, default=0.95
        Confidence of the interval of each rank.
    n_resamples : int, default=1000
        Number of bootstrap resamples of the queries for the intervals; 0 computes no intervals.
    random_state : int, RandomState or None, default=None
        Source of the resamples. Pass an int for results that can be repeated.
    verbose : int, default=0
        1 shows a progress bar of the resamples.

    Returns
    -------
    SystemOrder
        Result with ``to_frame()`` and attributes:

        method : str
            Value of the parameter.
        measure : str
            Name of the measure.
        systems : tuple of str
            Names of the systems, the best first; tied systems keep the order of `scores`. All
            arrays below have the same order.
        scores : ndarray of shape (n_systems,), dtype float64
            Score of each system by the method; greater is better. "safe" has the mean and the
            spread of the values by drawn labels.
        rank : ndarray of shape (n_systems,), dtype float64
            Rank of each system, 1 for the best; tied systems share the mean of their ranks.
        low, high : ndarray of shape (n_systems,), dtype float64
            Ends of the interval of the rank over resampled queries; NaN without resamples.
        n_wins : ndarray of shape (n_systems, n_systems), dtype int64
            Number of queries for which the system of the row is better than that of the column.
        confidence_level : float
            Confidence of each single interval.
        n_queries, n_resamples : int
            Number of queries and number of bootstrap resamples.

    Raises
    ------
    ValueError
        If there are fewer than two systems, if there are intervals to compute but fewer than two
        queries, or if a parameter has a value that is not described above.

    See Also
    --------
    kendall_tau : Correlation of two orders.
    compare_systems : Significance tests of the differences between systems.

    Notes
    -----
    Queries are resampled with replacement (bootstrap). Intervals are percentile intervals, rounded
    outwards to ranks that occurred in a resample. They are wide for similar systems. Each interval
    has the confidence level by itself; all intervals together do not. Values by drawn label sets
    are means over the sets, and each set has an equal share of the resamples.

    Examples
    --------
    Two queries have the order a, b, c and one query has the order b, c, a. So a and b win 4 of 6
    comparisons each.

    >>> from skfilterrank.comparison import SystemScores, order_systems
    >>> scores = SystemScores([[3, 3, 1], [2, 2, 3], [1, 1, 2]], systems=["a", "b", "c"])
    >>> print(order_systems(scores, n_resamples=0))
    3 systems by win_rate over 3 queries (score)
      rank  score
    a  1.5 0.6667
    b  1.5 0.6667
    c    3 0.1667
    """
    check_choice(method, "method", ("win_rate", "safe"))
    n_resamples = check_count(n_resamples, "n_resamples", least=0)
    confidence_level = check_share(confidence_level, "confidence_level")
    least = (2, 2 if n_resamples else 1)
    scores = SystemScores.of(scores, measure, least=least, may_have_draws=True)
    values, n_queries = merge_values(scores.oriented), scores.n_queries
    sign = 1 if scores.greater_is_better else -1
    sets = [merge_values(sign * each) for each in scores.sets]

    score = _win_rate
    if method == "safe":
        if scores.condensed is None:
            raise InputError(
                "method='safe' needs values by drawn label sets, which evaluate_runs and "
                "score_systems give for what complete_qrels returns."
            )
        score = partial(_safe, condensed=sign * scores.condensed)
    observed = score(values, np.ones((1, n_queries)))[0]
    low, high = np.full((2, scores.n_systems), np.nan)
    if n_resamples:
        counts = draw_resamples(n_queries, n_resamples, random_state)
        ranks = np.empty((n_resamples, scores.n_systems))
        bar = progress_bar(total=n_resamples, unit="resample", verbose=verbose, leave=False)
        with bar:
            size = max(1, _CELLS // scores.n_systems)
            for number, each in enumerate(sets):
                # Every len(sets)-th resample takes this set.
                own, found = counts[number :: len(sets)], ranks[number :: len(sets)]
                for start in range(0, len(own), size):
                    some = own[start : start + size].astype(np.float64)
                    found[start : start + size] = _ranks(score(each, some))
                    bar.update(len(some))
        tail = (1 - confidence_level) / 2
        low = np.quantile(ranks, tail, axis=0, method="lower")
        high = np.quantile(ranks, 1 - tail, axis=0, method="higher")
    rank = _ranks(observed)
    order = np.argsort(rank, kind="stable")
    return SystemOrder(
        method=method,
        measure=scores.measure,
        systems=tuple(scores.systems[system] for system in order),
        scores=observed[order],
        rank=rank[order],
        low=low[order],
        high=high[order],
        n_wins=np.array([(values[system] > values[order]).sum(axis=1) for system in order]),
        confidence_level=confidence_level,
        n_queries=n_queries,
        n_resamples=n_resamples,
    )


# Scores have shape (n_resamples, n_systems). `counts`, of shape (n_resamples,
# n_queries), tells how often each resample contains each query.


def _win_rate(values, counts):
    """Compute the share of comparisons that each system wins in each resample."""
    # Doubled counts are integers. Their sums are exact, so equal scores tie.
    doubled = 2 * (rankdata(values, axis=0) - 1)
    return counts @ doubled.T / (2 * values.shape[1]) / (len(values) - 1)


def _safe(values, counts, condensed):
    """Compute the mean of standardised means by drawn labels and of condensed lists."""
    own, other = (
        counts @ each.T / counts.sum(axis=1, keepdims=True) for each in (values, condensed)
    )
    mean, spread = own.mean(axis=1, keepdims=True), own.std(axis=1, keepdims=True)
    standardised = sum(
        (each - each.mean(axis=1, keepdims=True))
        / np.maximum(each.std(axis=1, keepdims=True), _LEAST_SPREAD)
        for each in (own, other)
    )
    return mean + spread * standardised / 2


def _ranks(scores):
    """Rank scores along the last axis: 1 for the greatest score, the mean rank for ties."""
    return rankdata(-scores, axis=-1)
