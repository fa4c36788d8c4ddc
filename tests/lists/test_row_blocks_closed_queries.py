"""Queries that come back are noticed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfilterrank._lists.row_blocks import ClosedQueries
from skfilterrank.exceptions import InputError


@given(st.lists(st.integers(-(2**63), 2**63 - 1), unique=True), st.integers(1, 7))
def test_closed_queries_are_known_again(ids, step):
    closed = ClosedQueries()
    for begin in range(0, len(ids), step):
        closed.add(np.array(ids[begin : begin + step], dtype=np.int64))
    for query in ids:
        with pytest.raises(InputError, match=f"query {query} do not stand together"):
            closed.add(np.array([query], dtype=np.int64))
    other = ClosedQueries()
    other.add(np.array([each for each in (5, 6, 7) if each not in ids], dtype=np.int64))
    closed.merge(other)
