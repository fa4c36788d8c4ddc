"""Share of ties, and agreement of two measures."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skfilterrank.comparison import SystemScores
from skfilterrank.metaevaluation import agreement


def fraction_tied(scores, **params):
    return SystemScores.of(scores).fraction_tied(**params)


SHAPES = st.tuples(st.integers(2, 6), st.integers(1, 4))
TWO_VALUES = SHAPES.flatmap(
    lambda shape: st.tuples(*[arrays(np.float64, shape, elements=st.integers(0, 3))] * 2)
)


def comparisons(values):
    """Sign of each pair of systems for each query, one after the other."""
    n_systems, n_queries = values.shape
    return {
        (query, i, j): np.sign(values[i, query] - values[j, query])
        for query in range(n_queries)
        for i, j in itertools.combinations(range(n_systems), 2)
    }


@pytest.mark.slow
@given(TWO_VALUES)
def test_agreement_pair_by_pair(both):
    first, second = map(comparisons, both)
    decided = [each for each, sign in first.items() if sign]
    products = [first[each] * second[each] for each in decided]
    found = agreement(*both)
    assert found.n_comparisons == len(first)
    assert found.n_compared == len(decided)
    assert found.n_agree == products.count(1)
    assert found.n_opposite == products.count(-1)
    assert found.n_undecided == products.count(0)
    expected = products.count(1) / len(products) if products else np.nan
    np.testing.assert_allclose(found.share, expected)
    n_tied = found.n_comparisons - found.n_compared
    assert fraction_tied(both[0]) == pytest.approx(n_tied / found.n_comparisons)


def test_by_query():
    first = SystemScores([[1, 1], [0, 1], [0, 1]], queries=["x", "y"], measure="recall")
    second = SystemScores([[3, 1], [4, 2], [3, 2]], queries=["x", "y"], measure="ap")
    table = agreement(first, second).to_frame()
    # For x the first is preferred to both others: the second measure says no, and undecided.
    assert table.loc["x"].to_dict() == {
        "share": 0,
        "n_compared": 2,
        "n_agree": 0,
        "n_opposite": 1,
        "n_undecided": 1,
    }
    assert np.isnan(table.loc["y", "share"])
    assert table.index.name == "qid"


def test_systems_and_queries_in_another_order():
    rng = np.random.default_rng(1)
    first = SystemScores(rng.random((5, 3)), systems=list("abcde"), queries=[7, 8, 9])
    second = SystemScores(rng.random((5, 3)), systems=list("abcde"), queries=[7, 8, 9])
    turned = second.select(systems=list("ecdab"), queries=[9, 7, 8])
    assert agreement(first, turned).n_agree == agreement(first, second).n_agree


def test_all_tied():
    flat, values = np.ones((3, 2)), np.arange(6.0).reshape(3, 2)
    assert fraction_tied(flat) == 1
    found = agreement(flat, values)
    assert np.isnan(found.share)
    assert str(found) == "score prefers no system in any of 6 comparisons."
    assert agreement(values, flat).share == 0
    assert str(agreement(values, flat)).splitlines()[-1].split() == ["undecided", "6", "1.000"]


def test_tolerance():
    values = np.array([[0.0], [0.25], [0.5], [1.5]])
    assert fraction_tied(values, tolerance=0.25) == 2 / 6
    assert fraction_tied(values, tolerance=0.5) == 3 / 6
    assert agreement(values, values, tolerance=0.25).n_compared == 6 - 2


@pytest.mark.parametrize("block", [1, 7, 30])
def test_blocks_do_not_matter(monkeypatch, block):
    rng = np.random.default_rng(3)
    first, second = rng.integers(4, size=(2, 9, 5)).astype(float)
    expected = agreement(first, second)
    monkeypatch.setattr("skfilterrank._base.system_pairs.BLOCK_BYTES", 8 * 4 * 5 * block)
    found = agreement(first, second)
    assert found.to_frame().equals(expected.to_frame())


@pytest.mark.parametrize("tolerance", [-1, np.nan, "a", None, True])
def test_bad_tolerance(tolerance):
    values = np.ones((2, 2))
    with pytest.raises(ValueError, match="tolerance must be a finite number from 0 up"):
        fraction_tied(values, tolerance=tolerance)
    with pytest.raises(ValueError, match="tolerance must be a finite number from 0 up"):
        agreement(values, values, tolerance=tolerance)


def test_bad_scores():
    with pytest.raises(ValueError, match="scores must hold at least 2 systems"):
        fraction_tied([[1, 2]])
    with pytest.raises(ValueError, match="the same systems, but 1 is in only one of the two"):
        agreement(np.ones((2, 2)), np.ones((3, 2)))
    with pytest.raises(ValueError, match="the same queries, but 1 is"):
        agreement(np.ones((2, 2)), np.ones((2, 3)))
