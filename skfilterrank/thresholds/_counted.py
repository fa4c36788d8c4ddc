"""Which queries count for a risk where not all of them are judged.

The loss of a query that shows nothing is known, whatever is judged of it. If it shows documents and
none of the query's documents is judged, the loss is unknown, and the query is left out. Lists that
show something would then be too few: of the queries without labels that show nothing, as many are
left out as keep the share of the two. So the queries that count are like a random draw of all, if
the judged ones are like a random draw of those that show something.
"""

from typing import NamedTuple

import numpy as np

from skfilterrank._lists.results import counted
from skfilterrank._lists.words import warn_user
from skfilterrank.exceptions import DataWarning
from skfilterrank.thresholds._risk_steps import has_judged


class CountedQueries(NamedTuple):
    """Queries that count for the risks at all levels of a range.

    Attributes
    ----------
    judged, shown : ndarray of shape (n_queries,), bool
        Queries with a judged document, and those that show something at the lowest level.
    drawn : ndarray of shape (n_queries,), bool
        Queries whose loss is known if it depends on what is shown, and that are drawn from these.
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

        Below the lowest key of a judged document, lists show what nobody has judged in any of them.
        If they do, no such level is in the range.
        """
        keys = np.asarray(keys, dtype=np.float64)
        can_be_shown = keys > -np.inf
        is_judged = ~np.isnan(lists.gains) & can_be_shown
        lowest = float(keys.min(where=is_judged, initial=np.inf))
        found = cls.at(lists, answer_at, lowest)
        below = can_be_shown & (keys < lowest) & found.drawn[lists.index.codes()]
        return found._replace(floor=float(keys.max(where=below, initial=-np.inf)))

    def of(self, promise) -> np.ndarray:
        """Return a mask of the queries that count for a risk."""
        if promise.reads == "none":
            return np.ones(len(self.judged), dtype=bool)
        if promise.reads == "all" or promise.answered:
            return self.judged
        return self.drawn

    def n_left_out(self, promise) -> int:
        """Count the queries that are left out of a risk."""
        left_out = ~self.of(promise)
        # Queries that show nothing are not among the answered ones.
        return int(np.count_nonzero(left_out & self.shown if promise.answered else left_out))

    def warn(self, promises) -> None:
        """Warn of queries that are left out of risks."""
        numbers = {promise.name: self.n_left_out(promise) for promise in promises}
        if not any(numbers.values()):
            return
        names = ", ".join(name for name, number in numbers.items() if number)
        text = (
            f"{said_left_out(max(numbers.values()), len(self.judged))} of {names}: no document "
            "is judged that could tell the loss"
        )
        if (self.shown & ~self.judged).any() and (~self.shown & ~self.drawn).any():
            text += " (of those that show nothing, the same share as of those that show something)"
        warn_user(
            f"{text}. The others must be like a random draw of all queries: judge what is shown "
            "of all of them, or of queries drawn at random.",
            DataWarning,
        )


def said_left_out(number, n_queries) -> str:
    """Say how many queries are left out."""
    verb = "is" if number == 1 else "are"
    return f"{number:,} of {counted(n_queries, 'query')} {verb} left out"


def _drawn(judged, shown) -> np.ndarray:
    """Return a mask of the judged queries, and of as many as are like them of the empty ones."""
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
    """Numbers of queries in a stream, of which as many count as :class:`CountedQueries` says.

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
