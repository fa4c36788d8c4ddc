"""Standard deviations above random rankings: by hand, and over every ranking of a pool."""

from itertools import permutations

import numpy as np
import pytest

from skfilterrank.metrics import above_chance_score, evaluate

NO = -np.inf
POOL = [2, 1, 0, 0, -1]
EXACT = ["dcg@3", "ndcg", "ndcg_f@2", "rbp(persistence=0.5)", "precision@2", "recall@3"]
DRAWN = ["ap", "rr", "err@3", "sp@2", "lexirecall", "tse"]


def every_ranking(pool):
    """Labels, scores and queries of all rankings of a pool."""
    orders = list(permutations(range(len(pool))))
    groups = np.repeat(np.arange(len(orders)), len(pool))
    return np.tile(pool, len(orders)), -np.ravel(orders), groups


def test_by_hand():
    # One of three is relevant and DCG counts one place: 1/3 in the mean, 2/9 of variance.
    how = {"groups": ["q"] * 3, "k": 1}
    assert above_chance_score([1, 0, 0], [3, 2, 1], **how) == pytest.approx(
        (2 / 3) / (2 / 9) ** 0.5
    )
    assert above_chance_score([1, 0, 0], [2, 3, 1], **how) == pytest.approx(-((1 / 2) ** 0.5))
    assert above_chance_score([1, 0, 0], [1, 1, 1], **how) == pytest.approx(0, abs=1e-15)
    # What is hidden is lost, what is unjudged takes a place.
    assert above_chance_score([1, 0, 0], [NO, 2, 1], **how) == pytest.approx(-((1 / 2) ** 0.5))
    groups = ["q"] * 4
    moved = above_chance_score([1, 0, 0, np.nan], [3, 2, 1, 4], groups=groups, k=1)
    assert moved == pytest.approx(-((1 / 2) ** 0.5))


def scaled(measure, y_true, y_score, groups):
    name = f"above_chance(measure={measure})"
    return evaluate(y_true, y_score, [name], groups=groups, undefined="drop")[name]


@pytest.mark.parametrize("measure", EXACT)
def test_mean_and_variance_over_all_rankings(measure):
    values = scaled(measure, *every_ranking(POOL)).to_numpy()
    assert values.mean() == pytest.approx(0, abs=1e-12)
    assert values.std() == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("measure", DRAWN)
def test_simulated(measure):
    values = scaled(measure, *every_ranking(POOL)).to_numpy()
    assert values.mean() == pytest.approx(0, abs=0.13)
    assert values.std() == pytest.approx(1, rel=0.1)


def test_undefined_where_all_rankings_are_alike():
    for y_true in ([1, 1], [0, 0], [0.1, 0.1]):
        assert np.isnan(above_chance_score(y_true, [2, 1], groups=[0, 0], undefined="drop"))


@pytest.mark.parametrize("measure", ["forbidden", "above_chance"])
def test_what_cannot_be_above(measure):
    with pytest.raises(ValueError, match="measure must be"):
        above_chance_score([1, 0], [2, 1], groups=[0, 0], measure=measure)


def test_gains_of_its_own():
    with pytest.raises(ValueError, match=r"write 'above_chance\(rel=2,measure=...\)'"):
        above_chance_score([1, 0], [2, 1], groups=[0, 0], measure="ap(rel=2)")
    name = "above_chance(rel=2,measure=precision)@1"
    found = evaluate([2, 1, 1], [3, 2, 1], name, groups=["q"] * 3)[name]
    assert found.tolist() == pytest.approx([(2 / 3) / (2 / 9) ** 0.5])
