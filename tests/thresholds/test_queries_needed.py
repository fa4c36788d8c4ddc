"""Number of queries to judge for a certificate."""

import numpy as np
import pytest
from scipy.stats import binom

from skfilterrank.exceptions import InputError
from skfilterrank.thresholds import queries_needed
from skfilterrank.thresholds._queries_needed import power_of_binomial_test
from skfilterrank.thresholds._risks import BettingBound


def test_the_binomial_test_reaches_the_power():
    n = queries_needed(0.1, 0.06, confidence_level=0.9)
    allowed = np.flatnonzero(binom.cdf(np.arange(n + 1), n, 0.1) <= 0.1).max()
    assert binom.cdf(allowed, n, 0.06) >= 0.8


def test_fewer_queries_do_not():
    n = queries_needed(0.1, 0.06, confidence_level=0.9, power=0.7)
    powers = power_of_binomial_test(np.arange(1, n + 1), 0.1, 0.9, 0.06)
    assert np.flatnonzero(powers >= 0.7).tolist() == [n - 1]


@pytest.mark.nightly
def test_bets_reach_the_power():
    n = queries_needed(0.2, 0.12, confidence_level=0.9, is_binary=False)
    bound, rng = BettingBound(n, 0.2, 0.9), np.random.default_rng(1)
    found = [bound.rules_out((rng.random(n) < 0.12) * 1.0) for _ in range(1000)]
    assert np.mean(found) == pytest.approx(0.8, abs=0.06)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"expected_risk": 0.1}, "expected_risk must be at least 0 and below"),
        ({"expected_risk": 0.0999}, "more than 100,000 queries are needed"),
        ({"is_binary": "no"}, "is_binary must be True or False"),
    ],
)
def test_bad_parameters(given, message):
    with pytest.raises(InputError, match=message):
        queries_needed(**{"max_risk": 0.1, "expected_risk": 0.05} | given)
