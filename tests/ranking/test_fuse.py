"""Runs of several systems fused into one."""

import io
from math import inf

import numpy as np
import pandas as pd
import polars as pl
import pytest

from skfilterrank.io import read_run, write_run
from skfilterrank.ranking import fuse_runs, fuse_scores, score_table
from skfilterrank.ranking._fusion.methods import METHODS


def fused(y_scores, groups=None, **options):
    """Fused scores of one query, as a list."""
    n_rows = len(next(iter(y_scores.values())))
    return fuse_scores(y_scores, groups=[1] * n_rows if groups is None else groups, **options)


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

    @pytest.mark.slow
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
