"""``skfilterrank evaluate``: values of runs, run by run, in every format."""

import gzip
import io
import json
import os
import sys
import threading

import numpy as np
import pandas as pd
import pytest

from commands import Command
from skfilterrank.cli import main
from skfilterrank.cli.evaluate import MEASURES as DEFAULT_MEASURES
from skfilterrank.comparison import SystemScores
from skfilterrank.exceptions import DataWarning
from skfilterrank.io import read_qrels
from skfilterrank.metrics import _evaluate_runs as library
from skfilterrank.metrics import evaluate_runs, values_of_run

# Topic 3 is in no run; topic 9 of the run good is not judged.
QRELS = """\
1 0 a 2
1 0 b 0
1 0 d 1
2 0 a 1
2 0 e 0
3 0 f 1
"""
GOOD = """\
1 Q0 a 1 0.9 tag
1 Q0 b 2 0.9 tag
1 Q0 x 3 0.5 tag
2 Q0 e 1 7 tag
2 Q0 a 2 6 tag
9 Q0 a 1 1 tag
"""
BEST = "1 Q0 a 1 9 best\n1 Q0 d 2 8 best\n2 Q0 a 1 1 best\n"
MEASURES = ["ndcg_f@2", "ap", "empty_list_rate"]

RUNS = ["good.txt", "best.gz", "short.run"]
NAMES = ["good", "best", "short.run"]


def values(measures=MEASURES, runs=RUNS, **params):
    """What the library says."""
    named = dict(zip([NAMES[RUNS.index(name)] for name in runs], runs))
    return evaluate_runs("qrels.txt", named, measures, **params).per_query


def means(*args, **params):
    found = values(*args, **params)
    names = list(found.index.unique("run"))
    frames = {name: found.loc[name].mean() for name in names}
    return pd.DataFrame(frames).T.rename_axis("run")


def from_csv(text, index):
    return pd.read_csv(io.StringIO(text), dtype=str).set_index(index).astype(float)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Judgments and runs in the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "good.txt").write_text(GOOD)
    (tmp_path / "best.gz").write_bytes(gzip.compress(BEST.encode()))
    (tmp_path / "short.run").write_text("2 Q0 a 1 1 short\n")
    return tmp_path


@pytest.fixture
def evaluate(run, files):
    """Run the command without messages, expect that it works, and return its output."""

    def evaluate(*arguments, runs=RUNS, measures=MEASURES):
        named = [word for name in measures for word in ("-m", name)]
        code, out, err = run("evaluate", "qrels.txt", *runs, *named, "--quiet", *arguments)
        assert (code, err) == (0, "")
        return out

    return evaluate


def test_a_folder_stands_for_its_files(run, files, evaluate):
    for folder in ("runs", "none"):
        (files / folder).mkdir()
    for name in ("short.run", "good.txt"):
        (files / name).rename(files / "runs" / name)
    assert evaluate(runs=["runs"]) == evaluate(runs=["runs/good.txt", "runs/short.run"])
    out = str(files / "runs" / "good.txt")
    code, _, err = run("compare", "qrels.txt", "runs", "-m", "ap", "--html", out)
    assert (code, "is the same file as RUN" in err) == (2, True)
    code, _, err = run("evaluate", "qrels.txt", "none", "-m", "ap")
    assert (code, "none: no files in this folder" in err) == (2, True)


@pytest.mark.filterwarnings("always::skfilterrank.exceptions.DataWarning")
def test_negative_labels(run, files):
    (files / "qrels.txt").write_text(QRELS.replace("1 0 b 0", "1 0 b -2"))
    args = ["evaluate", "qrels.txt", "good.txt", "-m", "ndcg_f@2", "--format", "csv"]
    _, out, err = run(*args)
    with pytest.warns(DataWarning, match="labels below 0"):
        expected = values(["ndcg_f@2"], ["good.txt"])
    assert float(out.split(",")[-1]) == expected.mean().item()
    told = "qrels.txt holds labels below 0 (-2: 1), which are treated as forbidden documents"
    assert told in err
    assert run(*args, "--quiet")[1:] == (out, "")
    _, same, err = run(*args, "--unjudged-label", "none")
    assert (same, "forbidden" in err) == (out, False)
    # A measure of forbidden documents says what labels below 0 mean.
    _, out, err = run(*args, "-m", "any_forbidden@2")
    assert ("any_forbidden@2" in out, "labels below 0" in err) == (True, False)
    code, out, err = run(*args, "--gains=-2=-1,0=0,1=1,2=2")
    expected = values(["ndcg_f@2"], ["good.txt"], gains={-2: -1, 0: 0, 1: 1, 2: 2})
    assert (code, float(out.split(",")[-1])) == (0, expected.mean().item())
    assert "forbidden" not in err
    # With a digit behind the -, it is a value from Python 3.14 on.
    code, out, err = run(*args, "--gains", "-bad=-1,0=0")
    assert (code, out) == (2, "")
    assert "Write --option=VALUE where it begins with -" in err
    code, out, err = run(*args, "--gains=-2=-1,0=0,5=5")
    assert (code, out) == (2, "")
    assert "--gains has no gain for 2, 1, of the labels of qrels.txt. Add 2=GAIN,1=GAIN." in err


@pytest.mark.slow
def test_the_label_of_documents_that_nobody_judged(run, files):
    (files / "qrels.txt").write_text(QRELS.replace("1 0 b 0", "1 0 b -1"))
    args = ["evaluate", "qrels.txt", "good.txt", "-m", "infAP", "--format", "csv"]
    code, out, err = run(*args, "--unjudged-label", "-1")
    expected = values_of_run(read_qrels("qrels.txt", unjudged_label=-1), "good.txt", "inferred_ap")
    assert (code, float(out.split(",")[-1])) == (0, expected.mean().item())
    assert "forbidden" not in err
    assert run(*args, "--unjudged-label", "trec")[1] == out
    assert run(*args, "--unjudged-label", "none")[1] != out
    assert run(*args, "--gains=-1=nan,0=0,1=1,2=2")[1] == out


@pytest.mark.filterwarnings("always::skfilterrank.exceptions.DataWarning")
def test_ndcg_of_negative_labels_is_warned_of_once(run, files):
    (files / "qrels.txt").write_text(QRELS.replace("1 0 b 0", "1 0 b -2"))
    args = [
        "evaluate",
        "qrels.txt",
        *RUNS,
        "-m",
        "ndcg@2,nDCG_f@2,ap",
        "--unjudged-label",
        "none",
    ]
    told = "Use ndcg_f@2, where forbidden documents cost, or ndcg_0@2, where they count 0"
    assert run(*args)[2].count(told) == 1
    assert run(*args, "--n-jobs", "2")[2].count(told) == 1
    assert told not in run(*args, "--gains=-2=0,0=0,1=1,2=2")[2]
    assert run(*args, "--quiet")[2] == ""


@pytest.mark.slow
def test_what_is_not_counted_is_told(run, files):
    args = ["evaluate", "qrels.txt", *RUNS, "-m", "ap"]
    assert run(*args)[2] == (
        "3 of 3 runs (good: 1, best: 1, short.run: 2) lack queries of qrels.txt: counted as empty "
        "lists; --missing drop leaves them out\n"
        "1 of 3 runs (good: 1) has queries without judgments: left out\n"
    )
    assert "of qrels.txt: left out; --missing empty" in run(*args, "--missing", "drop")[2]
    assert run(*args, "--quiet")[2] == ""
    _, _, err = run("evaluate", "qrels.txt", "short.run", "-m", "ap")
    assert err.startswith("1 of 1 run (short.run: 2) lacks queries of qrels.txt: counted as empty")
    many = [f"run{i}" for i in range(5)]
    for name in many:
        (files / name).write_text(BEST)
    assert "5 of 5 runs (run0: 1, run1: 1, run2: 1, ...) lack" in run(*args[:2], *many)[2]


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_bad_run_stops(run, files, jobs):
    (files / "bad.txt").write_text(GOOD + "2 Q0 z 3 much tag\n")
    args = ["evaluate", "qrels.txt", "good.txt", "bad.txt", "best.gz", "-m", "ap", "--quiet"]
    args += ["--format", "csv", "--n-jobs", jobs]
    expected = means(["ap"])["ap"]
    code, out, err = run(*args)
    assert (code, out) == (2, f"run,ap\ngood,{expected['good']}\n")
    assert err.startswith("skfilterrank: error: bad.txt:7: the line holds the score 'much', but")


def test_an_unforeseen_error_is_one_line_and_names_the_files(monkeypatch, run, files):
    def bug(*args, **kwargs):
        return np.zeros(2).reshape(3)

    monkeypatch.setattr(library, "evaluate", bug)
    args = ["evaluate", "qrels.txt", "good.txt", "-m", "ap"]
    code, out, err = run(*args)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "ValueError: cannot reshape" in err
    assert "(files: qrels.txt, good.txt)" in err
    assert "--debug shows where" in err
    with pytest.raises(ValueError, match="cannot reshape"):
        main([*args, "--debug"])


@pytest.mark.slow
def test_processes_do_not_change_anything(evaluate, files):
    many = [f"run{i}" for i in range(20)]
    for i, name in enumerate(many):
        (files / name).write_text((GOOD, BEST, "3 Q0 f 1 1 x\n")[i % 3])
    for args in (["--per-query", "--format", "csv"], ["--format", "json"]):
        alone = evaluate(*args, runs=many)
        assert alone.count("\n") >= 20
        assert evaluate(*args, "--n-jobs", "2", runs=many) == alone


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
    code, out, _ = run("evaluate", "qrels.txt", "-", "best.gz", *args, "--n-jobs", "2")
    assert code == 0
    assert [line.split(",")[0] for line in out.splitlines()] == ["run", "stdin", "best"]


def test_progress(run, files, monkeypatch):
    args = ["evaluate", "qrels.txt", "best.gz", "-m", "ap", "--missing", "drop"]
    assert "run/s" not in run(*args)[2]
    assert "/1 [" in run(*args, "--verbose")[2]
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert "/1 [" in run(*args)[2]
    assert run(*args, "--quiet")[2] == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "params"),
    [
        (["--gains=0=-1,1=1,2=3"], {"gains": {0: -1, 1: 1, 2: 3}}),
        (["--gains", "exp2"], {"gains": "exp2"}),
        (["--ties", "average"], {"ties": "average"}),
        (["--ties", "worst"], {"ties": "worst"}),
        (["--ties", "best"], {"ties": "best"}),
        (["--precision", "single"], {"precision": "single"}),
        (["--missing", "drop"], {"missing": "drop"}),
        (["--unjudged", "drop"], {"unjudged": "drop"}),
        (["--undefined", "0.5"], {"undefined": 0.5}),
        (["--n-items", "77"], {"n_items": 77}),
    ],
)
def test_options_reach_the_library(evaluate, files, arguments, params):
    # An unjudged document above a judged one; a query where nothing is relevant; a tie of which
    # the greater document id is the better one; above it a score that single precision ties.
    (files / "good.txt").write_text(
        GOOD + "1 Q0 d 4 0.4 tag\n2 Q0 B 3 6 tag\n2 Q0 C 4 6.0000000001 tag\n"
    )
    (files / "qrels.txt").write_text(QRELS + "4 0 a 0\n")
    measures = ["ndcg_f@2", "ndcg_f@5", "ndcg_0", "ap@1", "false_reject_rate", "search_length"]
    found = from_csv(evaluate("--format", "csv", *arguments, measures=measures), "run")
    pd.testing.assert_frame_equal(found, means(measures, **params), check_exact=True)
    assert not found.equals(means(measures))


def test_default_measures(evaluate):
    found = from_csv(evaluate("--format", "csv", measures=[]), "run")
    pd.testing.assert_frame_equal(found, means(list(DEFAULT_MEASURES)), check_exact=True)


def test_names_of_measures(run, files, evaluate):
    out = evaluate("-m", "RBP(p=0.5)@2,map", "--format", "csv", measures=["ndcg_cut.5"])
    found = pd.read_csv(io.StringIO(out))
    assert list(found) == ["run", "ndcg_cut.5", "RBP(p=0.5)@2", "map"]
    expected = means(["ndcg_0@5", "rbp(persistence=0.5)@2", "ap"])
    # pandas before 3 reads numbers to the last digit but one.
    np.testing.assert_allclose(found.iloc[:, 1:], expected, rtol=1e-15)
    code, out, err = run("evaluate", "qrels.txt", "good.txt", "-m", "zzz,ap,lexircall,ndcgcut_5")
    assert (code, out) == (2, "")
    assert "'zzz' is not a measure. 'lexircall' is not a measure: did you mean 'lexirec" in err
    assert "'ndcgcut_5' is not a measure: did you mean 'ndcg_cut_5'" in err
    assert "of the documentation lists the names; a cut-off is" in err
    for text, message in {
        "map,ap": "--measure names 'ap' twice, as 'map' and 'ap': name each once",
        "ap@x": "the cut-off in 'ap@x' must be a positive whole number",
        "rbp(q=3)": "'q=3' in 'rbp(q=3)' is not an option of 'rbp'",
        ",": "--measure: expected at least one name",
    }.items():
        code, out, err = run("evaluate", "qrels.txt", "good.txt", "-m", text)
        assert (code, out) == (2, "")
        assert message in err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nope", "good.txt"], "nope: No such file or directory"),
        (["qrels.txt", "good.txt", "nope", "--format", "csv"], "nope: No such file or directory"),
        (["qrels.txt", "qrels.txt"], "qrels.txt:1: "),
        (["qrels.txt", "good.txt", "good.txt"], "good.txt is given 2 times. Give"),
        (["qrels.txt", "other"], "must have queries in common"),
        (["qrels.txt", "good.txt", "-m", "lexirecall", "--ties", "average"], "for 'lexirecall'"),
        (["qrels.txt", "good.txt", "-m", "tse", "--n-items", "2"], "--n-items 2 is too small"),
        (
            ["qrels.txt", "good.txt", "--undefined", "nan"],
            "expected a number or drop, got 'nan'",
        ),
        (
            ["qrels.txt", "good.txt", "--n-jobs", "0"],
            "expected a number of processes, or -1 for all",
        ),
        (["qrels.txt"], "missing RUN."),
    ],
)
def test_errors(run, files, arguments, message):
    (files / "other").write_text("77 Q0 a 1 1 other\n")
    code, out, err = run("evaluate", *arguments, "-m", "ap")
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("format", ["csv", "trec"])
def test_levels_and_gains_of_single_measures_are_read_back(evaluate, format):
    measures = ["AP(rel=2)", "ap", "ndcg(gains={0:0, 1:1,2:9})@2", "RBP(rel=2, p=0.5)"]
    expected = means(measures)
    found = evaluate("--per-query", "--format", format, measures=measures)
    with open(f"values.{format}", "w") as file:
        file.write(found)
    for written in measures:
        name = "".join(written.split()) if format == "trec" else written
        (scores,) = SystemScores.read(f"values.{format}", measures=[name]).values()
        # trec_eval names runs by their own tags.
        tags = {"good": "tag", "short.run": "short"} if format == "trec" else {}
        expected = expected.rename(index=tags)
        assert scores.means.to_dict() == pytest.approx(expected[written].to_dict(), abs=5e-5)
        assert scores.greater_is_better


@pytest.mark.slow
def test_tables_for_papers(evaluate, files):
    found = evaluate("--format", "markdown").splitlines()
    expected = means()
    assert found[:2] == [
        r"| run | ndcg\_f@2 | ap | empty\_list\_rate |",
        "| --- | ---: | ---: | ---: |",
    ]
    best = {name: expected[name].max() for name in ("ndcg_f@2", "ap")}
    best["empty_list_rate"] = expected["empty_list_rate"].min()
    for line, (name, values_of_line) in zip(found[2:], expected.iterrows(), strict=True):
        cells = [
            f"**{value:.4f}**" if value == best[measure] else f"{value:.4f}"
            for measure, value in values_of_line.items()
        ]
        assert line == f"| {name} | {' | '.join(cells)} |"
    latex = evaluate("--format", "latex", "--per-query", runs=["good.txt"])
    assert latex.startswith("\\begin{tabular}{lrrr}\n\\toprule\ngood & ndcg\\_f@2 & ap &")
    assert latex.count("\\\\\n") == 5  # the head, three queries and their mean
    evaluate("--out", "table.tex")
    assert (files / "table.tex").read_text() == evaluate("--format", "latex")


@pytest.mark.slow
def test_json(evaluate):
    found = [json.loads(line) for line in evaluate("--format", "json", "--per-query").splitlines()]
    assert [each["run"] for each in found] == NAMES
    for each in found:
        assert each["mean"] == means().loc[each["run"]].to_dict()
        assert each["queries"] == values().loc[each["run"]].to_dict("index")
        assert each["n_queries"] == 3
    assert [each["missing_queries"] for each in found] == [["3"], ["3"], ["1", "3"]]
    assert [each["unjudged_queries"] for each in found] == [["9"], [], []]
    assert all("queries" not in json.loads(x) for x in evaluate("--format", "json").splitlines())


def test_table_of_means(evaluate):
    # good, query 1: b, a tied (the greater id first), x; of a and d, a is found at place 2.
    # Query 2: a at place 2. Query 3: nothing. AP = (1/2 / 2 + 1/2 + 0) / 3 = 0.25.
    # best: (1 + 1 + 0) / 3; short: (0 + 1 + 0) / 3.
    assert evaluate(measures=["ap", "empty_list_rate"]) == (
        "run            ap  empty_list_rate\n"
        "good       0.2500           0.3333\n"
        "best       0.6667           0.3333\n"
        "short.run  0.3333           0.6667\n"
    )


def test_table_of_topics(evaluate):
    assert evaluate("--per-query", measures=["ap"], runs=["good.txt", "best.gz"]) == (
        "good      ap\n"
        "1     0.2500\n"
        "2     0.5000\n"
        "3     0.0000\n"
        "all   0.2500\n"
        "\n"
        "best      ap\n"
        "1     1.0000\n"
        "2     1.0000\n"
        "3     0.0000\n"
        "all   0.6667\n"
    )


def test_values_too_small_for_four_digits(evaluate):
    # The relevant document of query 2 is at place 2 of 50,000: exposure 1/2; of queries 1 and 3
    # the last one is unretrieved, at place 50,000: (1/2 + 2 / 50,000) / 3.
    out = evaluate("--per-query", "--n-items", "50000", runs=["good.txt"], measures=["tse"])
    assert [line.split()[1] for line in out.splitlines()[1:]] == [
        "2.0e-05",
        "0.5000",
        "2.0e-05",
        "0.1667",
    ]


def test_trec_format_line_by_line(evaluate):
    out = evaluate("--format", "trec", "--per-query", runs=["good.txt"], measures=["ap"])
    name, runid = "ap" + " " * 20, "runid" + " " * 17
    assert out == (
        f"{name}\t1\t0.2500\n{name}\t2\t0.5000\n{name}\t3\t0.0000\n"
        f"{runid}\tall\ttag\n{name}\tall\t0.2500\n"
    )


def test_a_run_is_called_by_its_tag_unless_another_is(evaluate, files):
    (files / "copy").write_text(GOOD)
    (files / "two").write_text(GOOD.replace("tag", "x", 1))
    out = evaluate("--format", "trec", runs=["good.txt", "copy", "two"], measures=["ap"])
    ids = [line.split()[2] for line in out.splitlines() if line.startswith("runid")]
    assert ids == ["tag", "copy", "two"]


def test_official_measures_as_trec_eval_prints_them(evaluate):
    out = evaluate("--format", "trec", runs=["good.txt"], measures=["official"]).splitlines()
    found = {name.strip(): value for name, _, value in (line.split("\t") for line in out)}
    assert [*found][:5] == ["runid", "num_q", "num_ret", "num_rel", "num_rel_ret"]
    assert found["num_q"] == "3"
    assert all(found[name].isdecimal() for name in ("num_ret", "num_rel", "num_rel_ret"))
    assert [name for name in found if name.startswith("iprec")] == [
        f"iprec_at_recall_{level / 10:.2f}" for level in range(11)
    ]
    assert found["map"] == "0.2500"


def test_undefined_topics(evaluate, files):
    # In query 4 nothing is relevant.
    (files / "qrels.txt").write_text(QRELS + "4 0 a 0\n")
    args = ["--undefined", "drop", "--per-query"]
    kwargs = {"runs": ["best.gz"], "measures": ["ap"]}
    found = from_csv(evaluate(*args, "--format", "csv", **kwargs), ["run", "qid"])
    assert np.isnan(found["ap"]["best", "4"])
    found = json.loads(evaluate(*args, "--format", "json", **kwargs))
    assert found["queries"]["4"] == {"ap": None}
    assert found["mean"] == {"ap": 2 / 3}
    assert evaluate(*args, **kwargs).splitlines()[4].split() == ["4", "-"]
    assert "\t4\t   nan\n" in evaluate(*args, "--format", "trec", **kwargs)


# Of query 1 good has a at place 2 of 3, of query 2 a at place 2 of 2, and nothing of query 3; there
# are 2, 1 and 1 relevant documents. Each measure has values of its own.
BY_HAND = {
    "ap": {"1": 0.25, "2": 0.5, "3": 0, "all": 0.25},
    "rr": {"1": 0.5, "2": 0.5, "3": 0, "all": 1 / 3},
    "num_ret": {"1": 3, "2": 2, "3": 0, "all": 5},
    "empty_list_rate": {"1": 0, "2": 0, "3": 1, "all": 1 / 3},
    "recall@1": {"1": 0, "2": 0, "3": 0, "all": 0},
    "precision@2": {"1": 0.5, "2": 0.5, "3": 0, "all": 1 / 3},
}


def cells(format, out):
    """What is written of the run good: a table of texts by query and measure, as far as it says."""
    if format == "trec":
        lines = [[word.strip() for word in line.split("\t")] for line in out.splitlines()]
        found = {}
        for measure, qid, value in lines:
            found.setdefault(qid, {})[measure] = value
        assert found["all"].pop("runid") == "tag"
        return found
    if format == "json":
        (line,) = map(json.loads, out.splitlines())
        return line["queries"] | {"all": line["mean"]}
    if format == "csv":
        head, *rows = [line.split(",") for line in out.splitlines()]
        assert head[:2] == ["run", "qid"]
        assert {row[0] for row in rows} == {"good"}
        head, *rows = [line[1:] for line in (head, *rows)]
    elif format == "table":
        head, *rows = [line.split() for line in out.splitlines()]
    else:
        out = out.replace("\\_", "_").replace("\\\\", "")
        rule, between = ("|", "|") if format == "markdown" else ("", "&")
        lines = [line.strip(rule).split(between) for line in out.splitlines() if between in line]
        head, *rows = [[cell.strip() for cell in line] for line in lines if "---" not in line[0]]
    if format != "csv":
        assert head[0] == "good"
    return {row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in rows}


@pytest.mark.slow
@pytest.mark.parametrize("format", ["table", "csv", "json", "trec", "markdown", "latex"])
@pytest.mark.parametrize("names", [list(BY_HAND), list(BY_HAND)[::-1]], ids=["", "reversed"])
def test_each_column_has_the_values_of_its_measure(evaluate, format, names):
    out = evaluate("--per-query", "--format", format, measures=names, runs=["good.txt"])
    found = cells(format, out)
    assert list(found) == ["1", "2", "3", *(["all"] if format != "csv" else [])]
    for qid, row in found.items():
        assert list(row) == names
        for name in names:
            assert float(row[name]) == pytest.approx(BY_HAND[name][qid], abs=5.1e-5), (qid, name)
