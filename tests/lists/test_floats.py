import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from skfilterrank._lists.floats import argsort_floats, first_of_highest, sort_rows


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
    assert argsort_floats(values).tolist() == [3, 0, 1, 4, 2]


# Neighbours among the floats, and of one leading part only.
CLOSE = [1.0, 1.0 + 2**-52, 1.0 + 2**-51, 1.0 + 2**-40, -1.0, -1.0 - 2**-52, 0.0, -0.0, np.inf]


@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(1, 7), st.integers(1, 9)),
        elements=st.floats(allow_nan=False) | st.sampled_from(CLOSE),
    )
)
def test_rows_are_sorted_as_numpy_sorts_them(keys):
    cells, tied = sort_rows(keys)
    order = np.argsort(keys, axis=1, kind="stable")
    np.testing.assert_array_equal(cells, order + keys.shape[1] * np.arange(len(keys))[:, None])
    # No tie goes unseen; +inf is what is not in the list.
    ranked = np.take_along_axis(keys, order, axis=1)
    same = (ranked[:, 1:] == ranked[:, :-1]) & (ranked[:, 1:] < np.inf)
    assert set(np.flatnonzero(same.any(axis=1))) <= set(tied)


def test_rows_far_apart_have_no_ties():
    keys = np.random.default_rng(0).normal(size=(500, 20))
    keys[::3, -2:] = np.inf
    assert sort_rows(keys).tied.size == 0
    keys[7, 3] = keys[7, 11]
    assert sort_rows(keys).tied.tolist() == [7]


def test_keys_are_left_alone():
    keys = np.array([[2.0, 1.0], [-0.0, 0.0]])
    sort_rows(keys)
    assert str(keys.tolist()) == "[[2.0, 1.0], [-0.0, 0.0]]"


@pytest.mark.parametrize("values", [[-np.inf, 0.0, 0.0], [1.0, np.inf, np.inf], [-1.0, 2.0, 2.0]])
def test_the_first_of_the_highest_is_found_beside_infinite_values(values):
    assert first_of_highest(np.array(values)) == 1
