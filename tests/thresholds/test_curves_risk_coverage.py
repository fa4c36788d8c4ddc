"""Confidence in lists, and the measure where sure queries alone are answered."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfilterrank.metrics import ndcg_f_score
from skfilterrank.thresholds import risk_coverage_curve

INF = np.inf


def test_the_confidence_is_the_highest_score(data):
    lists = pd.Series(data.bayes_scores).groupby(data.groups)
    params = {"groups": data.groups, "measure": "ndcg_f@3"}
    one = risk_coverage_curve(data.y, data.bayes_scores, **params)
    two = risk_coverage_curve(
        data.y, data.bayes_scores, confidence=lists.max().to_numpy(), **params
    )
    np.testing.assert_array_equal(one.values, two.values)
    assert one.area == two.area


class TestRiskCoverageCurve:
    @pytest.mark.slow
    @pytest.mark.filterwarnings("ignore:queries without a judged")
    @given(st.integers(0, 10**6))
    def test_is_the_mean_of_lists_with_some_left_out(self, seed):
        rng = np.random.RandomState(seed)
        groups = np.concatenate([np.arange(12), rng.randint(0, 12, 30)])
        y, scores = rng.choice([-1.0, 1, 2, np.nan], 42), rng.randint(0, 9, 42) / 8.0
        sure = rng.randint(0, 5, 12)
        curve = risk_coverage_curve(y, scores, groups=groups, confidence=sure, measure="ndcg_f@2")
        for share, level, value, answered in zip(
            curve.shares, curve.confidences, curve.values, curve.answered_values
        ):
            is_answered = sure >= level
            kept = np.where(is_answered[groups], scores, -INF)
            values = ndcg_f_score.per_query(y, kept, groups=groups, k=2)
            assert share == is_answered.mean()
            assert value == pytest.approx(values.mean())
            if is_answered.any():
                assert answered == pytest.approx(values[is_answered].mean())
        assert np.isnan(curve.answered_values[0])
        assert curve.best_value == pytest.approx(curve.values.max())
        assert curve.best_share == (sure >= curve.best_confidence).mean()

    def test_five_queries_by_hand(self):
        """Queries of one document, good ones worth 1 and forbidden ones 0, or 1 if not shown."""
        y, sure = [1, -1, 1, 1, -1], [5, 4, 3, 2, 1]
        curve = risk_coverage_curve(y, np.ones(5), groups=np.arange(5), confidence=sure)
        means = [1, 1 / 2, 2 / 3, 3 / 4, 3 / 5]
        assert np.isnan(curve.answered_values[0])
        assert curve.answered_values[1:].tolist() == pytest.approx(means)
        # By value, the good ones come first; by chance, the mean is 3 / 5 throughout.
        best = [1, 1, 1, 3 / 4, 3 / 5]
        assert curve.area == pytest.approx((sum(means) - 3) / (sum(best) - 3))
        # Nothing shown is worth 0 of a good document, and 1 of a forbidden one.
        assert curve.values.tolist() == pytest.approx([2 / 5, 3 / 5, 2 / 5, 3 / 5, 4 / 5, 3 / 5])
        assert (curve.best_share, curve.best_value) == (4 / 5, pytest.approx(4 / 5))
        assert curve.best_confidence == 1.5

    @pytest.mark.slow
    def test_area_is_one_of_the_values_themselves_and_none_by_chance(self, data):
        params = {"groups": data.groups, "measure": "ndcg_f@3"}
        values = ndcg_f_score.per_query(data.y, data.bayes_scores, groups=data.groups, k=3)
        area = [
            risk_coverage_curve(data.y, data.bayes_scores, confidence=sure, **params).area
            for sure in (values, -values, np.zeros(300))
        ]
        assert area[0] == pytest.approx(1)
        assert area[1] < -0.5
        assert area[2] == pytest.approx(0, abs=1e-12)
        drawn = [np.random.RandomState(i).rand(300) for i in range(50)]
        areas = [
            risk_coverage_curve(data.y, data.bayes_scores, confidence=each, **params).area
            for each in drawn
        ]
        assert abs(np.mean(areas)) < 4 * np.std(areas) / np.sqrt(50)

    def test_lower_is_better(self, data):
        curve = risk_coverage_curve(
            data.y, data.bayes_scores, groups=data.groups, measure="forbidden@3"
        )
        assert curve.values[0] == 0
        assert curve.best_value == curve.values.min()
        assert curve.values[-1] > 0

    def test_lists_without_scores_are_never_answered(self):
        curve = risk_coverage_curve([1, 1, -1], [0.5, -INF, -INF], groups=[0, 1, 1])
        assert curve.confidences.tolist() == [INF, 0.5, -INF]

    def test_no_answer_is_best_where_no_confidence_is_finite(self):
        given = {"groups": np.arange(3), "confidence": [-INF] * 3}
        curve = risk_coverage_curve([-1, -1, 1], np.ones(3), measure="ndcg_f@1", **given)
        assert (curve.best_share, curve.best_confidence) == (0, INF)

    def test_result(self, data):
        curve = risk_coverage_curve(data.y, data.bayes_scores, groups=data.groups)
        frame = curve.to_frame()
        assert list(frame) == ["share", "confidence", "value", "answered_value"]
        assert "are answered, area" in repr(curve)

    @pytest.mark.parametrize(
        ("confidence", "message"),
        [
            ([0.5], "one number for each of 300 queries.*got 1 number"),
            ([np.nan] * 300, "confidence must have no NaN"),
        ],
    )
    def test_bad_input(self, data, confidence, message):
        with pytest.raises(ValueError, match=message):
            risk_coverage_curve(
                data.y, data.bayes_scores, groups=data.groups, confidence=confidence
            )
