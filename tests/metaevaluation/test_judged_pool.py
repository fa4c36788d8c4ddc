"""The judged documents of an experiment, and what is known of them."""

import numpy as np
import pytest

from judged_topics import QRELS, RUNS, curve
from skfilterrank.exceptions import DataWarning, InputError
from skfilterrank.metaevaluation import judging_curve

pytestmark = pytest.mark.slow


def test_topics_that_runs_lack():
    run = QRELS[["qid", "docno"]].assign(score=1.0)
    runs = {"long": run, "short": run.query("qid != 'q2'")}
    with pytest.raises(InputError, match="query 'q2' is not in the run 'short'"):
        judging_curve(QRELS, runs, random_state=0)
    found = judging_curve(QRELS, runs, missing="drop", shares=0.5, random_state=0)
    assert "q2" in found.dropped_queries
    assert "q2" not in found.queries


def test_documents_of_numbers():
    table = QRELS.groupby("docno", as_index=False)["label"].mean()
    found = curve(
        documents=table,
        selections=["maxrep", "random"],
        mitigations="completed",
        shares=0.5,
        n_samples=1,
    )
    assert np.nanmean(found.tau[1, 0, -1]) > 0.8
    with pytest.warns(DataWarning, match="documents lacks 56 of 112 judged documents,"):
        curve(documents=table[:14], selections="pooling", mitigations="completed", shares=0.1)


def test_one_run_and_foreign_ids():
    with pytest.raises(InputError, match="at least 2 runs"):
        judging_curve(QRELS, {"one": RUNS["run0"]}, missing="empty", random_state=0)
    qrels = QRELS.assign(docno="x" + QRELS["docno"])
    with pytest.raises(InputError, match="runs must return judged documents"):
        judging_curve(qrels, RUNS, missing="empty", random_state=0)
