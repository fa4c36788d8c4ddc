"""``skfilterrank compare``: what is compared, and what is told."""

import io
import sys

import numpy as np
import pandas as pd
import pytest

from compared_runs import QRELS, RUNS, from_csv, library
from skfilterrank.exceptions import DataWarning


@pytest.mark.slow
def test_topics_that_runs_lack(run, files):
    (files / "fair").write_text(RUNS["fair"].replace("2 Q0 a 1 9 x\n", ""))
    (files / "poor").write_text(RUNS["poor"].replace("1 Q0", "9 Q0").replace("2 Q0", "8 Q0"))
    args = ["compare", "qrels", *RUNS, "-m", "rr"]
    lack = (
        "2 of 3 runs lack values of topics that systems are to be compared on (fair: 2; poor: 1, 2)"
    )
    code, out, err = run(*args, "--missing", "raise")
    assert (code, out) == (2, "")
    assert err == (
        f"skfilterrank: error: {lack}. --missing drop leaves these topics out for all runs, "
        "--missing empty counts them as empty lists.\n"
    )
    code, out, err = run(*args, "--missing", "drop")
    assert (code, err.splitlines()[0]) == (0, "rr: 2 topics left out: 1, 2")
    assert out.startswith("rr: 3 runs, 2 topics (2 left out), ")
    code, empty, err = run(*args, "--missing", "empty")
    assert (code, err) == (0, "")
    assert "poor  0.2083" in empty  # (0 + 0 + 1/2 + 1/3) / 4
    told = f"{lack}: counted as empty lists; --missing drop leaves these topics out for all runs\n"
    assert run(*args) == (0, empty, told)


def test_topics_where_a_measure_is_not_defined(run, files):
    (files / "qrels").write_text(QRELS + "5 0 b 0\n")
    for name, text in RUNS.items():
        (files / name).write_text(text + "5 Q0 a 1 1 x\n")
    args = ["compare", "qrels", *RUNS, "-m", "rr"]
    assert ", 5 topics," in run(*args)[1]
    code, _, err = run(*args, "--undefined", "drop")
    assert code == 2
    assert "3 of 3 runs lack values of topics that systems are to be compared on (good: 5;" in err
    assert ", 4 topics (1 left out)," in run(*args, "--undefined", "drop", "--missing", "drop")[1]


@pytest.mark.slow
@pytest.mark.filterwarnings("always::skfilterrank.exceptions.DataWarning")
def test_negative_labels(run, files):
    (files / "qrels").write_text(QRELS.replace("1 0 b 0", "1 0 b -2"))
    (files / "poor").write_text(RUNS["poor"].replace("1 Q0 y", "1 Q0 b"))
    args = ["compare", "qrels", *RUNS, "-m", "ndcg_f@3", "--format", "csv"]
    code, out, err = run(*args)
    assert code == 0
    assert "documents with a label below 0 (-2: 1) are taken for forbidden" in err
    with pytest.warns(DataWarning, match="labels below 0"):
        expected = library("ndcg_f@3").scores.means["poor"]
    assert from_csv(out)["mean_second"].iloc[1] == pytest.approx(expected)
    code, other, err = run(*args, "--gains=-2=-9,1=1,2=2")
    assert (code, err) == (0, "")
    assert from_csv(other)["mean_second"].iloc[1] < from_csv(out)["mean_second"].iloc[1]


@pytest.mark.slow
def test_values_measured_before(run, compare, files):
    expected = compare("--format", "csv", measures=["rr", "lexirecall"])
    for format in ("csv", "json"):
        args = ["-m", "rr,lexirecall", "--per-query", "--format", format, "--quiet"]
        (files / "values").write_text(run("evaluate", "qrels", *RUNS, *args)[1])
        code, out, err = run("compare", "--scores", "values", "--format", "csv", "--quiet")
        assert (code, err) == (0, "")
        pd.testing.assert_frame_equal(from_csv(out), from_csv(expected))
        only = run("compare", "--scores", "values", "--format", "csv", "-m", "rr")[1]
        assert only == "".join(x for x in out.splitlines(keepends=True) if "lexirecall" not in x)
    code, out, err = run("compare", "--scores", "values", "-m", "ap")
    assert (code, out) == (2, "")
    assert "there are no values of 'ap': there are those of rr, lexirecall" in err


def test_values_of_several_files(run, files):
    names = []
    for name in RUNS:
        args = ["-m", "rr", "--per-query", "--format", "trec", "--quiet"]
        (files / f"{name}.eval").write_text(run("evaluate", "qrels", name, *args)[1])
        names.append(f"{name}.eval")
    code, out, err = run("compare", "--scores", *names, "--baseline", "fair")
    assert (code, err) == (0, "")
    assert "fair (baseline)" in out


def test_values_with_gaps(run, files):
    (files / "values").write_text("run,qid,ap\na,1,0.5\na,2,1\na,3,1\nb,1,0.25\nb,2,0.5\nb,3,\n")
    code, out, err = run("compare", "--scores", "values")
    assert (code, out) == (2, "")
    assert "1 run lacks values of topics that systems are to be compared on (b: 3). " in err
    assert "--missing drop" in err
    assert "empty" not in err
    code, out, err = run("compare", "--scores", "values", "--missing", "drop")
    assert (code, err) == (0, "ap: 1 topic left out: 3\n")


def test_runs_named_alike_go_by_their_paths(compare, files):
    for folder in ("x", "y"):
        (files / folder).mkdir()
        (files / folder / "run.txt").write_text(RUNS["fair" if folder == "x" else "poor"])
    out = compare("--format", "csv", runs=["x/run.txt", "y/run.txt"])
    assert from_csv(out).loc[0, ["first", "second"]].tolist() == ["x/run.txt", "y/run.txt"]


@pytest.mark.slow
def test_standard_input(run, compare, files, monkeypatch):
    def given(text):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    expected = compare("--format", "csv", runs=["good.txt", "fair"])
    args = ["-m", "rr", "--quiet", "--format", "csv"]
    given(RUNS["fair"])
    out = run("compare", "qrels", "good.txt", "-", *args)[1]
    assert out == expected.replace("fair", "stdin")
    given(QRELS)
    assert run("compare", "-", "good.txt", "fair", *args)[1] == expected
    given("run,qid,ap\na,1,0.5\na,2,1\nb,1,0.25\nb,2,0.5\n")
    assert "ap: 2 runs, 2 topics" in run("compare", "--scores", "-")[1]


def test_what_cannot_be_significant_is_told(run, files):
    # Of 4 topics a sign test cannot have a p value below 2 / 2**4.
    err = run("compare", "qrels", *RUNS, "-m", "rr", "--test", "sign")[2]
    assert "rr: no difference could be significant: with 4 topics and 3 pairs no p value" in err
    assert "is below 0.38" in err


def test_a_correction_that_is_not_used_is_told(run, files):
    args = ["compare", "qrels", *RUNS, "-m", "rr", "--test", "tukey"]
    assert run(*args)[2] == ""
    assert "--test tukey corrects for all pairs by itself" in run(*args, "--correction", "holm")[2]


def test_equal_runs(compare, files):
    (files / "same").write_text(RUNS["fair"])
    out = compare(runs=["fair", "same"])
    assert "0 of 1 pair differs (p" in out
    assert "1.000" in out


def test_what_the_library_remarks_is_told(run, files):
    (files / "same").write_text(RUNS["fair"])
    err = run("compare", "qrels", "fair", "same", "-m", "rr")[2]
    assert "rr: the systems have equal values for every query: nothing can be told apart." in err
    # Good has reciprocal rank 1 on each topic at the first place, and poor 0.
    err = run("compare", "qrels", "good.txt", "poor", "-m", "precision@1")[2]
    assert "precision@1: the systems of 1 pair differ by the same amount for every query" in err
    assert "or take --test sign\n" in err
    assert run("compare", "qrels", "good.txt", "fair", "-m", "rr")[2] == ""


@pytest.mark.slow
def test_jobs_change_nothing(compare, files):
    # Workers that joblib kept from another test are in the folder of that test.
    runs = [str(files / name) for name in RUNS]
    assert compare("--jobs", "2", runs=runs) == compare()


@pytest.mark.nightly
def test_real_runs(run, data_dir):
    folder = data_dir / "trec-covid-round1"
    paths = sorted((folder / "runs").iterdir())[::35]
    args = ["-m", "ndcg_f@20", "--test", "tukey", "--format", "csv"]
    code, out, err = run("compare", folder / "qrels.txt.gz", *paths, *args)
    assert (code, err) == (0, "")
    found = from_csv(out)
    assert len(found) == len(paths) * (len(paths) - 1) // 2
    assert found["significant"].between(0, 1).all()
    assert np.all(found["mean_first"] >= found["mean_second"])
