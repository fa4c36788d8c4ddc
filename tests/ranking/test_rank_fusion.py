"""RankFusion: a fusion of systems as an estimator."""

import numpy as np
import pandas as pd
import pytest

from skfilterrank.exceptions import InputError
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.ranking import RankFusion, fuse_scores

# Two queries of three documents; the second system leaves one out.
X = pd.DataFrame(
    {"bm25": [3.0, 2.0, 1.0, 9.0, 8.0, 7.0], "dense": [0.1, 0.3, 0.2, 0.5, -np.inf, 0.9]}
)
Y = np.array([0, 1, 0, 0, 0, 1])
GROUPS = np.repeat(["a", "b"], 3)


def test_reciprocal_ranks_by_hand():
    fused = RankFusion().fit(X, Y, groups=GROUPS).predict(X, groups=GROUPS)
    ranks = [(1, 3), (2, 1), (3, 2), (1, 2), (2, None), (3, 1)]
    expected = [sum(1 / (60 + rank) for rank in pair if rank) for pair in ranks]
    np.testing.assert_allclose(fused, expected)
    fused = RankFusion(rrf_k=1).fit(X, Y, groups=GROUPS).predict(X, groups=GROUPS)
    np.testing.assert_allclose(fused[0], 1 / 2 + 1 / 4)


def test_weights_by_the_names_of_systems():
    weights = {"dense": 1.0, "bm25": 0.0}
    fusion = RankFusion("combsum", normalize=None, weights=weights).fit(X, Y, groups=GROUPS)
    np.testing.assert_array_equal(fusion.weights_, [0.0, 1.0])
    np.testing.assert_array_equal(fusion.predict(X, groups=GROUPS), X["dense"])
    with pytest.raises(InputError, match="weights must name every system and no other"):
        RankFusion(weights={"bm25": 1.0}).fit(X, Y, groups=GROUPS)


def test_one_fusion_whatever_is_set_before_the_next_fit():
    fusion = RankFusion("rbc", persistence=0.5).fit(X, Y, groups=GROUPS)
    before = fusion.predict(X, groups=GROUPS)
    np.testing.assert_allclose(before[:3], [0.5 + 0.125, 0.25 + 0.5, 0.125 + 0.25])
    fusion.set_params(method="combsum", persistence=0.9, filtered="any")
    np.testing.assert_array_equal(fusion.predict(X, groups=GROUPS), before)
    after = fusion.fit(X, Y, groups=GROUPS).predict(X, groups=GROUPS)
    expected = fuse_scores(X, method="combsum", groups=GROUPS, filtered="any")
    np.testing.assert_array_equal(after, expected)
    assert np.isneginf(after).tolist() == [False] * 4 + [True, False]


def test_score_and_bad_input():
    fusion = RankFusion(measure="ndcg_f@2").fit(X, Y, groups=GROUPS)
    shown = fusion.predict(X, groups=GROUPS)
    expected = ndcg_f_score(Y, shown, groups=GROUPS, k=2)
    assert fusion.score(X, Y, groups=GROUPS) == expected
    with pytest.raises(InputError, match="y has 5 labels but X has 6 rows"):
        RankFusion().fit(X, Y[1:], groups=GROUPS)
