"""A warning where nDCG_f and its kin take lists that nobody judged for harmless ones."""

import warnings

import pandas as pd
import pytest

from skfilterrank.comparison import score_systems
from skfilterrank.exceptions import DataWarning
from skfilterrank.io import QrelsIndex, align
from skfilterrank.metrics import evaluate_runs, values_of_run

TOPICS = [str(topic) for topic in range(4)]
QRELS = pd.DataFrame(
    [(qid, docno, label) for qid in TOPICS for docno, label in [("a", 1), ("b", -3), ("c", 1)]],
    columns=["qid", "docno", "label"],
)
QRELS.attrs["unjudged_label"] = True


def run_of(documents):
    """A run that shows these documents of each topic, in this order."""
    rows = [(qid, docno, -i) for qid in TOPICS for i, docno in enumerate(documents)]
    return pd.DataFrame(rows, columns=["qid", "docno", "score"]).astype({"score": float})


RUNS = {"judged": run_of("abcxyz"), "half": run_of("axcy"), "chance": run_of("xyza")}


def said(function):
    """Texts of the warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        function()
    return [str(each.message) for each in caught]


@pytest.mark.slow
@pytest.mark.parametrize(
    "measure",
    [
        "ndcg_f@3",
        "ndcg_min@3",
        "any_forbidden@3",
        "forbidden@3",
        "ndcg_f(rel=1)@3",
        "harmful_compatibility@3",
    ],
)
def test_one_warning_names_the_runs_and_their_shares(measure):
    # In other processes, warnings are collected and given here.
    n_jobs = 2 if measure == "ndcg_f@3" else None
    calls = [
        lambda: evaluate_runs(qrels=QRELS, runs=RUNS, measures=["ap", measure], n_jobs=n_jobs),
        lambda: score_systems(qrels=QRELS, runs=RUNS, measures=[measure], n_jobs=n_jobs),
    ]
    for call in calls:
        (text,) = (text for text in said(call) if "not made" not in text)
        assert text.startswith(f"{measure}: most of the top 3 is unjudged in 1 of 3 runs ")
        assert "('chance' 100%)" in text
        assert "unjudged='drop'" in text


def test_one_run():
    for run in (RUNS["chance"], align(qrels=QRELS, run=RUNS["chance"])):
        qrels = QRELS if isinstance(run, pd.DataFrame) else None
        (text,) = said(lambda run=run, qrels=qrels: values_of_run(qrels, run, "ndcg_f"))
        assert "most of the shown documents is unjudged in 1 of 1 run (75%)" in text
    # Runs that are aligned already, in one process and in several.
    aligned = {name: align(qrels=QRELS, run=RUNS[name]) for name in ("judged", "chance")}
    for n_jobs in (1, 2):
        (text,) = said(lambda n_jobs=n_jobs: evaluate_runs(None, aligned, "ndcg_f", n_jobs=n_jobs))
        assert "unjudged in 1 of 1 run (75%)" in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("measure", "options"),
    [
        ("ndcg_f@4", {"runs": {"judged": RUNS["judged"], "half": RUNS["half"]}}),
        ("ndcg_f@3", {"unjudged": "drop"}),
        ("ndcg_f(unjudged=drop)@3", {}),
        ("ndcg_f@3", {"gains": {1: 1, -3: 0}}),
        ("ndcg_f@3", {"qrels": QrelsIndex(QRELS[QRELS["label"] > 0])}),
        ("judged@3", {}),
    ],
)
def test_no_warning_where_values_are_not_misled(measure, options):
    assert not said(
        lambda: evaluate_runs(**{"qrels": QRELS, "runs": RUNS, "measures": measure} | options)
    )
