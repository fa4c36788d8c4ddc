import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from skfilterrank._core.sorting import argsort_floats


@given(
    hnp.arrays(
        np.float64,
        st.integers(0, 60),
        elements=st.floats(allow_nan=False) | st.sampled_from([0.0, 1.0, -1.0, np.inf, -np.inf]),
    )
)
def test_equals_numpys_stable_sort(values):
    # Adding 0.0 makes -0.0 to 0.0: numpy takes them as equal, their bits are not.
    values = values + 0.0
    np.testing.assert_array_equal(argsort_floats(values), np.argsort(values, kind="stable"))


@pytest.mark.parametrize("scale", [1.0, 1e-12, 1e-300, 1e300])
def test_values_that_differ_in_their_last_bits_only(scale):
    rng = np.random.default_rng(0)
    values = (1.0 + rng.integers(0, 50, size=5000) * np.finfo(float).eps) * scale
    values[::3] *= -1
    np.testing.assert_array_equal(argsort_floats(values), np.argsort(values, kind="stable"))


def test_zeros_of_either_sign():
    values = np.array([0.0, -0.0, 5e-324, -5e-324, 0.0])
    order = argsort_floats(values)
    assert sorted(order) == [0, 1, 2, 3, 4]
    assert values[order].tolist() == [-5e-324, 0, 0, 0, 5e-324]
