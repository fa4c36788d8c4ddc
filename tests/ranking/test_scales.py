"""Scores of a list on a scale that lists share: values by hand."""

from math import inf, sqrt

import numpy as np
import pytest

from skfilterrank.exceptions import InputError
from skfilterrank.ranking import fuse_scores
from skfilterrank.ranking._fusion.scales import NORMALIZATIONS

# One query: four documents, of which the second system shows two and nobody the last.
ONE = {"words": [8.0, 4.0, 2.0, -inf], "links": [-inf, 0.2, 0.3, -inf]}


def fused(y_scores, groups=None, **options):
    """Fused scores of one query, as a list."""
    n_rows = len(next(iter(y_scores.values())))
    return fuse_scores(y_scores, groups=[1] * n_rows if groups is None else groups, **options)


class TestScales:
    def test_raw_scores(self):
        expected = [8, 4.2, 2.3, -inf]
        np.testing.assert_allclose(fused(ONE, method="combsum", normalize=None), expected)

    def test_rank_normalization(self):
        expected = [3 / 3, 2 / 3 + 1 / 2, 1 / 3 + 2 / 2, -inf]
        np.testing.assert_allclose(fused(ONE, method="combsum", normalize="rank"), expected)

    def test_zscore(self):
        # 8, 4, 2 have mean 14 / 3 and variance 56 / 9; 0.2 and 0.3 lie one deviation off.
        words = [(score - 14 / 3) / (sqrt(56) / 3) for score in (8, 4, 2)]
        expected = [words[0], words[1] - 1, words[2] + 1, -inf]
        np.testing.assert_allclose(fused(ONE, method="combsum", normalize="zscore"), expected)

    def test_divided_by_the_highest(self):
        expected = [1, 4 / 8 + 2 / 3, 2 / 8 + 1, -inf]
        np.testing.assert_allclose(fused(ONE, method="combsum", normalize="max"), expected)
        np.testing.assert_allclose(
            fused({"only": [0.0, 0.0]}, method="combsum", normalize="max"), [0, 0]
        )

    @pytest.mark.parametrize("scores", [[-1.0, -2.0], [0.0, -1.0], [-inf, -1.0]])
    def test_no_highest_to_divide_by(self, scores):
        with pytest.raises(InputError, match=r"normalize='max'.*list of query 1 has none above 0"):
            fused({"only": scores}, method="combsum", normalize="max")

    def test_shares_of_what_is_over_the_lowest(self):
        # 6, 2 and 0 over the lowest of the words, 0 and 0.1 of the links.
        expected = [6 / 8, 2 / 8 + 0, 0 + 1, -inf]
        np.testing.assert_allclose(fused(ONE, method="combsum", normalize="sum"), expected)

    def test_borda_normalization(self):
        # Points of three candidates, of which the links leave the first one out.
        words, links = [3 / 3, 2 / 3, 1 / 3], [1 / 3, 2 / 3, 3 / 3]
        expected = {
            "combmin": np.minimum(words, links),
            "combmnz": 2 * np.add(words, links),
        }
        for method, values in expected.items():
            found = fused(ONE, method=method, normalize="borda")
            np.testing.assert_allclose(found, [*values, -inf])

    def test_ties_have_their_mean_rank(self):
        scores = {"only": [2.0, 1.0, 1.0, 0.0]}
        np.testing.assert_allclose(fused(scores), [1 / 61, 1 / 62.5, 1 / 62.5, 1 / 64])
        np.testing.assert_allclose(fused(scores, method="borda"), [4, 2.5, 2.5, 1])

    @pytest.mark.parametrize("normalize", NORMALIZATIONS)
    def test_lists_of_equal_scores(self, normalize):
        expected = {"minmax": 1.0, "zscore": 0.0, "rank": 1 - 0.5 / 2, None: 0.1}
        expected |= {"max": 1.0, "sum": 1 / 2, "borda": 1.5 / 2}
        values = fused({"only": [0.1, 0.1]}, method="combsum", normalize=normalize)
        np.testing.assert_allclose(values, [expected[normalize]] * 2)

    def test_scores_near_the_end_of_float64(self):
        values = fused({"only": [1.5e308, 0.0, -1.5e308]}, method="combsum")
        np.testing.assert_allclose(values, [1, 0.5, 0])
