"""Search for the best threshold of rows that are read several times, some at a time.

Why this is exact stands in the notes of :func:`skfilterrank.stream.threshold_curve`.
"""

import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np

from skfilterrank._core.entry_values import EntryValues
from skfilterrank._core.gains import Gains
from skfilterrank._core.measure import ParsedMeasure
from skfilterrank._core.midpoint import middle
from skfilterrank._core.row_blocks import Block, merged
from skfilterrank._core.same_value import ROUNDING_OF_MEANS
from skfilterrank._files.files import temporary_folder
from skfilterrank._threshold.spilled_steps import MOST_STEPS, Bucket
from skfilterrank._threshold.step_bins import (
    SHIFT,
    StepBins,
    bins_of_keys,
    keys_of_scores,
    scores_of_keys,
)
from skfilterrank.exceptions import InputError

# Beyond it, not every whole number is a float64.
_LARGEST_INTEGER = 2**53
# What the first pass is for, and a second one that gathers more than memory is to hold.
FIRST_PASS, MANY_STEPS = "bins", "steps, by a folder"


class BestThreshold(NamedTuple):
    """Some thresholds, the measure there, and the best one; as a ThresholdCurve has them."""

    thresholds: np.ndarray
    values: np.ndarray
    best_threshold: float
    best_value: float


def search_threshold(
    stepping: "Stepping", passing: Callable[[Any, str], Iterable], folder: str | None = None
) -> BestThreshold:
    """Find the best threshold in three passes at most.

    Parameters
    ----------
    stepping : Stepping
        Knows the measure.
    passing : callable
        Takes what is done with each block of whole queries and what that is for, and gives the
        results, at least one; they may have been merged, but of many steps.
    folder : str or None
        Where to make a temporary folder, where steps need one.
    """
    parsed: ParsedMeasure = stepping.parsed
    with ExitStack() as stack:
        total = merged(passing(stepping, FIRST_PASS))
        search = Search(total, stack, folder)
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
        """Bins of a block."""
        entries = self.entries(block)
        if entries.counts is not None:
            raise InputError(
                f"undefined='drop' leaves out other queries at other thresholds by "
                f"{self.parsed.text}, which a stream does not add up: give a number."
            )
        start, n_queries = entries.sum_of_start
        return StepBins.of(*self._steps(entries), self._sign * start, n_queries)

    def keys_and_changes(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """The steps of a block, higher sums being better."""
        return self._steps(self.entries(block))

    def _steps(self, entries):
        return keys_of_scores(entries.keys), self._sign * entries.changes

    @property
    def _sign(self):
        return 1.0 if self.parsed.measure.greater_is_better else -1.0

    def entries(self, block) -> EntryValues:
        """The values of the lists of a block."""
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
        """Of both."""
        return Gathered(*(np.concatenate(pair) for pair in zip(self, other)))


class Gathering(NamedTuple):
    """Picks the steps of some bins."""

    stepping: Stepping
    bins: np.ndarray

    def __call__(self, block: Block) -> Gathered:
        """Those of a block."""
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
        """Of both."""
        scores = [each for each in (self.score, other.score) if each is not None]
        return Lowest(min(scores, default=None), np.result_type(self.dtype, other.dtype))

    def threshold_above(self, lower) -> float:
        """In the middle between this and a lower score; +inf where there is none."""
        return np.inf if self.score is None else middle(lower, self.dtype.type(self.score))


class NextScore(NamedTuple):
    """Finds the lowest score above another."""

    lower: float

    def __call__(self, block: Block) -> Lowest:
        """That of a block."""
        scores = block.columns["score"]
        above = scores[scores > self.lower]
        return Lowest(float(above.min()) if len(above) else None, scores.dtype)


class Search:
    """The steps that can matter: those of open bins one by one, and of each other bin its sum."""

    def __init__(self, total: StepBins, stack: ExitStack, folder: str | None):
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
            path = os.path.join(stack.enter_context(temporary_folder(folder)), "steps")
        self._steps = Bucket(path)
        closed = ~self._is_open
        # At its lowest step the sum over a bin makes the value right, which is what is looked at.
        sums = (total.rises + total.falls)[closed]
        self._steps.add(total.lows[closed], sums.astype(np.float64))

    def add(self, keys: np.ndarray, changes: np.ndarray) -> None:
        """Take in steps of open bins."""
        self._steps.add(keys, changes)

    def best(self) -> tuple[int | None, np.longdouble, int | None]:
        """Key of the lowest of the best thresholds, its sum, and the key of the next lower step.

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
        """The step itself, or the highest of the bin that the key stands for."""
        if key is None:
            return None
        place = int(np.searchsorted(self._total.bins, key >> SHIFT))
        return key if self._is_open[place] else int(self._total.highs[place])

    def curve(self, key, best) -> tuple[np.ndarray, np.ndarray]:
        """Thresholds, ascending, and sums there: of each bin the lowest step, and the best."""
        keys, sums = self._total.lows, self._sums
        if key is not None:
            place = int(np.searchsorted(keys, key))
            is_new = place == len(keys) or keys[place] != key
            keys = np.insert(keys, place, key) if is_new else keys
            sums = np.insert(sums, place, best) if is_new else sums
        return np.append(scores_of_keys(keys), np.inf), sums
