"""Several systems' scores of the same rows: weights, filters, what is refused."""

from math import inf, nan

import numpy as np
import pandas as pd
import polars as pl
import pytest

from skfilterrank.ranking import fuse_scores
from skfilterrank.ranking._fusion.methods import METHODS

# One query: four documents, of which the second system shows two and nobody the last.
ONE = {"words": [8.0, 4.0, 2.0, -inf], "links": [-inf, 0.2, 0.3, -inf]}


def fused(y_scores, groups=None, **options):
    """Fused scores of one query, as a list."""
    n_rows = len(next(iter(y_scores.values())))
    return fuse_scores(y_scores, groups=[1] * n_rows if groups is None else groups, **options)


class TestSystems:
    def test_weights(self):
        expected = [3 / 61, 3 / 62 + 0.5 / 62, 3 / 63 + 0.5 / 61, -inf]
        np.testing.assert_allclose(fused(ONE, weights={"links": 0.5, "words": 3}), expected)
        np.testing.assert_allclose(fused(ONE, weights=[3, 0.5]), expected)

    def test_weight_zero_leaves_a_system_out(self):
        for method in METHODS:
            np.testing.assert_array_equal(
                fused(ONE, method=method, weights=[0, 1]),
                fused({"links": ONE["links"]}, method=method),
            )

    @pytest.mark.parametrize(
        ("filtered", "kept"),
        [
            ("all", [True, True, True, False]),
            ("majority", [True, True, False, False]),
            ("any", [True, False, False, False]),
        ],
    )
    def test_filters(self, filtered, kept):
        # Kept by four, two, one and none of four systems: half of them is no majority.
        scores = {
            "a": [1.0, 1.0, 1.0, -inf],
            "b": [1.0, 1.0, -inf, -inf],
            "c": [1.0, -inf, -inf, -inf],
            "d": [1.0, -inf, -inf, -inf],
        }
        for method in METHODS:
            values = fused(scores, method=method, filtered=filtered)
            assert list(np.isfinite(values)) == kept

    def test_a_system_that_leaves_a_query_out(self):
        scores = {"both": [2.0, 1.0, 1.0, 3.0], "first": [1.0, 2.0, -inf, -inf]}
        values = fuse_scores(scores, groups=list("aabb"), method="combsum")
        np.testing.assert_allclose(values, [1, 1, 0, 1])


class TestInput:
    def test_matrix_frame_and_dict_are_the_same(self):
        frame = pd.DataFrame(ONE, index=pd.Index(list("bbbb"), name="qid"))
        expected = fused(ONE)
        np.testing.assert_array_equal(fuse_scores(frame), expected)
        np.testing.assert_array_equal(fuse_scores(frame.to_numpy(), groups=[5] * 4), expected)
        np.testing.assert_array_equal(fuse_scores(pl.DataFrame(ONE), groups=[5] * 4), expected)

    def test_input_is_left_alone(self):
        matrix = np.array([[1.0, -inf], [2.0, 3.0]])
        before = matrix.copy()
        for method in METHODS:
            fuse_scores(matrix, groups=[1, 1], method=method)
        np.testing.assert_array_equal(matrix, before)

    def test_integers(self):
        np.testing.assert_array_equal(
            fused({"a": [3, 2], "b": [True, False]}, method="combsum"), [2, 0]
        )

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"method": "sum"}, "method must be one of 'rrf', 'isr', .*, 'combmin', got 'sum'"),
            ({"normalize": "zmuv"}, "normalize must be one of 'minmax', 'zscore', 'max', 'sum', "),
            ({"persistence": 1}, "persistence must be a number between 0 and 1, both excluded"),
            ({"filtered": "some"}, "filtered must be one of 'any', 'all', 'majority'"),
            ({"rrf_k": -1}, "rrf_k must be a finite number from 0 up, got -1"),
            ({"rrf_k": nan}, "rrf_k must be a finite number"),
            ({"weights": [1]}, "one number for each of the 2 systems"),
            ({"weights": [1, -1]}, "finite, from 0 up and not all 0"),
            ({"weights": [0, 0]}, "not all 0"),
            ({"weights": {"words": 1}}, "name every system and no other.*'links'"),
        ],
    )
    def test_parameters(self, options, message):
        with pytest.raises(ValueError, match=message):
            fused(ONE, **options)

    def test_scores(self):
        with pytest.raises(ValueError, match="holds 1 NaN") as caught:
            fused({"good": [1.0, 2.0], "bad": [nan, 1.0]})
        assert "'bad'" in caught.value.__notes__[0]
        with pytest.raises(ValueError, match=r"holds 1 \+inf"):
            fused({"bad": [inf, 1.0]})
        with pytest.raises(ValueError, match="different numbers of scores: 'a': 2, 'b': 1"):
            fused({"a": [1.0, 2.0], "b": [1.0]})
        with pytest.raises(ValueError, match="no system"):
            fuse_scores({}, groups=[1])
        with pytest.raises(ValueError, match="empty"):
            fuse_scores(np.empty((0, 2)), groups=[1])
        with pytest.raises(ValueError, match=r"2-D array.*shape \(2,\)"):
            fuse_scores([1.0, 2.0], groups=[1, 1])
        with pytest.raises(ValueError, match="several columns of one name"):
            fuse_scores(pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), groups=[1])

    def test_queries(self):
        with pytest.raises(ValueError, match=r"groups is missing.*y_scores as a DataFrame"):
            fuse_scores(ONE)
        with pytest.raises(ValueError, match="groups has 3 entries but there are 4 rows"):
            fuse_scores(ONE, groups=[1, 1, 1])
