"""Where the relevant items of some queries stand, and how many placements of them are worse."""

from typing import NamedTuple

import numpy as np

from skfilterrank._lists.lists import ListBlock
from skfilterrank.metrics._robustness import counted
from skfilterrank.metrics._robustness.colex import (
    Levels,
    Share,
    as_log_share,
    as_share,
    log_choose,
    log_choose_ratio,
    nested_share,
)
from skfilterrank.metrics._robustness.positions import found_positions, items_of

SCALES = ("log_odds", "share", "log")


class Placements(NamedTuple):
    """The relevant items of some queries, each of which has one; those missing are the last."""

    positions: np.ndarray
    """Positions from 1, query by query, ascending; int64."""
    m: np.ndarray
    """Number of relevant items, float64."""
    n: np.ndarray
    """Number of all items, float64."""

    @classmethod
    def of_block(cls, block: ListBlock, n_items: int | None):
        """Those of a block's queries; queries without relevant items are left out."""
        m, n_found, positions = found_positions(block)
        n = items_of(block, m - n_found, n_items)
        level = _levels(m)
        complete = np.repeat(n - m, m) + level
        complete[level <= np.repeat(n_found, m)] = positions
        return cls(complete, *np.array([m[m > 0], n[m > 0]], dtype=np.float64))

    @property
    def sizes(self) -> np.ndarray:
        """Number of relevant items, int64."""
        return self.m.astype(np.int64)

    @property
    def first(self) -> np.ndarray:
        """Where in `positions` each query begins."""
        return np.cumsum(self.sizes) - self.sizes

    def from_the_end(self) -> "Sets":
        """The positions as they are compared from the last one up."""
        return Sets(
            self.positions.astype(np.float64),
            _levels(self.sizes).astype(np.float64),
            highest=self.first + self.sizes - 1,
            step=-1,
            m=self.m,
            n=self.n,
        )

    def from_the_top(self) -> "Sets":
        """Distances from the end of all items, as they are compared from the first one down."""
        return Sets(
            np.repeat(self.n, self.sizes) + 1 - self.positions,
            np.repeat(self.m, self.sizes) + 1 - _levels(self.sizes),
            highest=self.first,
            step=1,
            m=self.m,
            n=self.n,
        )

    def lexirecall(self, scale: str) -> np.ndarray:
        """Values by the last relevant item, then by the one before it, and so on."""
        return self._scored(Placements.from_the_end, True, scale)

    def lexiprecision(self, scale: str) -> np.ndarray:
        """Values by the first relevant item, then by the next one, and so on."""
        return self._scored(Placements.from_the_top, False, scale)

    def _scored(self, as_sets, first_is_best, scale):
        """Value of each placement; 1 for the ideal one, and where there is no other."""
        are_few = self.n <= counted.MOST_COUNTED
        if are_few.any() and not are_few.all():
            values = np.empty(len(self.n))
            for part in (are_few, ~are_few):
                values[part] = self._of(part)._scored(as_sets, first_is_best, scale)
            return values
        sets = as_sets(self)
        if are_few.all():
            values = _scored_by_count(sets, first_is_best, scale)
        else:
            worse, better = sets.following, sets.preceding
            values = _scored_by_share(*(worse, better) if first_is_best else (better, worse), scale)
            if scale == "log_odds":
                values[self.positions[self.first] == self.n - self.m + 1] = 0.0
        is_ideal = self.positions[self.first + self.sizes - 1] == self.m
        values[is_ideal] = 1.0
        return values

    def _of(self, queries):
        """Those of some queries, which a bool array marks."""
        return Placements(
            self.positions[np.repeat(queries, self.sizes)], self.m[queries], self.n[queries]
        )


def _scored_by_share(worse, better, scale):
    """Value of each placement of many items, level by level."""
    if scale == "share":
        return as_share(worse())
    log_worse = as_log_share(worse())
    return log_worse if scale == "log" else (log_worse + (1 - as_log_share(better()))) / 2


def _scored_by_count(sets, first_is_best, scale):
    """The same of a few items, by the numbers of placements."""
    n_sets, worse = sets.counted()
    better = n_sets - 1 - worse
    if first_is_best:
        worse, better = better, worse
    if scale == "share":
        return counted.as_share(worse, n_sets)
    log_worse = counted.as_log_share(worse, n_sets)
    return (
        log_worse
        if scale == "log"
        else (log_worse + (1 - counted.as_log_share(better, n_sets))) / 2
    )


class Sets(NamedTuple):
    """Sets of positions in colexicographic order: by their highest position first."""

    position: np.ndarray
    """Positions, set by set; float64."""
    level: np.ndarray
    """How many positions of the set are not above each one; float64."""
    highest: np.ndarray
    """Where the highest position of each set is; int64."""
    step: int
    """From there to the next lower one: 1 or -1."""
    m: np.ndarray
    """Size of each set, float64."""
    n: np.ndarray
    """The highest position possible, float64."""

    def counted(self) -> tuple[np.ndarray, np.ndarray]:
        """How many sets there are, and how many precede each one; of a few items."""
        m = self.m.astype(np.int64)
        n_before = counted.n_preceding(
            self.position.astype(np.int64),
            self.level.astype(np.int64),
            np.repeat(np.arange(len(m)), m),
            len(m),
        )
        return counted.n_all(self.n.astype(np.int64), m), n_before

    def following(self) -> Share:
        """How many sets follow each one."""
        n, m = self.n, self.m
        sizes = m.astype(np.int64)
        # Items at the very end leave no other choice: the others make the number.
        is_last = self.position - self.level == np.repeat(n - m, sizes)
        n_last_before = np.concatenate(([0], np.cumsum(is_last)))
        ends = np.cumsum(sizes)
        n_last = (n_last_before[ends] - n_last_before[ends - sizes]).astype(np.float64)
        top, last = m - n_last, n - n_last
        some = top > 0
        first = self.highest + self.step * n_last.astype(np.int64)
        limit = self._limits()
        limit[first[some]] = last[some]
        levels = Levels(self.position, limit, self.level, first, self.step, top.astype(np.int64))
        # C(n - j, m - j) / C(n, m) = C(m, j) / C(n, j)
        log_ratio, at_end = np.zeros(len(m)), n_last > 0
        log_ratio[at_end] = log_choose_ratio(m[at_end], n[at_end], n_last[at_end])
        return Share(
            of_n=last,
            of_m=top,
            log_ratio=log_ratio,
            part=nested_share(levels, following=True),
            is_capped=at_end,
            log_all=log_choose(n, m),
        )

    def preceding(self) -> Share:
        """How many sets precede each one."""
        n, m = self.n, self.m
        last = self.position[self.highest]
        levels = Levels(
            self.position,
            self._limits(),
            self.level,
            first=self.highest + self.step,
            step=self.step,
            count=m.astype(np.int64) - 1,
        )
        # C(x, m) sets end at the highest position x or below it.
        return Share(
            of_n=last,
            of_m=m,
            log_ratio=log_choose_ratio(last, n, m),
            part=(last - m) / last + m / last * nested_share(levels, following=False),
            is_capped=last < n,
            log_all=log_choose(n, m),
        )

    def _limits(self):
        """The last position that is free below the next higher one of each set."""
        limit = np.roll(self.position, self.step)
        limit -= 1
        return limit


def _levels(sizes):
    """1, 2, ... for each query."""
    ends = np.cumsum(sizes)
    return np.arange(1, (ends[-1] if len(ends) else 0) + 1) - np.repeat(ends - sizes, sizes)
