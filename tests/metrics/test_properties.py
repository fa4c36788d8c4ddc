"""What hypothesis may do to rows without changing any measure of any query."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import times
from reference import OPTIONS, gains_for
from skfilterrank._core.measure import MEASURES

# Every measure is given gains below 0 here.
pytestmark = pytest.mark.filterwarnings("ignore:.*some gains are below 0")

NO = -np.inf
ALL = sorted(MEASURES)
LABELS = st.sampled_from([-10.0, -1.0, -0.5, 0.0, 1.0, 1.0, 2.0, np.nan])
DISTINCT = [NO, -1.5, 0.0, 1.0, 1e300]
SCORES = st.sampled_from([*DISTINCT, NO, 0.0])


@st.composite
def judged_rows(draw):
    """Labels, scores and queries 0, 1, ... of up to 4 lists, mixed up; some show nothing."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    groups = draw(st.permutations(np.repeat(np.arange(len(sizes)), sizes).tolist()))
    y_true = draw(st.lists(LABELS, min_size=len(groups), max_size=len(groups)))
    y_score = draw(st.lists(SCORES, min_size=len(groups), max_size=len(groups)))
    return np.array(y_true), np.array(y_score), np.array(groups)


def per_query(name, y_true, y_score, groups, k):
    """One value per query, in the order of the sorted ids, NaN where undefined."""
    entry = MEASURES[name]
    return entry.function(
        y_true,
        y_score,
        groups=groups,
        gains=gains_for(name),
        undefined="drop",
        average=None,
        **({"k": k} if entry.takes_k else {}),
        **OPTIONS.get(name, {}),
    )


same = np.testing.assert_allclose


@times(2)
@given(rows=judged_rows(), k=st.sampled_from([None, 1, 2, 4]), data=st.data())
def test_order_of_rows_names_of_queries_and_scale_of_scores(rows, k, data):
    y_true, y_score, groups = rows
    n_queries = int(groups.max()) + 1
    order = data.draw(st.permutations(range(len(groups))), label="order of the rows")
    kind = data.draw(st.sampled_from([st.integers(-(2**62), 2**62), st.text(max_size=3)]))
    names = data.draw(
        st.lists(kind, min_size=n_queries, max_size=n_queries, unique=True), label="names"
    )
    finite = st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0)
    scale = data.draw(st.sets(finite, min_size=4, max_size=4), label="other scores")
    rescaled = np.array([NO, *sorted(scale)])[np.searchsorted(DISTINCT, y_score)]
    renamed = [names[query] for query in groups[order]]
    in_order = sorted(range(n_queries), key=names.__getitem__)
    for name in ALL:
        expected = per_query(name, y_true, y_score, groups, k)
        actual = per_query(name, y_true[order], rescaled[order], renamed, k)
        same(actual, expected[in_order], atol=1e-12, err_msg=name)


@times(2)
@given(rows=judged_rows(), k=st.sampled_from([None, 1, 2, 4]), data=st.data())
def test_further_queries_do_not_matter(rows, k, data):
    y_true, y_score, groups = rows
    n_queries = int(groups.max()) + 1
    # Every query a second time, one that shows nothing, and one that nobody judged.
    size = data.draw(st.integers(1, 6), label="size of the others")
    others = data.draw(st.lists(LABELS, min_size=size, max_size=size), label="labels")
    more = (
        np.concatenate([y_true, y_true, others, np.full(size, np.nan)]),
        np.concatenate([y_score, y_score, np.full(size, NO), np.arange(size)]),
        np.concatenate([groups, groups + n_queries, np.repeat([2, 3], size) * n_queries]),
    )
    for name in ALL:
        expected = per_query(name, y_true, y_score, groups, k)
        actual = per_query(name, *more, k)[: 2 * n_queries]
        same(actual, np.tile(expected, 2), atol=1e-12, err_msg=name)
