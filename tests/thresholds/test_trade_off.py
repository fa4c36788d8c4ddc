"""The price of a forbidden document, and the lists that it leaves."""

import numpy as np
import pytest

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.thresholds import FixedThreshold, threshold_curve, trade_off_curve


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(300, random_state=0)


class TestTradeOffCurve:
    @pytest.mark.parametrize("k", [None, 3])
    def test_is_what_the_best_threshold_shows(self, data, k):
        prices = [0.5, 2, 10]
        rows = (data.y, data.bayes_scores)
        measure = "ndcg_f" if k is None else f"ndcg_f@{k}"
        curve = trade_off_curve(*rows, groups=data.groups, prices=prices, measure=measure)
        place = FixedThreshold().fit().rank(data.bayes_scores, groups=data.groups)
        for i, price in enumerate(prices):
            gains = {-1: -price, 1: 1, 2: 2} | {0: 0}
            best = threshold_curve(*rows, groups=data.groups, measure=measure, gains=gains)
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
        curve = trade_off_curve(data.y, data.bayes_scores, groups=data.groups)
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
            trade_off_curve(y, [0.5, 0.1], groups=[0, 0], prices=prices)
