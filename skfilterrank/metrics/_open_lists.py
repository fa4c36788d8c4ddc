"""Lists with unjudged documents, and how many of these must be good for the extreme values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skfilterrank._lists.checks import cached_property
from skfilterrank._lists.scoring import first_places


@dataclass(frozen=True, eq=False)
class OpenList:
    """The documents of a query in list order, some of them unjudged.

    Unjudged documents become good one by one: from the first one down, from the last one up, or
    from the last one up among those that can be in the top k.

    Attributes
    ----------
    gains : ndarray of shape (n_rows,)
        Gain of each document, NaN where unjudged; documents that are not shown come last.
    low, high : float
        Gain of an unjudged document that is not good, or good.
    k : int or None
        Cut-off.
    first, length : ndarray of shape (n_shown,), int
        Number of places above the tie of each shown document, and number of documents in this tie.
    has_places : bool
        False if the gains decide the order in a tie, so that places depend on who is good.
    """

    gains: np.ndarray
    low: float
    high: float
    k: int | None
    first: np.ndarray
    length: np.ndarray
    has_places: bool = True

    @classmethod
    def of(cls, gains, scores, low, high, k, ties: str) -> OpenList:
        """Make a list from rows in list order; `ties` is the rule for equal scores."""
        shown = scores[scores > -np.inf]
        is_new = np.ones(len(shown), dtype=bool)
        is_new[1:] = shown[1:] != shown[:-1]
        has_places = ties not in ("worst", "best") or bool(is_new.all())
        if ties != "average":
            is_new[:] = True
        starts = np.flatnonzero(is_new)
        sizes = np.diff(np.append(starts, len(shown)))
        first, length = np.repeat(starts, sizes), np.repeat(sizes, sizes)
        return cls(gains, low, high, k, first, length, has_places)

    @property
    def n_shown(self) -> int:
        """Number of shown documents."""
        return len(self.first)

    @property
    def depth(self) -> int:
        """Number of shown documents in the top k."""
        return self.n_shown if self.k is None else min(self.k, self.n_shown)

    @cached_property
    def unjudged(self) -> np.ndarray:
        """Mask of the unjudged documents."""
        return np.isnan(self.gains)

    @cached_property
    def rows(self) -> np.ndarray:
        """Numbers of the unjudged documents, the first of the list first."""
        return np.flatnonzero(self.unjudged)

    @property
    def judged(self) -> np.ndarray:
        """Gains of the judged documents."""
        return self.gains[~self.unjudged]

    @cached_property
    def in_top(self) -> np.ndarray:
        """Mask of the documents that can be in the top k."""
        mask = np.zeros(len(self.gains), dtype=bool)
        mask[: self.n_shown] = self.first < self.depth
        return mask

    @property
    def ways(self) -> list[np.ndarray]:
        """Return the orders in which unjudged documents become good."""
        return [self.rows, self.rows[::-1], self.rows[self.in_top[self.rows]][::-1]]

    def mean_worth(self, worth) -> np.ndarray:
        """Compute the mean of `worth`, of places from 1, over the places of each document's tie.

        It is 0 below the cut-off, and for documents that are not shown.
        """
        running = np.append(0.0, np.cumsum(worth(first_places(self.depth))))
        begin, end = (
            np.minimum(each, self.depth) for each in (self.first, self.first + self.length)
        )
        means = np.zeros(len(self.gains))
        means[: self.n_shown] = (running[end] - running[begin]) / self.length
        return means


def at_ends(found: OpenList, **options) -> np.ndarray:
    """Return no number: the extreme values occur where no unjudged document is good, or all are.

    For measures that never get worse when the gain of one document rises.
    """
    return np.empty(0, dtype=np.intp)


def at_turns(found: OpenList, **options) -> np.ndarray | None:
    """Return numbers for measures of the shares of good documents, among the top k and among all.

    Such a measure rises, or falls, until the good documents reach the next tie or the cut-off.
    """
    if not found.has_places:
        return None
    end = np.append(found.first + found.length, np.full(len(found.gains) - found.n_shown, np.inf))
    n_in, n_above = (
        np.count_nonzero(found.unjudged & mask) for mask in (found.in_top, end <= found.depth)
    )
    u = len(found.rows)
    return np.array([n_above, n_in, u - n_in, u - n_above, n_in - n_above])


def of_extremes(values: list[np.ndarray]) -> np.ndarray:
    """Return the numbers with the extreme values of each way, from its values for 1, 2, ...

    NaN means undefined. A measure that is undefined at some number is undefined with none or with
    all documents good, too, and these two are always tried.
    """
    known = [each for each in values if not np.isnan(each).all()]
    return 1 + np.array([find(each) for each in known for find in (np.nanargmin, np.nanargmax)])
