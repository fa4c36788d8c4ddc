"""Keys of scores are in the order of the scores."""

import numpy as np
import pytest

from skfilterrank._threshold.step_bins import keys_of_scores, scores_of_keys
from skfilterrank.exceptions import InputError
from skfilterrank.stream import Rows, threshold_curve
from stream_rows import make_rows

COLUMNS = make_rows()


N_ROWS = len(COLUMNS["qid"])


def test_keys_of_scores_are_in_order():
    scores = np.array([-np.inf, -1.7e308, -1.0, -5e-324, 0.0, 5e-324, 1.0, 1.7e308, np.inf])
    keys = keys_of_scores(scores)
    assert (np.diff(keys) > 0).all()
    np.testing.assert_array_equal(scores_of_keys(keys), scores)
    assert keys_of_scores(np.array([-0.0]))[0] == keys[4]


def test_scores_that_float64_does_not_tell_apart():
    with pytest.raises(InputError, match=r"beyond 2\*\*53"):
        threshold_curve(Rows(COLUMNS | {"score": np.arange(N_ROWS) + 2**53}))
