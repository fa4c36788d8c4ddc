"""Ranks of sets of positions in floating point, against whole numbers of any length."""

from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement
from math import comb, lgamma, log, log1p

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import times
from reference.recall import n_worse_precision, n_worse_recall
from skfilterrank.metrics import _placements as counted
from skfilterrank.metrics._placements import SCALES, Placements

N_WORSE = {"recall": n_worse_recall, "precision": n_worse_precision}


@pytest.fixture(scope="module", params=["counted", "level by level"])
def _both_ways(request):
    """Few items are counted; what serves for many must say the same of them."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param != "counted":
            patch.setattr(counted, "MOST_COUNTED", 0)
        yield


both_ways = pytest.mark.usefixtures("_both_ways")


def scores(placements, n, kind, scale):
    """Scores of placements of the same number of items."""
    sets = np.array(placements, dtype=np.int64)
    n_sets, m = sets.shape
    placed = Placements(sets.ravel(), m=np.full(n_sets, float(m)), n=np.full(n_sets, float(n)))
    return placed.lexirecall(scale) if kind == "recall" else placed.lexiprecision(scale)


def exact_score(p, n, kind, scale):
    """The value by whole numbers of any length."""
    worse, n_all = N_WORSE[kind](p, n), comb(n, len(p))
    if n_all == 1:
        return 1.0
    if scale == "share":
        return float(Fraction(worse, n_all - 1))
    if scale == "log":
        return float(log(1 + worse) / log(n_all))
    return float(1 / 2 + (log(1 + worse) - log(n_all - worse)) / log(n_all) / 2)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", N_WORSE)
class TestScores:
    """The number of worse placements as a score, which never contradicts it."""

    @pytest.mark.slow
    @both_ways
    def test_all_placements(self, kind, scale):
        for m, n in combinations_with_replacement(range(1, 10), 2):
            # Better ones have the smaller last position, and so on, or the smaller first one.
            order = (lambda p: p[::-1]) if kind == "recall" else None
            placements = sorted(combinations(range(1, n + 1), m), key=order, reverse=True)
            actual = scores(placements, n, kind, scale)
            assert (np.diff(actual) > 0).all()
            expected = [exact_score(p, n, kind, scale) for p in placements]
            np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-13)
            assert actual[-1] == 1
            if m < n:
                assert actual[0] == 0
                if scale != "log":
                    assert actual.mean() == pytest.approx(1 / 2, abs=1e-13)

    @pytest.mark.slow
    @both_ways
    @times(1 / 2)
    @given(st.data())
    def test_order_and_value(self, kind, scale, data):
        """Two placements that differ a little or a lot, in small and large collections."""
        n = data.draw(st.integers(2, 60) | st.integers(2, 10**7), label="n")
        m = data.draw(st.integers(1, min(n, 40)), label="m")
        p = data.draw(placements(n, m), label="p")
        q = data.draw(neighbours(p, n) | placements(n, m), label="q")
        worse_p, worse_q = N_WORSE[kind](p, n), N_WORSE[kind](q, n)
        actual_p, actual_q = scores([p, q], n, kind, scale)
        if worse_p > worse_q:
            assert actual_p >= actual_q
        elif worse_p < worse_q:
            assert actual_p <= actual_q
        else:
            assert actual_p == actual_q
        if scale == "share":
            expected = exact_score(p, n, kind, scale)
            if expected > 1e-299:
                assert actual_p == pytest.approx(expected, rel=2e-12)
        else:
            assert actual_p == pytest.approx(exact_score(p, n, kind, scale), rel=1e-12, abs=1e-13)

    @pytest.mark.slow
    @both_ways
    @times(1 / 2)
    @given(st.data())
    def test_what_float64_can_tell_is_told(self, kind, scale, data):
        n = data.draw(st.integers(2, 10**6), label="n")
        m = data.draw(st.integers(1, min(n, 12)), label="m")
        p = data.draw(placements(n, m), label="p")
        q = data.draw(neighbours(p, n), label="q")
        exact = [exact_score(each, n, kind, scale) for each in (p, q)]
        # The last bits go to rounding: of the logarithm on its own scale, which is log C(n, m).
        tolerance = 1e-12 if scale == "share" else 1e-12 / min(1, max(exact) or 1)
        if abs(exact[0] - exact[1]) > tolerance * max(exact):
            low, high = scores([p, q] if exact[0] < exact[1] else [q, p], n, kind, scale)
            assert low < high

    @pytest.mark.slow
    @both_ways
    def test_neighbours_in_the_order(self, kind, scale):
        """A step at one level takes those below from the worst to the best, or one step on."""
        for n, m in (
            *((30, 3), (30, 20), (100, 80), (300, 150), (1000, 5)),
            *((1000, 400), (10**6, 3), (10**6, 40), (10**9, 9)),
        ):
            better, worse = steps(n, m)
            if kind == "precision":
                # The same, counted from the end, where the earlier set is the worse one.
                better, worse = n + 1 - worse[:, ::-1], n + 1 - better[:, ::-1]
            better, worse = (scores(each, n, kind, scale) for each in (better, worse))
            assert (better >= worse).all(), (n, m)

    def test_ten_thousand_relevant(self, kind, scale):
        rng = np.random.default_rng(0)
        n, m = 10**6, 10_000
        base = np.sort(rng.choice(n, m, replace=False)) + 1
        later = base.copy()
        deciding = 0 if kind == "precision" else m - 1
        later[deciding] += 1
        assert later[deciding] <= n
        better, worse = scores([base, later], n, kind, scale)
        assert better > worse
        for each, actual in ((base, better), (later, worse)):
            p = each.tolist()
            assert actual == pytest.approx(by_first_levels(p, n, kind, scale), rel=1e-9)


@cache
def steps(n, m):
    """Pairs of placements that are neighbours in the order, the better ones first."""
    rng = np.random.default_rng(m)
    pairs = []
    while len(pairs) < 30:
        size = min(n, m + int(np.exp(rng.uniform(0, np.log(n - m + 1)))))
        p = np.sort(rng.choice(size, m, replace=False)) + 1
        if rng.random() < 0.5:
            p[rng.integers(m) :] += n - p[-1]
        # What the levels decide that come after some others is lost in rounding.
        level = int(rng.integers(m)) if rng.random() < 0.5 else m - 1 - int(rng.integers(3))
        limit = p[level + 1] - 1 if level + 1 < m else n
        x = p[level]
        if x == limit:
            continue
        better, worse = p.copy(), p.copy()
        better[: level + 1] = np.arange(x - level, x + 1)
        worse[: level + 1] = [*range(1, level + 1), x + 1]
        pairs.append((better, worse))
    return np.array(pairs).swapaxes(0, 1)


def by_first_levels(p, n, kind, scale, n_levels=5):
    """The score to about 1e-15, from the levels that decide first."""
    m = len(p)
    share, factor = Fraction(0), Fraction(1)
    if kind == "precision":
        p = [n + 1 - position for position in reversed(p)]
    limit = n
    for i in range(m, m - n_levels, -1):
        x = p[i - 1]
        # C(x, i) / C(a, i), as a product over the gap
        r = Fraction(1)
        for j in range(limit - x):
            r *= Fraction(limit - i - j, limit - j)
        share += factor * ((1 - r) if kind == "recall" else r * Fraction(x - i, x))
        factor *= r * Fraction(i, x)
        limit = x - 1
        if factor < Fraction(1, 10**40):
            break
    if scale == "share":
        return float(share)
    log_all = lgamma(n + 1) - lgamma(m + 1) - lgamma(n - m + 1)
    if scale == "log":
        return 1 + log(share) / log_all
    return 1 / 2 + (log(share) - log(1 - share)) / log_all / 2


@st.composite
def placements(draw, n, m):
    """Positions at the top, at the end, or anywhere."""
    where = draw(st.sampled_from(["top", "end", "both", "anywhere"]))
    width = min(n, m + draw(st.integers(0, 3)))
    some = {
        "top": st.integers(1, width),
        "end": st.integers(n - width + 1, n),
        "both": st.integers(1, width) | st.integers(n - width + 1, n),
        "anywhere": st.integers(1, n),
    }[where]
    return tuple(sorted(draw(st.sets(some, min_size=m, max_size=m))))


@st.composite
def neighbours(draw, p, n):
    """The placement, one or some of its positions moved."""
    moved = set(p)
    for position in draw(st.sets(st.sampled_from(p), min_size=1, max_size=3)):
        free = [new for step in (-2, -1, 1, 2) if 1 <= (new := position + step) <= n]
        free = [new for new in free if new not in moved]
        if free:
            moved.remove(position)
            moved.add(draw(st.sampled_from(free)))
    return tuple(sorted(moved))


@both_ways
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", N_WORSE)
def test_few_and_many_items_side_by_side(kind, scale):
    sizes = [(3, 7), (2, 60), (5, 48), (4, 49), (1, 1), (6, 300)]
    placed = Placements(
        np.concatenate([np.arange(m) * (n // m) + 1 for m, n in sizes]),
        *np.array(sizes, dtype=float).T,
    )
    together = placed.lexirecall(scale) if kind == "recall" else placed.lexiprecision(scale)
    alone = [scores([np.arange(m) * (n // m) + 1], n, kind, scale)[0] for m, n in sizes]
    np.testing.assert_array_equal(together, alone)


def test_shares_below_the_normal_numbers_are_zero():
    """One of 221 is found among 2000: shares are multiples of 10 ** -300.3, up to the 1779th."""
    n, m = 2000, 221
    found = [(position, *range(n - m + 2, n + 1)) for position in (1, 1700, 1777, 1778, 1779)]
    exact = [exact_score(p, n, "recall", "share") for p in found]
    assert exact[0] > exact[2] > 1e-300 > exact[3] > exact[4] > 0
    expected = [share if share >= 1e-300 else 0.0 for share in exact]
    actual = scores(found, n, "recall", "share")
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=0)


def test_the_worst_end_has_its_own_scale():
    """One of 100 is found, among a million: the share cannot show where, its logarithm can."""
    n, m = 10**6, 100
    ends = tuple(range(n - m + 2, n + 1))
    found = [(position, *ends) for position in (1, 1000, 500_000)]
    shares = scores(found, n, "recall", "share")
    assert (shares == 0).all()
    logs = scores(found, n, "recall", "log")
    # n - m + 1 - position placements are worse
    expected = [log1p(n - m + 1 - p[0]) / log(comb(n, m)) for p in found]
    np.testing.assert_allclose(logs, expected, rtol=1e-12)
    assert (np.diff(logs) < 0).all()
