"""Bounds of rates: exact binomial ones, and those of betting."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from skfilterrank.thresholds._risks import (
    BettingBound,
    BinomialBound,
    MeanBound,
    queries_needed,
)

# Lists drawn at random often hold nothing that a promise could be broken by.
pytestmark = pytest.mark.filterwarnings("ignore:The risk .* is 0 on all calibration queries")


class TestBinomialBound:
    @pytest.mark.slow
    @pytest.mark.parametrize("n", [1, 7, 45, 200])
    @pytest.mark.parametrize("level", [0.02, 0.05, 0.3, 0.9])
    @pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
    def test_is_the_exact_test_of_scipy(self, n, level, confidence):
        bound = BinomialBound(n, level, confidence)
        for n_bad in {0, 1, n // 4, n // 2, n - 1, n}:
            losses = np.arange(n) < n_bad
            p_value = binomtest(n_bad, n, level, alternative="less").pvalue
            assert bound.rules_out(losses) == (p_value <= 1 - confidence)
            # A two-sided interval leaves out half the error on each side.
            interval = binomtest(n_bad, n).proportion_ci(2 * confidence - 1) if n_bad < n else None
            upper = interval.high if interval else 1.0
            if confidence > 0.5:
                assert bound.upper(losses) == pytest.approx(upper)
            assert bound.rules_out(losses) == (bound.upper(losses) <= level)

    @pytest.mark.parametrize("level", [0.01, 0.05, 0.5, 0.99])
    @pytest.mark.parametrize("confidence", [0.5, 0.9, 0.999])
    def test_queries_needed(self, level, confidence):
        # (1 - level) ** n is the probability of no failure at all.
        needed = queries_needed(BinomialBound, level, confidence)
        assert (1 - level) ** needed <= 1 - confidence + 1e-12
        assert (1 - level) ** (needed - 1) > 1 - confidence

    def test_queries_needed_by_hand(self):
        # 0.95 ** 45 = 0.0994, 0.95 ** 44 = 0.1047.
        assert queries_needed(BinomialBound, 0.05, 0.9) == 45

    @pytest.mark.parametrize("confidence", [0.5, 0.9])
    def test_upper_bound_of_five_queries_by_enumeration(self, confidence):
        """At the bound, so few failures have a chance of one minus the confidence."""
        for n_bad in range(5):
            upper = BinomialBound(5, 0.3, confidence).upper(np.arange(5) < n_bad)
            chance = sum(
                upper ** sum(bad) * (1 - upper) ** (5 - sum(bad))
                for bad in itertools.product([0, 1], repeat=5)
                if sum(bad) <= n_bad
            )
            assert chance == pytest.approx(1 - confidence)


def test_mean_bound_by_hand():
    """Losses of 3 / 2 in five queries, and one more query that loses 1."""
    losses = np.array([0.5, 0.0, 1.0, 0.0, 0.0])
    assert MeanBound(5, 0.1).upper(losses) == 2.5 / 6
    assert MeanBound(5, 2.5 / 6).rules_out(losses)
    assert not MeanBound(5, 2.49 / 6).rules_out(losses)


class TestBettingBound:
    def capital(self, losses, level, confidence):
        """The highest capital on the way, bet by bet and loss by loss."""
        n = len(losses)
        order = np.random.default_rng(0).permutation(n)
        capitals, highest = [1 / 3, 1 / 3, 1 / 3], 1.0
        for i in order:
            for j, share in enumerate((1, 1 / 2, 1 / 4)):
                bet = math.sqrt(
                    2 * math.log(1 / (1 - confidence)) / (n * level * (1 - level) * share)
                )
                capitals[j] *= 1 + min(bet, 1 / (1 - level)) * (level - losses[i])
            highest = max(highest, sum(capitals))
        return highest

    @pytest.mark.slow
    @pytest.mark.parametrize("level", [0.05, 0.2, 0.7])
    @pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
    def test_is_the_highest_capital(self, level, confidence):
        rng = np.random.default_rng(0)
        outcomes = set()
        for n in (5, 30, 200):
            bound = BettingBound(n, level, confidence)
            for share in (0, 0.2, 0.5, 1):
                losses = rng.binomial(3, level * share, size=n) / 3
                expected = self.capital(losses, level, confidence)
                assert np.exp(bound._log_capital(losses, level)) == pytest.approx(expected)
                wins = expected >= 1 / (1 - confidence) - 1e-9
                assert bound.rules_out(losses) == (wins and losses.mean() <= level)
                outcomes.add(bound.rules_out(losses))
        assert outcomes == {True, False}

    @given(
        losses=st.lists(st.floats(0, 1), min_size=1, max_size=60),
        level=st.sampled_from([0.05, 0.3, 0.8]),
        seed=st.integers(0, 10),
    )
    def test_larger_losses_never_make_more_capital(self, losses, level, seed):
        # What allows to test a stretch of thresholds at once.
        losses = np.array(losses)
        rng = np.random.default_rng(seed)
        larger = losses + (1 - losses) * rng.uniform(size=len(losses)) * rng.integers(0, 2)
        bound = BettingBound(len(losses), level, 0.9)
        slack = 1e-9
        assert bound._log_capital(larger, level) <= bound._log_capital(losses, level) + slack
        assert bound.upper(larger) >= bound.upper(losses) - slack

    @pytest.mark.parametrize("n", [60, 500])
    def test_upper_is_the_smallest_level_ruled_out(self, n):
        losses = np.random.default_rng(1).binomial(3, 0.05, size=n) / 3
        bound = BettingBound(n, 0.1, 0.9)
        upper = bound.upper(losses)
        goal = math.log(10)
        assert losses.mean() < upper < 1
        assert (
            bound._log_capital(losses, upper + 1e-6)
            >= goal
            > bound._log_capital(losses, upper - 1e-6)
        )
        assert bound.rules_out(losses) == (upper <= 0.1)
        assert bound.upper(np.ones(n)) == 1.0

    def test_capital_that_is_lost_again_does_not_count(self):
        # The first losses of the order are 0 and win, the others are 1.
        bound = BettingBound(100, 0.1, 0.9)
        losses = np.ones(100)
        losses[bound._order[:60]] = 0
        assert bound._log_capital(losses, 0.1) >= math.log(10)
        assert not bound.rules_out(losses)
        assert bound.upper(losses) == losses.mean() == 0.4

    def test_a_mean_at_the_level_is_ruled_out_where_the_losses_come_last(self):
        # 20 losses of 0 come first in the order, then 20 of 1.
        bound = BettingBound(40, 0.5, 0.9)
        losses = np.ones(40)
        losses[bound._order[:20]] = 0
        assert bound.rules_out(losses)
        losses[bound._order[20:22]] = [0.5, 1.0]
        assert bound.rules_out(losses)
        losses[bound._order[19]] = 0.51
        assert not bound.rules_out(losses)

    def test_one_query_that_shows_no_failure(self):
        # It may win all: 1 + bet * level is 1 / (1 - level), as for a bet of 1 / (1 - level).
        # Level 0.03 allows bets of sqrt(2 log(10) / (0.03 * 0.97)) = 12.6 and above.
        assert BettingBound(1, 0.03, 0.9).upper(np.zeros(1)) == pytest.approx(0.9)

    def test_losing_all_is_no_error(self):
        for level in np.arange(1, 100) / 100:
            bound = BettingBound(2, level, 0.9)
            assert not bound.rules_out(np.ones(2)), level
            assert bound.upper(np.ones(2)) == 1, level
            assert bound._log_capital(np.ones(2), level) == 0, level

    @pytest.mark.parametrize("level", [0.05, 0.3])
    @pytest.mark.parametrize("confidence", [0.8, 0.95])
    def test_queries_needed_is_the_fewest(self, level, confidence):
        needed = queries_needed(BettingBound, level, confidence)
        fits = [
            BettingBound(n, level, confidence).rules_out(np.zeros(n)) for n in range(2 * needed)
        ]
        assert fits.index(True) == needed
        assert all(fits[needed:])

    @pytest.mark.nightly
    @pytest.mark.parametrize("draw", ["all or nothing", "thirds"])
    def test_a_mean_at_the_level_is_seldom_ruled_out(self, draw):
        rng = np.random.default_rng(0)
        n, level, times = 100, 0.2, 1000
        bound = BettingBound(n, level, 0.9)
        m = 1 if draw == "all or nothing" else 3
        wrong = sum(bound.rules_out(rng.binomial(m, level, size=n) / m) for _ in range(times))
        assert 0 < wrong <= binom.ppf(0.999, times, 0.1)
