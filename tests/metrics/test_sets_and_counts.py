"""Counts, F and interpolated precision: by hand, and as trec_eval has them."""

from math import inf, nan, sqrt

import numpy as np
import pytest

from skfilterrank.metrics import evaluate, f_score
from skfilterrank.metrics._sets_and_counts import (
    eleven_point_precision_score,
    geometric_map_score,
    interpolated_precision_score,
    n_queries_score,
    n_relevant_retrieved_score,
    n_relevant_score,
    n_retrieved_score,
    set_map_score,
)

GROUPS = list("aaaabb")
Y_TRUE, Y_SCORE = [1, nan, 1, 1, 0, 1], [4, 3, 2, -inf, 2, -inf]


def test_counts_are_sums_over_queries():
    how = {"groups": GROUPS}
    assert n_queries_score(Y_TRUE, Y_SCORE, **how) == 2
    assert n_retrieved_score(Y_TRUE, Y_SCORE, **how) == 4
    assert n_retrieved_score(Y_TRUE, Y_SCORE, unjudged="drop", **how) == 3
    assert n_relevant_score(Y_TRUE, Y_SCORE, **how) == 4
    assert n_relevant_retrieved_score(Y_TRUE, Y_SCORE, **how) == 2
    per_query = n_relevant_retrieved_score.per_query(Y_TRUE, Y_SCORE, **how)
    assert per_query.tolist() == [2, 0]


def test_f_and_set_map():
    how = {"groups": GROUPS}
    # 2 of 3 are found in a list of 3; at 2 one of 3, P = 1/2, R = 1/3.
    np.testing.assert_allclose(f_score.per_query(Y_TRUE, Y_SCORE, **how), [2 / 3, 0])
    np.testing.assert_allclose(f_score.per_query(Y_TRUE, Y_SCORE, k=2, **how), [2 / 5, 0])
    weighted = 5 * (1 / 6) / (4 / 2 + 1 / 3)
    np.testing.assert_allclose(
        f_score.per_query(Y_TRUE, Y_SCORE, k=2, beta=2, **how), [weighted, 0]
    )
    # Both orders of the tie: 1 or 0 of 1 in the top 1, 2 / (1 + 1) or 0.
    assert f_score([1, 0], [1, 1], groups=[0, 0], k=1) == 1 / 2
    np.testing.assert_allclose(set_map_score.per_query(Y_TRUE, Y_SCORE, **how), [4 / 9, 0])


def test_interpolated_precision():
    # Precisions 1/2 at 2, 2/4 at 4, 3/5 at 5; one of 4 is missing.
    y_true, y_score, groups = [0, 1, 0, 1, 1, 1], [5, 4, 3, 2, 1, -inf], ["q"] * 6
    at = {0: 3 / 5, 0.25: 3 / 5, 0.75: 3 / 5, 0.77: 0, 1: 0}
    for recall, expected in at.items():
        found = interpolated_precision_score(y_true, y_score, groups=groups, recall=recall)
        assert found == pytest.approx(expected), recall
    # Without a level, that at 1/2: the best from the second of three in places 1, 3 and 9 on.
    y_true, y_score = [1, 0, 1, 0, 0, 0, 0, 0, 1], list(range(9, 0, -1))
    assert interpolated_precision_score(y_true, y_score, groups=["q"] * 9) == 2 / 3
    assert interpolated_precision_score(y_true, y_score, groups=["q"] * 9, recall=0.1) == 1
    y_true, y_score = [0, 1, 0, 1, 1, 1], [5, 4, 3, 2, 1, -inf]
    # 0.7 * 4 is above 2 and 0.8 * 4 above 3.
    mean = eleven_point_precision_score(y_true, y_score, groups=groups)
    assert mean == pytest.approx(8 * (3 / 5) / 11)


def test_geometric_mean():
    # AP 1 and 1/2; one without anything found counts 0.00001.
    y_true, y_score = [1, 0, 0, 1, 1], [2, 1, 2, 1, -inf]
    found = geometric_map_score(y_true[:4], y_score[:4], groups=list("aabb"))
    assert found == pytest.approx(sqrt(1 / 2))
    found = geometric_map_score(y_true, y_score, groups=list("aabbc"))
    assert found == pytest.approx((1 / 2 * 1e-5) ** (1 / 3))


def test_official_names_what_trec_eval_prints():
    found = evaluate(Y_TRUE, Y_SCORE, "official", groups=GROUPS).per_query
    assert list(found)[:6] == ["num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map"]
    assert found.shape == (2, 29)
    # trec_eval's own names, and those of the measure table beside them.
    assert "iprec_at_recall_0.30" in found


def test_one_number_wherever_it_is_asked_for():
    names = ["num_ret", "gm_map", "ap"]
    how = {"groups": GROUPS}
    found = evaluate(Y_TRUE, Y_SCORE, names, **how).means
    assert found["num_ret"] == 4
    assert found["gm_map"] == geometric_map_score(Y_TRUE, Y_SCORE, **how)
    weight = {"a": 2, "b": 0}
    found = evaluate(Y_TRUE, Y_SCORE, names, query_weight=weight, **how).means
    assert found["num_ret"] == 6
    assert found["gm_map"] == pytest.approx(found["ap"])
