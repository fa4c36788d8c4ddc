"""Losses of the units of a guarantee: answered queries, or clusters of queries."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import beta, binom

from skfilterrank._lists.results import counted
from skfilterrank.thresholds._risk_steps import Steps

# Share of the error that is spent on the bounds of the starting point, one half for each bound.
START_SHARE = 0.1


@dataclass(frozen=True)
class Units:
    """Independent units of a guarantee, with the level at which each query is first answered.

    Attributes
    ----------
    answer_at : ndarray of shape (n_queries,)
        Highest level of the path at which any document of the query is shown; -inf if none is ever
        shown.
    clusters : ndarray of shape (n_queries,), int, or None
        Number of the cluster of each query; None where each query is a unit.
    name : str or None
        Name of a cluster, such as "user".
    """

    answer_at: np.ndarray
    clusters: np.ndarray | None = None
    name: str | None = None

    @classmethod
    def of(cls, lists, keys=None, clusters=None, name=None) -> "Units":
        """Make the units of ranked lists; `keys` are levels of the rows other than scores."""
        answer_at = np.full(lists.index.n_queries, -np.inf)
        np.maximum.at(answer_at, lists.index.codes(), lists.scores if keys is None else keys)
        return cls(answer_at, clusters, name)

    def of_promise(self, steps: Steps, promise) -> Steps:
        """Return the losses of the units of a guarantee, computed from the losses of queries.

        Among answered queries the promise is E[A (L - level)] <= 0, where A is 1 for a query that
        shows something. With the level in place of the loss of every other query, this says that
        the mean is at most the level.
        """
        if promise.answered:
            steps = _among_answered(steps, self.answer_at[steps.counted], promise.max_risk)
        return steps if self.clusters is None else _by_cluster(steps, self.clusters)

    def answered(self, counted, threshold) -> np.ndarray:
        """Compute the share of each unit's counted queries that is answered at a threshold."""
        answer_at = self.answer_at[counted]
        is_answered = (answer_at >= threshold) & (answer_at > -np.inf)
        return self.mean(is_answered.astype(np.float64), counted)

    def mean(self, values, counted) -> np.ndarray:
        """Return the mean of the values of the counted queries in each unit."""
        if self.clusters is None:
            return values
        _, units = np.unique(self.clusters[counted], return_inverse=True)
        return np.bincount(units, values) / np.bincount(units)

    def levels(self, counted) -> np.ndarray:
        """Return the highest level at which each unit is answered.

        A cluster is answered if at least half of its queries are answered.
        """
        answer_at = self.answer_at[counted]
        if self.clusters is not None:
            _, units = np.unique(self.clusters[counted], return_inverse=True)
            answer_at = answer_at[np.lexsort((-answer_at, units))]
            sizes = np.bincount(units)
            answer_at = answer_at[np.cumsum(sizes) - sizes + (sizes - 1) // 2]
        return answer_at

    def numbers(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the names of all units, and the number of each query's."""
        if self.clusters is None:
            return np.arange(len(self.answer_at)), np.arange(len(self.answer_at))
        return np.unique(self.clusters, return_inverse=True)

    @property
    def plural(self) -> str:
        """Name of units in the plural."""
        return f"{self.name}s" if self.name else "queries"

    def count(self, number) -> str:
        """Return a number of units in words."""
        return counted(number, self.name) if self.name else counted(number, "query", "queries")

    def share_answered(self, threshold, confidence) -> tuple[float, float, float]:
        """Return the mean share of answered queries of a unit, and an interval.

        It holds at all thresholds at once (Dvoretzky, Kiefer, Wolfowitz, with Massart's constant).
        Means over clusters are means of such functions over the draws of one query of each
        cluster. The expected excess of their distance over c bounds that of the mean's, and
        Markov's inequality at c + 1 / (4 n c) gives the band below.
        """
        every = np.arange(len(self.answer_at))
        shares = self.answered(every, threshold)
        share, n = float(shares.mean()), len(shares)
        width = np.sqrt(np.log(2 / (1 - confidence)) / (2 * n))
        if self.clusters is not None:
            width += 1 / (4 * n * width)
        return share, max(0.0, share - width), min(1.0, share + width)


def _among_answered(steps: Steps, answer_at, level) -> Steps:
    """Set the loss of queries that show nothing to the level."""
    queries = np.flatnonzero(answer_at > -np.inf)
    start = np.where(answer_at > -np.inf, steps.start, level) if steps.is_upward else level
    # A change at the same score as the answer comes after it, and so it is the last to count.
    if steps.is_upward:
        losses = np.full(len(queries), float(level))
        parts = [steps.scores, answer_at[queries]], [steps.queries, queries], [steps.losses, losses]
    else:
        losses = steps.start[queries]
        parts = [answer_at[queries], steps.scores], [queries, steps.queries], [losses, steps.losses]
    scores, queries, losses = map(np.concatenate, parts)
    order = np.argsort(scores if steps.is_upward else -scores, kind="stable")
    return steps._replace(
        start=np.broadcast_to(start, steps.start.shape).astype(np.float64),
        scores=scores[order],
        queries=queries[order],
        losses=losses[order],
    )


def _by_cluster(steps: Steps, clusters) -> Steps:
    """Average the losses of the queries of each cluster."""
    counted, unit_of = np.unique(clusters[steps.counted], return_inverse=True)
    sizes = np.bincount(unit_of, minlength=len(counted))
    start = np.bincount(unit_of, steps.start, len(counted)) / sizes
    changes = steps.changes()
    units = unit_of[steps.queries]
    # Sums within each cluster, in the order of the steps.
    order = np.argsort(units, kind="stable")
    sums = np.cumsum(changes[order])
    first = np.searchsorted(units[order], units[order])
    within = sums - np.append(0.0, sums)[first]
    losses = np.empty(len(units))
    losses[order] = np.clip(start[units[order]] + within / sizes[units[order]], 0.0, 1.0)
    return steps._replace(
        start=start,
        queries=units,
        losses=losses,
        counted=counted,
        is_binary=steps.is_binary and bool((sizes == 1).all()) and len(counted) == len(clusters),
    )


def last_of_start(n_units, n_first, error) -> int:
    """Return the number of answered units from which on thresholds are certified.

    With few answers nothing can be shown, so that the walk cannot begin at +inf. It begins where
    `n_first` units are answered, and thresholds are certified from this number on. Between the two
    lies, but for a probability of `error`, the threshold at which a fixed share of all units is
    answered. That threshold does not depend on the calibration queries, and the test of the first
    bad threshold from there on errs as seldom as any.
    """
    if n_first >= n_units:
        return n_units + 1
    share = float(beta.ppf(1 - error / 2, n_first, n_units - n_first + 1))
    return int(binom.isf(error / 2, n_units, share)) + 1


def start_at(steps: Steps, threshold) -> Steps:
    """Let steps start at a threshold."""
    later = steps.scores < threshold
    return steps._replace(
        start=steps.at(threshold),
        scores=steps.scores[later],
        queries=steps.queries[later],
        losses=steps.losses[later],
    )
