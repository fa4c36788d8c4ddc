"""Losses of queries at every threshold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certificates import judged_rows, rates, real_thresholds, risks_at
from profiles import times
from skfilterrank._lists.lists import RankedLists
from skfilterrank.metrics import any_forbidden_at_k, empty_list_rate, forbidden_at_k
from skfilterrank.thresholds._risks import read_risks

# Lists drawn at random often hold nothing that a risk could be broken by.
pytestmark = pytest.mark.filterwarnings("ignore:queries without a judged")

NO = -np.inf


@pytest.mark.slow
@pytest.mark.parametrize("risk", ["forbidden", "any_forbidden", "false_reject_rate"])
@times(1 / 2)  # of each risk
@given(rows=judged_rows(), k=st.sampled_from([None, 1, 2, 3]))
def test_are_the_rate_at_every_threshold(risk, rows, k):
    y_true, y_score, groups = rows
    (read,) = read_risks(risks_at(risk, 0.1, k))
    steps = read.steps(RankedLists(y_true, y_score, groups=groups))
    for threshold in real_thresholds(y_score):
        expected = rates(risk, y_true, y_score, groups, threshold, k)
        np.testing.assert_allclose(steps.at(threshold), expected, atol=1e-12)


@pytest.mark.slow
@given(rows=judged_rows())
def test_a_measure_that_reads_no_label_is_a_risk(rows):
    y_true, y_score, groups = rows
    (read,) = read_risks({"empty_list_rate": 0.1})
    steps = read.steps(RankedLists(y_true, y_score, groups=groups))
    for threshold in real_thresholds(y_score):
        kept = np.where(y_score >= threshold, y_score, NO)
        expected = empty_list_rate.per_query(y_true, kept, groups=groups)
        np.testing.assert_array_equal(steps.at(threshold), expected)


@pytest.mark.slow
@given(rows=judged_rows(), k=st.sampled_from([None, 1, 2]))
def test_any_forbidden_is_whether_any_order_shows_one(rows, k):
    y_true, y_score, groups = rows
    found = any_forbidden_at_k.per_query(y_true, y_score, groups=groups, k=k)
    worst = forbidden_at_k.per_query(y_true, y_score, groups=groups, k=k, ties="worst")
    np.testing.assert_array_equal(found, worst > 0)
    best = any_forbidden_at_k.per_query(y_true, y_score, groups=groups, k=k, ties="best")
    assert np.all(best <= found)
