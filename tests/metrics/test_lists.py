"""Lists made from other lists are those that the same rows make anew."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfilterrank._lists.lists import RankedLists
from skfilterrank.metrics import (
    average_precision_score,
    bpref_score,
    err_score,
    false_reject_rate,
    ndcg_f_score,
    precision_at_k_score,
    reciprocal_rank_score,
)
from skfilterrank.metrics._condensed import judged_at_k_score

pytestmark = pytest.mark.slow

NO = -np.inf
# With and without places, unjudged documents, filtered ones, the pool and ties.
KERNELS = {
    function.name: function.bind(k, {})
    for function, k in (
        (average_precision_score, None),
        (ndcg_f_score, 3),
        (bpref_score, None),
        (reciprocal_rank_score, None),
        (err_score, 2),
        (judged_at_k_score, 2),
        (false_reject_rate, None),
        (precision_at_k_score, None),
    )
}


@st.composite
def rows(draw):
    """Labels, scores and queries of up to 4 lists."""
    n = draw(st.integers(1, 14))
    labels = st.sampled_from([-1.0, 0.0, 1.0, 2.0, np.nan])
    scores = st.sampled_from([0.0, 1.0, 2.0, 3.0])
    columns = (
        draw(st.lists(each, min_size=n, max_size=n)) for each in (labels, scores, st.integers(0, 3))
    )
    return tuple(map(np.array, columns))


def same_values(actual, expected):
    """Whether all measures say the same of two collections of lists."""
    for name, kernel in KERNELS.items():
        np.testing.assert_allclose(
            actual.per_query(kernel), expected.per_query(kernel), atol=1e-12, err_msg=name
        )


@given(rows(), st.sampled_from(["average", "stable", "worst", "best"]), st.data())
def test_other_scores_and_rules(rows, ties, data):
    y_true, y_score, groups = rows
    lists = RankedLists(y_true, np.where(y_score > 2, NO, -y_score), groups=groups, ties=ties)
    same_values(lists.with_scores(y_score), RankedLists(y_true, y_score, groups=groups, ties=ties))
    threshold = data.draw(st.sampled_from([0.5, 1.0, 3.0, 9.0]))
    shown = np.where(y_score >= threshold, y_score, NO)
    expected = RankedLists(y_true, shown, groups=groups, ties=ties)
    same_values(lists.with_scores(y_score, threshold), expected)
    other = data.draw(st.sampled_from(["average", "stable", "worst", "best"]))
    same_values(expected.with_ties(other), RankedLists(y_true, shown, groups=groups, ties=other))


@given(rows(), st.sampled_from(["average", "stable", "worst", "best"]), st.data())
def test_parts_of_a_block(rows, ties, data):
    y_true, y_score, groups = rows
    y_score = np.where(y_score == 0, NO, y_score)
    lists = RankedLists(y_true, y_score, groups=groups, ties=ties)
    hidden = data.draw(st.sampled_from([1.5, 2.5, 9.0]))
    shown = np.where(y_score > hidden, y_score, NO)
    expected = RankedLists(y_true, shown, groups=groups, ties=ties)
    for block, fresh in zip(lists.blocks(), expected.blocks(), strict=True):
        key = block.sort_key.copy()
        key[key > -hidden] = np.inf
        some = np.flatnonzero(np.arange(len(block.queries)) % 2 == 0)
        for name, kernel in KERNELS.items():
            values = kernel(fresh)
            # Of what is hidden from lists in one order, and of those in an order of their own.
            for same in (block.relisted(key), block.relisted(key, ties)):
                np.testing.assert_allclose(kernel(same), values, atol=1e-12, err_msg=name)
            part = kernel(fresh.of_lists(some))
            np.testing.assert_allclose(part, values[some], atol=1e-12, err_msg=name)


@pytest.mark.parametrize("ties", ["stable", "average"])
def test_whole_numbers_of_any_type(ties):
    """Scores beyond those of float64, of queries of different lengths, in their order."""
    for base in (0, 2**53, -(2**53), 2**62):
        scores = np.array([base + 3, base + 1, base + 2, base - 1], dtype=np.int64)
        lists = RankedLists([0, 1, 1, 0], scores, groups=[1, 1, 1, 2], ties=ties)
        expected = (1 / 2 + 2 / 3) / 2
        np.testing.assert_allclose(lists.per_query(KERNELS["ap"]), [expected, np.nan])
    scores = np.array([-(2**53) - 1, -(2**53), 5])
    lists = RankedLists([0, 1, 0], scores, groups=[1, 1, 1], ties=ties)
    assert lists.per_query(KERNELS["ap"]) == 1 / 2
