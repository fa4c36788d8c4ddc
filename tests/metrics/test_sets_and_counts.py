"""Options of F and of interpolated precision by hand, and the names that trec_eval prints."""

from math import inf, nan

import numpy as np
import pytest

from skfilterrank.metrics import evaluate, f_score
from skfilterrank.metrics._sets_and_counts import (
    interpolated_precision_score,
)

GROUPS = list("aaaabb")
Y_TRUE, Y_SCORE = [1, nan, 1, 1, 0, 1], [4, 3, 2, -inf, 2, -inf]


def test_f_with_a_weight_of_recall():
    # At 2 one of 3 is found: P = 1/2, R = 1/3.
    weighted = 5 * (1 / 6) / (4 / 2 + 1 / 3)
    found = f_score.per_query(Y_TRUE, Y_SCORE, k=2, beta=2, groups=GROUPS)
    np.testing.assert_allclose(found, [weighted, 0])


def test_interpolated_precision():
    # Precisions 1/2 at 2, 2/4 at 4, 3/5 at 5; one of 4 is missing.
    y_true, y_score, groups = [0, 1, 0, 1, 1, 1], [5, 4, 3, 2, 1, -inf], ["q"] * 6
    at = {0: 3 / 5, 0.25: 3 / 5, 0.75: 3 / 5, 0.77: 0, 1: 0}
    for recall, expected in at.items():
        found = interpolated_precision_score(y_true, y_score, groups=groups, recall=recall)
        assert found == pytest.approx(expected), recall


def test_official_names_what_trec_eval_prints():
    found = evaluate(Y_TRUE, Y_SCORE, "official", groups=GROUPS).per_query
    assert list(found)[:6] == ["num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map"]
    assert found.shape == (2, 29)
    # trec_eval's own names, and those of the measure table beside them.
    assert "iprec_at_recall_0.30" in found
