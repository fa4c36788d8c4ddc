"""What counts as a number, whatever library made it."""

from fractions import Fraction

import numpy as np
import pytest

from skfilterrank._base.checks import check_choice, is_finite_number, is_number, is_whole_number
from skfilterrank.exceptions import InputError


@pytest.mark.parametrize(
    "value", [2, 0.5, np.float16(3), np.float32(3), np.longdouble(3), np.int8(3), Fraction(1, 3)]
)
def test_numbers_of_every_precision_are_finite(value):
    assert is_number(value)
    assert is_finite_number(value)


@pytest.mark.parametrize(
    "value",
    [
        np.float16("inf"),
        np.float32("inf"),
        np.float64("nan"),
        np.longdouble("inf"),
        10**400,
        Fraction(10**400),
    ],
)
def test_what_float64_cannot_hold_is_a_number_but_not_finite(value):
    assert is_number(value)
    assert not is_finite_number(value)


@pytest.mark.parametrize("value", [True, np.bool_(1), np.timedelta64(1, "s"), "1", None])
def test_truth_and_durations_are_no_numbers(value):
    assert not (is_number(value))
    assert not (is_finite_number(value))
    assert not (is_whole_number(value))


def test_a_choice_may_be_a_text_of_numpy():
    """As a grid of an array of texts gives it."""
    assert check_choice(np.str_("drop"), "unjudged", ("zero", "drop")) == "drop"
    for value in (1, np.True_, "True"):
        with pytest.raises(InputError, match="must be one of True, None"):
            check_choice(value, "choice", (True, None))
