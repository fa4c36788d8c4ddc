import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import times
from skfilterrank.io import read_run
from skfilterrank.judgments import rank_table
from skfilterrank.judgments._rank_table import as_rank_table

COLUMNS = ["qid", "docno", "score"]


def frame(rows):
    return pd.DataFrame(rows, columns=COLUMNS)


def loop_ranks(runs, depth=None):
    """Return {(qid, docno): {run: rank}}, a list at a time."""
    found = {}
    for name, run in runs.items():
        lists = {}
        for qid, docno, score in run[COLUMNS].itertuples(index=False):
            if score > -np.inf:
                lists.setdefault(qid, []).append((score, docno))
        for qid, own in lists.items():
            for rank, (_, docno) in enumerate(sorted(own, reverse=True), start=1):
                if depth is None or rank <= depth:
                    found.setdefault((qid, docno), {})[name] = float(rank)
    return found


def as_dict(table):
    return {
        row: {name: rank for name, rank in zip(table.columns, ranks) if not np.isnan(rank)}
        for row, ranks in zip(table.index, table.to_numpy())
    }


A = frame([("1", "d1", 9.0), ("1", "d2", 7.0), ("2", "d1", 1.0)])
B = frame([("1", "d3", 0.5), ("1", "d1", 0.5)])


def test_ranks_by_hand():
    table = rank_table({"b": B, "a": A})
    nan = np.nan
    # In b, d3 and d1 tie: the larger id comes first. Query 2 is in a alone.
    expected = pd.DataFrame(
        {"b": [2.0, nan, 1.0, nan], "a": [1.0, 2.0, nan, 1.0]},
        index=pd.MultiIndex.from_tuples(
            [("1", "d1"), ("1", "d2"), ("1", "d3"), ("2", "d1")], names=["qid", "docno"]
        ),
    ).rename_axis(columns="run")
    pd.testing.assert_frame_equal(table, expected, check_index_type=False)
    assert table.index.is_monotonic_increasing
    assert table.index.is_unique


lists = st.lists(
    st.tuples(
        st.sampled_from(["1", "2", "10"]),
        st.sampled_from(["a", "b", "c", "d10", "d9", "D"]),
        st.sampled_from([3.0, 2.0, 1.0, 0.0, -0.0, -np.inf]),
    ),
    min_size=1,
    unique_by=lambda row: row[:2],
)


@pytest.mark.slow
@times(0.5)
@given(st.lists(lists, min_size=1, max_size=4), st.sampled_from([None, 1, 2, 100]))
def test_ranks_are_those_of_a_loop_over_lists(runs, depth):
    # A row that all runs share keeps them from having no query in common.
    runs = {f"r{i}": frame([*rows, ("0", "a", 1.0)]) for i, rows in enumerate(runs)}
    table = rank_table(runs, depth=depth)
    assert as_dict(table) == loop_ranks(runs, depth)
    assert list(table.index) == sorted(table.index)
    assert list(table.columns) == list(runs)
    pd.testing.assert_frame_equal(as_rank_table(rank_table(runs), depth=depth), table)
    pd.testing.assert_frame_equal(as_rank_table(runs, depth=depth), table)
    shuffled = {name: run.sample(frac=1, random_state=0) for name, run in runs.items()}
    pd.testing.assert_frame_equal(rank_table(shuffled, depth=depth), table)


@pytest.mark.nightly
def test_ranks_of_public_runs(data_dir):
    folder = data_dir / "trec-covid-round1" / "runs"
    runs = {path.name: read_run(path) for path in sorted(folder.iterdir())[:3]}
    table = rank_table(runs, depth=50)
    assert as_dict(table) == loop_ranks(runs, depth=50)


def test_columns_may_have_other_names_or_stand_in_the_index():
    expected = rank_table({"a": A, "b": B})
    renamed = A.rename(columns={"qid": "query_id", "docno": "doc_id"})
    indexed = B.set_index(["qid", "docno"])
    pd.testing.assert_frame_equal(rank_table({"a": renamed, "b": indexed}), expected)


def test_polars():
    polars = pytest.importorskip("polars")
    runs = {"a": A, "b": B}
    polar = {name: polars.DataFrame(run.to_dict("list")) for name, run in runs.items()}
    pd.testing.assert_frame_equal(rank_table(polar), rank_table(runs))


def test_ids_may_be_numbers():
    runs = {"a": frame([(2, 7, 1.0), (10, 7, 1.0), (2, 30, 1.0)])}
    table = rank_table(runs)
    assert table.index.tolist() == [(2, 7), (2, 30), (10, 7)]
    # 30 before 7 on a tie, as numbers.
    assert table["a"].tolist() == [2.0, 1.0, 1.0]


def test_a_run_that_filters_everything_returns_nothing():
    table = rank_table({"a": A, "none": A.assign(score=-np.inf)})
    assert table["none"].isna().all()


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        ({"a": A[:0]}, "runs return no document: they are empty, or hide all"),
        ({"a": A, "b": pd.concat([B, B[:1]])}, "run 'b' holds document 'd3' twice in query '1'"),
        ({"a": A, "b": B.assign(qid="Q1")}, "run 'a' has no query in common.*'1'.*'Q1'"),
        ({"a": A, "b": B, "c": B.assign(qid="Q1")}, "run 'c' has no query in common"),
        ({"a": A, "b": B.assign(qid=1)}, "column 'qid' is text in some runs"),
        ({"a": A.assign(score=-np.inf)}, "return no document: they are empty, or hide all"),
    ],
)
def test_bad_runs(runs, message):
    with pytest.raises(ValueError, match=message):
        rank_table(runs)


@pytest.mark.parametrize("depth", [0, -1, 1.5, True, "10"])
def test_bad_depth(depth):
    for table in ({"a": A}, rank_table({"a": A})):
        with pytest.raises(ValueError, match="depth must be None or a whole number from 1 up"):
            as_rank_table(table, depth=depth)


TABLE = rank_table({"a": A, "b": B})


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (A, "index levels named 'qid' and 'docno'"),
        (TABLE[:0], "is empty"),
        (TABLE[[]], "is empty"),
        (TABLE - 1, "whole numbers from 1 on.*got 0; from scores, make one by rank_table"),
        (TABLE / 2, "whole numbers from 1 on.*got 0.5"),
        (TABLE * np.inf, "whole numbers from 1 on.*got inf"),
        (TABLE.astype(str), "a rank table must hold numbers"),
        (pd.concat([TABLE, TABLE[1:2]]), "holds .'1', 'd2'. twice"),
    ],
)
def test_bad_tables(table, message):
    with pytest.raises(ValueError, match=message):
        as_rank_table(table)
