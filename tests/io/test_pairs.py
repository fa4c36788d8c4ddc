"""Judgments and runs from data frames of every kind."""

import io

import numpy as np
import pandas as pd
import pytest

from joined_rows import NO, QRELS, RUN
from skfilterrank.exceptions import InputError
from skfilterrank.io import align, read_run


def test_a_rank_of_0_hides_documents_unless_ranks_count_from_0():
    run = pd.DataFrame(
        {"qid": list("11122"), "docno": list("abcab"), "score": [3.0, 2.0, 1.0, NO, NO]}
    )
    for ranks, hidden in (
        ([0, 1, 2, 0, 1], []),  # all documents of query 2 are hidden by their scores
        ([1, 2, 0, 0, 0], ["c"]),
        ([0, 1, 0, 0, 0], ["a", "c"]),
    ):
        scores = read_run(run.assign(rank=ranks))["score"]
        assert run["docno"][(scores == NO) & (run["score"] > NO)].tolist() == hidden
    with pytest.raises(InputError, match="has the rank 0 in all rows"):
        read_run(run.assign(rank=0))
    with pytest.raises(InputError, match="holds no id in column 'qid' in row 0"):
        read_run(run.assign(rank=[0, 1, 2, 0, 1], qid=[None, *"1122"]))


def test_ranks_of_trec_lines_hide_nothing_in_the_data_frame_either():
    """As in trec_eval, scores alone count: of a file and of the frame that was read from it."""
    lines = "1 Q0 a {} 3 x\n1 Q0 b {} 2 x\n2 Q0 a {} 1 x\n2 Q0 b {} 4 x\n"
    for ranks, is_kept in (((0,) * 4, False), ((1, 0, 1, 0), False), ((0, 1, 1, 0), True)):
        read = read_run(io.StringIO(lines.format(*ranks)))
        assert ("rank" in read) == is_kept
        assert read["score"].tolist() == read_run(read)["score"].tolist() == [3, 2, 1, 4]


def test_arrow_columns_in_chunks():
    pytest.importorskip("pyarrow")
    with np.errstate(invalid="ignore"):  # pandas 2 looks whether -inf is an integer
        run, qrels = (frame.convert_dtypes(dtype_backend="pyarrow") for frame in (RUN, QRELS))
    run = pd.concat([run.iloc[:3], run.iloc[3:]])
    expected = align(QRELS, RUN).to_frame()
    pd.testing.assert_frame_equal(align(qrels, run).to_frame(), expected)


@pytest.mark.slow
@pytest.mark.parametrize("other", [int, "Int64", float, object])
def test_ids_that_are_numbers_on_one_side(other):
    expected = align(QRELS, RUN).to_frame()
    qid = RUN["qid"].astype(int).astype(other)
    pd.testing.assert_frame_equal(align(QRELS, RUN.assign(qid=qid)).to_frame(), expected)
    qid = QRELS["qid"].astype(int).astype(other)
    pd.testing.assert_frame_equal(align(QRELS.assign(qid=qid), RUN).to_frame(), expected)


def test_errors_of_tables():
    with pytest.raises(ValueError, match="run has no column 'docno' or 'doc_id'; its columns are"):
        align(QRELS, RUN.drop(columns="docno"))
    with pytest.raises(ValueError, match="qrels has no column 'label' or 'relevance'; its col"):
        align(RUN, RUN)
    with pytest.raises(ValueError, match="run has several columns 'score'"):
        align(QRELS, pd.concat([RUN, RUN[["score"]]], axis=1))
    with pytest.raises(ValueError, match="qrels has no rows"):
        align(QRELS.iloc[:0], RUN)


@pytest.mark.parametrize("shown", [[True, False, True], ["True", "false", "TRUE"], [1, 0, 1]])
@pytest.mark.parametrize("name", ["shown", "kept"])
def test_a_column_says_what_is_shown(name, shown):
    frame = pd.DataFrame({"qid": "1", "docno": list("abc"), "score": [3.0, 2.0, 1.0]})
    found = read_run(frame.assign(**{name: shown}))
    assert found["score"].tolist() == [3.0, NO, 1.0]
    with pytest.raises(
        InputError, match=f"'perhaps' in column '{name}' in row 1, but True or False was expected"
    ):
        read_run(frame.assign(**{name: [True, "perhaps", False]}))
