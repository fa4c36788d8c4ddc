"""Queries that count for a risk where not all of them are judged.

The loss of a query that shows nothing is known, whatever is judged of it. If it shows documents and
none of the query's documents is judged, the loss is unknown, and the query is left out. Lists that
show something would then be too few: of the queries without labels that show nothing, as many are
left out as keep the share of the two. So the queries that count are like a random draw of all, if
the judged ones are like a random draw of those that show something.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import ks_2samp

from skfilterrank._base.results import counted, p_text
from skfilterrank._base.words import warn_user
from skfilterrank._lists.content import hash_rows
from skfilterrank.exceptions import DataWarning
from skfilterrank.thresholds._risk_steps import has_judged

# Largest p value at which queries without labels have other scores than those with labels.
_OTHERS = 0.01
# Largest share of exact copies of queries that is no reason for a warning.
_FEW_COPIES = 0.02


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
