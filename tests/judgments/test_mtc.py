"""Minimal test collections against the differences in AP themselves."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from active_pools import NAN, pools, table_of
from profiles import times
from skfilterrank.judgments import MTCSelector
from skfilterrank.metrics import average_precision_score

AGGREGATES = {"sum": sum, "max": max}


def sum_of_precisions(ranks, relevant):
    """AP times the number of relevant documents, by its definition: precisions at their ranks."""
    total = 0.0
    for i in np.flatnonzero(relevant & ~np.isnan(ranks)):
        total += np.count_nonzero(relevant & (ranks <= ranks[i])) / ranks[i]
    return total


def weights(ranks, answers, aggregate):
    """Weight of each unjudged document, by counting what its answer changes."""
    open_rows = np.isnan(answers)
    found = {}
    for i in np.flatnonzero(open_rows):
        only_judged = np.nan_to_num(answers) > 0
        every = open_rows | only_judged
        effects = []
        for relevant in (only_judged, every):
            with_i, without_i = relevant.copy(), relevant.copy()
            with_i[i], without_i[i] = True, False
            change = [
                sum_of_precisions(run, with_i) - sum_of_precisions(run, without_i)
                for run in ranks.T
            ]
            pairs = [abs(s - t) for s, t in combinations(change, 2)]
            effects.append(AGGREGATES[aggregate](pairs) if pairs else 0.0)
        found[i] = max(effects)
    return found


def test_the_definition_is_average_precision():
    ranks = np.array([1.0, 2, 3, 4, NAN])
    relevant = np.array([True, False, True, True, True])
    # Relevant at ranks 1, 3 and 4, and one that is not returned.
    assert sum_of_precisions(ranks, relevant) == pytest.approx(1 / 1 + 2 / 3 + 3 / 4)
    y_score = np.where(np.isnan(ranks), -np.inf, -ranks)
    ap = average_precision_score(relevant.astype(float), y_score, groups=np.zeros(5))
    assert sum_of_precisions(ranks, relevant) / 4 == pytest.approx(ap)


@pytest.mark.slow
@pytest.mark.parametrize("aggregate", AGGREGATES)
@times(1 / 2)
@given(pool=pools(n_topics=1))
def test_each_choice_has_the_largest_effect(aggregate, pool):
    table, y_true = pool
    ranks = table.to_numpy()
    selector = MTCSelector(aggregate=aggregate).fit(table)
    answers = np.full(len(table), NAN)
    for _ in range(len(table)):
        expected = weights(ranks, answers, aggregate)
        order = selector.next_rows(100)
        np.testing.assert_allclose(
            selector.gains_[order], [expected[row] for row in order], atol=1e-12
        )
        largest = max(expected.values())
        first = min(row for row, weight in expected.items() if weight > largest - 1e-9)
        assert selector.next_rows().tolist() == [first]
        assert order[0] == first
        answers[first] = y_true[first]
        selector.update(first, y_true[first])
        assert selector.gains_[first] == pytest.approx(largest, abs=1e-12)


def test_by_hand():
    # Run 0 returns a, b; run 1 returns b, c. Before any answer, with all relevant:
    #   a: 1/1 + 1/2 in run 0 (alone, and with b at rank 2), nothing in run 1: 3/2
    #   b: 1/2 + 1/2 in run 0 (alone, with a), 1 + 1/2 in run 1 (alone, with c): 1/2
    #   c: nothing in run 0, 1/2 + 1/2 in run 1: 1
    # and each by itself: a 1, b 1/2, c 1/2.
    table = table_of(["ab", "bc"])
    selector = MTCSelector().fit(table)
    np.testing.assert_allclose(selector.gains_, [3 / 2, 1 / 2, 1])
    # a is not relevant: c 1/2 by itself, 1 with b; b 1/2 by itself, |1/2 - 3/2| = 1 with c.
    selector.update(0, 0)
    np.testing.assert_allclose(selector.gains_, [3 / 2, 1, 1])
    assert selector.ranking_.tolist() == [1, 2, 3]
    # b is relevant: c with b, and by itself, 1/2 + 1/2.
    selector.update(1, 2)
    np.testing.assert_allclose(selector.gains_, [3 / 2, 1, 1])


def test_what_tells_nothing_comes_last():
    # a is first in both runs: it pairs with b and c alike, up to their order.
    table = table_of(["abc", "acb"])
    assert MTCSelector().fit(table).next_rows(3).tolist() == [1, 2, 0]
    # A single run has nothing to be compared with.
    alone = MTCSelector().fit(table[["run0"]])
    assert alone.next_rows(3).tolist() == [0, 1, 2]
    np.testing.assert_array_equal(alone.gains_, [0, 0, 0])


@pytest.mark.slow
@times(0.5)
@given(pool=pools(), data=st.data())
def test_the_order_of_runs_does_not_matter(pool, data):
    table, y_true = pool
    columns = data.draw(st.permutations(list(table.columns)))
    one = MTCSelector().fit(table).simulate(y_true)
    other = MTCSelector().fit(table[columns]).simulate(y_true)
    np.testing.assert_array_equal(one.ranking_, other.ranking_)
    np.testing.assert_allclose(one.gains_, other.gains_, atol=1e-12)


def test_unknown_aggregate():
    with pytest.raises(ValueError, match="aggregate must be one of 'sum', 'max', got 'mean'"):
        MTCSelector(aggregate="mean").fit(table_of(["ab"]))
