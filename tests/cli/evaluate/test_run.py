"""``skfilterrank evaluate``: the library's values, run by run."""

import io
import os
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest

from commands import Command
from evaluated_runs import BEST, GOOD, QRELS, RUNS, from_csv, means, values
from skfilterrank.cli import main
from skfilterrank.exceptions import DataWarning
from skfilterrank.io import QrelsIndex, read_qrels
from skfilterrank.trec import _evaluate as library
from skfilterrank.trec import evaluate_run


@pytest.mark.filterwarnings("always::skfilterrank.exceptions.DataWarning")
def test_negative_labels(run, files):
    (files / "qrels.txt").write_text(QRELS.replace("1 0 b 0", "1 0 b -2"))
    args = ["evaluate", "qrels.txt", "good.txt", "-m", "ndcg_f@2", "--format", "csv"]
    _, out, err = run(*args)
    with pytest.warns(DataWarning, match="labels below 0"):
        expected = values(["ndcg_f@2"], ["good.txt"])
    assert float(out.split(",")[-1]) == expected.mean().item()
    told = "documents with a label below 0 (-2: 1) are taken for forbidden; trec_eval takes"
    assert told in err
    assert run(*args, "--quiet")[1:] == (out, "")
    _, same, err = run(*args, "--unjudged-label", "none")
    assert (same, "forbidden" in err) == (out, False)
    code, out, err = run(*args, "--gains=-2=-1,0=0,1=1,2=2")
    expected = values(["ndcg_f@2"], ["good.txt"], gains={-2: -1, 0: 0, 1: 1, 2: 2})
    assert (code, float(out.split(",")[-1])) == (0, expected.mean().item())
    assert "forbidden" not in err
    # With a digit behind the -, it is a value from Python 3.14 on.
    code, out, err = run(*args, "--gains", "-bad=-1,0=0")
    assert (code, out) == (2, "")
    assert "write --option=VALUE where the value begins with -" in err
    code, out, err = run(*args, "--gains=-2=-1,0=0,5=5")
    assert (code, out) == (2, "")
    assert "--gains has no gain for 2, 1, of the labels of qrels.txt: add 2=GAIN,1=GAIN." in err


@pytest.mark.slow
def test_the_label_of_documents_that_nobody_judged(run, files):
    (files / "qrels.txt").write_text(QRELS.replace("1 0 b 0", "1 0 b -1"))
    args = ["evaluate", "qrels.txt", "good.txt", "-m", "infAP", "--format", "csv"]
    code, out, err = run(*args, "--unjudged-label", "-1")
    expected = evaluate_run(read_qrels("qrels.txt", unjudged_label=-1), "good.txt", "inferred_ap")
    assert (code, float(out.split(",")[-1])) == (0, expected.mean().item())
    assert "forbidden" not in err
    assert run(*args, "--unjudged-label", "trec")[1] == out
    assert run(*args, "--unjudged-label", "none")[1] != out
    assert run(*args, "--gains=-1=nan,0=0,1=1,2=2")[1] == out
    assert "no document has the label -7 (--unjudged-label)" in run(*args, "--unjudged-label=-7")[2]
    (files / "qrels.txt").write_text(QRELS)
    err = run(*args, "--unjudged-label", "trec")[2]
    assert "no document has a label below 0 (--unjudged-label)" in err


@pytest.mark.filterwarnings("always::skfilterrank.exceptions.DataWarning")
def test_ndcg_of_negative_labels_is_warned_of_once(run, files):
    (files / "qrels.txt").write_text(QRELS.replace("1 0 b 0", "1 0 b -2"))
    args = ["evaluate", "qrels.txt", *RUNS, "-m", "ndcg@2,nDCG_f@2,ap", "--unjudged-label", "none"]
    told = "Take ndcg_f@2, where forbidden documents cost, or ndcg_0@2, where they count 0"
    assert run(*args)[2].count(told) == 1
    assert run(*args, "--jobs", "2")[2].count(told) == 1
    assert told not in run(*args, "--gains=-2=0,0=0,1=1,2=2")[2]
    assert run(*args, "--quiet")[2] == ""


def test_sort(evaluate):
    def order(measure, *arguments):
        out = evaluate("--sort", measure.upper(), "--format", "csv", *arguments)
        return [line.split(",")[0] for line in out.splitlines()[1:]]

    assert order("ap") == ["best", "short.run", "good"]
    # The share of empty lists: fewer is better; equal ones keep their order.
    assert order("empty_list_rate") == ["good", "best", "short.run"]
    assert evaluate("--sort", "ap").split("\n")[1].startswith("best")


def test_a_run_without_a_value_is_sorted_last(evaluate, files):
    (files / "qrels.txt").write_text(QRELS.replace("2 0 a 1", "2 0 a 0"))
    out = evaluate(
        "--sort", "ap", "--undefined", "drop", "--missing", "drop", runs=["short.run", "good.txt"]
    )
    assert [line.split()[0] for line in out.splitlines()] == ["run", "good", "short.run"]


@pytest.mark.slow
def test_what_is_not_counted_is_told(run, files):
    args = ["evaluate", "qrels.txt", *RUNS, "-m", "ap"]
    assert run(*args)[2] == (
        "3 of 3 runs (good: 1, best: 1, short.run: 2) lack topics of qrels.txt: counted as empty "
        "lists; --missing drop leaves them out\n"
        "1 of 3 runs (good: 1) have topics without judgments: left out\n"
    )
    assert "of qrels.txt: left out; --missing empty" in run(*args, "--missing", "drop")[2]
    assert run(*args, "--quiet")[2] == ""
    many = [f"run{i}" for i in range(5)]
    for name in many:
        (files / name).write_text(BEST)
    assert "5 of 5 runs (run0: 1, run1: 1, run2: 1, ...) lack" in run(*args[:2], *many)[2]


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_bad_run_stops_or_is_left_out(run, files, jobs):
    (files / "bad.txt").write_text(GOOD + "2 Q0 z 3 much tag\n")
    args = ["evaluate", "qrels.txt", "good.txt", "bad.txt", "best.gz", "-m", "ap", "--quiet"]
    args += ["--format", "csv", "--jobs", jobs]
    expected = means(["ap"])["ap"]
    code, out, err = run(*args)
    assert (code, out) == (2, f"run,ap\ngood,{expected['good']}\n")
    assert err.startswith(
        "skfilterrank: error: bad.txt:7: the line holds the score 'much', which is no number"
    )
    code, out, err = run(*args[:2], "nope", *args[2:], "--keep-going")
    assert code == 1
    assert out == f"run,ap\ngood,{expected['good']}\nbest,{expected['best']}\n"
    told = err.splitlines()
    assert len(told) == 2
    assert "nope: No such file or directory" in told[0]
    assert "bad.txt:7: " in told[1]


def test_the_failed_are_counted(run, files):
    code, _, err = run("evaluate", "qrels.txt", "nope", "-m", "ap", "--keep-going")
    assert code == 1
    assert err.endswith("1 of 1 run could not be evaluated\n")


def test_bugs_keep_their_traceback(monkeypatch, files):
    def bug(*args, **kwargs):
        return np.zeros(2).reshape(3)

    monkeypatch.setattr(library, "evaluate", bug)
    for more in ([], ["--keep-going"]):
        with pytest.raises(ValueError, match="cannot reshape"):
            main(["evaluate", "qrels.txt", "good.txt", "-m", "ap", *more])


@pytest.mark.slow
def test_processes_do_not_change_anything(evaluate, files):
    many = [f"run{i}" for i in range(20)]
    for i, name in enumerate(many):
        (files / name).write_text((GOOD, BEST, "3 Q0 f 1 1 x\n")[i % 3])
    for args in (["--per-query", "--format", "csv"], ["--format", "json"], ["--sort", "ap"]):
        alone = evaluate(*args, runs=many)
        assert alone.count("\n") >= 20
        assert evaluate(*args, "--jobs", "2", runs=many) == alone


def test_each_run_is_written_before_the_next_is_read(files):
    """The last run is made when what was written of the first is read."""
    for format in ("csv", "table"):
        for name in ("first.fifo", f"{format}.out"):
            os.mkfifo(name)
        arguments = ["evaluate", "qrels.txt", "good.txt", "first.fifo", "-m", "ap", "--per-query"]
        out = (f"{format}.out", "w")
        command = Command(*arguments, "--format", format, stdout=out)
        with open(f"{format}.out") as written:
            # Without the first run's lines, each side would wait for the other for ever.
            timer = threading.Timer(30, command.process.kill)
            timer.start()
            first = written.readline()
            timer.cancel()
            assert first
            with open("first.fifo", "w") as handle:
                handle.write(BEST)
            assert "first.fifo" in written.read()
        assert command.end()[0] == 0
        os.remove("first.fifo")


def test_a_reader_that_leaves_ends_it_quietly(files):
    many = [f"run{i}" for i in range(60)]
    for name in many:
        (files / name).write_text(GOOD)
    os.mkfifo("out.fifo")
    arguments = ["evaluate", "qrels.txt", *many, "-m", "ap", "--per-query", "--format", "csv"]
    command = Command(*arguments, stdout=("out.fifo", "w"))
    with open("out.fifo") as written:
        assert [written.readline() for _ in range(2)] == ["run,qid,ap\n", "run0,1,0.25\n"]
    code, _, err = command.end()
    assert (code, err) == (0, "")


@pytest.mark.nightly
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_shell_sees_no_failure_where_a_reader_leaves(files, jobs):
    many = [f"run{i}" for i in range(60)]
    for name in many:
        (files / name).write_text(GOOD)
    command = [sys.executable, "-m", "skfilterrank", "evaluate", "qrels.txt", *many]
    command += ["-m", "ap", "--per-query", "--format", "csv", "--jobs", jobs]
    done = subprocess.run(
        ["bash", "-c", 'set -o pipefail; "$@" | head -2', "-", *command],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "run,qid,ap\nrun0,1,0.25\n"


def test_files_of_one_name_go_by_their_paths(evaluate, files):
    for folder in ("x", "y"):
        (files / folder).mkdir()
        (files / folder / "run.txt").write_text(GOOD)
    out = evaluate("--format", "csv", runs=["x/run.txt", "y/run.txt", "good.txt"])
    assert [line.split(",")[0] for line in out.splitlines()[1:]] == [
        "x/run.txt",
        "y/run.txt",
        "good",
    ]


@pytest.mark.slow
def test_standard_input(run, files, monkeypatch):
    def given(text):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    args = ["-m", "ap", "--quiet", "--format", "csv"]
    given(GOOD)
    for_file = run("evaluate", "qrels.txt", "good.txt", *args)
    assert run("evaluate", "qrels.txt", "-", *args)[1] == for_file[1].replace("good", "stdin")
    given(QRELS)
    assert run("evaluate", "-", "good.txt", *args) == for_file
    given(GOOD)
    code, out, _ = run("evaluate", "qrels.txt", "-", "best.gz", *args, "--jobs", "2")
    assert code == 0
    assert [line.split(",")[0] for line in out.splitlines()] == ["run", "stdin", "best"]


def test_progress(run, files, monkeypatch):
    args = ["evaluate", "qrels.txt", "best.gz", "-m", "ap", "--missing", "drop"]
    assert "run/s" not in run(*args)[2]
    assert "/1 [" in run(*args, "--verbose")[2]
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert "/1 [" in run(*args)[2]
    assert run(*args, "--quiet")[2] == ""


@pytest.mark.nightly
def test_real_runs(run, data_dir):
    folder = data_dir / "trec-covid-round1"
    paths = sorted((folder / "runs").iterdir())[::40]
    measures = ["ndcg_f@20", "lexirecall", "map", "bpref"]
    code, out, err = run(
        "evaluate", folder / "qrels.txt.gz", *paths, "-m", ",".join(measures), "--format", "csv"
    )
    assert (code, err) == (0, "")
    index = QrelsIndex(folder / "qrels.txt.gz")
    names = ["ndcg_f@20", "lexirecall", "ap", "bpref"]
    expected = pd.DataFrame(
        {
            path.name.removesuffix(".txt.gz"): evaluate_run(index, path, names).mean()
            for path in paths
        }
    )
    expected = expected.T.rename_axis("run").set_axis(measures, axis=1)
    pd.testing.assert_frame_equal(from_csv(out, "run"), expected, check_exact=True)
