"""The methods of fusion: values by hand, and what does not change them."""

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fused_scores import ONE, fused
from profiles import times
from skfilterrank.ranking import fuse_runs
from skfilterrank.ranking._fusion import METHODS


class TestByHand:
    def test_reciprocal_rank(self):
        expected = [1 / 61, 1 / 62 + 1 / 62, 1 / 63 + 1 / 61, -inf]
        np.testing.assert_allclose(fused(ONE), expected)

    def test_reciprocal_rank_with_another_constant(self):
        np.testing.assert_allclose(fused(ONE, rrf_k=0), [1, 1 / 2 + 1 / 2, 1 / 3 + 1, -inf])

    def test_combsum(self):
        # (4 - 2) / (8 - 2) from the words and 0 from the links, where it is last.
        expected = [1, 2 / 6 + 0, 0 + 1, -inf]
        np.testing.assert_allclose(fused(ONE, method="combsum"), expected)

    def test_combmnz(self):
        expected = [1 * 1, 2 * (2 / 6), 2 * 1, -inf]
        np.testing.assert_allclose(fused(ONE, method="combmnz"), expected)

    def test_borda(self):
        # Three candidates. The links give 3 and 2 points; the first document gets what is left.
        expected = [3 + 1, 2 + 2, 1 + 3, -inf]
        np.testing.assert_allclose(fused(ONE, method="borda"), expected)

    def test_borda_shares_what_is_left(self):
        scores = {"one": [5.0, -inf, -inf], "all": [3.0, 2.0, 1.0]}
        np.testing.assert_allclose(
            fused(scores, method="borda"), [3 + 3, (2 + 1) / 2 + 2, (2 + 1) / 2 + 1]
        )

    def test_condorcet(self):
        # Two of three systems have the first before the second, and all of them both before the
        # third: two, one and no others are behind.
        scores = {"a": [3.0, 2.0, 1.0], "b": [3.0, 2.0, 1.0], "c": [2.0, 3.0, 1.0]}
        np.testing.assert_allclose(fused(scores, method="condorcet"), [3, 2, 1])
        # The vote of the third weighs more than those of the others.
        values = fused(scores, method="condorcet", weights=[1, 1, 2.5])
        np.testing.assert_allclose(values, [2, 3, 1])

    def test_condorcet_on_a_par(self):
        # One vote each way; what a system leaves out is behind what it shows.
        np.testing.assert_allclose(fused(ONE, method="condorcet"), [2, 2, 2, -inf])
        # Round in a circle: each has one behind it.
        scores = {"a": [3.0, 2.0, 1.0], "b": [1.0, 3.0, 2.0], "c": [2.0, 1.0, 3.0]}
        np.testing.assert_allclose(fused(scores, method="condorcet"), [2, 2, 2])
        # Of those that nobody shows there is no vote, and 0.1 + 0.2 are as much as 0.3.
        scores = {"a": [2.0, 1.0], "b": [2.0, 1.0], "c": [1.0, 2.0]}
        values = fused(scores, method="condorcet", weights=[0.1, 0.2, 0.3])
        np.testing.assert_allclose(values, [1.5, 1.5])


def by_loop(matrix, groups, method, normalize, k):
    """The formulas by the letter, one document after the other."""
    result = np.full(len(groups), -inf)
    for query in set(groups):
        rows = [row for row in range(len(groups)) if groups[row] == query]
        candidates = [row for row in rows if max(matrix[row]) > -inf]
        for row in candidates:
            if method == "condorcet":
                result[row] = 0.5  # on a par with itself
                for other in candidates:
                    margin = sum(np.sign(mine - theirs) if mine != theirs else 0
                        for mine, theirs in zip(matrix[row], matrix[other]))  # fmt: skip
                    result[row] += (1 + np.sign(margin)) / 2
                continue
            parts = []
            for system in range(matrix.shape[1]):
                score = matrix[row, system]
                listed = [matrix[r, system] for r in rows if matrix[r, system] > -inf]
                points = [len(candidates) - place for place in range(len(candidates))]
                rank = sum(s > score for s in listed) + (1 + sum(s == score for s in listed)) / 2
                got = len(candidates) + 1 - rank
                if score == -inf:
                    got = np.mean(points[len(listed) :])
                if method == "borda":
                    parts.append(got)
                elif score == -inf:
                    continue
                elif method == "rrf":
                    parts.append(1 / (k + rank))
                elif normalize == "minmax":
                    low, high = min(listed), max(listed)
                    parts.append((score - low) / (high - low) if high > low else 1)
                else:
                    parts.append(score)
            result[row] = sum(parts) * (len(parts) if method == "combmnz" else 1)
    return result


matrices = st.integers(1, 4).flatmap(
    lambda n_systems: st.lists(
        st.tuples(
            st.integers(0, 2),
            st.lists(
                st.sampled_from([-inf, -1.5, 0.0, 0.25, 1.0, 7.0]),
                min_size=n_systems,
                max_size=n_systems,
            ),
        ),
        min_size=1,
        max_size=14,
    )
)


def unpack(rows):
    return np.array([scores for _, scores in rows]), np.array([query for query, _ in rows])


class TestInvariances:
    @pytest.mark.slow
    @pytest.mark.parametrize("method", METHODS)
    @times(1 / 3)  # of each method, in each normalization
    @given(rows=matrices)
    def test_equals_a_loop(self, method, rows):
        matrix, groups = unpack(rows)
        for normalize in ("minmax", None):
            how = {"method": method, "normalize": normalize}
            np.testing.assert_allclose(
                fuse_runs(matrix, groups=groups, rrf_k=3, **how),
                by_loop(matrix, groups, k=3, **how),
                atol=1e-12,
                err_msg=str(normalize),
            )

    @pytest.mark.slow
    @given(rows=matrices, seed=st.integers(0, 9))
    def test_order_of_rows_and_of_systems(self, rows, seed):
        matrix, groups = unpack(rows)
        rng = np.random.default_rng(seed)
        by_row, by_system = rng.permutation(len(matrix)), rng.permutation(matrix.shape[1])
        for method in METHODS:
            values = fuse_runs(matrix, groups=groups, method=method)
            other = fuse_runs(matrix[by_row][:, by_system], groups=groups[by_row], method=method)
            np.testing.assert_array_equal(values[by_row], other)


class TestScales:
    def test_raw_scores(self):
        expected = [8, 4.2, 2.3, -inf]
        np.testing.assert_allclose(fused(ONE, method="combsum", normalize=None), expected)

    def test_ties_have_their_mean_rank(self):
        scores = {"only": [2.0, 1.0, 1.0, 0.0]}
        np.testing.assert_allclose(fused(scores), [1 / 61, 1 / 62.5, 1 / 62.5, 1 / 64])
        np.testing.assert_allclose(fused(scores, method="borda"), [4, 2.5, 2.5, 1])

    @pytest.mark.parametrize("normalize", ["minmax", None])
    def test_lists_of_equal_scores(self, normalize):
        expected = {"minmax": 1.0, None: 0.1}
        values = fused({"only": [0.1, 0.1]}, method="combsum", normalize=normalize)
        np.testing.assert_allclose(values, [expected[normalize]] * 2)

    def test_scores_near_the_end_of_float64(self):
        values = fused({"only": [1.5e308, 0.0, -1.5e308]}, method="combsum")
        np.testing.assert_allclose(values, [1, 0.5, 0])
