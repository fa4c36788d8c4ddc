"""UDCG, by hand: 1 / (1 + exp(-mean utility))."""

from math import exp, inf

import numpy as np
import pytest

from skfilterrank.metrics import udcg_score
from skfilterrank.thresholds import TunedThreshold


def udcg(y_true, y_score, **params):
    return udcg_score(y_true, y_score, groups=["q"] * len(y_true), **params)


def logistic(mean):
    return 1 / (1 + exp(-mean))


def test_by_hand():
    assert udcg([0.9, -0.6, 0], [3, 2, 1]) == pytest.approx(logistic((0.9 - 0.2 + 0) / 3))
    assert udcg([0.9, -0.6, 0], [3, 2, 1], k=1) == pytest.approx(logistic(0.9))
    assert udcg([0.9, -0.6], [3, 2], distraction=1) == pytest.approx(logistic(0.3 / 2))
    assert udcg([0.9, -0.6], [3, 2], distraction=0) == pytest.approx(logistic(0.9 / 2))
    # What is hidden and what lies behind the cut-off does not count; a short list is no worse.
    assert udcg([0.9, -0.6], [3, -inf], k=5) == pytest.approx(logistic(0.9))
    assert udcg([0.9, -0.6], [-inf, -inf]) == 0.5
    # Of a query without judged passages nothing is known.
    assert np.isnan(udcg([np.nan, np.nan], [2, 1], undefined="drop"))
    assert udcg([np.nan, 0.9], [2, 1], undefined="drop") == pytest.approx(logistic(0.45))


def test_a_tie_across_the_cut_off_is_the_mean_utility():
    assert udcg([1, -1], [1, 1], k=1) == pytest.approx(logistic((1 - 1 / 3) / 2))


def test_a_threshold_hides_what_distracts():
    y, scores = [0.8, -0.9, 0.5, -0.4], [4, 1, 3, 2]
    cut = TunedThreshold("udcg").fit(scores, y, groups=["q"] * 4)
    assert 3 < cut.threshold_ <= 4
    assert cut.best_score_ == pytest.approx(logistic(0.8))


def test_bad_option():
    with pytest.raises(ValueError, match="distraction must be a finite number from 0 up, got -1"):
        udcg([1], [1], distraction=-1)
