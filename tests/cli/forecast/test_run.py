"""``skfilterrank forecast``: the library's order, judgments into a file."""

import gzip
import io
from pathlib import Path

import pandas as pd
import pytest

from skfilterrank.cli.forecast import options as forecast_options
from skfilterrank.io import read_qrels
from skfilterrank.judgments import pseudo_qrels, rank_systems

pytestmark = pytest.mark.slow


def table_of(out):
    """CSV with every digit of its numbers."""
    return pd.read_csv(io.StringIO(out), index_col="run", dtype=str).astype(float)


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


def test_measures_are_named_as_written(forecast, runs):
    out, _ = forecast("-m", "ndcg_cut_2", "-m", "MAP", "--format", "csv")
    found = table_of(out)
    assert list(found) == ["ndcg_cut_2", "MAP"]
    expected = rank_systems(runs, measure=["ndcg_0@2", "ap"])
    assert list(found.index) == list(expected.index)
    assert list(found["ndcg_cut_2"]) == list(expected["ndcg_0@2"])
    assert list(found["MAP"]) == list(expected["ap"])


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
