"""Rank-biased overlap."""

import itertools
from math import log

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfilterrank.comparison import SystemScores, rank_biased_overlap

LISTS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=6, unique=True)
PERSISTENCE = st.sampled_from([0.2, 0.5, 0.9])
FAR = 400


def truncated(first, second, p, depth=FAR):
    """The sum by the letter, for long lists."""
    total, ours, theirs = 0, set(), set()
    for d in range(1, depth + 1):
        ours |= set(first[d - 1 : d])
        theirs |= set(second[d - 1 : d])
        total += (1 - p) * p ** (d - 1) * len(ours & theirs) / d
    return total


def extrapolated(first, second, p):
    """Equation 32 of Webber et al., term by term."""
    short, long = sorted((first, second), key=len)
    s, l = len(short), len(long)  # noqa: E741
    common = [len(set(short[:d]) & set(long[:d])) for d in range(1, l + 1)]
    total = sum(common[d - 1] / d * p**d for d in range(1, l + 1))
    total += sum(common[s - 1] * (d - s) / (s * d) * p**d for d in range(s + 1, l + 1))
    end = (common[l - 1] - common[s - 1]) / l + common[s - 1] / s
    return (1 - p) / p * total + end * p**l


@given(LISTS, LISTS, PERSISTENCE)
def test_value(first, second, persistence):
    found = rank_biased_overlap(first, second, persistence=persistence)
    assert found.value == pytest.approx(extrapolated(first, second, persistence), abs=1e-12)
    assert float(found) == found.value
    assert found.n_common == len(set(first) & set(second))


@pytest.mark.slow
@given(LISTS, LISTS, PERSISTENCE)
def test_bounds_are_those_of_continuations(first, second, persistence):
    found = rank_biased_overlap(first, second, persistence=persistence)
    # Nothing that follows is in common.
    one = first + [f"x{number}" for number in range(FAR)]
    other = second + [f"y{number}" for number in range(FAR)]
    assert found.low == pytest.approx(truncated(one, other, persistence), abs=1e-9)
    # Each list goes on with what only the other one has, in its order, then both alike.
    short, long = sorted((first, second), key=len)
    more = [f"z{number}" for number in range(FAR)]
    one = short + [name for name in long if name not in short] + more
    other = long + [name for name in short if name not in long] + more
    # The sum to a finite depth lacks what is behind, all of it in common.
    expected = truncated(one, other, persistence) + persistence**FAR
    assert found.high == pytest.approx(expected, abs=1e-9)
    assert found.residual == pytest.approx(found.high - found.low, abs=1e-15)


@given(
    st.lists(st.integers(0, 2), min_size=1, max_size=4),
    st.lists(st.integers(0, 2), min_size=1, max_size=4),
    st.permutations("abcdef"),
    PERSISTENCE,
)
def test_ties_are_the_mean_over_all_orders(first, second, names, persistence):
    def orders(values):
        """Every list that the values allow."""
        for order in itertools.permutations(values):
            if all(values[one] >= values[two] for one, two in itertools.pairwise(order)):
                yield list(order)

    first = dict(zip("abcdef", first))
    second = dict(zip(names, second))
    found = rank_biased_overlap(first, second, persistence=persistence, ties="average")
    each = [
        rank_biased_overlap(one, other, persistence=persistence)
        for one in orders(first)
        for other in orders(second)
    ]
    for name in ("value", "low", "high", "residual"):
        expected = np.mean([getattr(result, name) for result in each])
        assert getattr(found, name) == pytest.approx(expected, abs=1e-12), name


def test_by_hand():
    # a c against b a c: in common are 0, 1, 2 at depths 1, 2, 3; weights are 1/2, 1/4, 1/8.
    found = rank_biased_overlap(["a", "c"], ["b", "a", "c"], persistence=0.5)
    seen = 1 / 4 * 1 / 2 + 1 / 8 * 2 / 3
    # Behind depth 3, (1 - p) / p is 1 and the sum of p^d / d over all d is -log(1 - p).
    behind = log(2) - 1 / 2 - 1 / 8 - 1 / 24
    assert found.low == pytest.approx(seen + 2 * behind)
    # The first could go on with b: 3 of 3 at depth 3, and all after it.
    assert found.high == pytest.approx(1 / 4 * 1 / 2 + 1 / 8 + 1 / 8)
    # The first showed 1/2 at its end: of its third name half is expected to be in common,
    # 2 + 1/2 of 3; that agreement is taken to stay for the weight 1/8 that is left.
    agreement = (2 + 1 / 2) / 3
    assert found.value == pytest.approx(1 / 4 * 1 / 2 + (1 / 8 + 1 / 8) * agreement)


@pytest.mark.parametrize("persistence", [0.1, 0.9, 0.999])
def test_ends_of_the_scale(persistence):
    names = [f"s{place}" for place in range(20)]
    same = rank_biased_overlap(names, names, persistence=persistence)
    assert same.value == pytest.approx(1)
    assert same.high == pytest.approx(1)
    nothing = rank_biased_overlap(names, [f"t{place}" for place in range(9)])
    assert nothing.value == nothing.low == 0
    assert nothing.n_common == 0


def test_forms_of_orders():
    values = np.random.default_rng(1).random((6, 3))
    scores = SystemScores(values, systems=list("abcdef"))
    names = list(scores.means.index)
    other = pd.Series([3.0, 1.0, 2.0], ["c", "z", "a"])
    expected = rank_biased_overlap(names, ["c", "a", "z"]).to_frame()
    assert rank_biased_overlap(scores, other).to_frame().equals(expected)
    assert rank_biased_overlap(scores.means.to_dict(), other.to_dict()).to_frame().equals(expected)


def test_text():
    text = str(rank_biased_overlap(["a", "b"], ["b", "a"], persistence=0.5))
    assert text.startswith("rank-biased overlap 0.500, between 0.")
    assert text.endswith("(persistence 0.5, 2 in common)")


@pytest.mark.parametrize(
    ("first", "params", "message"),
    [
        ([], {}, "first must hold at least one name, got none"),
        (["a", "a"], {}, "once, but 'a' occurs more than once"),
        ({"c": 3, "a": 1, "b": 1}, {}, "first must not have ties, but 2 names .* 'a' and 'b'"),
        (
            ["a"],
            {"persistence": 1},
            "persistence must be a number .* got 1",
        ),
        (
            ["a"],
            {"persistence": 0},
            "persistence must be a number .* got 0",
        ),
        (["a"], {"ties": "worst"}, "ties"),
        ([0.5, 0.1], {}, "the best first; got list of numbers"),
    ],
)
def test_bad_input(first, params, message):
    with pytest.raises(ValueError, match=message):
        rank_biased_overlap(first, ["a", "b"], **params)
