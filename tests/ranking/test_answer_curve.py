"""Values against the share of queries that are answered, and against prices."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.ranking import RankAndFilter, answer_curve, price_curve, threshold_curve

INF = np.inf


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(300, random_state=0)


class TestAnswerCurve:
    @given(st.integers(0, 10**6))
    def test_is_the_mean_of_lists_with_some_left_out(self, seed):
        rng = np.random.RandomState(seed)
        groups = np.concatenate([np.arange(12), rng.randint(0, 12, 30)])
        y, scores = rng.choice([-1.0, 1, 2, np.nan], 42), rng.randint(0, 9, 42) / 8.0
        sure = rng.randint(0, 5, 12)
        curve = answer_curve(y, scores, groups=groups, confidence=sure, k=2)
        for share, level, value, answered in zip(
            curve.shares, curve.confidences, curve.values, curve.answered_values
        ):
            is_answered = sure >= level
            kept = np.where(is_answered[groups], scores, -INF)
            values = ndcg_f_score(y, kept, groups=groups, k=2, average=None)
            assert share == is_answered.mean()
            assert value == pytest.approx(values.mean())
            if is_answered.any():
                assert answered == pytest.approx(values[is_answered].mean())
        assert np.isnan(curve.answered_values[0])
        assert curve.best_value == pytest.approx(curve.values.max())
        assert curve.best_share == (sure >= curve.best_confidence).mean()

    def test_names_are_statistics_of_the_scores(self, data):
        lists = pd.Series(data.bayes_scores).groupby(data.groups)
        named = {
            "best_score": lists.max(),
            "score_gap": lists.agg(lambda s: np.diff(np.sort(s)[-2:]).sum()),
            "score_std": lists.std(ddof=0),
        }
        params = {"groups": data.groups, "k": 3}
        for name, values in named.items():
            one = answer_curve(data.y, data.bayes_scores, confidence=name, **params)
            two = answer_curve(data.y, data.bayes_scores, confidence=values.to_numpy(), **params)
            np.testing.assert_allclose(one.values, two.values, err_msg=name)
            assert one.area == pytest.approx(two.area)

    def test_the_regression_has_not_seen_the_query(self, data):
        top = np.empty((300, 10))
        for query in range(300):
            best = np.sort(data.bayes_scores[data.groups == query])[::-1][:10]
            top[query] = np.append(best, np.full(10 - len(best), best[-1]))
        empty = np.full(len(data.y), -INF)
        worth = [
            ndcg_f_score(data.y, scores, groups=data.groups, k=3, average=None)
            for scores in (data.bayes_scores, empty)
        ]
        worth = worth[0] - worth[1]
        predicted = np.empty(300)
        for train, test in KFold(5, shuffle=True, random_state=0).split(top):
            scaler = StandardScaler().fit(top[train])
            ridge = Ridge(10.0).fit(scaler.transform(top[train]), worth[train])
            predicted[test] = ridge.predict(scaler.transform(top[test]))
        params = {"groups": data.groups, "k": 3}
        one = answer_curve(data.y, data.bayes_scores, confidence="score_regression", **params)
        two = answer_curve(data.y, data.bayes_scores, confidence=predicted, **params)
        np.testing.assert_allclose(one.values, two.values)

    def test_area_is_one_of_the_values_themselves_and_none_by_chance(self, data):
        params = {"groups": data.groups, "k": 3}
        values = ndcg_f_score(data.y, data.bayes_scores, average=None, **params)
        area = [
            answer_curve(data.y, data.bayes_scores, confidence=sure, **params).area
            for sure in (values, -values, np.zeros(300))
        ]
        assert area[0] == pytest.approx(1)
        assert area[1] < -0.5
        assert area[2] == pytest.approx(0, abs=1e-12)
        drawn = [np.random.RandomState(i).rand(300) for i in range(200)]
        areas = [
            answer_curve(data.y, data.bayes_scores, confidence=each, **params).area
            for each in drawn
        ]
        assert abs(np.mean(areas)) < 4 * np.std(areas) / np.sqrt(200)

    def test_agrees_with_the_filter_that_abstains(self, data):
        model = RankAndFilter("passthrough", k=3, threshold=None, abstain="score_gap")
        model.fit(data.bayes_scores, data.y, groups=data.groups)
        curve = answer_curve(
            data.y, data.bayes_scores, groups=data.groups, k=3, confidence="score_gap"
        )
        assert curve.best_value == pytest.approx(model.best_score_)
        assert curve.best_confidence == model.query_threshold_.answer_level_

    def test_lower_is_better(self, data):
        curve = answer_curve(data.y, data.bayes_scores, groups=data.groups, measure="forbidden@3")
        assert curve.values[0] == 0
        assert curve.best_value == curve.values.min()
        assert curve.values[-1] > 0

    def test_lists_without_scores_are_never_answered(self):
        curve = answer_curve([1, 1, -1], [0.5, -INF, -INF], groups=[0, 1, 1])
        assert curve.confidences.tolist() == [INF, 0.5, -INF]

    def test_result(self, data):
        curve = answer_curve(data.y, data.bayes_scores, groups=data.groups, k=3)
        frame = curve.to_frame()
        assert list(frame) == ["share", "confidence", "value", "answered_value"]
        assert "are answered, area" in repr(curve)

    @pytest.mark.parametrize(
        ("confidence", "message"),
        [
            ("sure", "confidence must be one of 'best_score'"),
            ([0.5], "one number for each of 300 queries.*got 1 number"),
            ([np.nan] * 300, "confidence must have no NaN"),
        ],
    )
    def test_bad_input(self, data, confidence, message):
        with pytest.raises(ValueError, match=message):
            answer_curve(data.y, data.bayes_scores, groups=data.groups, confidence=confidence)


class TestPriceCurve:
    @pytest.mark.parametrize("k", [None, 3])
    def test_is_what_the_best_threshold_shows(self, data, k):
        prices = [0.5, 2, 10]
        curve = price_curve(data.y, data.bayes_scores, groups=data.groups, prices=prices, k=k)
        rank = RankAndFilter("passthrough", threshold=None)
        rank.fit(data.bayes_scores, data.y, groups=data.groups)
        place = rank.rank(data.bayes_scores, groups=data.groups)
        for i, price in enumerate(prices):
            gains = {-1: -price, 1: 1, 2: 2} | {0: 0}
            best = threshold_curve(data.y, data.bayes_scores, groups=data.groups, k=k, gains=gains)
            assert curve.thresholds[i] == best.best_threshold
            assert curve.values[i] == best.best_value
            shown = data.bayes_scores >= best.best_threshold
            top = shown & (place <= (k or 10**6))
            per_query = np.bincount(data.groups, top)
            assert curve.shown[i] == pytest.approx(per_query.mean())
            assert curve.empty[i] == pytest.approx((per_query == 0).mean())
            bad = np.bincount(data.groups, top & (data.y < 0)) > 0
            assert curve.forbidden_shown[i] == pytest.approx(bad.mean())
            good = data.y > 0
            assert curve.good_hidden[i] == pytest.approx((good & ~shown).sum() / good.sum())

    def test_a_high_price_hides_more(self, data):
        curve = price_curve(data.y, data.bayes_scores, groups=data.groups)
        assert (np.diff(curve.thresholds) >= 0).all()
        assert curve.forbidden_shown[0] > curve.forbidden_shown[-1]
        assert list(curve.to_frame()) == [
            "thresholds",
            "values",
            "shown",
            "forbidden_shown",
            "good_hidden",
            "empty",
        ]
        assert "9 prices" in repr(curve)

    @pytest.mark.parametrize(
        ("y", "prices", "message"),
        [
            ([1, -1], [0, 1], "prices must be numbers above 0"),
            ([1, -1], [], "at least one"),
            ([1, -1], [np.nan], "prices must be numbers above 0"),
            ([1, 0], [1], "no forbidden document"),
        ],
    )
    def test_bad_input(self, y, prices, message):
        with pytest.raises(ValueError, match=message):
            price_curve(y, [0.5, 0.1], groups=[0, 0], prices=prices)
