"""fuse_runs: systems, weights, filters, and forms of input."""

import io
from math import inf, nan

import numpy as np
import pandas as pd
import polars as pl
import pytest

from fused_scores import ONE, fused
from skfilterrank.exceptions import InputError
from skfilterrank.io import read_run, write_run
from skfilterrank.ranking import fuse_runs
from skfilterrank.ranking._fusion import METHODS, score_table


def test_systems_in_another_order_are_named():
    scores = {"words": pd.Series([3.0, 2.0, 1.0]), "links": pd.Series([3.0, 2.0, 1.0], [2, 0, 1])}
    with pytest.raises(InputError, match=r"^runs\['links'\] and runs\['words'\] have the same ind"):
        fuse_runs(scores, groups=[1, 1, 1])


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

    @pytest.mark.parametrize("method", METHODS)
    def test_what_one_system_shows_is_shown(self, method):
        scores = {"a": [1.0, 1.0, -inf], "b": [1.0, -inf, -inf], "c": [1.0, -inf, -inf]}
        assert list(np.isfinite(fused(scores, method=method))) == [True, True, False]

    def test_a_system_that_leaves_a_query_out(self):
        scores = {"both": [2.0, 1.0, 1.0, 3.0], "first": [1.0, 2.0, -inf, -inf]}
        values = fuse_runs(scores, groups=list("aabb"), method="combsum")
        np.testing.assert_allclose(values, [1, 1, 0, 1])


class TestInput:
    def test_matrix_frame_and_dict_are_the_same(self):
        frame = pd.DataFrame(ONE, index=pd.Index(list("bbbb"), name="qid"))
        expected = fused(ONE)
        np.testing.assert_array_equal(fuse_runs(frame), expected)
        np.testing.assert_array_equal(fuse_runs(frame.to_numpy(), groups=[5] * 4), expected)
        np.testing.assert_array_equal(fuse_runs(pl.DataFrame(ONE), groups=[5] * 4), expected)

    def test_input_is_left_alone(self):
        matrix = np.array([[1.0, -inf], [2.0, 3.0]])
        before = matrix.copy()
        for method in METHODS:
            fuse_runs(matrix, groups=[1, 1], method=method)
        np.testing.assert_array_equal(matrix, before)

    def test_integers(self):
        np.testing.assert_array_equal(
            fused({"a": [3, 2], "b": [True, False]}, method="combsum"), [2, 0]
        )

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"method": "sum"}, "method must be one of 'rrf', 'borda', .*, 'combmnz', got 'sum'"),
            ({"normalize": "zmuv"}, "normalize must be one of 'minmax', None"),
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
        with pytest.raises(ValueError, match=r"runs\['bad'\] holds 1 NaN"):
            fused({"good": [1.0, 2.0], "bad": [nan, 1.0]})
        with pytest.raises(ValueError, match=r"holds 1 \+inf"):
            fused({"bad": [inf, 1.0]})
        with pytest.raises(ValueError, match="different numbers of scores: 'a': 2, 'b': 1"):
            fused({"a": [1.0, 2.0], "b": [1.0]})
        with pytest.raises(ValueError, match="no system"):
            fuse_runs({}, groups=[1])
        with pytest.raises(ValueError, match="empty"):
            fuse_runs(np.empty((0, 2)), groups=[1])
        with pytest.raises(ValueError, match=r"2-D array.*shape \(2,\)"):
            fuse_runs([1.0, 2.0], groups=[1, 1])
        with pytest.raises(ValueError, match="several columns of one name"):
            fuse_runs(pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), groups=[1])

    def test_queries(self):
        with pytest.raises(ValueError, match=r"groups is missing.*the scores as a DataFrame"):
            fuse_runs(ONE)
        with pytest.raises(ValueError, match="groups has 3 entries but there are 4 rows"):
            fuse_runs(ONE, groups=[1, 1, 1])


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
        table, *_ = score_table({"words": WORDS, "links": LINKS})
        assert list(table.index) == [
            ("1", "a"), ("1", "b"), ("1", "c"), ("1", "d"), ("2", "a"), ("3", "x"),
        ]  # fmt: skip
        np.testing.assert_array_equal(table["words"], [9, 4, 4, -inf, 1, -inf])
        np.testing.assert_array_equal(table["links"], [-inf, -inf, 0.5, 0.1, -inf, 7])

    @pytest.mark.slow
    def test_the_same_as_scores_where_nothing_is_tied(self):
        runs = {"words": WORDS.drop(index=2), "links": LINKS}
        table, *_ = score_table(runs)
        for method in METHODS:
            values = pd.Series(fuse_runs(table, method=method), index=table.index)
            found = fuse_runs(runs, method=method).set_index(["qid", "docno"])["score"]
            pd.testing.assert_series_equal(
                found.sort_index(), values, check_names=False, check_index_type=False
            )

    def test_hidden_documents(self):
        words = run("1 a 9\n1 b -inf\n2 a -inf")
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
            ({"w": pd.concat([WORDS, WORDS[1:2]])}, "holds document 'b' twice in query '1'"),
            ({"w": WORDS, "v": WORDS.assign(qid=1)}, "column 'qid' of the runs.*different types"),
            ({"w": WORDS.assign(score=-inf)}, "every run hides every document"),
            ({"w": WORDS[:0]}, r"the runs hold no document\. Give runs that"),
        ],
    )
    def test_bad_runs(self, runs, message):
        with pytest.raises(ValueError, match=message):
            fuse_runs(runs)

    @pytest.mark.parametrize("depth", [0, 1.5, True])
    def test_bad_depth(self, depth):
        with pytest.raises(ValueError, match="depth must be None or a whole number from 1 up"):
            fuse_runs({"words": WORDS}, depth=depth)
