import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from skfilterrank._lists.pandas_compat import table_of_records

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 5),
    st.floats(allow_nan=False),
    st.text("ab", max_size=2),
)


@given(st.lists(st.dictionaries(st.sampled_from("xyz"), VALUES), min_size=1, max_size=4))
def test_records_as_pandas_has_them(records):
    """Beside a column with a number beyond floats, too, which older ones refuse."""
    huge = [{**record, "huge": 10**400} for record in records]
    found = table_of_records(huge)
    assert found["huge"].tolist() == [10**400] * len(records)
    if any(records):
        expected = pd.DataFrame.from_records(records)
        rest = found.drop(columns="huge")
        assert list(rest) == list(expected)
        for name in rest:
            for one, other in zip(rest[name], expected[name]):
                assert one == other or (pd.isna(one) and pd.isna(other))
            is_number = expected[name].dtype.kind in "iufb"
            assert (rest[name].dtype.kind in "iufb") == is_number
            assert np.shape(rest[name]) == np.shape(expected[name])
