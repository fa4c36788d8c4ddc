"""Probabilities of ties: Table 2, enumeration of all pairs, and exact fractions."""

import itertools
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfilterrank.metaevaluation import recall_level_metric, tie_probability

TABLE_2 = {
    10**3: {"tse": "0.00529", "recall@1000": "1.00000", "r_precision": "0.82566"},
    10**4: {"tse": "0.00053", "recall@1000": "0.31267", "r_precision": "0.98028"},
    10**5: {"tse": "0.00005", "recall@1000": "0.82626", "r_precision": "0.99800"},
    10**6: {"tse": "0.00001", "recall@1000": "0.98029", "r_precision": "0.99980"},
}


@pytest.mark.parametrize("n_items", TABLE_2)
@pytest.mark.parametrize("measure", ["tse", "recall@1000", "r_precision", "lexirecall"])
def test_table_2(n_items, measure):
    printed = TABLE_2[n_items].get(measure, "0.00000")
    assert f"{tie_probability(measure, n_items, 10):.5f}" == printed


@pytest.mark.parametrize(
    ("n_items", "n_relevant"), [(1, 1), (5, 1), (5, 2), (6, 3), (7, 5), (4, 4)]
)
def test_all_pairs_of_positions(n_items, n_relevant):
    # Each set of positions comes from equally many orders.
    positions = np.array(list(itertools.combinations(range(1, n_items + 1), n_relevant)))

    def share_of_ties(values):
        return np.mean(values[:, None] == values[None, :])

    for measure in ("tse", "r_precision", "recall@1", "recall@3", "recall@100"):
        expected = share_of_ties(recall_level_metric(positions, measure))
        assert tie_probability(measure, n_items, n_relevant) == pytest.approx(expected, rel=1e-13)
    expected = share_of_ties(np.arange(len(positions)))
    assert tie_probability("lexirecall", n_items, n_relevant) == pytest.approx(expected, rel=1e-13)


def exact(measure, n, m, k):
    """The sums of section 5.3 with whole numbers."""
    counts = {
        "tse": lambda: [comb(i - 1, m - 1) for i in range(m, n + 1)],
        "recall": lambda: [comb(k, i) * comb(n - k, m - i) for i in range(m + 1)],
        "r_precision": lambda: [comb(m, i) * comb(n - m, m - i) for i in range(m + 1)],
        "lexirecall": lambda: [1],
    }[measure]()
    total = comb(n, m)
    if measure == "lexirecall":
        return Fraction(1, total)
    assert sum(counts) == total
    return Fraction(sum(count**2 for count in counts), total**2)


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["tse", "recall", "r_precision", "lexirecall"])
@given(st.data())
def test_exact_fractions(measure, data):
    n = data.draw(st.integers(1, 400), label="n_items")
    m = data.draw(st.integers(1, n), label="n_relevant")
    k = data.draw(st.integers(1, n), label="k")
    value = tie_probability(measure, n, m, k=k if measure == "recall" else None)
    assert value == pytest.approx(float(exact(measure, n, m, k)), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("n_items", "n_relevant"), [(10**4, 1000), (10**5, 7)])
@pytest.mark.parametrize("measure", ["recall", "r_precision"])
def test_exact_fractions_of_large_corpora(measure, n_items, n_relevant):
    k = 1000 if measure == "recall" else None
    expected = float(exact(measure, n_items, n_relevant, k))
    assert tie_probability(measure, n_items, n_relevant, k=k) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("n_items", "n_relevant"), [(2000, 900), (50_000, 3)])
def test_exact_fractions_of_the_last_position(n_items, n_relevant):
    # C(i, m - 1) = C(i - 1, m - 1) * i / (i - m + 1), in whole numbers.
    count, total = 1, 0
    for i in range(n_relevant, n_items + 1):
        total += count**2
        count = count * i // (i - n_relevant + 1)
    expected = float(Fraction(total, comb(n_items, n_relevant) ** 2))
    assert tie_probability("tse", n_items, n_relevant) == pytest.approx(expected, rel=1e-12)


def test_chunks_of_the_last_position_join(monkeypatch):
    whole = [tie_probability("tse", n, m) for n, m in [(1000, 1), (1000, 3), (777, 50), (8, 8)]]
    monkeypatch.setattr("skfilterrank.metaevaluation._recall_levels._CHUNK", 7)
    parts = [tie_probability("tse", n, m) for n, m in [(1000, 1), (1000, 3), (777, 50), (8, 8)]]
    np.testing.assert_allclose(parts, whole, rtol=1e-12)


def test_depth_beyond_the_corpus():
    assert tie_probability("recall", 100, 10, k=1000) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ap", 10, 3), "^measure must be 'tse', 'recall', 'r_precision' or 'lexirecall'"),
        ((None, 10, 3), "^None is not a measure"),
        ((np.mean, 10, 3), "^<function mean .*> is not a measure"),
        (("recall@x", 10, 3), "^the cut-off in 'recall@x' must be"),
        (("recall", 10, 3), "^k must be a whole number"),
        (("recall@0", 10, 3), "^the cut-off in 'recall@0' must be"),
        (("tse", 10, 11), "^n_relevant must be a whole number from 1 to 10"),
        (("tse", 0, 1), "^n_items must be"),
        (("tse", 10.0, 1), "^n_items must be"),
    ],
)
def test_parameters_are_checked(arguments, message):
    with pytest.raises(ValueError, match=message):
        tie_probability(*arguments)


def test_k_is_of_recall_alone():
    with pytest.raises(ValueError, match=r"^'tse' has no cut-off, got k=5"):
        tie_probability("tse", 10, 3, k=5)
    with pytest.raises(ValueError, match=r"^k=5 contradicts the cut-off of 'recall@3'"):
        tie_probability("recall@3", 10, 3, k=5)
