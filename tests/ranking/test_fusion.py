"""Fusion of several systems' lists: values by hand, a loop over documents, and odd input."""

import io
from math import inf, log, nan, sqrt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import times
from skfilterrank.exceptions import InputError
from skfilterrank.io import read_run, write_run
from skfilterrank.ranking import fuse_runs, fuse_scores, score_table
from skfilterrank.ranking._fusion.methods import METHODS
from skfilterrank.ranking._fusion.scales import NORMALIZATIONS

# One query: four documents, of which the second system shows two and nobody the last.
ONE = {"words": [8.0, 4.0, 2.0, -inf], "links": [-inf, 0.2, 0.3, -inf]}


def fused(y_scores, groups=None, **options):
    """Fused scores of one query, as a list."""
    n_rows = len(next(iter(y_scores.values())))
    return fuse_scores(y_scores, groups=[1] * n_rows if groups is None else groups, **options)


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

    def test_borda(self):
        # Three candidates. The links give 3 and 2 points; the first document gets what is left.
        expected = [3 + 1, 2 + 2, 1 + 3, -inf]
        np.testing.assert_allclose(fused(ONE, method="borda"), expected)

    def test_borda_shares_what_is_left(self):
        scores = {"one": [5.0, -inf, -inf], "all": [3.0, 2.0, 1.0]}
        np.testing.assert_allclose(
            fused(scores, method="borda"), [3 + 3, (2 + 1) / 2 + 2, (2 + 1) / 2 + 1]
        )

    def test_inverse_square_ranks(self):
        expected = [1, 2 * (1 / 4 + 1 / 4), 2 * (1 / 9 + 1), -inf]
        np.testing.assert_allclose(fused(ONE, method="isr"), expected)
        expected = [0, log(2) * (1 / 4 + 1 / 4), log(2) * (1 / 9 + 1), -inf]
        np.testing.assert_allclose(fused(ONE, method="log_isr"), expected)

    def test_rank_biased_centroid(self):
        expected = [0.1, 0.1 * 0.9 + 0.1 * 0.9, 0.1 * 0.81 + 0.1, -inf]
        np.testing.assert_allclose(fused(ONE, method="rbc", persistence=0.9), expected)

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

    def test_highest_lowest_middle_and_mean(self):
        words, links = [1, 2 / 6, 0], [nan, 0, 1]
        for method, combine in {
            "combmax": np.nanmax,
            "combmin": np.nanmin,
            "combmed": np.nanmedian,
            "combanz": np.nanmean,
        }.items():
            expected = [*combine([words, links], axis=0), -inf]
            np.testing.assert_allclose(fused(ONE, method=method), expected)

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

    @pytest.mark.parametrize("normalize", NORMALIZATIONS)
    def test_lists_of_equal_scores(self, normalize):
        expected = {"minmax": 1.0, "zscore": 0.0, "rank": 1 - 0.5 / 2, None: 0.1}
        expected |= {"max": 1.0, "sum": 1 / 2, "borda": 1.5 / 2}
        values = fused({"only": [0.1, 0.1]}, method="combsum", normalize=normalize)
        np.testing.assert_allclose(values, [expected[normalize]] * 2)

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

    def test_scores_near_the_end_of_float64(self):
        values = fused({"only": [1.5e308, 0.0, -1.5e308]}, method="combsum")
        np.testing.assert_allclose(values, [1, 0.5, 0])


def by_loop(matrix, groups, method, normalize, k, persistence):
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
                elif method.startswith("comb") and normalize == "borda":
                    parts.append(got / len(candidates))
                elif score == -inf:
                    continue
                elif method == "rrf":
                    parts.append(1 / (k + rank))
                elif method in ("isr", "log_isr"):
                    parts.append(1 / rank**2)
                elif method == "rbc":
                    parts.append((1 - persistence) * persistence ** (rank - 1))
                elif normalize == "rank":
                    parts.append((len(listed) - rank + 1) / len(listed))
                elif normalize == "zscore":
                    spread = np.std(listed)
                    parts.append((score - np.mean(listed)) / spread if len(set(listed)) > 1 else 0)
                elif normalize == "minmax":
                    low, high = min(listed), max(listed)
                    parts.append((score - low) / (high - low) if high > low else 1)
                elif normalize == "max":
                    parts.append(score / max(listed))
                elif normalize == "sum":
                    over = sum(listed) - len(listed) * min(listed)
                    parts.append((score - min(listed)) / over if over else 1 / len(listed))
                else:
                    parts.append(score)
            n = len(parts)
            result[row] = {
                "combmnz": lambda parts, n: sum(parts) * n,
                "isr": lambda parts, n: sum(parts) * n,
                "log_isr": lambda parts, n: sum(parts) * log(n),
                "combanz": lambda parts, n: sum(parts) / n,
                "combmed": lambda parts, n: np.median(parts),
                "combmax": lambda parts, n: max(parts),
                "combmin": lambda parts, n: min(parts),
            }.get(method, lambda parts, n: sum(parts))(parts, n)
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
    @pytest.mark.parametrize("method", METHODS)
    @times(1 / 3)  # of each method, in each normalization
    @given(rows=matrices)
    def test_equals_a_loop(self, method, rows):
        drawn, groups = unpack(rows)
        for normalize in NORMALIZATIONS:
            matrix = drawn
            if normalize == "max":
                matrix = np.where(drawn > -inf, np.abs(drawn) + 0.5, -inf)
            how = {"method": method, "normalize": normalize, "persistence": 0.7}
            np.testing.assert_allclose(
                fuse_scores(matrix, groups=groups, rrf_k=3, **how),
                by_loop(matrix, groups, k=3, **how),
                atol=1e-12,
                err_msg=str(normalize),
            )

    @given(rows=matrices, seed=st.integers(0, 9))
    def test_order_of_rows_and_of_systems(self, rows, seed):
        matrix, groups = unpack(rows)
        rng = np.random.default_rng(seed)
        by_row, by_system = rng.permutation(len(matrix)), rng.permutation(matrix.shape[1])
        for method in METHODS:
            values = fuse_scores(matrix, groups=groups, method=method)
            other = fuse_scores(matrix[by_row][:, by_system], groups=groups[by_row], method=method)
            np.testing.assert_array_equal(values[by_row], other)

    @given(rows=matrices)
    def test_only_order_counts_for_ranks(self, rows):
        matrix, groups = unpack(rows)
        bent = np.where(matrix > -inf, np.exp(matrix), -inf)
        for method in ("rrf", "isr", "log_isr", "rbc", "borda", "condorcet"):
            np.testing.assert_array_equal(
                fuse_scores(matrix, groups=groups, method=method),
                fuse_scores(bent, groups=groups, method=method),
            )

    @given(rows=matrices, scale=st.sampled_from([0.5, 4.0]), shift=st.sampled_from([-2.0, 8.0]))
    def test_scale_of_a_system_does_not_count(self, rows, scale, shift):
        matrix, groups = unpack(rows)
        for normalize in ("minmax", "zscore", "sum"):
            np.testing.assert_allclose(
                fuse_scores(
                    matrix * scale + shift, groups=groups, method="combsum", normalize=normalize
                ),
                fuse_scores(matrix, groups=groups, method="combsum", normalize=normalize),
                atol=1e-12,
            )

    @given(rows=matrices)
    def test_one_system_keeps_its_order(self, rows):
        matrix, groups = unpack(rows)
        scores = matrix[:, 0]
        values = fuse_scores(matrix[:, :1], groups=groups)
        for query in set(groups):
            mine = groups == query
            np.testing.assert_array_equal(
                np.unique(-values[mine], return_inverse=True)[1],
                np.unique(-scores[mine], return_inverse=True)[1],
            )

    @given(rows=matrices)
    def test_more_filters_filter_more(self, rows):
        matrix, groups = unpack(rows)
        kept = [
            np.isfinite(fuse_scores(matrix, groups=groups, filtered=filtered))
            for filtered in ("any", "majority", "all")
        ]
        assert (kept[0] <= kept[1]).all()
        assert (kept[1] <= kept[2]).all()


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


def run(lines):
    """A run of text lines "qid docno score"."""
    rows = [line.split() for line in lines.strip().splitlines()]
    return pd.DataFrame(
        {
            "qid": [qid for qid, _, _ in rows],
            "docno": [docno for _, docno, _ in rows],
            "score": [float(score) for _, _, score in rows],
        }
    )


WORDS = run("1 a 9\n1 b 4\n1 c 4\n2 a 1")
LINKS = run("1 c 0.5\n1 d 0.1\n3 x 7")


class TestRuns:
    def test_by_hand(self):
        # c stands before b, as trec_eval has it: equal scores, higher id.
        found = fuse_runs({"words": WORDS, "links": LINKS})
        expected = [
            ("1", "c", 1 / 62 + 1 / 61),
            ("1", "a", 1 / 61),
            ("1", "d", 1 / 62),
            ("1", "b", 1 / 63),
            ("2", "a", 1 / 61),
            ("3", "x", 1 / 61),
        ]
        pd.testing.assert_frame_equal(
            found, pd.DataFrame(expected, columns=["qid", "docno", "score"]), check_dtype=False
        )

    def test_equal_fused_scores_stand_by_id_descending(self):
        found = fuse_runs({"one": run("1 a 2\n1 b 1"), "two": run("1 b 2\n1 a 1")})
        assert list(found["docno"]) == ["b", "a"]
        assert found["score"][0] == found["score"][1]

    def test_table(self):
        table = score_table({"words": WORDS, "links": LINKS})
        assert list(table.index) == [
            ("1", "a"), ("1", "b"), ("1", "c"), ("1", "d"), ("2", "a"), ("3", "x"),
        ]  # fmt: skip
        np.testing.assert_array_equal(table["words"], [9, 4, 4, -inf, 1, -inf])
        np.testing.assert_array_equal(table["links"], [-inf, -inf, 0.5, 0.1, -inf, 7])

    def test_the_same_as_scores_where_nothing_is_tied(self):
        runs = {"words": WORDS.drop(index=2), "links": LINKS}
        table = score_table(runs)
        for method in METHODS:
            values = pd.Series(fuse_scores(table, method=method), index=table.index)
            found = fuse_runs(runs, method=method).set_index(["qid", "docno"])["score"]
            pd.testing.assert_series_equal(
                found.sort_index(), values, check_names=False, check_index_type=False
            )

    def test_filtered_documents(self):
        words = run("1 a 9\n1 b -inf\n2 a -inf")
        found = fuse_runs({"words": words, "links": run("1 b 2\n1 a 1")}, filtered="any")
        assert list(found["docno"]) == ["a"]
        assert list(fuse_runs({"words": words})["docno"]) == ["a"]

    def test_depth(self):
        found = fuse_runs({"words": WORDS, "links": LINKS}, depth=2)
        assert list(zip(found["qid"], found["docno"])) == [
            ("1", "c"), ("1", "a"), ("2", "a"), ("3", "x"),
        ]  # fmt: skip

    def test_written_and_read(self, tmp_path):
        found = fuse_runs({"words": WORDS, "links": LINKS})
        write_run(tmp_path / "fused.txt", found, name="fused")
        again = read_run(tmp_path / "fused.txt")
        pd.testing.assert_frame_equal(
            again[["qid", "docno", "score"]], found, check_dtype=False, check_column_type=False
        )

    def test_other_frames(self):
        expected = fuse_runs({"words": WORDS, "links": LINKS})
        indexed = {"words": WORDS.set_index(["qid", "docno"]), "links": pl.from_pandas(LINKS)}
        pd.testing.assert_frame_equal(fuse_runs(indexed), expected, check_dtype=False)
        shuffled = {"words": WORDS.sample(frac=1, random_state=0), "links": LINKS.iloc[::-1]}
        pd.testing.assert_frame_equal(fuse_runs(shuffled), expected)

    def test_numbers_as_topics(self):
        words = WORDS.assign(qid=WORDS["qid"].astype(int))
        assert list(fuse_runs({"words": words})["qid"].unique()) == [1, 2]

    def test_read_from_text(self):
        text = "7 Q0 d1 1 2.5 sys\n7 Q0 d2 2 2.25 sys\n"
        found = fuse_runs({"sys": read_run(io.StringIO(text))}, method="combsum")
        assert list(found["score"]) == [1, 0]

    @pytest.mark.parametrize(
        ("runs", "message"),
        [
            ({"w": pd.concat([WORDS, WORDS[1:2]])}, "holds document 'b' twice in topic '1'"),
            ({"w": WORDS, "v": WORDS.assign(qid=1)}, "column 'qid' of the runs.*different types"),
            ({"w": WORDS.assign(score=-inf)}, "every document is filtered"),
        ],
    )
    def test_bad_runs(self, runs, message):
        with pytest.raises(ValueError, match=message):
            fuse_runs(runs)

    @pytest.mark.parametrize("depth", [0, 1.5, True])
    def test_bad_depth(self, depth):
        with pytest.raises(ValueError, match="depth must be None or a whole number from 1 up"):
            fuse_runs({"words": WORDS}, depth=depth)
