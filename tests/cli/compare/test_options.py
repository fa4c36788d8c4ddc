"""Options of ``skfilterrank compare``."""

import pytest

from compared_runs import from_csv
from skfilterrank.cli.compare import options as compare_options
from skfilterrank.comparison._significance.compare import TESTS
from skfilterrank.comparison._significance.corrections import CORRECTIONS


def test_names_of_trec_eval(compare):
    assert "recip_rank: 3 runs" in compare(measures=["recip_rank"])


def test_default_measures(compare):
    out = compare("--format", "csv", measures=[])
    assert list(from_csv(out)["measure"].unique()) == list(compare_options.MEASURES)


@pytest.mark.slow
def test_a_baseline_may_be_named_by_its_path(compare):
    assert compare("--baseline", "good.txt") == compare("--baseline", "good")
    assert "good (baseline)" in compare("--baseline", "good")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "compare needs judgments and at least two runs"),
        (["qrels"], "compare needs judgments and at least two runs"),
        (["qrels", "fair"], "compare needs at least two runs, got one: fair"),
        (["qrels", "fair", "fair"], "fair is given 2 times as a run: give it once"),
        (["qrels", "fair", "nope"], "nope: No such file or directory"),
        (["nope", "fair", "poor"], "nope: No such file or directory"),
        (["qrels", "fair", "qrels"], "qrels:1: "),
        (["qrels", "-", "-"], "standard input (-) can be read once"),
        (["one-topic", "fair", "poor"], "all that can be compared is one topic, 1"),
        (["qrels", "fair", "other"], "no topic in common"),
        (["qrels", "fair", "poor", "--baseline", "x"], "--baseline 'x' is none of the runs: they"),
        (["qrels", "fair", "poor", "--test", "x"], "argument --test: invalid choice: 'x'"),
        (["qrels", "fair", "poor", "--alpha", "2"], "expected a number between 0 and 1, got '2'"),
        (["qrels", "fair", "poor", "--n-resamples", "5"], "--n-resamples must be a whole number"),
        (["qrels", "fair", "poor", "-m", "mpa"], "'mpa' is not a measure"),
        (["qrels", "fair", "poor", "--html", "no/x.html"], "there is no folder no"),
        (["qrels", "fair", "poor", "--scores", "values"], "leave out qrels, or --scores"),
        (["--scores", "values", "--missing", "empty"], "needs the judgments and runs"),
        (["--scores", "values", "--gains", "exp2"], "--gains says how runs are measured"),
        (["--scores", "values", "--n-items", "7"], "--n-items says how runs are measured"),
        (["--scores", "values"], "values has values of one run, a: there must be at least two"),
        (["--scores", "one"], "ap: all that can be compared is one topic, 1"),
        (["--scores", "many"], "many has values of 9 measures: choose with -m from m0, m1, "),
        (["--scores", "qrels"], "qrels:1: 4 columns where there should be 3"),
        (["--scores", "nope"], "nope: No such file or directory"),
        (["--scores", "twice"], "twice:3: run 'a' has topic '1' a second time"),
    ],
)
def test_errors(run, files, arguments, message):
    (files / "one-topic").write_text("1 0 a 1\n")
    (files / "other").write_text("77 Q0 a 1 1 x\n")
    (files / "values").write_text("run,qid,ap\na,1,0.5\na,2,0.5\n")
    (files / "one").write_text("run,qid,ap\na,1,0.5\nb,1,0.75\n")
    (files / "twice").write_text("run,qid,ap\na,1,0.5\na,1,0.5\n")
    head = ",".join(f"m{number}" for number in range(9))
    (files / "many").write_text(f"run,qid,{head}\na,1{',1' * 9}\nb,1{',1' * 9}\n")
    code, out, err = run("compare", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_the_choices_are_the_librarys():
    assert set(compare_options.TESTS) == set(TESTS)
    assert set(compare_options.CORRECTIONS) == {*CORRECTIONS, "none"}
