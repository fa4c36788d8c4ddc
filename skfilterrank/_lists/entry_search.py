"""Search for the best threshold when rows are read in blocks, in up to three passes.

With threshold t, the sum of the measure over queries is ``V(t) = V(inf) + sum of c_i over s_i >=
t``: each document i that changes the measure is a step of height ``c_i`` at its score ``s_i``. The
first pass adds up steps in bins: intervals of scores ``B_1 > B_2 > ...`` that hold a step. A bin is
given by the leading bits of the float64, mapped to an integer that rises as the score falls; there
are at most 2**18. For each bin it keeps the sums ``R_j`` of the steps up and ``F_j <= 0`` of the
steps down, its first and last step, and their number.

*Bound.* Let ``A_j`` be V(inf) plus all ``R_m + F_m`` with ``m < j``: the value at the lowest step
above the bin, or at infinity. Some threshold has this value. For t in bin j, V(t) is ``A_j`` plus
the steps of the bin at t or above. A sum of some of the steps of a bin is at most the sum of those
that are positive, so ``V(t) <= A_j + R_j``. Let M be the largest of all ``A_j`` and of the value
where all steps are shown. The maximum V* is at least M. If ``A_j + R_j < M``, no threshold in bin j
reaches V*, and the bin is left out. Thresholds whose values differ by at most a slack of 1e-12 of
the largest value count as equally good. So a bin is left out only if its bound is below M by more
than four times the slack.

*Search.* The second pass gathers the steps of the bins that are left and computes V at each of them
from the top of its bin down, starting from ``A_j``. So V is known at all thresholds that could be
best, and at the lowest step of every other bin, which is not better. Among equally good thresholds
the lowest is taken. Gathered steps are held in memory, 16 bytes for each. The third pass finds the
lowest score above the next lower step; the threshold is the middle between the two.

For measures that are not sums over documents, and for average precision with ties, steps are
differences of values at prefixes. Some of these are only rounding, and may be 0 with one division
into blocks and 1e-17 with another. The best value is then the same, but the threshold may lie above
another score. All data kept between blocks, but gathered steps, take less than 64 MB.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from skfilterrank._base.rounding import ROUNDING_OF_MEANS, middle
from skfilterrank._lists.entry_values import EntryValues
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.row_blocks import Block, merged
from skfilterrank.exceptions import InputError

# A bin is the sign, the exponent and six bits of the score: 64 bins for each power of two.
SHIFT = 46
_FLIP = np.int64(np.iinfo(np.int64).max)
# Largest value up to which float64 holds every whole number.
_LARGEST_INTEGER = 2**53
# Purpose of the first pass.
FIRST_PASS = "bins"


def keys_of_scores(scores: np.ndarray) -> np.ndarray:
    """Return integer keys that rise as float64 scores fall; -0.0 and 0.0 have one key."""
    bits = (scores + 0.0).view(np.int64)
    # With all bits but the sign flipped, the bits of negative floats ascend with their value.
    return ~(bits ^ ((bits >> 63) & _FLIP))


def scores_of_keys(keys: np.ndarray) -> np.ndarray:
    """Return the scores that belong to integer keys."""
    return (~keys ^ ((~keys >> 63) & _FLIP)).view(np.float64)


def bins_of_keys(keys: np.ndarray) -> np.ndarray:
    """Return the bin of each key."""
    return keys >> SHIFT


class StepBins(NamedTuple):
    """Sums of the steps in each bin, and the sum of the measure when nothing is shown.

    Attributes
    ----------
    bins : ndarray of shape (n_bins,), int64
        The bins that hold a step, ascending.
    rises, falls : ndarray of shape (n_bins,), longdouble
        Sum of the positive steps of each bin, and sum of its negative steps.
    firsts, lasts : ndarray of shape (n_bins,), int64
        The lowest and the highest key of a step in each bin: of its highest and its lowest score.
    start : longdouble
        Sum of the measure over queries when nothing is shown.
    n_queries : float
        Number of queries for which the measure is defined.
    """

    bins: np.ndarray
    rises: np.ndarray
    falls: np.ndarray
    firsts: np.ndarray
    lasts: np.ndarray
    start: np.longdouble
    n_queries: float

    @classmethod
    def of(cls, keys, changes, start, n_queries) -> "StepBins":
        """Make bins from steps in any order."""
        order = np.argsort(keys)
        keys, changes = keys[order], changes[order].astype(np.longdouble)
        parts = (np.maximum(changes, 0.0), np.minimum(changes, 0.0), keys, keys)
        return cls._grouped(bins_of_keys(keys), parts, np.longdouble(start), float(n_queries))

    @classmethod
    def _grouped(cls, bins, columns, start, n_queries):
        """Merge the entries of equal bins; bins are ascending."""
        heads = np.flatnonzero(np.append(True, bins[1:] != bins[:-1])[: len(bins)])
        how = (np.add, np.add, np.minimum, np.maximum)
        merged = [
            each.reduceat(column, heads) if len(heads) else column
            for each, column in zip(how, columns)
        ]
        return cls(bins[heads], *merged, start, n_queries)

    def merge(self, other: "StepBins") -> "StepBins":
        """Add the sums of other bins to these."""
        both = [np.concatenate(pair) for pair in zip(self[:5], other[:5])]
        order = np.argsort(both[0], kind="stable")
        bins, *columns = (column[order] for column in both)
        return self._grouped(
            bins, columns, self.start + other.start, self.n_queries + other.n_queries
        )

    def sums(self) -> np.ndarray:
        """Compute the measure's sum for empty lists, and at the last step of each bin."""
        return np.append(np.longdouble(0), np.cumsum(self.rises + self.falls)) + self.start


class BestThreshold(NamedTuple):
    """Thresholds with their values, and the best threshold with its value."""

    thresholds: np.ndarray
    values: np.ndarray
    best_threshold: float
    best_value: float


def search_threshold(
    stepping: "Stepping", passing: Callable[[Any, str], Iterable]
) -> BestThreshold:
    """Find the best threshold in three passes at most.

    Parameters
    ----------
    stepping : Stepping
        Computes the steps of the measure.
    passing : callable
        ``passing(work, purpose)`` calls `work` on each block of whole queries, and yields at least
        one result.
    """
    total = merged(passing(stepping, FIRST_PASS))
    search = Search(total)
    if len(search.bins):
        for found in passing(Gathering(stepping, search.bins), "steps"):
            search.add(*found)
    key, best, below = search.best()
    threshold = -np.inf
    if below is not None:
        lower = scores_of_keys(np.array([below]))[0]
        threshold = merged(passing(NextScore(float(lower)), "middle")).threshold_above(lower)
    thresholds, sums = search.curve(key, best)
    with np.errstate(invalid="ignore"):
        # The result is NaN if all queries are skipped.
        values = (sums / np.longdouble(total.n_queries)).astype(np.float64)
        value = float(best / np.longdouble(total.n_queries))
    return BestThreshold(thresholds, values, threshold, value)


class Stepping(NamedTuple):
    """Work of the first pass: sums the steps of a block in bins."""

    parsed: ParsedMeasure
    gains: Gains
    undefined: float | str

    def __call__(self, block: Block) -> StepBins:
        """Add up the steps of a block."""
        entries = self.entries(block)
        if not entries.always_defined:
            raise InputError(
                f"undefined='drop' makes {self.parsed.text} skip different queries at different "
                "thresholds, which Rows cannot add up. Pass a number."
            )
        scores, changes = entries.unsorted
        return StepBins.of(keys_of_scores(scores), changes, *entries.sum_of_start)

    def keys_and_changes(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Return keys and changes of a block's steps; higher sums are better."""
        scores, changes = self.entries(block).unsorted
        return keys_of_scores(scores), changes

    def entries(self, block) -> EntryValues:
        """Compute the values of the lists of a block."""
        scores = block.columns["score"]
        if scores.dtype.kind in "iu" and (
            scores.max() > _LARGEST_INTEGER or scores.min() < -_LARGEST_INTEGER
        ):
            raise InputError(
                "rows has scores that are whole numbers beyond 2**53, which float64 does not tell "
                "apart: divide them."
            )
        lists = self.parsed.measure.ranked_lists(
            block.columns["label"],
            scores,
            groups=block.group_index(),
            gains=self.gains,
            ties=self.parsed.measure.ties[0],
            unjudged="zero",
            options=self.parsed.options,
        )
        return EntryValues.of(lists, self.parsed, undefined=self.undefined)


class Gathered(NamedTuple):
    """Keys and changes of the steps in open bins."""

    keys: np.ndarray
    changes: np.ndarray

    def merge(self, other: "Gathered") -> "Gathered":
        """Join this result with that of another block."""
        return Gathered(*(np.concatenate(pair) for pair in zip(self, other)))


class Gathering(NamedTuple):
    """Work of the second pass: selects the steps of open bins."""

    stepping: Stepping
    bins: np.ndarray

    def __call__(self, block: Block) -> Gathered:
        """Return the steps of a block that lie in the bins."""
        keys, changes = self.stepping.keys_and_changes(block)
        bins = bins_of_keys(keys)
        places = np.minimum(np.searchsorted(self.bins, bins), len(self.bins) - 1)
        wanted = self.bins[places] == bins
        keys, changes = keys[wanted], changes[wanted]
        # Steps at equal scores are added up.
        distinct, place = np.unique(keys, return_inverse=True)
        return Gathered(distinct, np.bincount(place, changes, minlength=len(distinct)))


class Lowest(NamedTuple):
    """Lowest score that was found, and the dtype of the scores."""

    score: float | None
    dtype: np.dtype

    def merge(self, other: "Lowest") -> "Lowest":
        """Join this result with that of another block."""
        scores = [each for each in (self.score, other.score) if each is not None]
        return Lowest(min(scores, default=None), np.result_type(self.dtype, other.dtype))

    def threshold_above(self, lower) -> float:
        """Return the middle between this score and a lower one; +inf if no score was found."""
        return np.inf if self.score is None else middle(lower, self.dtype.type(self.score))


class NextScore(NamedTuple):
    """Work of the third pass: finds the lowest score above a given one."""

    lower: float

    def __call__(self, block: Block) -> Lowest:
        """Find the lowest score of a block above `lower`."""
        scores = block.columns["score"]
        above = scores[scores > self.lower]
        return Lowest(float(above.min()) if len(above) else None, scores.dtype)


class Search:
    """Search among all steps of the open bins and the sums of the other bins."""

    def __init__(self, total: StepBins):
        self._total = total
        # Values when nothing is shown, and at the last step of each bin.
        self._sums = total.sums()
        bound = self._sums[:-1] + total.rises
        slack = ROUNDING_OF_MEANS * np.abs(self._sums).max()
        self._is_open = (bound >= self._sums.max() - 4 * slack) & (total.firsts < total.lasts)
        self.bins = total.bins[self._is_open]
        closed = ~self._is_open
        # A closed bin counts as one step at its last key, where the value is then exact.
        sums = (total.rises + total.falls)[closed]
        self._steps = [(total.lasts[closed], sums.astype(np.float64))]

    def add(self, keys: np.ndarray, changes: np.ndarray) -> None:
        """Add steps of open bins."""
        self._steps.append((keys, changes))

    def best(self) -> tuple[int | None, np.longdouble, int | None]:
        """Find the lowest best threshold; return its key, its sum and the next lower key.

        The first key is None if showing nothing is best; the last key is None if showing all is
        best.
        """
        start = self._total.start
        keys, changes = (np.concatenate(column) for column in zip(*self._steps))
        if not len(keys):
            return None, start, None
        order = np.argsort(keys)
        keys, changes = keys[order], changes[order]
        is_last = np.append(keys[1:] != keys[:-1], True)
        keys, sums = keys[is_last], (np.cumsum(changes, dtype=np.longdouble) + start)[is_last]
        slack = ROUNDING_OF_MEANS * max(abs(start), np.abs(sums).max())
        best = np.flatnonzero(sums >= max(start, sums.max()) - slack)
        if not len(best):
            return None, start, self._first_of(int(keys[0]))
        place = best[-1]
        below = int(keys[place + 1]) if place + 1 < len(keys) else None
        return int(keys[place]), sums[place], self._first_of(below)

    def _first_of(self, key):
        """Return the key of a step, or for a closed bin the first key of the bin."""
        if key is None:
            return None
        place = int(np.searchsorted(self._total.bins, key >> SHIFT))
        return key if self._is_open[place] else int(self._total.firsts[place])

    def curve(self, key, best) -> tuple[np.ndarray, np.ndarray]:
        """Return falling thresholds and sums, at the last step of each bin and the best."""
        keys, sums = self._total.lasts, self._sums[1:]
        if key is not None:
            place = int(np.searchsorted(keys, key))
            is_new = place == len(keys) or keys[place] != key
            keys = np.insert(keys, place, key) if is_new else keys
            sums = np.insert(sums, place, best) if is_new else sums
        return np.append(np.inf, scores_of_keys(keys)), np.append(self._total.start, sums)
