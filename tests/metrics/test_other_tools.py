"""The same numbers as scikit-learn and trec_eval, where they mean the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import dcg_score as sklearn_dcg
from sklearn.metrics import ndcg_score as sklearn_ndcg

from skfilterrank.metrics import dcg_score, ndcg_0_score, ndcg_f_score, ndcg_score


@pytest.mark.slow
@given(
    query=st.lists(
        st.tuples(st.sampled_from([0.0, 0.5, 1.0, 3.0]), st.sampled_from([-1.0, 0.0, 0.5, 2.0])),
        min_size=2,
        max_size=12,
    ),
    k=st.sampled_from([None, 1, 2, 5, 20]),
)
def test_scikit_learn(query, k):
    gains, scores = np.array(query).T
    groups = np.zeros(len(query))
    expected = sklearn_ndcg([gains], [scores], k=k)
    for measure in (ndcg_score, ndcg_0_score, ndcg_f_score):
        assert measure(gains, scores, groups=groups, k=k) == pytest.approx(expected)
    expected = sklearn_dcg([gains], [scores], k=k)
    assert dcg_score(gains, scores, groups=groups, k=k) == pytest.approx(expected)
