"""Losses of queries at every threshold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certificates import judged_rows, rates, real_thresholds
from profiles import times
from skfilterrank._lists.lists import RankedLists
from skfilterrank.metrics import (
    any_forbidden_at_k,
    empty_list_rate,
    evaluate,
    forbidden_at_k,
)
from skfilterrank.thresholds._risks import read_risks

# Lists drawn at random often hold nothing that a risk could be broken by.
pytestmark = pytest.mark.filterwarnings("ignore:queries without a judged")

NO = -np.inf

STEPS = ("forbidden", "any_forbidden", "false_reject_rate")


def risk_of(risk, k=None):
    """A risk with a level."""
    if isinstance(risk, str) and k is not None and risk != "false_reject_rate":
        risk = f"{risk}@{k}"
    (risk,) = read_risks({risk: 0.1})
    return risk


class TestSteps:
    @pytest.mark.slow
    @pytest.mark.parametrize("risk", STEPS)
    @times(1 / 2)  # of each risk
    @given(rows=judged_rows(), k=st.sampled_from([None, 1, 2, 3]))
    def test_are_the_rate_at_every_threshold(self, risk, rows, k):
        y_true, y_score, groups = rows
        steps = risk_of(risk, k).steps(RankedLists(y_true, y_score, groups=groups))
        for threshold in real_thresholds(y_score):
            expected = rates(risk, y_true, y_score, groups, threshold, k)
            found = steps.at(threshold)
            np.testing.assert_allclose(found, expected, atol=1e-12)


@st.composite
def rows_of_labels(draw):
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=6))
    groups = draw(st.permutations([query for query, n in enumerate(sizes) for _ in range(n)]))
    n = len(groups)
    label = st.sampled_from([-2.0, -1.0, 0.0, 1.0, 2.0])
    score = st.sampled_from([NO, -1.0, 0.0, 0.5, 0.5, 1.5, 3.0])
    y_true = draw(st.lists(label, min_size=n, max_size=n))
    y_score = draw(st.lists(score, min_size=n, max_size=n))
    return np.array(y_true), np.array(y_score), np.array(groups)


def thresholds_of(y_score):
    distinct = np.unique(y_score[np.isfinite(y_score)])
    return np.concatenate([[NO], distinct, distinct + 0.1, [np.inf]])


class TestMeasure:
    @pytest.mark.slow
    @given(rows=rows_of_labels(), k=st.sampled_from([None, 1, 2]))
    def test_any_forbidden_is_whether_any_order_shows_one(self, rows, k):
        y_true, y_score, groups = rows
        found = any_forbidden_at_k.per_query(y_true, y_score, groups=groups, k=k)
        worst = forbidden_at_k.per_query(y_true, y_score, groups=groups, k=k, ties="worst")
        np.testing.assert_array_equal(found, worst > 0)
        best = any_forbidden_at_k.per_query(y_true, y_score, groups=groups, k=k, ties="best")
        assert np.all(best <= found)

    def test_by_hand(self):
        y_true, groups = [1, -1, 1, -1, 1, 1], list("aabbcc")
        y_score = [2, 1, 1, 2, 1, 1]
        values = evaluate(
            y_true, y_score, ["any_forbidden@1", "any_forbidden"], groups=groups
        ).per_query
        assert values["any_forbidden@1"].tolist() == [0, 1, 0]
        assert values["any_forbidden"].tolist() == [1, 1, 0]


class TestStepsOfPromises:
    @pytest.mark.slow
    @given(rows=rows_of_labels())
    def test_any_measure_between_0_and_1_can_be_promised(self, rows):
        y_true, y_score, groups = rows
        risk = risk_of("empty_list_rate")
        steps = risk.steps(RankedLists(y_true, y_score, groups=groups))
        for threshold in thresholds_of(y_score):
            kept = np.where(y_score >= threshold, y_score, NO)
            expected = empty_list_rate.per_query(y_true, kept, groups=groups)
            np.testing.assert_array_equal(steps.at(threshold), expected)
