"""Keys of scores are in the order of the scores, and steps are added up by bin."""

import numpy as np
import pytest

from rows_of_queries import COLUMNS
from skfilterrank._lists.entry_search import StepBins, keys_of_scores, scores_of_keys
from skfilterrank.exceptions import InputError
from skfilterrank.io import Rows
from skfilterrank.thresholds import threshold_curve


def test_keys_of_scores_are_in_order():
    scores = np.array([-np.inf, -1.7e308, -1.0, -5e-324, 0.0, 5e-324, 1.0, 1.7e308, np.inf])
    keys = keys_of_scores(scores)
    assert (np.diff(keys) < 0).all()
    np.testing.assert_array_equal(scores_of_keys(keys), scores)
    assert keys_of_scores(np.array([-0.0]))[0] == keys[4]


def test_bins_of_parts_are_those_of_the_whole():
    keys = keys_of_scores(np.array([1.0, 1.0 + 1e-9, 2.0, -3.0, 2.0]))
    changes = np.array([1.0, -4.0, 2.0, 8.0, 16.0])
    whole = StepBins.of(keys, changes, 3.0, 2)
    parts = StepBins.of(keys[:2], changes[:2], 1.0, 1), StepBins.of(keys[2:], changes[2:], 2.0, 1)
    for bins in (whole, parts[0].merge(parts[1]), parts[1].merge(parts[0])):
        # Bins of 2, 1 and -3; without a step, and with those of each bin.
        assert bins.rises.tolist() == [18, 1, 8]
        assert bins.falls.tolist() == [0, -4, 0]
        assert bins.sums().tolist() == [3, 21, 18, 26]
        assert bins.n_queries == 2


def test_scores_that_float64_does_not_tell_apart():
    scores = np.arange(len(COLUMNS["qid"])) + 2**53
    with pytest.raises(InputError, match=r"beyond 2\*\*53"):
        threshold_curve(Rows(COLUMNS | {"score": scores}))
