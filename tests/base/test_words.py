"""Warnings point at whoever called the package, and come back from other processes."""

import os
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest

from skfilterrank._base.words import collecting_warnings, in_parallel, repeat_warnings, warn_user
from skfilterrank.exceptions import DataWarning, FitWarning, InputError
from skfilterrank.io import read_qrels
from skfilterrank.metrics import values_of_run


def said(number):
    """What may run in another process: warnings of ours, and one of somebody else."""
    warn_user("of data", DataWarning)
    warn_user("of data", DataWarning)
    if number:
        warn_user("of a fit", FitWarning)
    return number


def test_the_line_of_the_caller():
    """However deep the warning comes up: where judgments are read, or within an evaluation."""
    qrels = pd.DataFrame({"qid": ["1"], "docno": ["a"], "label": [-1]})
    run = pd.DataFrame({"qid": ["1"], "docno": ["a"], "score": [1.0]})
    for call in (lambda: read_qrels(qrels), lambda: values_of_run(qrels, run, "ndcg_f")):
        with pytest.warns(DataWarning, match="labels below 0") as caught:
            call()
        line = call.__code__.co_firstlineno
        assert [(each.filename, each.lineno) for each in caught] == [(__file__, line)]


def test_packages_between_are_seen_through():
    """Through joblib, which calls what it was given, to the line that called joblib."""
    with pytest.warns(DataWarning) as caught:
        joblib.Parallel(n_jobs=1)([joblib.delayed(warn_user)("text", DataWarning)])
    assert [each.filename for each in caught] == [__file__]


def test_in_this_process_warnings_are_heard_at_once():
    with pytest.warns(DataWarning, match="of data") as caught:
        assert collecting_warnings(said)(0) == (0, [])
    assert len(caught) == 2


def test_of_another_process_they_are_said_again(monkeypatch):
    there = collecting_warnings(said)
    # As if it ran elsewhere: what it was made in is another process.
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with warnings.catch_warnings(action="error"):
        result, found = there(1)
    assert result == 1
    assert found == [("of data", DataWarning)] * 2 + [("of a fit", FitWarning)]
    with pytest.warns(Warning, match="of") as caught:
        repeat_warnings(found)
    assert [(str(each.message), each.category) for each in caught] == [
        ("of data", DataWarning),
        ("of a fit", FitWarning),
    ]
    assert {each.filename for each in caught} == {__file__}


def test_those_of_others_are_theirs(monkeypatch):
    def other(number):
        warnings.warn("of another package", RuntimeWarning, stacklevel=1)
        return number

    there = collecting_warnings(other)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.warns(RuntimeWarning, match="of another package") as caught:
        assert there(2) == (2, [])
    assert len(caught) == 1


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["multiprocessing", "threading"])
def test_results_of_parallel_calls_come_in_order(backend):
    with joblib.parallel_config(backend):
        assert list(in_parallel((joblib.delayed(abs)(-n) for n in range(5)), 2)) == [*range(5)]
        inner = (joblib.delayed(lambda n: n)(n) for n in range(5))
        assert list(in_parallel(inner, 2, prefer="threads")) == [*range(5)]


@pytest.mark.parametrize("n_jobs", [0, 0.5, "x", [None], pd.NA, True, np.array([1, 2])])
def test_what_is_no_number_of_processes(n_jobs):
    with pytest.raises(InputError, match="n_jobs must be None or a whole number other than 0"):
        list(in_parallel([], n_jobs))
