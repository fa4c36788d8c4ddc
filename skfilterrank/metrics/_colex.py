"""Colexicographic ranks of sets of positions, as shares of all sets, in floating point.

Sets of m of the positions 1, ..., n are ordered by their last position, sets with the same last
position by the one before it, and so on. Comparing them so from the end is what lexirecall does; a
set of positions from the other end of the list, counted up instead of down, gives lexiprecision.

The share of the sets that follow p in this order is a nested sum over the levels i = m, ..., 1, in
which x is the position at the level, and a the last position that was still free for it::

    share(i) = start + weight * share(i - 1),    r = C(x, i) / C(a, i),    weight = r * i / x,

with ``start = 1 - r`` for the sets that follow and ``start = r - weight`` for those that precede.
Every order of two sets must survive rounding, so each share is kept from reaching the start of the
neighbouring position: see `nested_share`.
"""

from typing import NamedTuple

import numpy as np

EPS = np.finfo(np.float64).eps
_LEVELS_AT_ONCE = 8
_NEGLIGIBLE = 2.0**-60


def _stirling_rests():
    """log(z!) minus Stirling's formula, for z below 256; 0 in the place of 0."""
    z = np.arange(1, 256)
    # From z + 1 to z the rest grows by atanh(t) / t - 1 with t = 1 / (2 z + 1).
    t_squared = (2 * z + 1.0) ** -2
    growth = sum(t_squared**j / (2 * j + 1) for j in range(20, 0, -1))
    rests = np.cumsum(growth[::-1])[::-1] + _stirling_series(np.array(256.0))
    return np.concatenate(([0.0], rests))


def _stirling_series(z):
    """Stirling's series, exact in float64 from 256 on."""
    inverse = 1 / z
    square = inverse * inverse
    return inverse * (1 / 12 - square * (1 / 360 - square / 1260))


_STIRLING_RESTS = _stirling_rests()


def _stirling_rest(z):
    """log(z!) minus Stirling's formula."""
    rest = _STIRLING_RESTS.take(z.astype(np.intp), mode="clip")
    if z.size and z.max() >= len(_STIRLING_RESTS):
        large = z >= len(_STIRLING_RESTS)
        rest[large] = _stirling_series(z[large])
    return rest


def log_choose_ratio(x, a, i):
    """log(C(x, i) / C(a, i)) for whole numbers 1 <= i <= x <= a, as float64 arrays of one shape.

    Some units in the last place of the logarithm itself, also where it is tiny or C(x, i) is
    beyond float64: no two logarithms of factorials are subtracted.
    """
    gap, rest = a - x, x - i
    share = i * gap / a
    stirling = _stirling_rest(np.stack((rest, a - i, a, x)))
    with np.errstate(divide="ignore", invalid="ignore"):
        log = np.where(
            rest > 0,
            (rest + 0.5) * np.log1p(share / rest),
            # 0! is not what Stirling's formula makes of it.
            0.5 * np.log(2 * np.pi * share),
        )
        log += gap * _log_ratio(a - i, i, a) + i * _log_ratio(x, gap, a)
    log += (stirling[1] - stirling[0]) + (stirling[3] - stirling[2])
    log[gap == 0] = 0.0
    return log


def _log_ratio(part, rest, whole):
    """log(part / whole) where part + rest = whole, precise near 0 and far from it."""
    return np.where(part > rest, np.log1p(-rest / whole), np.log(part / whole))


def log_choose(n, m):
    """log C(n, m) for whole numbers 1 <= m <= n, or m = 0."""
    at_least_one = np.maximum(m, 1.0)
    log = -log_choose_ratio(at_least_one, np.maximum(n, 1.0), at_least_one)
    log[m == 0] = 0.0
    return log


class Levels(NamedTuple):
    """The levels to go through, one entry per set: from `top` down, while `count` lasts."""

    positions: np.ndarray
    """Positions of all sets, one after the other, float64."""
    first: np.ndarray
    """Where in `positions` that of the top level is; int64."""
    step: int
    """From there to the next lower level: 1 or -1."""
    count: np.ndarray
    """Number of levels; below them only one choice is left. int64."""
    top: np.ndarray
    """The top level, float64."""
    limit: np.ndarray
    """Last position that is free for the top level, float64."""


def nested_share(levels: Levels, *, following: bool) -> np.ndarray:
    """Share of the sets that follow, or else precede, each one; shape (n_sets,).

    A weakly monotone function of the order itself: what is cut off or capped at a level depends
    on the positions from there up alone, and no value reaches beyond that of the next position.
    """
    terms, passes = _following if following else _preceding, []
    limit = _limits(levels)
    # Most levels first, so that at every level those that have it come first.
    live = np.argsort(-levels.count, kind="stable")[: np.count_nonzero(levels.count > 0)]
    factor, total = np.ones(len(live)), np.zeros(len(live))
    done = 0
    while len(live):
        count = levels.count[live]
        depth = np.arange(done, min(max(2 * done, _LEVELS_AT_ONCE), count[0]))
        n_sets = np.searchsorted(-count, -depth)
        ends = np.cumsum(n_sets)
        which = live[np.arange(ends[-1]) - np.repeat(ends - n_sets, n_sets)]
        depths = np.repeat(depth, n_sets)
        at = levels.first[which] + levels.step * depths
        found = terms(levels.positions[at], limit[at], levels.top[which] - depths)
        by_level = [
            (n, *(values[end - n : end] for values in found))
            for n, end in zip(n_sets.tolist(), ends.tolist(), strict=True)
        ]
        passes.append((live, by_level))
        for n, start, weight, _ in by_level:
            total[:n] += factor[:n] * start
            factor[:n] *= weight
        done += len(depth)
        going_on = (factor > _NEGLIGIBLE * total) & (count > done)
        live, factor, total = live[going_on], factor[going_on], total[going_on]
    shares = np.zeros(len(levels.count))
    for live, by_level in reversed(passes):
        share = shares[live]
        for n, start, weight, end in reversed(by_level):
            share[:n] = np.minimum(start + weight * share[:n], end)
        shares[live] = share
    return shares


def _limits(levels):
    """The last position that was still free, for each of the positions."""
    limit = np.zeros(len(levels.positions))
    if levels.step > 0:
        limit[1:] = levels.positions[:-1]
    else:
        limit[:-1] = levels.positions[1:]
    limit -= 1
    some = levels.count > 0
    limit[levels.first[some]] = levels.limit[some]
    return limit


def _following(x, a, i):
    """Start, weight and end of the sets that follow: 1 - r, and up to the start of x - 1."""
    log = log_choose_ratio(x, a, i)
    r = np.exp(log)
    start = np.where(log > -np.log(2), -np.expm1(log), 1 - r)
    weight = r * (i / x)
    return start, weight, np.maximum(start, (start + weight) * (1 - 16 * EPS))


def _preceding(x, a, i):
    """Start, weight and end of the sets that precede: r - weight, and up to the start of x + 1."""
    log = log_choose_ratio(x, a, i)
    r = np.exp(log)
    start, weight = r * ((x - i) / x), r * (i / x)
    return start, weight, np.maximum(start, r * (1 - rounding(log)))


def rounding(log):
    """More than the relative error of the exponential of a logarithm of `log_choose_ratio`."""
    return (16 + 4 * np.abs(log)) * EPS


class Share(NamedTuple):
    """How many sets are worse than each one: C(...) * part, of C(n, m) sets; float64 each."""

    log_whole: np.ndarray
    """log of the number of sets that `part` is a share of."""
    log_ratio: np.ndarray
    """log of that number's share of all C(n, m) sets, to its own precision."""
    part: np.ndarray
    """The share, in [0, 1]."""
    is_capped: np.ndarray
    """Whether better sets exist outside of that number; bool."""
    log_all: np.ndarray
    """log C(n, m)."""


def as_share(share: Share) -> np.ndarray:
    """worse / (C(n, m) - 1), 0 where below 1e-300; NaN where there is one set only."""
    cap = np.where(share.is_capped, 1 - rounding(share.log_ratio), 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.exp(share.log_ratio) * np.minimum(share.part, cap) / -np.expm1(-share.log_all)
    # The smallest numbers of float64 are too few to keep every order.
    values[values < 1e-300] = 0.0
    return np.minimum(values, 1.0)


def as_log_share(share: Share) -> np.ndarray:
    """log(1 + worse) / log C(n, m); NaN where there is one set only."""
    part = share.part + np.exp(-share.log_whole)
    # A logarithm is not sure to be monotone in the last bit: give it numbers of 46 bits.
    bits = np.ascontiguousarray(part).view(np.int64)
    log = np.log(((bits + 0x40) & ~0x7F).view(np.float64))
    cap = np.where(share.is_capped, -(2.0**-44) - 8 * EPS * share.log_whole, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = (share.log_whole + np.minimum(log, cap)) / share.log_all
    return np.clip(values, 0.0, 1.0)
