"""Runs that are nearly all ties, documents that are the query itself, and missing queries."""

import warnings

import pandas as pd
import pytest

from skfilterrank.comparison import score_systems
from skfilterrank.exceptions import DataWarning, InputError
from skfilterrank.io import QrelsIndex, align
from skfilterrank.metrics import evaluate_runs

QUERIES = [f"{number}" for number in range(6)]
QRELS = {query: {"d1": 1, "d2": 0} for query in QUERIES}
TIED = {query: {f"d{number}": 1.0 for number in range(4)} for query in QUERIES}
APART = {query: {f"d{number}": float(number) for number in range(4)} for query in QUERIES}
# Duplicate questions: each query finds itself first.
ITSELF = {query: {query: 9.0, "d1": 2.0, "d2": 1.0} for query in QUERIES}


def test_a_run_of_ties_is_scored_by_its_ids():
    text = r"ties='docno'.*nearly all that is retrieved in 1 of 2 runs \('tied' 100%\)"
    for call in (evaluate_runs, score_systems):
        with pytest.warns(DataWarning, match=text):
            call(QRELS, {"tied": TIED, "apart": APART}, "rr")
    with warnings.catch_warnings(action="error"):
        evaluate_runs(QRELS, {"tied": TIED}, "rr", ties="average")
        # Few documents may be tied by chance.
        few = {query: TIED[query] for query in QUERIES[:4]}
        evaluate_runs({query: QRELS[query] for query in few}, {"tied": few}, "rr")


def test_ties_of_different_queries_are_none():
    queries = [f"{number}" for number in range(30)]
    run = {query: {"d1": 5.0} for query in queries}
    with warnings.catch_warnings(action="error"):
        evaluate_runs({query: {"d1": 1} for query in queries}, run, "rr")


def test_the_query_itself_is_no_answer():
    with pytest.warns(DataWarning, match=r"id of the query itself in many queries of 1 of 1 run "):
        kept = evaluate_runs(QRELS, ITSELF, "rr").means
    assert kept.loc["run", "rr"] == 1 / 2
    with warnings.catch_warnings(action="error"):
        assert evaluate_runs(QRELS, ITSELF, "rr", own="keep").means.loc["run", "rr"] == 1 / 2
        assert evaluate_runs(QRELS, ITSELF, "rr", own="drop").means.loc["run", "rr"] == 1
        assert score_systems(QRELS, {"a": ITSELF}, "rr", own="drop")["rr"].means["a"] == 1
        assert evaluate_runs(QRELS, APART, "rr").means.loc["run", "rr"] == 1 / 3
    assert align(QRELS, ITSELF).n_own_first == len(QUERIES)
    assert QrelsIndex(QRELS, own="drop").align(ITSELF).n_own_first == 0


def test_the_query_itself_is_dropped_from_judgments():
    judged = {query: {**QRELS[query], query: 1} for query in QUERIES}
    index = QrelsIndex(judged, own="drop")
    assert index.n_pooled == 12
    assert index.align(ITSELF).n_judged_not_retrieved == 0
    # A document with the id of another query stays.
    assert QrelsIndex({"1": {"2": 1, "1": 1}}, own="drop").to_frame().index.tolist() == [("1", "2")]
    by_machine = pd.DataFrame({"qid": "1", "docno": ["1", "2"], "label": 1, "judged_by": "large"})
    assert QrelsIndex(by_machine, predicted="use", own="drop").n_predicted == {"large": 1}


def test_bad_values_of_own():
    with pytest.raises(InputError, match="own must be one of 'warn', 'keep', 'drop', got 'no'"):
        evaluate_runs(QRELS, ITSELF, "rr", own="no")


def test_many_missing_queries_are_told():
    few = {query: APART[query] for query in QUERIES[:3]}
    with pytest.warns(DataWarning, match=r"missing in 1 of 2 runs \('few' 50%\).*missing='drop'"):
        found = evaluate_runs(QRELS, {"few": few, "all": APART}, "rr").means
    assert found["rr"].tolist() == [1 / 6, 1 / 3]
    with pytest.warns(DataWarning, match="holds no document") as told:
        evaluate_runs(QRELS, pd.DataFrame({"qid": [], "docno": [], "score": []}), "rr")
    assert len(told) == 1
    with warnings.catch_warnings(action="error"):
        assert evaluate_runs(QRELS, few, "rr", missing="drop").means.loc["run", "rr"] == 1 / 3
        more = QRELS | {f"new {query}": {"d1": 1} for query in QUERIES}
        evaluate_runs(more, APART, "rr", missing="drop")
        some = {query: APART[query] for query in QUERIES[:5]}
        evaluate_runs(QRELS, some, "rr")
        evaluate_runs({query: QRELS[query] for query in QUERIES[:2]}, {"0": APART["0"]}, "rr")
