"""Thresholds of rows that need not fit into memory: searched, and measured."""

from collections import Counter
from contextlib import ExitStack, closing
from typing import Any, NamedTuple

import numpy as np

from skfilterrank._files.closed_queries import ClosedQueries
from skfilterrank._files.files import temporary_folder
from skfilterrank._files.rows import Rows, opened, read_once
from skfilterrank._lists.entry_bins import StepBins
from skfilterrank._lists.entry_search import (
    FIRST_PASS,
    MANY_STEPS,
    BestThreshold,
    Stepping,
    search_threshold,
)
from skfilterrank._lists.gains import Gains, as_gains
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.row_blocks import Block
from skfilterrank._lists.scoring import Moments
from skfilterrank.exceptions import InputError


class Noted(NamedTuple):
    """The steps of some rows, and what else a threshold states of the rows it was fitted on.

    Attributes
    ----------
    steps : StepBins
        Sums of the steps.
    sizes : Counter
        Number of lists of each size, without rows that score -inf.
    n_unjudged : int
        Number of rows without a label.
    signs : set of float
        Signs of the gains.
    """

    steps: StepBins
    sizes: Counter
    n_unjudged: int
    signs: set

    def merge(self, other: "Noted") -> "Noted":
        """Join both."""
        return Noted(
            self.steps.merge(other.steps),
            self.sizes + other.sizes,
            self.n_unjudged + other.n_unjudged,
            self.signs | other.signs,
        )

    def every_size(self) -> np.ndarray:
        """Return the size of each list."""
        return np.repeat(list(self.sizes), list(self.sizes.values()))

    def some_gains(self) -> np.ndarray:
        """Return a gain of each sign that occurs."""
        return np.array(sorted(self.signs))


class Noting(NamedTuple):
    """Adds up the steps of a block, and notes the rest."""

    stepping: Stepping

    def __call__(self, block: Block) -> Noted:
        """Note a block of whole queries."""
        steps = self.stepping(block)
        gains = as_gains(block.columns["label"], self.stepping.gains)
        starts = np.cumsum(block.sizes) - block.sizes
        sizes = np.add.reduceat(block.columns["score"] > -np.inf, starts, dtype=np.int64)
        tests = {-1.0: np.less, 0.0: np.equal, 1.0: np.greater}
        return Noted(
            steps,
            Counter(sizes[sizes > 0].tolist()),
            int(np.count_nonzero(np.isnan(gains))),
            {sign for sign, test in tests.items() if test(gains, 0).any()},
        )


def search_rows(
    rows: Rows, parsed: ParsedMeasure, gains: Gains, undefined: float | str = 0.0
) -> tuple[BestThreshold, Noted]:
    """Find the best threshold of rows; return also what was noted of them."""
    if parsed.options.keys() & parsed.measure.columns.keys():
        raise InputError(
            f"measure={parsed.text!r} has options for each row, which no threshold is tuned for. "
            "Name another measure."
        )
    noted: list[Noted] = []
    with opened(rows, n_passes=3) as reading, ExitStack() as stack:

        def passing(work: Any, what: str):
            if what == FIRST_PASS:
                closed = ClosedQueries() if reading.looks_for_queries else None
                noted.append(reading.total(Noting(work), closed=closed, what=what))
                return [noted[0].steps]
            states = reading.states(work, what=what, merges=what != MANY_STEPS)
            return stack.enter_context(closing(states))

        found = search_threshold(
            Stepping(parsed, gains, undefined),
            passing,
            lambda: stack.enter_context(temporary_folder(rows.folder)),
        )
    return found, noted[0]


def mean_of_rows(threshold, rows: Rows, parsed: ParsedMeasure, gains: Gains) -> float:
    """Compute the mean of a measure over the queries of rows, cut by a fitted threshold."""
    return read_once(rows, Measuring(threshold, parsed, gains)).mean


class Measuring(NamedTuple):
    """Measures the lists of a block, cut by a threshold."""

    threshold: Any
    parsed: ParsedMeasure
    gains: Gains

    def __call__(self, block: Block) -> Moments:
        """Measure a block of whole queries."""
        index = block.group_index()
        shown = self.threshold.predict(block.columns["score"], groups=index.codes())
        return Moments.of(
            self.parsed.utility(
                block.columns["label"], shown, groups=index, gains=self.gains, average=None
            )
        )
