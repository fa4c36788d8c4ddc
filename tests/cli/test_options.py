"""What is written behind options: taken, or refused in one line."""

import argparse

import pytest

from skfilterrank.cli import _options as options
from skfilterrank.cli import _thresholds
from skfilterrank.plot import _risk_coverage
from skfilterrank.thresholds._abstention import CONFIDENCES
from skfilterrank.thresholds._hide_rules import RULES


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["rank"], "invalid choice: 'rank'"),
        (["rank-filter"], "the following arguments are required: TRAIN"),
        (["rank-filter", "a", "--test", "b", "--cv", "3"], "not allowed with argument"),
        (["rank-filter", "a", "--cv", "1"], "--cv: expected a whole number from 2 up, got '1'"),
        (["rank-filter", "a", "--k", "0"], "--k: expected a whole number from 1 up, got '0'"),
        (["rank-filter", "a", "--k", "2.5"], "--k: expected a whole number from 1 up, got '2.5'"),
        (["rank-filter", "a", "--k", "-1"], "--k: expected a whole number from 1 up, got '-1'"),
        (["rank-filter", "a", "--models", "bce,svm"], "svm is not a model; choose from bce, mse"),
        (["rank-filter", "a", "--models", ","], "--models: expected at least one name"),
        (["rank-filter", "a", "--gains", "Bad"], "--gains: expected LABEL=GAIN, got 'Bad'"),
        (["rank-filter", "a", "--gains", "Bad=x"], "expected LABEL=GAIN, got 'Bad=x'"),
        (["rank-filter", "a", "--gains", "Bad=inf"], "expected LABEL=GAIN, got 'Bad=inf'"),
        (["rank-filter", "a", "--gains", "A=1,A=2"], "--gains: label 'A' has two gains"),
        (
            ["rank-filter", "a", "--threshold", "high"],
            "expected tune, auto, per_query, exp",
        ),
        (
            ["rank-filter", "a", "--threshold", "nan"],
            "expected tune, auto, per_query, exp",
        ),
        (["rank-filter", "a", "--same", "x"], "--same: expected A=B,..., got 'x'"),
        (["rank-filter", "a", "--n-jobs", "0"], "--n-jobs: expected a number of processes or -1"),
        (
            ["rank-filter", "a", "--random-state", "-1"],
            "--random-state: expected a whole number below 2**31",
        ),
        (["rank-filter", "a", "--save", "."], "--save: . is a folder; name a file in it"),
        (
            ["rank-filter", "a", "--out-run", "no/x"],
            "--out-run: there is no folder no; make it",
        ),
        (["rank-filter", "a", "--plot", "x.doc"], "--plot: x.doc must end in one of"),
        (["demo", "--n-queries", "x"], "--n-queries: expected a whole number from 1 up, got 'x'"),
    ],
)
def test_wrong_options_are_told_in_one_line(run, folder, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ["evaluate", "q", "r", "--n-jobs", "9" * 5000],
        ["evaluate", "q", "r", "--n-items", "9" * 5000],
        ["judge", "--docs", "d", "--out", "o", "--random-state", "9" * 5000],
        ["judge", "--docs", "d", "--out", "o", "--depth", "9" * 5000],
        ["rank-filter", "t", "--cv", "9" * 5000],
        ["rank-filter", "t", "--k", "9" * 5000],
        ["evaluate", "q", "r", "-m", "ndcg@" + "9" * 5000],
    ],
)
def test_numbers_of_thousands_of_digits(folder, run, words):
    code, _, err = run(*words)
    assert code == 2
    assert "Traceback" not in err
    assert len(err.splitlines()) == 1
    assert len(err) < 400


def nested(frame, column):
    return {
        qid: dict(zip(rows["docno"], rows[column].tolist())) for qid, rows in frame.groupby("qid")
    }


def test_commas_between_measures_and_between_options():
    nested = "ul_normalized(variant=v1,measure=rbp(persistence=0.9,relevance=binary))@2"
    assert options.measures(f"ap, rbp(a=1,b=2)@3,x(c=1,d=2),{nested}") == [
        "ap",
        "rbp(a=1,b=2)@3",
        "x(c=1,d=2)",
        nested,
    ]


def test_names_are_those_of_the_library():
    assert set(options.THRESHOLDS) == set(_thresholds.BY_NAME)
    assert options.CONFIDENCES == _risk_coverage.CONFIDENCES == CONFIDENCES
    assert options.RULES == RULES
    with pytest.raises(argparse.ArgumentTypeError, match="expected tune, auto, per_query, exp"):
        options.threshold("risk")
