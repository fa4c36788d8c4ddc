"""Sorting long columns of floats."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from skfilterrank._sorting import argsort_floats


@given(
    st.lists(
        st.one_of(
            st.floats(allow_nan=False),
            st.sampled_from([0.0, -0.0, 1.0, np.nextafter(1.0, 2.0), 5e-324, -5e-324]),
        ),
        max_size=60,
    )
)
@example([0.0, -0.0, 0.0])
def test_sorting_floats(values):
    values = np.array(values)
    order = argsort_floats(values)
    assert sorted(order) == list(range(len(values)))
    assert (values[order][1:] >= values[order][:-1]).all()


def test_sorting_floats_that_share_their_leading_bits():
    # Row numbers take the low bits of the keys, in which these values differ.
    values = 1.0 + np.random.default_rng(0).permutation(5000) * np.finfo(float).eps
    np.testing.assert_array_equal(values[argsort_floats(values)], np.sort(values))
    values = np.random.default_rng(0).normal(size=5000).round(2) + 0.0
    np.testing.assert_array_equal(argsort_floats(values), np.argsort(values, kind="stable"))
