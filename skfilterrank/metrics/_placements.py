"""Positions of a ranking's relevant documents, and counts of the worse and better placements."""

import itertools
from math import comb
from typing import NamedTuple

import numpy as np

from skfilterrank._lists.lists import ListBlock
from skfilterrank._lists.positions import found_positions, items_of

EPS = np.finfo(np.float64).eps
_LEVELS_AT_ONCE = 8
_NEGLIGIBLE = 2.0**-60
# Most documents whose placements are counted. C(48, 24) is below 2**45: float64 holds such counts
# exactly, and the logarithms of consecutive counts differ.
MOST_COUNTED = 48


def _stirling_rests():
    """Compute log(z!) minus Stirling's formula, for z below 256; 0 for z = 0."""
    z = np.arange(1, 256)
    # The remainder for z exceeds that for z + 1 by atanh(t) / t - 1, where t = 1 / (2 z + 1).
    t_squared = (2 * z + 1.0) ** -2
    growth = sum(t_squared**j / (2 * j + 1) for j in range(20, 0, -1))
    rests = np.cumsum(growth[::-1])[::-1] + _stirling_series(np.array(256.0))
    return np.concatenate(([0.0], rests))


def _stirling_series(z):
    """Compute Stirling's series, exact in float64 from 256 on."""
    inverse = 1 / z
    square = inverse * inverse
    return inverse * (1 / 12 - square * (1 / 360 - square / 1260))


_STIRLING_RESTS = _stirling_rests()


def _stirling_rest(z):
    """Compute log(z!) minus Stirling's formula."""
    rest = _STIRLING_RESTS.take(z.astype(np.intp), mode="clip")
    if z.size and z.max() >= len(_STIRLING_RESTS):
        large = z >= len(_STIRLING_RESTS)
        rest[large] = _stirling_series(z[large])
    return rest


def log_choose_ratio(x, a, i):
    """Compute log(C(x, i) / C(a, i)) for whole 1 <= i <= x <= a, arrays of one length.

    The result is exact to some units in the last place, even where it is tiny or C(x, i) exceeds
    float64, because no two logarithms of factorials are subtracted.
    """
    gap, rest, others = a - x, x - i, a - i
    share = i * gap / a
    stirling = (_stirling_rest(others) - _stirling_rest(rest)) + (
        _stirling_rest(x) - _stirling_rest(a)
    )
    # Stirling's formula fails for 0!: this value makes log1p(share / rest) equal log(2 pi share).
    zero = np.flatnonzero(rest == 0)
    rest[zero] = share[zero] / (2 * np.pi * share[zero] - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        log = np.log1p(share / rest)
        rest[zero] = 0.0
        log *= rest + 0.5
        log -= gap * np.log1p(i / others) + i * np.log1p(gap / x)
    log += stirling
    log[gap == 0] = 0.0
    return log


def log_choose(n, m):
    """Compute log C(n, m) for whole numbers 1 <= m <= n, or m = 0."""
    at_least_one = np.maximum(m, 1.0)
    log = -log_choose_ratio(at_least_one, np.maximum(n, 1.0), at_least_one)
    log[m == 0] = 0.0
    return log


class Levels(NamedTuple):
    """Positions of several sets, set by set; a level is the number of a position in its set."""

    position: np.ndarray
    """Position at each level (x in the formulas); float64."""
    limit: np.ndarray
    """Last free position at each level (a in the formulas); float64."""
    level: np.ndarray
    """Number of each level (i in the formulas); float64."""
    first: np.ndarray
    """Index of each set's highest level; int64."""
    step: int
    """Step from a level to the next lower level: 1 or -1."""
    count: np.ndarray  # type: ignore[assignment]  # hides tuple.count, which is not used
    """Number of levels of each set to visit; int64. At lower levels only one choice is left."""


def nested_share(levels: Levels, *, following: bool) -> np.ndarray:
    """Compute, for each set, the share of sets that follow it, or precede it; shape (n_sets,).

    Shares are weakly monotone in the order of sets, in spite of rounding. Terms that are left out
    or limited at a level depend only on the positions at that level and above. No value exceeds
    that of the next position.
    """
    terms, passes = _following if following else _preceding, []
    # Sort sets by number of levels, descending: the sets that reach a level then come first.
    live = np.argsort(-levels.count, kind="stable")[: np.count_nonzero(levels.count > 0)]
    factor, done = np.ones(len(live)), 0
    while len(live):
        count, at = levels.count[live], levels.first[live] + levels.step * done
        n_levels = min(max(done, _LEVELS_AT_ONCE), int(count[0]) - done)
        n_sets = np.searchsorted(-count, -np.arange(done, done + n_levels)).tolist()
        at = np.concatenate([at[:n] + levels.step * lower for lower, n in enumerate(n_sets)])
        found = terms(levels.position.take(at), levels.limit.take(at), levels.level.take(at))
        ends = itertools.accumulate(n_sets)
        by_level = [[values[end - n : end] for values in found] for n, end in zip(n_sets, ends)]
        passes.append((live, by_level))
        for start, weight, _ in by_level:
            factor[: len(start)] *= weight
        if done == 0:
            least = by_level[0][0]
        done += n_levels
        going_on = (factor > _NEGLIGIBLE * least) & (count > done)
        live, factor, least = live[going_on], factor[going_on], least[going_on]
    shares = np.zeros(len(levels.count))
    for live, by_level in reversed(passes):
        share = shares[live]
        for start, weight, end in reversed(by_level):
            now = share[: len(start)]
            now *= weight
            now += start
            np.minimum(now, end, out=now)
        shares[live] = share
    return shares


def _following(x, a, i):
    """Return start, weight and end of the share of following sets, for each position.

    With ``r = C(x, i) / C(a, i)`` the start is ``1 - r``. The end is just below the start of
    position x - 1.
    """
    log = log_choose_ratio(x, a, i)
    r = np.exp(log)
    start = np.where(log > -np.log(2), -np.expm1(log), 1 - r)
    weight = r * (i / x)
    return start, weight, np.maximum(start, (start + weight) * (1 - 16 * EPS))


def _preceding(x, a, i):
    """Return start, weight and end of the share of preceding sets, for each position.

    With ``r = C(x, i) / C(a, i)`` the start is r minus the weight. The end is just below r, the
    start of position x + 1.
    """
    log = log_choose_ratio(x, a, i)
    r = np.exp(log)
    start, weight = r * ((x - i) / x), r * (i / x)
    return start, weight, np.maximum(start, r * (1 - rounding(log)))


def rounding(log):
    """Bound the relative error of ``exp(log)`` for a result of `log_choose_ratio`."""
    return (16 + 4 * np.abs(log)) * EPS


class Share(NamedTuple):
    """Number of worse sets for each set: ``C(of_n, of_m) * part`` out of all ``C(n, m)``."""

    of_n: np.ndarray
    of_m: np.ndarray
    log_ratio: np.ndarray
    """Logarithm of C(of_n, of_m) / C(n, m), computed without cancellation; float64."""
    part: np.ndarray
    """Share of the C(of_n, of_m) sets that are worse, in [0, 1]; float64."""
    is_capped: np.ndarray
    """True where better sets exist besides the C(of_n, of_m) sets; bool."""
    log_all: np.ndarray
    """log C(n, m)."""


def as_share(share: Share) -> np.ndarray:
    """Compute worse / (C(n, m) - 1), 0 where below 1e-300; NaN where there is one set only."""
    cap = np.where(share.is_capped, 1 - rounding(share.log_ratio), 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.exp(share.log_ratio) * np.minimum(share.part, cap) / -np.expm1(-share.log_all)
    # Subnormal numbers of float64 have too few bits to keep every order.
    values[values < 1e-300] = 0.0
    return np.minimum(values, 1.0)


def as_log_share(share: Share) -> np.ndarray:
    """Compute log(1 + worse) / log C(n, m); NaN where there is one set only."""
    log_whole = log_choose(share.of_n, share.of_m)
    part = share.part + np.exp(-log_whole)
    # np.log need not be monotone in the last bits: round its argument to 46 bits.
    bits = np.ascontiguousarray(part).view(np.int64)
    log = np.log(((bits + 0x40) & ~0x7F).view(np.float64))
    cap = np.where(share.is_capped, -(2.0**-44) - 8 * EPS * log_whole, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = (log_whole + np.minimum(log, cap)) / share.log_all
    return np.clip(values, 0.0, 1.0)


_WIDTH = MOST_COUNTED + 1
# C(a, b) is at index a * _WIDTH + b.
_BINOMIALS = np.array([comb(a, b) for a in range(_WIDTH) for b in range(_WIDTH)], dtype=np.float64)


def count_preceding(position, level, query, n_queries) -> np.ndarray:
    """Count the sets before each set: the sum of C(position - 1, level) over its positions."""
    counts = _BINOMIALS.take((position - 1) * _WIDTH + level)
    return np.bincount(query, counts, minlength=n_queries)


def count_all(n, m) -> np.ndarray:
    """Compute C(n, m)."""
    return _BINOMIALS.take(n * _WIDTH + m)


def share_of_count(worse, n_sets) -> np.ndarray:
    """Compute worse / (C(n, m) - 1); 0 where there is one set only."""
    return worse / np.maximum(n_sets - 1, 1.0)


def log_share_of_count(worse, n_sets) -> np.ndarray:
    """Compute log(1 + worse) / log C(n, m); 0 where there is one set only."""
    return np.log(1 + worse) / np.log(np.maximum(n_sets, 2.0))


SCALES = ("log_odds", "share", "log")


class Placements(NamedTuple):
    """Positions of relevant documents of queries that have any; missing ones come last of all."""

    positions: np.ndarray
    """Positions from 1, query by query, ascending; int64."""
    m: np.ndarray
    """Number of relevant documents, float64."""
    n: np.ndarray
    """Number of all documents, float64."""

    @classmethod
    def of_block(cls, block: ListBlock, n_items: int | None):
        """Make the placements of a block's queries that have relevant documents."""
        m, n_found, positions = found_positions(block)
        n = items_of(block, m - n_found, n_items)
        level = _levels(m)
        complete = np.repeat(n - m, m) + level
        complete[level <= np.repeat(n_found, m)] = positions
        return cls(complete, *np.array([m[m > 0], n[m > 0]], dtype=np.float64))

    @property
    def sizes(self) -> np.ndarray:
        """Number of relevant documents, int64."""
        return self.m.astype(np.int64)

    @property
    def first(self) -> np.ndarray:
        """Index in `positions` of each query's first position."""
        return np.cumsum(self.sizes) - self.sizes

    def from_the_end(self) -> "Sets":
        """Return the positions as sets that are compared from the last position up."""
        return Sets(
            self.positions.astype(np.float64),
            _levels(self.sizes).astype(np.float64),
            highest=self.first + self.sizes - 1,
            step=-1,
            m=self.m,
            n=self.n,
        )

    def from_the_top(self) -> "Sets":
        """Return distances from the end as sets: they compare positions from the first one down."""
        return Sets(
            np.repeat(self.n, self.sizes) + 1 - self.positions,
            np.repeat(self.m, self.sizes) + 1 - _levels(self.sizes),
            highest=self.first,
            step=1,
            m=self.m,
            n=self.n,
        )

    def lexirecall(self, scale: str) -> np.ndarray:
        """Compute lexirecall: compare by the last relevant document, then the one before, etc."""
        return self._scored(Placements.from_the_end, True, scale)

    def lexiprecision(self, scale: str) -> np.ndarray:
        """Compute lexiprecision: compare by the first relevant document, then the next one, etc."""
        return self._scored(Placements.from_the_top, False, scale)

    def _scored(self, as_sets, first_is_best, scale):
        """Compute the value of each placement; 1 if it is the ideal or the only one."""
        are_few = self.n <= MOST_COUNTED
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
        """Return the placements of the queries that a bool array selects."""
        return Placements(
            self.positions[np.repeat(queries, self.sizes)], self.m[queries], self.n[queries]
        )


def _scored_by_share(worse, better, scale):
    """Compute values of placements among many documents, from shares of worse and better ones."""
    if scale == "share":
        return as_share(worse())
    log_worse = as_log_share(worse())
    return log_worse if scale == "log" else (log_worse + (1 - as_log_share(better()))) / 2


def _scored_by_count(sets, first_is_best, scale):
    """Compute values of placements among few documents, from counts of worse and better ones."""
    n_sets, worse = sets.counted()
    better = n_sets - 1 - worse
    if first_is_best:
        worse, better = better, worse
    if scale == "share":
        return share_of_count(worse, n_sets)
    log_worse = log_share_of_count(worse, n_sets)
    return (
        log_worse if scale == "log" else (log_worse + (1 - log_share_of_count(better, n_sets))) / 2
    )


class Sets(NamedTuple):
    """Sets of positions in colexicographic order: by their highest position first."""

    position: np.ndarray
    """Positions, set by set; float64."""
    level: np.ndarray
    """Number of each position in its set, counted from the lowest; float64."""
    highest: np.ndarray
    """Index of each set's highest position; int64."""
    step: int
    """Step from a position to the next lower one of its set: 1 or -1."""
    m: np.ndarray
    """Size of each set, float64."""
    n: np.ndarray
    """The highest position possible, float64."""

    def counted(self) -> tuple[np.ndarray, np.ndarray]:
        """Count all sets, and the sets before each set, for up to `MOST_COUNTED` documents."""
        m = self.m.astype(np.int64)
        n_before = count_preceding(
            self.position.astype(np.int64),
            self.level.astype(np.int64),
            np.repeat(np.arange(len(m)), m),
            len(m),
        )
        return count_all(self.n.astype(np.int64), m), n_before

    def following(self) -> Share:
        """Compute the share of sets that follow each set."""
        n, m = self.n, self.m
        sizes = m.astype(np.int64)
        # Documents at the very end have only one possible position; the count depends on the other
        # documents.
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
        """Compute the share of sets that precede each set."""
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
        """Compute for each position the last free one below the next higher one of its set."""
        limit = np.roll(self.position, self.step)
        limit -= 1
        return limit


def _levels(sizes):
    """Return the numbers 1, 2, ..., size of each query in one array."""
    ends = np.cumsum(sizes)
    return np.arange(1, (ends[-1] if len(ends) else 0) + 1) - np.repeat(ends - sizes, sizes)
