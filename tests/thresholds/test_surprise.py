"""Lists cut by how unlikely a score is among the scores of its list."""

import numpy as np
import pytest

from skfilterrank._lists.queries import GroupIndex
from skfilterrank.thresholds import Surprise

INF = np.inf


def keys_of(scores, groups):
    return Surprise()._keys(scores, GroupIndex.from_groups(groups), {})


def lists_of(seed, n_queries=6):
    """Scores with ties and -inf, and queries in no order."""
    rng = np.random.RandomState(seed)
    groups = rng.randint(0, n_queries, 40)
    scores = rng.randint(0, 16, 40) / 4.0
    scores[rng.rand(40) < 0.1] = -INF
    return scores, groups


def test_of_an_exponential_tail_it_is_the_excess_over_its_scale():
    # Quantiles of an exponential distribution: the shape is 0, -log P is x itself.
    n = 4001
    scores = -np.log((np.arange(n) + 0.5) / n)
    keys = keys_of(scores, np.zeros(n, dtype=int))
    np.testing.assert_allclose(keys[:1000], scores[:1000], rtol=0.05)
    assert keys[100] == pytest.approx(-np.log(100.5 / n), rel=0.02)


def test_does_not_change_with_the_scale_of_the_scores():
    scores, groups = lists_of(3)
    np.testing.assert_allclose(keys_of(scores, groups), keys_of(8 * scores - 5, groups))


@pytest.mark.parametrize("seed", range(20))
def test_of_equal_scores_it_is_equal(seed):
    scores, groups = lists_of(seed, n_queries=3)
    keys = keys_of(scores, groups)
    rows = np.flatnonzero(scores > -INF)
    of_score = {(groups[row], scores[row]): keys[row] for row in rows}
    assert [of_score[groups[row], scores[row]] for row in rows] == keys[rows].tolist()
    order = np.random.RandomState(seed).permutation(len(scores))
    moved = keys_of(scores[order], groups[order])
    np.testing.assert_allclose(moved, keys[order], rtol=1e-12)


def test_lists_without_a_tail():
    keys = keys_of(np.array([1.0, 2, 2, 5, 5, 5, -INF]), [0, 1, 1, 2, 2, 2, 3])
    assert np.isfinite(keys[:-1]).all()
