"""What hypothesis may do to rows without changing what rankers learn, and what they keep."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lightgbm import LGBMRanker
from sklearn.linear_model import Ridge
from xgboost import XGBRanker

from profiles import times
from skfilterrank.ranking import QueryRanker
from skfilterrank.thresholds import PerQueryThreshold

RANKERS = {
    "LGBMRanker": LGBMRanker(
        n_estimators=2, min_child_samples=1, min_data_in_bin=1, n_jobs=1, verbose=-1
    ),
    "XGBRanker": XGBRanker(n_estimators=2, n_jobs=1),
    "Ridge": Ridge(),
}

pytestmark = pytest.mark.filterwarnings("ignore:.*:UserWarning")


@st.composite
def rows_of_queries(draw):
    """Queries of 1 to 6 rows one after the other, and the same rows with queries taking turns."""
    sizes = [3, *draw(st.lists(st.integers(1, 6), min_size=2, max_size=5))]
    groups = np.repeat(np.arange(len(sizes)), sizes)
    turns = np.array(draw(st.permutations(groups.tolist())))
    # Within a query the rows keep their order.
    order = np.empty(len(groups), dtype=int)
    for query in range(len(sizes)):
        order[turns == query] = np.flatnonzero(groups == query)
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    X = rng.normal(size=(len(groups), 2)).round(1)
    y = rng.integers(0, 3, len(groups)).astype(float)
    y[:3] = [0.0, 2.0, 1.0]
    return X, y, groups, order


@pytest.mark.slow
@pytest.mark.parametrize("name", RANKERS)
@given(rows=rows_of_queries(), first_name=st.integers(-(2**40), 2**40))
def test_queries_that_take_turns_are_queries_one_after_the_other(name, rows, first_name):
    X, y, groups, order = rows
    ranker = QueryRanker(RANKERS[name])
    together = ranker.fit(X, y, groups).predict(X)
    # Names of which the order is the same.
    apart = ranker.fit(X[order], y[order], groups[order] + first_name).predict(X[order])
    np.testing.assert_allclose(apart, together[order], rtol=1e-6, atol=1e-9)


@pytest.mark.slow
@times(1 / 2)  # each is a search of its own
@given(
    seed=st.integers(0, 10**6),
    n_scores=st.integers(2, 30),
    k=st.sampled_from([None, 1, 3]),
)
def test_thresholds_by_query_keep_the_beginning_of_each_list(seed, n_scores, k):
    rng = np.random.default_rng(seed)
    groups, y = rng.integers(0, 12, 80), rng.choice([-1.0, 1.0, 2.0], 80)
    scores = rng.integers(0, n_scores, 80) / n_scores  # few of them, many ties
    model = PerQueryThreshold("ndcg_f" if k is None else f"ndcg_f@{k}")
    model.fit(scores, y, groups=groups)
    shown = model.predict(scores, groups=groups)
    is_shown = shown > -np.inf
    np.testing.assert_array_equal(shown[is_shown], scores[is_shown])
    for query in np.unique(groups):
        mine = groups == query
        kept, left_out = scores[mine & is_shown], scores[mine & ~is_shown]
        if len(kept) and len(left_out):
            assert kept.min() > left_out.max()
        # A list is cut by what is in it alone.
        alone = model.predict(scores[mine], groups=groups[mine])
        np.testing.assert_array_equal(alone, shown[mine])
    order = rng.permutation(80)
    moved = model.predict(scores[order], groups=groups[order])
    np.testing.assert_array_equal(moved, shown[order])
