"""The checks that come first, and what they say of no measure."""

import numpy as np
import pytest

from skfilterrank.exceptions import InputError
from skfilterrank.metrics import register_measure
from skfilterrank.testing import check_measure


def precision(block, k):
    return [np.mean(ranked > 0) if len(ranked) else 0.0 for ranked, _ in block.lists(k)]


@pytest.mark.slow
def test_other_checks_go_on_where_a_first_one_is_expected_to_fail(measure_table):
    made = register_measure("mistaken", greater_is_better=False, ties="worst")(precision)
    with pytest.raises(AssertionError) as error:
        check_measure(made, expected_failed_checks={"check_direction": "it is a joke"})
    assert "check_order_matters" in str(error.value)


def test_a_function_is_told_how_to_become_a_measure():
    with pytest.raises(InputError, match=r"precision.* is not a measure: .*register_measure"):
        check_measure(precision)
