"""Aggregation of the orders of systems by query into one order."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from skfilterrank._lists.checks import check_choice, check_count, check_share
from skfilterrank._lists.results import Result, counted, interval_text
from skfilterrank._lists.system_pairs import draw_resamples
from skfilterrank._lists.ties import merge_values
from skfilterrank._lists.words import progress_bar
from skfilterrank.comparison._system_scores import SystemScores

# Numbers held in memory at a time.
_CELLS = 2**22


@dataclass(frozen=True, eq=False, repr=False)
class SystemOrder(Result):
    """Systems in one order over all queries; see :func:`order_systems`."""

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
        """Return a row for each system, the best first: "rank", "low", "high" and "score"."""
        return pd.DataFrame(
            {"rank": self.rank, "low": self.low, "high": self.high, "score": self.scores},
            index=pd.Index(self.systems, name="system"),
        )

    def _summary(self):
        return (
            f"{len(self.systems)} systems by {self.method} over "
            f"{counted(self.n_queries, 'query', 'queries')} ({self.measure})"
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
    damping: float = 0.85,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    random_state=None,
    verbose: int = 0,
) -> SystemOrder:
    r"""Aggregate the orders of systems by query into one order.

    Use it for preferences such as lexirecall, whose means over queries have little meaning, and if
    queries with larger differences should not have more weight.

    Parameters
    ----------
    scores : SystemScores, or what :meth:`SystemScores.of` reads
        Values of at least two systems; for a query, only their order matters.
    measure : str or None, default=None
        Name of the measure, if `scores` has several.
    method : {"win_rate", "borda", "copeland", "mc4"}, default="win_rate"
        Method that scores the systems:

        - "win_rate": share of its comparisons (with each other system, for each query) that it
          wins; ties are half won.
        - "borda": points of Borda's count, mean over queries: the number of systems it is better
          than, ties being halves. As every query orders all systems, this is the win rate times
          the number of other systems. Fields know it by different names.
        - "copeland": number of systems that lose to it for more queries than they win, minus the
          number of those that beat it so.
        - "mc4": share of the time that a walker spends at it, who draws one of all systems and
          moves there if it wins against the present one for more queries than it loses.
    damping : float, default=0.85
        For "mc4", chance that the walker takes such a step; else it goes to any of the systems.
        Without it, a system that beats all others would leave these with nothing. Between 0 and 1,
        both excluded.
    confidence_level : float, default=0.95
        Confidence of the interval of each rank.
    n_resamples : int, default=1000
        Number of times that queries are resampled for it; 0 for no intervals.
    random_state : int, RandomState or None, default=None
        Source of the resamples. Pass an int for results that can be repeated.
    verbose : int, default=0
        1 shows a progress bar of the resamples, which take long for many systems by "mc4".

    Returns
    -------
    SystemOrder
        Result with ``to_frame()`` and attributes:

        method : str
            How the orders of the queries are put together.
        measure : str
            Name of the measure.
        systems : tuple of str
            Names of the systems, the best first, tied ones as in the scores: the order of all that
            is here.
        scores : ndarray of shape (n_systems,), dtype float64
            Scores that order the systems, greater is better; the meaning depends on the method.
        rank : ndarray of shape (n_systems,), dtype float64
            Rank of each system, 1 for the best; tied systems share the mean of their ranks.
        low, high : ndarray of shape (n_systems,), dtype float64
            Ends of the interval of the rank over resampled queries; NaN without resamples.
        n_wins : ndarray of shape (n_systems, n_systems), dtype int64
            Number of queries for which the system of the row is preferred to that of the column.
        confidence_level : float
            Confidence of each interval by itself.
        n_queries, n_resamples : int
            Number of queries, and of resamples of them.

    Raises
    ------
    ValueError
        If there are fewer than two systems, or fewer than two queries to resample, or a parameter
        is not as described.

    See Also
    --------
    kendall_tau : How alike two orders are.
    compare_systems : Which two systems differ by more than chance.

    Notes
    -----
    Queries are resampled with replacement (bootstrap). Intervals are percentile intervals, rounded
    outwards to ranks that occurred. They are wide for similar systems, and each holds only for its
    system.

    With :math:`j \succ i` where j is preferred to i for more queries than i to j, and d the
    damping, the scores :math:`\pi` of "mc4" solve

    .. math:: \pi_i = \frac{1 - d}{n} + d \Big( \sum_{j: i \succ j} \frac{\pi_j}{n}
        + \pi_i \big(1 - \sum_{j: j \succ i} \frac{1}{n}\big) \Big)

    and are rounded to 12 decimals, so that equivalent systems tie.

    References
    ----------
    Dwork, C., Kumar, R., Naor, M. and Sivakumar, D. (2001). Rank aggregation methods for the web.
    WWW 2001 (MC4).

    Examples
    --------
    For two queries, a is better than b and b than c; for one, b than c and c than a. So a wins
    4 of 6 comparisons, and so does b; but a beats b for two queries to one.

    >>> from skfilterrank.comparison import SystemScores, order_systems
    >>> scores = SystemScores([[3, 3, 1], [2, 2, 3], [1, 1, 2]], systems=["a", "b", "c"])
    >>> print(order_systems(scores, n_resamples=0))
    3 systems by win_rate over 3 queries (score)
      rank  score
    a  1.5 0.6667
    b  1.5 0.6667
    c    3 0.1667
    >>> order_systems(scores, method="copeland").scores
    array([ 2.,  0., -2.])
    """
    check_choice(method, "method", tuple(_METHODS))
    n_resamples = check_count(n_resamples, "n_resamples", least=0)
    damping = check_share(damping, "damping")
    confidence_level = check_share(confidence_level, "confidence_level")
    scores = SystemScores.of(scores, measure, least=(2, 2 if n_resamples else 1))
    values, n_queries = merge_values(scores.oriented), scores.n_queries

    score = _METHODS[method]
    observed = score(values, np.ones((1, n_queries)), damping)[0]
    low, high = np.full((2, scores.n_systems), np.nan)
    if n_resamples:
        counts = draw_resamples(n_queries, n_resamples, random_state)
        ranks = np.empty((n_resamples, scores.n_systems))
        cells = scores.n_systems ** (2 if method == "mc4" else 1)
        bar = progress_bar(total=n_resamples, unit="resample", disable=not verbose, leave=False)
        with bar:
            size = max(1, _CELLS // cells)
            for start in range(0, n_resamples, size):
                some = counts[start : start + size].astype(np.float64)
                ranks[start : start + size] = _ranks(score(values, some, damping))
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


def _win_rate(values, counts, damping):
    return _borda(values, counts, damping) / (len(values) - 1)


def _borda(values, counts, damping):
    """Compute mean Borda points over queries, with `counts` as the queries' frequencies."""
    # Points are doubled to integers, whose sums are exact, so that equal sums tie.
    doubled = 2 * (rankdata(values, axis=0) - 1)
    return counts @ doubled.T / (2 * values.shape[1])


def _copeland(values, counts, damping):
    """Compute numbers of systems beaten minus numbers of systems that win."""
    each = [_majorities(values, system, counts).sum(axis=1) for system in range(len(values))]
    return np.column_stack(each)


def _mc4(values, counts, damping):
    """Compute the stationary distribution of the walk."""
    n_systems = len(values)
    diagonal = np.arange(n_systems)
    # From each system (last axis) to each other.
    moves = np.empty((len(counts), n_systems, n_systems))
    for system in range(n_systems):
        moves[:, :, system] = _majorities(values, system, counts) < 0
    moves /= n_systems
    moves[:, diagonal, diagonal] = 1 - moves.sum(axis=1)
    moves *= -damping
    moves[:, diagonal, diagonal] += 1
    jumps = np.full((len(moves), n_systems, 1), (1 - damping) / n_systems)
    return np.linalg.solve(moves, jumps)[..., 0].round(12)


_METHODS = {"win_rate": _win_rate, "borda": _borda, "copeland": _copeland, "mc4": _mc4}


def _majorities(values, system, counts):
    """Return 1, 0 or -1: whether a system wins against another on more queries than it loses."""
    mine = values[system]
    signs = (mine > values).astype(np.float64) - (mine < values)
    # Sums of whole numbers, exact.
    return np.sign(counts @ signs.T)


def _ranks(scores):
    """Return ranks from 1 for the greatest, in the last axis."""
    return rankdata(-scores, axis=-1)
