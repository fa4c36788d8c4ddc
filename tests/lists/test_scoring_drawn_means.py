"""drawn_means: Rubin's rules for means over queries and drawn label sets."""

import numpy as np
import pytest
from scipy import stats

from skfilterrank._lists.scoring import drawn_means, mean_of_sets


def _of(values):
    """Combine values of shape (n_sets, n_queries, ...)."""
    return drawn_means(values.mean(axis=1), values.std(axis=1, ddof=1), values.shape[1])


def test_rules_of_rubin_by_hand():
    found = _of(np.array([[0.2, 0.4, 0.6] * 2, [0.3, 0.4, 0.65] * 2]))
    # The variances of the six queries are 0.032 and 0.026, the means 0.4 and 0.45.
    within, between = (0.032 / 6 + 0.026 / 6) / 2, (1 + 1 / 2) * (2 * 0.025**2)
    share = between / (within + between)
    of_queries = (5 + 1) / (5 + 3) * 5 * (1 - share)
    degrees = 1 / (1 / ((2 - 1) / share**2) + 1 / of_queries)
    assert found.mean == pytest.approx(0.425)
    assert found.share_of_draws == pytest.approx(share)
    assert found.degrees == pytest.approx(degrees)
    for (low, high), df, variance in (
        (found.interval(0.9), degrees, within + between),
        (found.interval_of_these(0.9), 1, between),
    ):
        width = stats.t.ppf(0.95, df) * variance**0.5
        assert (low, high) == pytest.approx((0.425 - width, 0.425 + width))


def test_there_is_at_least_one_degree_of_freedom():
    """Two queries of nearly equal values have far less than one by the formula."""
    found = _of(np.array([[0.2, 0.2001], [0.4, 0.4001], [0.3, 0.3]]))
    assert found.degrees == 1


def test_equal_sets_have_the_interval_of_one():
    values = np.random.default_rng(0).random((1, 7, 3))
    one, many = _of(values), _of(np.repeat(values, 20, axis=0))
    assert many.mean.tolist() == one.mean.tolist() == values.mean(axis=1)[0].tolist()
    assert many.share_of_draws.tolist() == [0, 0, 0]
    assert np.array(many.interval_of_these(0.95)).tolist() == [many.mean.tolist()] * 2
    np.testing.assert_array_equal(many.interval(0.95), one.interval(0.95))
    usual = stats.t.interval(0.95, 6, many.mean, stats.sem(values[0]))
    np.testing.assert_allclose(many.interval(0.95), usual, rtol=1e-12)


def test_equal_queries_have_the_degrees_of_the_draws():
    found = _of(np.array([[0.25] * 4, [0.75] * 4, [0.5] * 4]))
    assert (found.degrees, found.share_of_draws) == (2, 1)
    assert found.interval(0.95) == found.interval_of_these(0.95)


def test_a_single_query_has_an_interval_for_these_queries_alone():
    found = drawn_means(np.array([[0.2], [0.4]]), np.full((2, 1), np.nan), 1)
    assert np.isfinite(found.interval_of_these(0.95)).all()
    assert np.isnan([*found.interval(0.95), found.share_of_draws]).all()


def test_mean_of_sets_leaves_out_nan():
    values = np.array([[0.1, np.nan, np.nan], [0.1, 0.5, np.nan], [0.1, 0.25, np.nan]])
    np.testing.assert_array_equal(mean_of_sets(values), [0.1, 0.375, np.nan])


def test_intervals_hold_the_truth_as_often_as_they_say():
    rng = np.random.default_rng(0)
    n_queries, n_known, n_draws, n_repeats = 30, 18, 10, 4000
    truth = rng.normal(size=(n_queries, n_repeats))
    # The other queries are drawn by a model whose mean is uncertain, as fitted ones are.
    model = truth[:n_known].mean(axis=0)
    model = model + rng.normal(size=(n_draws, 1, n_repeats)) / np.sqrt(n_known)
    values = np.broadcast_to(truth, (n_draws, n_queries, n_repeats)).copy()
    values[:, n_known:] = model + rng.normal(size=(n_draws, n_queries - n_known, n_repeats))
    found = _of(values)
    for (low, high), wanted in (
        (found.interval_of_these(0.9), truth.mean(axis=0)),
        (found.interval(0.9), 0.0),
    ):
        # Four standard errors of a share of 4,000 are 0.019.
        assert np.mean((low <= wanted) & (wanted <= high)) == pytest.approx(0.9, abs=0.019)
