"""Losses of queries and of units of a certificate at every threshold, and queries that count.

The loss of a query that shows nothing is known, whatever is judged of it. If it shows documents and
none of the query's documents is judged, the loss is unknown, and the query is left out. Lists that
show something would then be too few. So the same share of the queries that show nothing is left
out, from those without labels. Then the queries that count are like a random draw of all, if the
judged ones are like a random draw of those that show something.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import beta, binom, ks_2samp

from skfilterrank._base.rounding import ROUNDING_OF_MEANS
from skfilterrank._base.words import counted, p_text, plural, warn_user
from skfilterrank._lists.content import hash_rows
from skfilterrank._lists.entry_steps import Entries, values_of_measure
from skfilterrank._lists.lists import RankedLists, argsort_floats
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank.exceptions import DataWarning, InputError

# Largest p value at which queries without labels have other scores than those with labels.
_OTHERS = 0.01
# Largest share of exact copies of queries that is no reason for a warning.
_FEW_COPIES = 0.02


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
        With clusters, the share is a mean over all draws of one query of each cluster. So the
        expected excess of its largest error over c is at most that of one draw. Markov's
        inequality at c + 1 / (4 n c) then gives the band.
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


class CountedQueries(NamedTuple):
    """Queries that count for the risks at all levels of a range.

    Attributes
    ----------
    judged, shown : ndarray of shape (n_queries,), bool
        Queries with a judged document, and those that show something at the lowest level.
    drawn : ndarray of shape (n_queries,), bool
        Queries that count for risks of what is shown: the judged ones, and some that show nothing.
    floor : float
        Levels above it are in the range.
    """

    judged: np.ndarray
    shown: np.ndarray
    drawn: np.ndarray
    floor: float = -np.inf

    @classmethod
    def at(cls, lists, answer_at, level: float) -> "CountedQueries":
        """Find the queries that count at one level; `answer_at` is that of :class:`Units`."""
        judged, shown = has_judged(lists), (answer_at >= level) & (answer_at > -np.inf)
        return cls(judged, shown, _drawn(judged, shown))

    @classmethod
    def with_labels(cls, lists, keys, answer_at) -> "CountedQueries":
        """Find the queries that count down to the lowest level with labels.

        Below the lowest key of a judged document, lists can only show more unjudged documents. No
        level at which they do is in the range.
        """
        keys = np.asarray(keys, dtype=np.float64)
        can_be_shown = keys > -np.inf
        is_judged = ~np.isnan(lists.gains) & can_be_shown
        lowest = float(keys.min(where=is_judged, initial=np.inf))
        found = cls.at(lists, answer_at, lowest)
        below = can_be_shown & (keys < lowest) & found.drawn[lists.index.codes()]
        return found._replace(floor=float(keys.max(where=below, initial=-np.inf)))

    def of(self, risk) -> np.ndarray:
        """Return a mask of the queries that count for a risk."""
        if risk.reads == "none":
            return np.ones(len(self.judged), dtype=bool)
        if risk.reads == "all" or risk.answered:
            return self.judged
        return self.drawn

    def n_left_out(self, risk) -> int:
        """Count the queries that are left out of a risk."""
        left_out = ~self.of(risk)
        # Queries that show nothing are not among the answered ones.
        return int(np.count_nonzero(left_out & self.shown if risk.answered else left_out))

    def warn(self, risks, answer_at=None) -> None:
        """Warn of queries that are left out of risks.

        `answer_at`, that of :class:`Units`, compares them with the judged ones; None does not.
        """
        numbers = {risk.name: self.n_left_out(risk) for risk in risks}
        if not any(numbers.values()):
            return
        names = ", ".join(name for name, number in numbers.items() if number)
        text = (
            f"{said_left_out(max(numbers.values()), len(self.judged))} of {names}: no document "
            "is judged that could tell the loss"
        )
        if (self.shown & ~self.judged).any() and (~self.shown & ~self.drawn).any():
            text += " (of those that show nothing, the same share as of those that show something)"
        text += (
            ". The others must be like a random draw of all queries: judge what is shown of all "
            "of them, or of queries drawn at random."
        )
        if answer_at is not None and (p_value := self._p_of_others(answer_at)) <= _OTHERS:
            text += (
                " They are no such draw, by the best score of each query (Kolmogorov-Smirnov test, "
                f"p {p_text(p_value)}): the certificate is about queries like the judged ones."
            )
        warn_user(text, DataWarning)

    def _p_of_others(self, answer_at) -> float:
        """Test whether queries that show something have other best scores if they have labels."""
        judged, others = (answer_at[self.shown & mask] for mask in (self.judged, ~self.judged))
        return float(ks_2samp(judged, others).pvalue) if len(judged) and len(others) else 1.0


def said_left_out(number, n_queries) -> str:
    """Say how many queries are left out."""
    verb = "is" if number == 1 else "are"
    return f"{number:,} of {counted(n_queries, 'query')} {verb} left out"


def _drawn(judged, shown) -> np.ndarray:
    """Return a mask of the judged queries, and of the same share of those that show nothing."""
    n_judged, n_left_out = (int(np.count_nonzero(shown & mask)) for mask in (judged, ~judged))
    drawn, empty = judged.copy(), np.flatnonzero(~judged & ~shown)
    n_drawn = len(empty)
    if n_left_out:
        n_empty = len(judged) - n_judged - n_left_out
        n_drawn = n_judged * n_empty // (n_judged + n_left_out) - (n_empty - len(empty))
    if n_drawn > 0:
        # All of them have the same loss, but perhaps other clusters.
        drawn[empty[np.linspace(0, len(empty) - 1, n_drawn).round().astype(np.intp)]] = True
    return drawn


class DrawnSoFar(NamedTuple):
    """Numbers of queries of a stream so far; they count by the rule of :class:`CountedQueries`.

    Attributes
    ----------
    n_judged, n_left_out : int
        Queries that showed something, with a label and without.
    n_empty, n_drawn : int
        Queries that showed nothing, and those of them that counted.
    """

    n_judged: int = 0
    n_left_out: int = 0
    n_empty: int = 0
    n_drawn: int = 0

    def after(self, judged, shown, order) -> tuple["DrawnSoFar", CountedQueries]:
        """Return the numbers after more queries, which come in an order, and what counts of them.

        The same queries count, however the stream is divided.
        """
        n_judged, n_left_out, n_empty, n_drawn = self
        drawn = judged.copy()
        for query in order:
            if shown[query]:
                n_judged += bool(judged[query])
                n_left_out += not judged[query]
                continue
            n_empty += 1
            if not judged[query]:
                n_due = n_empty
                if n_left_out:
                    n_due = n_judged * n_empty // (n_judged + n_left_out)
                drawn[query] = n_drawn < n_due
            n_drawn += bool(drawn[query])
        after = DrawnSoFar(n_judged, n_left_out, n_empty, n_drawn)
        return after, CountedQueries(judged, shown, drawn)


def warn_of_copies(lists, clusters) -> None:
    """Warn if many queries have exactly the scores and labels of another one.

    Of coarse scores, lists are equal by chance. So a copy must have a score that no other list has,
    and two distinct scores. Copies within a cluster count once.
    """
    judged, codes = has_judged(lists), lists.index.codes()
    rows = np.column_stack([lists.scores, lists.gains]).astype(np.float64) + 0.0
    content = lists.index.sums(hash_rows(rows.view(np.uint64)))
    n_distinct, n_judged = len(np.unique(content[judged])), np.count_nonzero(judged)
    if n_judged - n_distinct <= _FEW_COPIES * n_judged:
        return
    table = pd.DataFrame({"content": content[codes], "score": rows[:, 0]})[judged[codes]]
    table = table.drop_duplicates()
    table["is_own"] = ~table["score"].duplicated(keep=False)
    found = table.groupby("content").agg({"score": "size", "is_own": "any"})
    units = pd.DataFrame({"content": content, "unit": clusters})[judged].drop_duplicates()
    n_more = units.groupby("content").size() - 1
    n_copies = int(n_more[(found["score"] > 1) & found["is_own"]].sum())
    n_units = units["unit"].nunique()
    if n_copies <= _FEW_COPIES * n_units:
        return
    warn_user(
        f"{n_copies:,} of {counted(n_units, 'query')} are exact copies of others (the same scores "
        "and labels). A query and its copies count once: leave copies out{, or give them one "
        "cluster by clusters=}. As they are, each counts as a draw of its own, and the certificate "
        "says too much.",
        DataWarning,
        argument=", or give them one cluster by clusters=",
    )
