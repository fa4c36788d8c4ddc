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

import itertools
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
    """log(C(x, i) / C(a, i)) for whole numbers 1 <= i <= x <= a, float64 arrays of one length.

    Some units in the last place of the logarithm itself, also where it is tiny or C(x, i) is
    beyond float64: no two logarithms of factorials are subtracted.
    """
    gap, rest, others = a - x, x - i, a - i
    share = i * gap / a
    stirling = (_stirling_rest(others) - _stirling_rest(rest)) + (
        _stirling_rest(x) - _stirling_rest(a)
    )
    # 0! is not what Stirling's formula makes of it: here log1p(share / rest) = log(2 pi share).
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
    """log C(n, m) for whole numbers 1 <= m <= n, or m = 0."""
    at_least_one = np.maximum(m, 1.0)
    log = -log_choose_ratio(at_least_one, np.maximum(n, 1.0), at_least_one)
    log[m == 0] = 0.0
    return log


class Levels(NamedTuple):
    """The levels to go through, of all sets one after the other."""

    position: np.ndarray
    """Position at each level, x above; float64."""
    limit: np.ndarray
    """Last position that is free at each level, a above; float64."""
    level: np.ndarray
    """Number of each level, i above; float64."""
    first: np.ndarray
    """Where each set's highest level is; int64."""
    step: int
    """From there to the next lower one: 1 or -1."""
    count: np.ndarray  # type: ignore[assignment]  # a tuple's own method of this name is not used
    """Number of levels of each set; below them only one choice is left. int64."""


def nested_share(levels: Levels, *, following: bool) -> np.ndarray:
    """Share of the sets that follow, or else precede, each one; shape (n_sets,).

    A weakly monotone function of the order itself: what is cut off or capped at a level depends
    on the positions from there up alone, and no value reaches beyond that of the next position.
    """
    terms, passes = _following if following else _preceding, []
    # Most levels first, so that at every level those that have it come first.
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
    """How many sets are worse than each one: C(of_n, of_m) * part, of C(n, m); float64 each."""

    of_n: np.ndarray
    of_m: np.ndarray
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
    log_whole = log_choose(share.of_n, share.of_m)
    part = share.part + np.exp(-log_whole)
    # A logarithm is not sure to be monotone in the last bit: give it numbers of 46 bits.
    bits = np.ascontiguousarray(part).view(np.int64)
    log = np.log(((bits + 0x40) & ~0x7F).view(np.float64))
    cap = np.where(share.is_capped, -(2.0**-44) - 8 * EPS * log_whole, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = (log_whole + np.minimum(log, cap)) / share.log_all
    return np.clip(values, 0.0, 1.0)
