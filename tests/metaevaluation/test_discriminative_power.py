"""Share of pairs that a measure tells apart, and the difference it needs for that."""

import itertools

import numpy as np
import pytest
import scipy.stats

from skfilterrank.comparison import SystemScores
from skfilterrank.metaevaluation import discriminative_power


def noisy(n_systems=5, n_queries=12, *, step=0.5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_systems, n_queries)) + step * np.arange(n_systems)[:, None]


def loop(values, alpha, n_tests):
    """Bonferroni with scipy, pair by pair: p values, and absolute differences."""
    pairs = list(itertools.combinations(values, 2))
    p = [min(1, n_tests * scipy.stats.ttest_rel(a, b).pvalue) for a, b in pairs]
    return np.array(p), np.array([abs(np.mean(a) - np.mean(b)) for a, b in pairs])


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_pair_by_pair(alpha):
    values = noisy()
    p, size = loop(values, alpha, 10)
    found = discriminative_power(values, alpha=alpha, correction="bonferroni")
    assert (found.n_pairs, found.n_significant) == (10, np.sum(p <= alpha))
    assert found.share == np.mean(p <= alpha)
    frame = found.to_frame()
    np.testing.assert_allclose(frame["p_adjusted"], np.sort(p))
    np.testing.assert_allclose(np.sort(frame["difference"].abs()), np.sort(size))


def test_all_and_none():
    apart = discriminative_power([[0, 0, 0.1], [5, 5, 5.2], [9, 9.1, 9]])
    assert apart.share == 1
    alike = discriminative_power(np.full((3, 4), 0.2))
    assert alike.share == 0
    assert (alike.to_frame()["p_adjusted"] == 1).all()


def test_baseline():
    found = discriminative_power(noisy(), baseline="2")
    assert found.n_pairs == 4


def test_table():
    scores = SystemScores(noisy(8), measure="ap")
    found = discriminative_power(scores)
    frame = found.to_frame()
    assert frame["p_adjusted"].is_monotonic_increasing
    assert frame["significant"].sum() == found.n_significant
    text = str(found)
    assert text.startswith(f"ap tells {found.n_significant} of 28 pairs apart")
    assert "paired t test, Holm's correction for 28 pairs, alpha = 0.05)" in text
    # The least p value is far below the last digit.
    assert "<0.0001" in text
    assert "0.0000" not in text
    assert "of 1 pair apart" in str(discriminative_power(noisy(2)))
    assert "8 more rows, see to_frame()" in text
    assert "by ap" in repr(found)
