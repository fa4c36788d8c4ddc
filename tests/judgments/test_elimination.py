"""Exact probabilities of elimination sampling."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from label_samples import elimination_design
from skfilterrank.judgments._elimination import elimination_order, inclusion_probabilities

SIZES = np.array([5.0, 1.0, 2.0, 3.0, 0.5, 7.0])

sizes = st.lists(st.floats(0.01, 100), min_size=1, max_size=12).map(np.array)


@given(sizes, st.data())
def test_probabilities_are_shares_up_to_one_and_sum_to_the_number(sizes, data):
    n = data.draw(st.integers(1, len(sizes)))
    probability = inclusion_probabilities(sizes, n)
    assert probability.sum() == pytest.approx(n)
    assert ((probability > 0) & (probability <= 1)).all()
    uncertain = probability < 1
    if uncertain.any():
        ratio = probability[uncertain] / sizes[uncertain]
        np.testing.assert_allclose(ratio, ratio[0])
        # Of what is certain, no less would do.
        assert (ratio[0] * sizes[~uncertain] >= 1 - 1e-6).all()


def test_documents_of_size_0_are_never_drawn():
    assert inclusion_probabilities([1.0, 0.0, 1.0], 2).tolist() == [1.0, 0.0, 1.0]
    order = elimination_order(np.array([1.0, 0.0, 1.0]), np.random.RandomState(0))
    assert sorted(order) == [0, 2]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_the_rule_gives_the_probabilities(n):
    design = elimination_design(SIZES, n)
    assert sum(design.values()) == pytest.approx(1)
    found = np.zeros(len(SIZES))
    for rows, probability in design.items():
        found[list(rows)] += probability
    np.testing.assert_allclose(found, inclusion_probabilities(SIZES, n))


@pytest.fixture(scope="module")
def orders():
    random_state = np.random.RandomState(0)
    return [elimination_order(SIZES, random_state).tolist() for _ in range(3000)]


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 4])
def test_orders_follow_the_rule(orders, n):
    n_draws = len(orders)
    drawn = Counter(tuple(sorted(order[:n])) for order in orders)
    for rows, probability in elimination_design(SIZES, n).items():
        error = np.sqrt(probability * (1 - probability) / n_draws)
        assert drawn[rows] / n_draws == pytest.approx(probability, abs=4.5 * error + 1e-9)


def test_an_order_holds_every_document_once():
    order = elimination_order(np.arange(1.0, 300.0), np.random.RandomState(0))
    assert sorted(order) == list(range(299))


@pytest.mark.parametrize("n", [2, 3, 4])
def test_joint_probabilities_never_exceed_the_product(n):
    probability = inclusion_probabilities(SIZES, n)
    joint = np.zeros((len(SIZES),) * 2)
    for rows, chance in elimination_design(SIZES, n).items():
        joint[np.ix_(rows, rows)] += chance
    np.fill_diagonal(joint, 0)
    assert (joint <= np.outer(probability, probability) + 1e-12).all()


def test_probabilities_by_hand():
    # The first would have 5/4 and is certain: one of four fourths, of which the second has two.
    assert inclusion_probabilities([5.0, 2.0, 1.0, 1.0], 2).tolist() == [1, 0.5, 0.25, 0.25]
    assert inclusion_probabilities([1.0, 2.0, 5.0, 1.0], 1).tolist() == [1 / 9, 2 / 9, 5 / 9, 1 / 9]
    assert inclusion_probabilities([1.0, 2.0, 3.0], 3).tolist() == [1, 1, 1]
