"""Equality up to rounding, beside infinite values."""

import numpy as np
import pytest

from skfilterrank._base.rounding import last_of_highest, merge


def test_infinite_numbers_equal_only_themselves():
    numbers = np.array([np.inf, -np.inf, np.inf, -np.inf])
    np.testing.assert_array_equal(merge(numbers, relative=1e-12), numbers)


@pytest.mark.parametrize("values", [[0.0, 0.0, -np.inf], [np.inf, np.inf, 1.0], [2.0, 2.0, -1.0]])
def test_the_last_of_the_highest_is_found_beside_infinite_values(values):
    assert last_of_highest(np.array(values)) == 1
