"""Lists cut at their largest gap between two scores."""

import numpy as np

from skfilterrank._lists.queries import GroupIndex
from skfilterrank.thresholds import LargestGap

INF = np.inf


def test_by_hand():
    index = GroupIndex.from_groups([0, 0, 0, 1, 1, 1, 2, 3, 3])
    scores = np.array([0.1, 0.9, 0.8, 5, 3, 1, 7, 2, 2])
    shown = LargestGap()._keys(scores, index, {}) >= 0
    # Of two gaps of one size the first; lists without a gap are whole.
    assert shown.tolist() == [False, True, True, True, False, False, True, True, True]


def test_a_filtered_document_makes_no_gap():
    index = GroupIndex.from_groups([0] * 4)
    shown = LargestGap()._keys(np.array([4.0, 3.5, 1, -INF]), index, {}) >= 0
    assert shown[:3].tolist() == [True, True, False]


def test_nothing_is_tuned():
    cut = LargestGap().fit([0.9, 0.8, 0.1], [-1, -1, 2], groups=["a", "a", "a"])
    assert cut.rank([3.0, 1, 0.9], groups=["b", "b", "b"]).tolist() == [1, 0, 0]
    assert cut.threshold_ is None
    assert not hasattr(cut, "threshold_curve_")
    assert not hasattr(cut, "list_sizes_")
