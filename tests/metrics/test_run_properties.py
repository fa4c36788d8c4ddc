"""What hypothesis may do to runs and judgments without changing the values of their topics."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judged_runs import qrels, runs
from skfilterrank.io import align, read_qrels, read_run, write_qrels, write_run
from skfilterrank.metrics import evaluate, values_of_run

MEASURES = ["ndcg_f@3", "ap", "recall@2", "forbidden@2", "rr"]
# Of few documents often none is judged.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*labels? below 0",
    "ignore:none of the .* is judged",
    "ignore:.*hold no label",
    "ignore:.* is unjudged in . of . runs? ",
)


def judged_in_both(run, qrels):
    """Only the topics of the judgments, as `missing="drop"` has them."""
    return values_of_run(qrels, run, MEASURES, missing="drop")


@pytest.mark.slow
@given(run=runs, qrels=qrels, order=st.randoms(use_true_random=False))
def test_order_of_lines_does_not_matter(run, qrels, order):
    seed = order.randrange(2**31)
    moved = run.sample(frac=1, random_state=seed), qrels.sample(frac=1, random_state=seed)
    pd.testing.assert_frame_equal(judged_in_both(*moved), judged_in_both(run, qrels))


@pytest.mark.slow
@given(run=runs, qrels=qrels)
def test_files_give_what_tables_give(run, qrels, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    write_run(folder / "run", run)
    write_qrels(folder / "qrels", qrels)
    pd.testing.assert_frame_equal(
        judged_in_both(folder / "run", folder / "qrels"), judged_in_both(run, qrels)
    )
    again = read_qrels(folder / "qrels").sort_values(["qid", "docno"], ignore_index=True)
    known = qrels.sort_values(["qid", "docno"], ignore_index=True)
    assert again[["qid", "docno"]].equals(known[["qid", "docno"]])
    assert again["label"].tolist() == known["label"].tolist()
    # The last bit of every score comes back.
    again = read_run(folder / "run").sort_values(["qid", "docno"])
    assert again["score"].tolist() == run.sort_values(["qid", "docno"])["score"].tolist()


@pytest.mark.slow
@given(run=runs, qrels=qrels)
def test_the_join_is_that_of_a_loop(run, qrels):
    labels = {(row.qid, row.docno): row.label for row in qrels.itertuples()}
    shown = {(row.qid, row.docno): row.score for row in run.itertuples()}
    topics = {qid for qid, _ in labels}
    rows = {pair for pair in labels.keys() | shown.keys() if pair[0] in topics}
    rows = {pair for pair in rows if pair[0] in {qid for qid, _ in shown}}
    joined = align(qrels, run, missing="drop")
    pairs = joined.to_frame().index.tolist()
    assert set(pairs) == rows
    assert len(pairs) == len(rows)
    expected = [labels.get(pair, np.nan) for pair in pairs]
    np.testing.assert_array_equal(joined.y_true, expected)
    np.testing.assert_array_equal(joined.y_score, [shown.get(pair, -np.inf) for pair in pairs])
    documents = [document for _, document in pairs]
    y_true, y_score, groups = joined
    arrays = evaluate(y_true, y_score, MEASURES, groups=groups, ties=documents).per_query
    np.testing.assert_allclose(judged_in_both(run, qrels).to_numpy(), arrays.to_numpy())
