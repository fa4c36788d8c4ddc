"""Systems in one order over all queries."""

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from profiles import times
from skfilterrank.comparison import SystemScores, kendall_tau, order_systems

# Few different values, so that there are ties.
VALUES = st.tuples(st.integers(2, 5), st.integers(1, 5)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.integers(0, 3))
)


def as_given(values, **params):
    """The order of systems without names, in the rows' own order."""
    found = order_systems(values, **params, random_state=0)
    place = np.argsort(list(map(int, found.systems)))
    parts = {name: getattr(found, name)[place] for name in ("scores", "rank", "low", "high")}
    wins = found.n_wins[np.ix_(place, place)]
    return dataclasses.replace(found, systems=tuple(map(str, sorted(place))), n_wins=wins, **parts)


def outcome(one, other):
    """1 for a win, 1/2 for a tie, 0."""
    return (int(one > other) + int(one >= other)) / 2


@given(VALUES)
def test_win_rate_comparison_by_comparison(values):
    n_systems, n_queries = values.shape
    for i, rate in enumerate(as_given(values, n_resamples=0).scores):
        others = [j for j in range(n_systems) if j != i]
        won = [outcome(values[i, q], values[j, q]) for q in range(n_queries) for j in others]
        assert rate == pytest.approx(np.mean(won), abs=1e-12)


@pytest.mark.slow
@times(1 / 2)
@given(values=VALUES, data=st.data())
def test_invariances(values, data):
    expected = as_given(values, n_resamples=0)
    turned = data.draw(st.permutations(range(len(values))))
    queries = data.draw(st.permutations(range(values.shape[1])))
    found = as_given(values[turned][:, queries], n_resamples=0)
    assert found.rank.tolist() == expected.rank[turned].tolist()
    # Each query may have a scale of its own.
    rescaled = np.exp(values) * np.arange(1, values.shape[1] + 1) - 5
    found = as_given(rescaled, n_resamples=0)
    assert found.rank.tolist() == expected.rank.tolist()
    # All the other way round.
    found = as_given(-values, n_resamples=0)
    assert found.rank.tolist() == (len(values) + 1 - expected.rank).tolist()
    # Every query twice.
    doubled = as_given(np.hstack([values, values]), n_resamples=0)
    np.testing.assert_allclose(doubled.scores, expected.scores, atol=1e-12)


def test_lower_may_be_better():
    values = np.random.default_rng(0).random((6, 5))
    errors = SystemScores(1 - values, greater_is_better=False)
    ours, theirs = (order_systems(each, random_state=0) for each in (values, errors))
    assert ours.to_frame().equals(theirs.to_frame())


@pytest.mark.slow
def test_intervals_over_all_resamples():
    # Three queries have 27 resamples, all alike: quantiles of ranks can be had exactly.
    values = np.array([[3, 2, 1], [2, 4, 3], [1, 3, 4], [4, 1, 2]])
    ranks = [
        as_given(values[:, list(drawn)], n_resamples=0).rank
        for drawn in itertools.product(range(3), repeat=3)
    ]
    found = as_given(values, n_resamples=4000, confidence_level=0.8)
    tail = np.quantile(ranks, [0.1, 0.9], axis=0, method="inverted_cdf")
    near = np.quantile(ranks, [0.13, 0.87], axis=0, method="inverted_cdf")
    far = np.quantile(ranks, [0.07, 0.93], axis=0, method="inverted_cdf")
    assert ((found.low == tail[0]) | ((far[0] <= found.low) & (found.low <= near[0]))).all()
    assert ((found.high == tail[1]) | ((near[1] <= found.high) & (found.high <= far[1]))).all()


def test_blocks_do_not_matter(monkeypatch):
    values = np.random.default_rng(2).integers(5, size=(7, 9)).astype(float)
    expected = order_systems(values, n_resamples=50, random_state=0)
    monkeypatch.setattr("skfilterrank.comparison._order_systems._CELLS", 100)
    assert (
        order_systems(values, n_resamples=50, random_state=0).to_frame().equals(expected.to_frame())
    )


def test_large_values_do_not_overflow():
    values = np.array([[1e308, -1e308], [-1e308, -1.1e308]])
    assert order_systems(values, random_state=0).rank.tolist() == [1, 2]


def test_table_and_text():
    values = np.arange(60.0).reshape(30, 2)
    found = order_systems(values, n_resamples=10, random_state=0)
    table = found.to_frame()
    assert table.index.tolist() == [str(number) for number in range(29, -1, -1)]
    assert table["score"].iloc[0] == 1
    assert "30 systems by win_rate over 2 queries (score), ranks with 95 % intervals" in str(found)
    assert "... and 10 more rows, see to_frame()" in str(found)
    assert kendall_tau(table["score"], list(table.index)) == pytest.approx(1)


def test_the_best_come_first():
    # By the first measure b is before a and c, which tie; by the second, c before b and a.
    one = SystemScores([[1, 2], [3, 3], [2, 1]], systems=["a", "b", "c"])
    other = SystemScores([[1, 1], [2, 2], [3, 3]], systems=["a", "b", "c"])
    first, second = order_systems(one, random_state=0), order_systems(other, random_state=0)
    assert first.systems == tuple(first.to_frame().index) == ("b", "a", "c")
    assert first.rank.tolist() == [1, 2.5, 2.5]
    assert first.scores.tolist() == [1, 0.25, 0.25]
    assert first.n_wins.tolist() == [[0, 2, 2], [0, 0, 1], [0, 1, 0]]
    assert second.systems == ("c", "b", "a")
    assert kendall_tau(list(second.systems), second) == pytest.approx(1)
    assert kendall_tau(list(first.systems), list(second.systems)) == pytest.approx(-1 / 3)


def test_one_query():
    values = np.array([[3.0], [1.0], [2.0]])
    found = as_given(values, n_resamples=0)
    assert found.rank.tolist() == [1, 3, 2]
    assert np.isnan(found.low).all()
    assert "low" not in str(found)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"method": "mean"}, "method"),
        ({"n_resamples": -1}, "n_resamples must be a whole number from 0 up, got -1"),
        ({"n_resamples": 2.5}, "n_resamples must be a whole number from 0 up"),
        (
            {"confidence_level": 95},
            "confidence_level must be a number between 0 and 1, both excluded, got 95",
        ),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        order_systems(np.eye(3), **params, random_state=0)


def test_intervals_by_hand():
    # "a" wins one query of three: of three drawn it wins two or more with chance 7 / 27 = 0.26,
    # and is then the first.
    values = [[1, 0, 0], [0, 1, 1]]
    for confidence, low in ((0.6, 1), (0.4, 2)):
        found = order_systems(values, n_resamples=4000, confidence_level=confidence, random_state=0)
        assert found.systems == ("1", "0")
        # The first 20 % of the ranks reach into these 26 %, the first 30 % beyond.
        assert (found.low[1], found.high[1]) == (low, 2)
        assert (found.low[0], found.high[0]) == (1, 3 - low)
