"""``skfilterrank forecast``: the library's order, teams from a file, judgments into one."""

import gzip
import io
import json
from pathlib import Path

import pandas as pd
import pytest

from skfilterrank.cli.forecast import options as forecast_options
from skfilterrank.io import read_qrels, read_run
from skfilterrank.judgments import pseudo_qrels, rank_systems
from skfilterrank.judgments._no_judgments.rank_systems import FORECASTS

LISTS = {
    "one": ["abcd", "pq"],
    "two": ["bacx", "qp"],
    "three": ["abyz", "pr"],
    "four": ["uvwa", "st"],
    "five": ["cdab", "q"],
}


def table_of(out):
    """CSV with every digit of its numbers."""
    return pd.read_csv(io.StringIO(out), index_col="run", dtype=str).astype(float)


def test_help_says_what_can_be_chosen(run):
    def said(command):
        _, out, _ = run(command, "--help")
        text = " ".join(out.split())
        return text[text.index("order of documents of equal score") :].partition("(default")[0]

    assert said("forecast") == (
        "order of documents of equal score: docno (by id, descending, as in trec_eval), random "
        "(by chance) "
    )
    assert "random" not in said("evaluate")
    assert "average (mean over all orders), worst (lowest gain first)" in said("evaluate")


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Runs in the working folder, and as frames."""
    monkeypatch.chdir(tmp_path)
    for name, lists in LISTS.items():
        lines = [
            f"{topic} Q0 {docno} {rank} {9 - rank} {name}\n"
            for topic, docnos in enumerate(lists, start=1)
            for rank, docno in enumerate(docnos, start=1)
        ]
        (tmp_path / f"{name}.txt").write_text("".join(lines))
    return {name: read_run(f"{name}.txt") for name in LISTS}


@pytest.fixture
def forecast(run, runs):
    """Run the command, expect that it works, and return its output and messages."""

    def forecast(*arguments):
        code, out, err = run("forecast", *(f"{name}.txt" for name in LISTS), *arguments)
        assert code == 0, err
        return out, err

    return forecast


def test_the_choices_are_those_of_the_library():
    assert forecast_options.METHODS == FORECASTS


def test_table(forecast):
    # Of ten documents 0.3 are a, b and c, in five, four and three runs; of five two, p and q.
    out, err = forecast()
    assert err == ""
    lines = [line.split() for line in out.splitlines()]
    assert lines[0] == ["run", "place", "ap"]
    assert lines[1:] == [
        ["one", "1", "1.0000"],
        ["two", "2", "1.0000"],
        ["five", "3", f"{((1 / 1 + 2 / 3 + 3 / 4) / 3 + 1 / 2) / 2:.4f}"],
        ["three", "4", f"{((1 / 1 + 2 / 2) / 3 + 1 / 2) / 2:.4f}"],
        ["four", "5", f"{((1 / 4) / 3 + 0) / 2:.4f}"],
    ]


@pytest.mark.parametrize("method", forecast_options.METHODS)
def test_csv_is_what_the_library_says(forecast, runs, method):
    out, _ = forecast("--method", method, "--format", "csv", "--seed", 3, "--depth", 2)
    expected = rank_systems(runs, method, depth=2, random_state=3)
    found = table_of(out)
    pd.testing.assert_frame_equal(found, expected, check_index_type=False)


def test_options(forecast, runs):
    arguments = ["--method", "soboroff", "--share", 0.5, "--n-trials", 2, "--depth", "all"]
    out, _ = forecast(*arguments, "--format", "json")
    expected = rank_systems(
        runs, "soboroff", share=0.5, n_trials=2, depth=None, random_state=0
    ).reset_index()
    assert [json.loads(line) for line in out.splitlines()] == expected.to_dict("records")
    assert forecast(*arguments)[0] == forecast(*arguments)[0]


def test_measures_are_named_as_written(forecast, runs):
    out, _ = forecast("-m", "ndcg_cut_2", "-m", "MAP", "--format", "csv")
    found = table_of(out)
    assert list(found) == ["ndcg_cut_2", "MAP"]
    expected = rank_systems(runs, measure=["ndcg_0@2", "ap"])
    assert list(found.index) == list(expected.index)
    assert list(found["ndcg_cut_2"]) == list(expected["ndcg_0@2"])
    assert list(found["MAP"]) == list(expected["ap"])


@pytest.mark.parametrize(
    "text",
    [
        "one A\ntwo B\n\nthree A\nfour  C\nfive\tB\n",
        "one,A\ntwo,B\nthree,A\nfour,C\nfive,B\nother,D\n",
        'run,report,team\none,"x,y",A\ntwo,,B\nthree,z,A\nfour,,C\nfive,,B\n',
        "\ufeffteam,run\nA,one\nB,two\nA,three\nC,four\nB,five\n",
    ],
)
def test_teams(forecast, runs, tmp_path, text):
    (tmp_path / "teams").write_text(text, encoding="utf-8")
    out, err = forecast("--teams", "teams", "--format", "csv")
    assert err == "3 of 5 runs: the first by name of each team\n"
    found = pd.read_csv(io.StringIO(out), index_col="run")
    expected = rank_systems({name: runs[name] for name in ("one", "five", "four")})
    assert list(found.index) == list(expected.index)
    assert found["team"].to_dict() == {"one": "A", "five": "B", "four": "C"}
    assert forecast("--teams", "teams", "--quiet")[1] == ""


def test_judgments(forecast, runs):
    _, err = forecast("--out-qrels", "made.gz", "--method", "sakai")
    assert err == "made.gz: 5 of 15 pooled documents of 2 topics are taken for relevant\n"
    assert gzip.decompress(Path("made.gz").read_bytes()).startswith(b"1 predicted:sakai a 1\n")
    found = read_qrels("made.gz", predicted="use")
    expected = pseudo_qrels(runs, "sakai").assign(judged_by="sakai")
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)
    drawn = ["--method", "soboroff", "--n-trials", 1]
    assert forecast(*drawn, "--out-qrels", "drawn.txt")[0] == forecast(*drawn)[0]
    expected = pseudo_qrels(runs, "soboroff", n_trials=1, random_state=0)
    expected = expected.drop(columns="trial").assign(judged_by="soboroff")
    found = read_qrels("drawn.txt", predicted="use")
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)


def test_files_of_one_name(run, runs, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "one.txt.gz").write_bytes(gzip.compress(b"1 Q0 a 1 9 x\n"))
    code, out, _ = run("forecast", "one.txt", "other/one.txt.gz", "two.txt", "--format", "csv")
    assert code == 0
    assert set(pd.read_csv(io.StringIO(out))["run"]) == {"one.txt", "other/one.txt.gz", "two"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["one.txt"], "runs must be at least 2, got 1 run(s)"),
        (["one.txt", "one.txt"], "one.txt is given 2 times as a run"),
        (["one.txt", "nowhere.txt"], "nowhere.txt: No such file or directory"),
        (["one.txt", "damaged.txt"], "damaged.txt:2: "),
        (["one.txt", "far.txt"], "no topic in common"),
        (["one.txt", "two.txt", "--method", "spoerri"], "there are only 2"),
        (["one.txt", "two.txt", "--share", 2], "share must be a finite number above 0 and up to 1"),
        (["one.txt", "two.txt", "-m", "mapp"], "'mapp' is not a measure: did you mean 'MAP'"),
        (["one.txt", "two.txt", "--method", "aslam", "--out-qrels", "x"], "makes no judgments"),
        (["one.txt", "two.txt", "--method", "soboroff", "--out-qrels", "x"], "add --n-trials 1"),
        (["one.txt", "two.txt", "--teams", "short.teams"], "no team for 1 of 2 runs ('two')"),
        (["one.txt", "two.txt", "--teams", "bad.teams"], "bad.teams:2: expected a run and its"),
        (["one.txt", "two.txt", "--teams", "twice.teams"], "twice.teams:3: the run 'one' has"),
        (["one.txt", "two.txt", "--teams", "cut.teams"], "cut.teams:3: expected a run and its"),
        (["one.txt", "two.txt", "--teams", "empty.teams"], "empty.teams: the file names no team"),
        (["one.txt", "two.txt", "--teams", "latin.teams"], "latin.teams:1: byte 0xfc is not UTF-8"),
    ],
)
def test_errors_are_one_line(run, runs, tmp_path, arguments, message):
    (tmp_path / "far.txt").write_text("77 Q0 a 1 9 far\n")
    (tmp_path / "damaged.txt").write_text("1 Q0 a 1 9 x\n1 Q0 b 2\n")
    (tmp_path / "short.teams").write_text("one A\n")
    (tmp_path / "bad.teams").write_text("one A\ntwo\n")
    (tmp_path / "twice.teams").write_text("one A\ntwo B\none C\n")
    (tmp_path / "cut.teams").write_text("run,x,team\none,1,A\ntwo,1\n")
    (tmp_path / "empty.teams").write_text("\n")
    (tmp_path / "latin.teams").write_bytes("one Zürich\n".encode("latin-1"))
    code, out, err = run("forecast", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("skfilterrank: error: ")
    assert err.count("\n") == 1
    assert message in err
    assert not (tmp_path / "x").exists()
