"""Search for the best threshold of rows that are read several times, some at a time.

Under a threshold t the sum of the measure over queries is ``V(t) = V(inf) + sum of c_i over s_i >=
t``: each document that counts is a step of height ``c_i`` at its score ``s_i``. The first pass adds
up steps in bins: intervals of scores ``B_1 < B_2 < ...`` that hold a step, at most 2**18 by the
leading digits of the float64, in whose order whole numbers of 64 bits stand. For each bin it keeps
the sums ``R_j`` of the steps up and ``F_j <= 0`` of the steps down, its lowest and highest step,
and their number.

*Bound.* Let ``A_j`` be V(inf) plus all ``R_m + F_m`` with ``m > j``: the value at the lowest step
above the bin, or at infinity, so one that some threshold has. For t in bin j, V(t) is ``A_j`` plus
the steps of the bin at t or above. A sum of some of the steps of a bin is at most the sum of those
that are positive, so ``V(t) <= A_j + R_j``. Let M be the largest of all ``A_j`` and of the value
where all steps are shown. The maximum V* is at least M. If ``A_j + R_j < M``, no threshold in bin j
reaches V*, and the bin is left out. That holds, too, for thresholds that count as equally good,
within a slack of 1e-12 of the largest value: bins are left out only where they stay below M by more
than four times the slack.

*Search.* The second pass gathers the steps of the bins that are left and computes V at each of them
from the top of its bin, ``A_j`` being known. So V is known at all thresholds that could be best,
and at one step of every other bin, the lowest, none of which is better. Among equals the lowest is
taken. Steps gathered are at most half a million in memory. Where bins hold more, they go to a
temporary folder, split by score until each part fits or is a single score, and are read from there:
so the rows are read no more often however scores lie, and a flat V takes disk, 16 bytes a step. The
third pass finds the lowest score above the next lower step, for the middle between them.

Where a measure is no sum over documents, or is average precision with ties, steps are differences
of its values at prefixes. Some are mere rounding, which may be 0 in one cut of the rows and 1e-17
in another. The value is then unchanged, and the threshold may lie in the middle above another
score. All that is kept between blocks of rows takes less than 64 MB.
"""

import os
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from skfilterrank._lists.entry_bins import (
    MOST_STEPS,
    SHIFT,
    Bucket,
    StepBins,
    bins_of_keys,
    keys_of_scores,
    scores_of_keys,
)
from skfilterrank._lists.entry_values import EntryValues
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.row_blocks import Block, merged
from skfilterrank._lists.ties import ROUNDING_OF_MEANS, middle
from skfilterrank.exceptions import InputError

# Beyond it, not every whole number is a float64.
_LARGEST_INTEGER = 2**53
# Purposes of the first pass, and of a second one that gathers more than memory is to hold.
FIRST_PASS, MANY_STEPS = "bins", "steps, by a folder"


class BestThreshold(NamedTuple):
    """Some thresholds, the measure there, and the best one; as a ThresholdCurve has them."""

    thresholds: np.ndarray
    values: np.ndarray
    best_threshold: float
    best_value: float


def search_threshold(
    stepping: "Stepping", passing: Callable[[Any, str], Iterable], make_folder: Callable[[], str]
) -> BestThreshold:
    """Find the best threshold in three passes at most.

    Parameters
    ----------
    stepping : Stepping
        Knows the measure.
    passing : callable
        Takes the work for each block of whole queries and its purpose, and gives the results, at
        least one; they may have been merged, but of many steps.
    make_folder : callable
        Makes a temporary folder, where steps need one.
    """
    parsed: ParsedMeasure = stepping.parsed
    total = merged(passing(stepping, FIRST_PASS))
    search = Search(total, make_folder)
    if len(search.bins):
        gathering = Gathering(stepping, search.bins)
        for found in passing(gathering, MANY_STEPS if search.is_on_disk else "steps"):
            search.add(*found)
    key, best, below = search.best()
    threshold = -np.inf
    if below is not None:
        lower = scores_of_keys(np.array([below]))[0]
        threshold = merged(passing(NextScore(float(lower)), "middle")).threshold_above(lower)
    thresholds, sums = search.curve(key, best)
    with np.errstate(invalid="ignore"):
        # NaN where all queries are skipped.
        values = (sums / np.longdouble(total.n_queries)).astype(np.float64)
        value = float(best / np.longdouble(total.n_queries))
    if not parsed.measure.greater_is_better:
        values, value = 0.0 - values, 0.0 - value
    return BestThreshold(thresholds, values, threshold, value)


class Stepping(NamedTuple):
    """Adds up the steps of a block in bins."""

    parsed: ParsedMeasure
    gains: Gains
    undefined: float | str

    def __call__(self, block: Block) -> StepBins:
        """Add up the steps of a block."""
        entries = self.entries(block)
        if entries.counts is not None:
            raise InputError(
                f"undefined='drop' leaves out other queries at other thresholds by "
                f"{self.parsed.text}, which Rows cannot add up. Give a number."
            )
        keys, changes = self._steps(entries)
        start, n_queries = entries.sum_of_start
        return StepBins.of(keys, changes, self._sign * start, n_queries)

    def keys_and_changes(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Return the steps of a block, higher sums being better."""
        return self._steps(self.entries(block))

    def _steps(self, entries):
        scores, changes = entries.unsorted
        return keys_of_scores(scores), self._sign * changes

    @property
    def _sign(self):
        return 1.0 if self.parsed.measure.greater_is_better else -1.0

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
    """Steps of some bins."""

    keys: np.ndarray
    changes: np.ndarray

    def merge(self, other: "Gathered") -> "Gathered":
        """Join both."""
        return Gathered(*(np.concatenate(pair) for pair in zip(self, other)))


class Gathering(NamedTuple):
    """Picks the steps of some bins."""

    stepping: Stepping
    bins: np.ndarray

    def __call__(self, block: Block) -> Gathered:
        """Pick those of a block."""
        keys, changes = self.stepping.keys_and_changes(block)
        bins = bins_of_keys(keys)
        places = np.minimum(np.searchsorted(self.bins, bins), len(self.bins) - 1)
        wanted = self.bins[places] == bins
        keys, changes = keys[wanted], changes[wanted]
        # Steps at one score are one.
        distinct, place = np.unique(keys, return_inverse=True)
        return Gathered(distinct, np.bincount(place, changes, minlength=len(distinct)))


class Lowest(NamedTuple):
    """The lowest of some scores, and their type."""

    score: float | None
    dtype: np.dtype

    def merge(self, other: "Lowest") -> "Lowest":
        """Join both."""
        scores = [each for each in (self.score, other.score) if each is not None]
        return Lowest(min(scores, default=None), np.result_type(self.dtype, other.dtype))

    def threshold_above(self, lower) -> float:
        """Return the middle between this and a lower score; +inf where there is none."""
        return np.inf if self.score is None else middle(lower, self.dtype.type(self.score))


class NextScore(NamedTuple):
    """Finds the lowest score above another."""

    lower: float

    def __call__(self, block: Block) -> Lowest:
        """Find that of a block."""
        scores = block.columns["score"]
        above = scores[scores > self.lower]
        return Lowest(float(above.min()) if len(above) else None, scores.dtype)


class Search:
    """The steps that can matter: those of open bins one by one, and of each other bin its sum."""

    def __init__(self, total: StepBins, make_folder: Callable[[], str]):
        self._total = total
        # At the lowest step of each bin, and where nothing is shown.
        self._sums = total.sums()
        bound = self._sums[1:] + total.rises
        slack = ROUNDING_OF_MEANS * np.abs(self._sums).max()
        self._is_open = (bound >= self._sums.max() - 4 * slack) & (total.lows < total.highs)
        self.bins = total.bins[self._is_open]
        n_steps = int(total.counts[self._is_open].sum()) + np.count_nonzero(~self._is_open)
        path = None
        self.is_on_disk = n_steps > MOST_STEPS
        if self.is_on_disk:
            path = os.path.join(make_folder(), "steps")
        self._steps = Bucket(path)
        closed = ~self._is_open
        # At its lowest step the sum over a bin makes the value right, which is what is looked at.
        sums = (total.rises + total.falls)[closed]
        self._steps.add(total.lows[closed], sums.astype(np.float64))

    def add(self, keys: np.ndarray, changes: np.ndarray) -> None:
        """Take in steps of open bins."""
        self._steps.add(keys, changes)

    def best(self) -> tuple[int | None, np.longdouble, int | None]:
        """Find the lowest of the best thresholds: key, sum, and the key of the next lower step.

        The first is None where nothing is best shown, the last where everything is.
        """
        start = self._total.start
        highest = largest = start
        for _, sums in self._steps.sums(start):
            highest = max(highest, sums.max())
            largest = max(abs(largest), np.abs(sums).max())
        slack = ROUNDING_OF_MEANS * abs(largest)
        below = None
        for keys, sums in self._steps.sums(start):
            is_best = sums >= highest - slack
            place = int(is_best.argmax())
            if is_best[place]:
                below = int(keys[place - 1]) if place else below
                return int(keys[place]), sums[place], self._highest_of(below)
            below = int(keys[-1])
        return None, start, self._highest_of(below)

    def _highest_of(self, key):
        """Return the step itself, or the highest of the bin that the key stands for."""
        if key is None:
            return None
        place = int(np.searchsorted(self._total.bins, key >> SHIFT))
        return key if self._is_open[place] else int(self._total.highs[place])

    def curve(self, key, best) -> tuple[np.ndarray, np.ndarray]:
        """Return thresholds, ascending, and sums: at the lowest step of each bin, and the best."""
        keys, sums = self._total.lows, self._sums
        if key is not None:
            place = int(np.searchsorted(keys, key))
            is_new = place == len(keys) or keys[place] != key
            keys = np.insert(keys, place, key) if is_new else keys
            sums = np.insert(sums, place, best) if is_new else sums
        return np.append(scores_of_keys(keys), np.inf), sums
