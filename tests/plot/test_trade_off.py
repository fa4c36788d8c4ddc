"""Curves over the price of a bad document."""

import numpy as np

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.plot import TradeOffDisplay
from skfilterrank.thresholds import trade_off_curve


def test_prices():
    _, y, groups, scores = make_rank_and_filter(n_queries=60, random_state=0)
    given = {"groups": groups, "prices": [1, 5], "measure": "ndcg_f@3"}
    display = TradeOffDisplay.from_predictions(y, scores, **given)
    curve = trade_off_curve(y, scores, **given)
    for name, line in display.lines_.items():
        np.testing.assert_array_equal(line.get_xdata(), [1, 5])
        np.testing.assert_array_equal(line.get_ydata(), getattr(curve, name))
    assert display.ax_.get_xscale() == "log"
