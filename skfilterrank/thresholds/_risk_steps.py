"""Losses of queries and of units of a certificate at every threshold."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import beta, binom

from skfilterrank._base.results import counted, plural
from skfilterrank._base.rounding import ROUNDING_OF_MEANS
from skfilterrank._lists.entry_steps import Entries, values_of_measure
from skfilterrank._lists.lists import RankedLists, argsort_floats
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank.exceptions import InputError


class Steps(NamedTuple):
    """Loss of each query as a step function, starting at the safest threshold.

    Attributes
    ----------
    start : ndarray of shape (n_queries,)
        Loss at the safest threshold: +inf (nothing is shown), or -inf (everything is shown) if
        `is_upward`.
    scores, queries, losses : ndarray of shape (n_steps,)
        Score at which the loss changes, number of the query, and its loss from there on.
    counted : ndarray of shape (n_queries,)
        Numbers of the queries that count.
    is_upward : bool
        True if the safest threshold is -inf.
    is_binary : bool
        True if losses are always 0 or 1.
    is_chosen : bool
        True if the safest end was chosen by the losses of these queries.
    """

    start: np.ndarray
    scores: np.ndarray
    queries: np.ndarray
    losses: np.ndarray
    counted: np.ndarray
    is_upward: bool
    is_binary: bool
    is_chosen: bool = False

    @property
    def n_queries(self):
        """Number of queries that count."""
        return len(self.start)

    @classmethod
    def of(cls, parts, entries: Entries, counts, *, binary: bool) -> "Steps":
        """Make steps from the end with the smaller losses.

        `parts` are tuples of queries, sort keys, and losses before the first step and after each
        one. `counts` is a mask of the queries that count; those without any loss do not.
        """
        n_queries = entries.lists.index.n_queries
        start, everything = np.full((2, n_queries), np.nan)
        found = []
        for queries, keys, values in parts:
            is_left_out = np.isnan(values).all(axis=1) | ~counts[queries]
            values = np.nan_to_num(values)
            is_step = (np.diff(values, axis=1) != 0) & (keys < np.inf) & ~is_left_out[:, None]
            start[queries] = np.where(is_left_out, np.nan, values[:, 0])
            everything[queries] = start[queries]
            own = np.repeat(queries, np.count_nonzero(is_step, axis=1))
            found.append((entries.keys_of(-keys[is_step]), own, values[:, 1:][is_step]))
        keys, queries, losses = map(np.concatenate, zip(*found))
        # The last of a query's steps at equal keys counts.
        is_last = np.append((keys[1:] != keys[:-1]) | (queries[1:] != queries[:-1]), True)
        keys, queries, losses = (each[is_last[: len(keys)]] for each in (keys, queries, losses))
        everything[queries] = losses
        counts = ~np.isnan(start)
        upward = bool(everything[counts].sum() < start[counts].sum())
        is_chosen = bool((everything < start).any() and (everything > start).any())
        if upward:
            start, losses = everything, _before(start, queries, losses)
        order = argsort_floats(keys if upward else -keys)
        keys, queries, losses = keys[order], queries[order], losses[order]
        number = np.cumsum(counts) - 1
        return cls(
            *(start[counts], keys, number[queries], losses, np.flatnonzero(counts), upward),
            is_binary=binary,
            is_chosen=is_chosen,
        )

    def at(self, threshold):
        """Return the loss of each query at a threshold."""
        taken = self.scores < threshold if self.is_upward else self.scores >= threshold
        losses = self.start.copy()
        # If a query has several steps, the last one counts.
        losses[self.queries[taken]] = self.losses[taken]
        return losses

    def changes(self):
        """Return the change of the loss at each step."""
        return self.losses - _before(self.start, self.queries, self.losses)


def _before(nothing, queries, after):
    """Compute the loss before each step from the losses after the steps."""
    order = np.argsort(queries, kind="stable")
    ordered = queries[order]
    is_first = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
    before = np.empty(len(after))
    before[order] = np.where(is_first, nothing[ordered], np.append(0.0, after[order])[:-1])
    return before


def has_judged(lists):
    """Return a mask of the queries with a judged document."""
    if not lists.has_unjudged:
        return np.ones(lists.index.n_queries, dtype=bool)
    judged = ~np.isnan(lists.gains)
    return np.bincount(lists.index.codes(), judged, minlength=lists.index.n_queries) > 0


def steps_of_measure(
    lists: RankedLists,
    parsed: ParsedMeasure,
    keys=None,
    *,
    most: int | None = None,
    counts: np.ndarray,
) -> Steps:
    """Compute the steps of a measure with values from 0 to 1; lower is better.

    Of tied documents, the worst count as shown first if the measure knows that rule.
    """
    entry = parsed.measure
    if entry.plain is not None and entry.own_reading is not None and entry.library is None:
        lists, parsed = lists.with_reading(entry.own_reading), parsed._replace(measure=entry.plain)
    ties = parsed.measure.ties
    lists = lists.with_ties("worst" if "worst" in ties else ties[0])
    entries = Entries.of(lists, keys, of_set=parsed.is_of_set, keys_order_ties=False, most=most)
    binary = parsed.is_zero_or_one

    def losses():
        for block in entries.lists.blocks():
            keys, values = values_of_measure(block, parsed, entries)
            if entry.reads == "shown":
                # A list that never shows anything loses nothing.
                values[np.isnan(values[:, 0]) & ~(keys < np.inf).any(axis=1)] = 0.0
            _check_losses(values, parsed, binary)
            yield block.queries, keys, values

    return Steps.of(losses(), entries, counts, binary=binary)


def _check_losses(values, parsed, binary) -> None:
    """Raise if losses of a registered measure are not what it was registered with."""
    is_missing = np.isnan(values)
    known = values[~is_missing]
    is_partly = is_missing.any(axis=1) & ~is_missing.all(axis=1)
    if parsed.measure.reads == "all" and is_partly.any():
        raise InputError(
            f"risk {parsed.text} is NaN for a query at some thresholds and a number at others: a "
            "query that does not count is NaN at all of them."
        )
    if ((known < -ROUNDING_OF_MEANS) | (known > 1 + ROUNDING_OF_MEANS)).any():
        raise InputError(
            f"risk {parsed.text} is registered with value_range=(0, 1), but has a loss of "
            f"{known[np.argmax(np.abs(known - 0.5))]:g}. Divide by the largest loss there can be."
        )
    if binary and not np.isin(known, (0.0, 1.0)).all():
        raise InputError(
            f"risk {parsed.text} is registered with zero_or_one=True, but has losses between 0 and "
            "1. Register it without, or return 0 or 1."
        )


@dataclass(frozen=True)
class Units:
    """Independent units of a certificate, with the level at which each query is first answered.

    Attributes
    ----------
    answer_at : ndarray of shape (n_queries,)
        Highest level of the path at which any document of the query is shown; -inf if none is ever
        shown.
    clusters : ndarray of shape (n_queries,), int
        Number of the unit of each query.
    name : str or None
        Name of a cluster, such as "user"; None where each query is a unit.
    """

    answer_at: np.ndarray
    clusters: np.ndarray
    name: str | None = None

    @classmethod
    def of(cls, index, keys, clusters=None, name=None) -> "Units":
        """Make the units of queries whose rows have keys; without a name each query is a unit."""
        answer_at = np.full(index.n_queries, -np.inf)
        np.maximum.at(answer_at, index.codes(), keys)
        return cls(answer_at, np.arange(index.n_queries) if name is None else clusters, name)

    def of_risk(self, steps: Steps, risk) -> Steps:
        """Return the losses of the units of a certificate, computed from the losses of queries.

        Among answered queries the risk is E[A (L - level)] <= 0, where A is 1 for a query that
        shows something. With the level in place of the loss of every other query, this says that
        the mean is at most the level.
        """
        if risk.answered:
            steps = _among_answered(steps, self.answer_at[steps.counted], risk.max_risk)
        return steps if self.name is None else _by_cluster(steps, self.clusters)

    def answered(self, counted, threshold) -> np.ndarray:
        """Compute the share of each unit's counted queries that is answered at a threshold."""
        answer_at = self.answer_at[counted]
        is_answered = (answer_at >= threshold) & (answer_at > -np.inf)
        return self.mean(is_answered.astype(np.float64), counted)

    def answered_of_risk(self, risk, counted, threshold) -> np.ndarray:
        """Compute the share of each unit that counts for a risk; 1 if it is over all queries."""
        answered = self.answered(counted, threshold)
        return answered if risk.answered else np.ones(len(answered))

    def mean(self, values, counted) -> np.ndarray:
        """Return the mean of the values of the counted queries in each unit."""
        _, units = np.unique(self.clusters[counted], return_inverse=True)
        return np.bincount(units, values) / np.bincount(units)

    def levels(self, counted) -> np.ndarray:
        """Return the highest level at which each unit is answered.

        A cluster is answered if at least half of its queries are answered.
        """
        answer_at = self.answer_at[counted]
        _, units = np.unique(self.clusters[counted], return_inverse=True)
        answer_at = answer_at[np.lexsort((-answer_at, units))]
        sizes = np.bincount(units)
        return answer_at[np.cumsum(sizes) - sizes + (sizes - 1) // 2]

    @property
    def n_units(self) -> int:
        """Number of all units."""
        return len(np.unique(self.clusters))

    @property
    def plural(self) -> str:
        """Name of units in the plural."""
        return plural(self.name or "query")

    def count(self, number) -> str:
        """Return a number of units in words."""
        return counted(number, self.name or "query")

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
        if self.name is not None:
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
