"""Where the relevant items of some queries stand, and how many placements of them are worse."""

from typing import NamedTuple

import numpy as np

from skfilterrank._core.lists import ListBlock
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


class Placements(NamedTuple):
    """The relevant items of some queries, each of which has one; those missing are the last."""

    positions: np.ndarray
    """Positions of the retrieved ones from 1, query by query, ascending; int64."""
    n_found: np.ndarray
    """Number of them for each query; int64."""
    m: np.ndarray
    """Number of relevant items, float64."""
    n: np.ndarray
    """Number of all items, float64."""

    @classmethod
    def of_block(cls, block: ListBlock, n_items: int | None):
        """Those of a block's queries; queries without relevant items are left out."""
        m, n_found, positions = found_positions(block)
        n, kept = items_of(block, m - n_found, n_items), m > 0
        return cls(positions, n_found[kept], *np.array([m[kept], n[kept]], dtype=np.float64))

    @property
    def first(self) -> np.ndarray:
        """Where in `positions` each query begins."""
        return np.cumsum(self.n_found) - self.n_found

    def per_found(self, values):
        """A value per query, at each of its positions."""
        return np.repeat(values, self.n_found)

    def worse_from_the_end(self) -> Share:
        """Placements that are worse when positions are compared from the last one up."""
        n, m, first = self.n, self.m, self.first
        # Items at the very end, missing or not, leave no worse choice: the others make the number.
        level = np.arange(len(self.positions)) - self.per_found(first - 1)
        is_last = self.positions - level == self.per_found(n - m)
        n_last_before = np.concatenate(([0], np.cumsum(is_last)))
        n_last = m - self.n_found + n_last_before[first + self.n_found] - n_last_before[first]
        top, last = m - n_last, n - n_last
        count = top.astype(np.int64)
        levels = Levels(
            position=self.positions.astype(np.float64),
            limit=np.append(self.positions[1:] - 1.0, 0.0),
            level=level.astype(np.float64),
            first=first + count - 1,
            step=-1,
            count=count,
        )
        some = count > 0
        levels.limit[levels.first[some]] = last[some]
        # C(n - j, m - j) / C(n, m) = C(m, j) / C(n, j)
        some = n_last > 0
        log_ratio = np.zeros(len(m))
        log_ratio[some] = log_choose_ratio(m[some], n[some], n_last[some])
        return Share(
            of_n=last,
            of_m=top,
            log_ratio=log_ratio,
            part=nested_share(levels, following=True),
            is_capped=some,
            log_all=log_choose(n, m),
        )

    def worse_from_the_top(self) -> Share:
        """Placements that are worse when positions are compared from the first one down."""
        n, m, first = self.n, self.m, self.first
        # Counted from the end of all items, those worse have a smaller last position, and so on.
        mirrored = self.per_found(n) + 1 - self.positions
        last = m.copy()
        some = self.n_found > 0
        last[some] = mirrored[first[some]]
        levels = Levels(
            position=mirrored,
            limit=np.append(0.0, mirrored[:-1] - 1),
            level=self.per_found(m + first) - np.arange(len(mirrored)),
            first=first + 1,
            step=1,
            count=self.n_found - 1,
        )
        # C(x, m) placements end at the last position x or above it.
        return Share(
            of_n=last,
            of_m=m,
            log_ratio=log_choose_ratio(last, n, m),
            part=(last - m) / last + m / last * nested_share(levels, following=False),
            is_capped=last < n,
            log_all=log_choose(n, m),
        )

    def scored(self, worse: Share, scale: str) -> np.ndarray:
        """The share of worse placements; 1 for the ideal one, and where there is no other."""
        values = as_share(worse) if scale == "share" else as_log_share(worse)
        last = np.full(len(self.m), np.inf)
        some = self.n_found > 0
        last[some] = self.positions[(self.first + self.n_found - 1)[some]]
        is_ideal = (self.n_found == self.m) & (last == self.m)
        values[is_ideal | (self.m == self.n)] = 1.0
        return values
