"""Values written by evaluate and trec_eval, read back."""

import gzip
import io

import numpy as np
import pytest

from skfilterrank.cli import main
from skfilterrank.comparison import SystemScores, score_systems
from skfilterrank.exceptions import FileFormatError

QRELS = "1 0 a 2\n1 0 b 0\n1 0 d 1\n2 0 a 1\n2 0 e 0\n3 0 f 1\n"
GOOD = "1 Q0 a 1 9 x\n1 Q0 d 2 8 x\n2 Q0 e 1 7 x\n2 Q0 a 2 6 x\n3 Q0 f 1 2 x\n"
BAD = "1 Q0 b 1 9 x\n1 Q0 a 2 8 x\n2 Q0 e 1 7 x\n3 Q0 z 1 2 x\n3 Q0 f 2 1 x\n"
MEASURES = ["ndcg_f@2", "search_length", "lexirecall"]
# As trec_eval -q prints it: three columns, the run's name among the means.
TREC_EVAL = """\
num_ret               \t1\t2
map                   \t1\t1.0000
P_5                   \t1\t0.4000
map                   \t2\t0.5000
P_5                   \t2\t0.2000
runid                 \tall\tmy run
num_q                 \tall\t2
map                   \tall\t0.7500
P_5                   \tall\t0.3000
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {"qrels": QRELS, "good": GOOD, 'a "b", c': BAD}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def written(capsys, format, measures):
    names = [word for name in measures for word in ("-m", name)]
    runs = ["good", 'a "b", c']
    arguments = ["evaluate", "qrels", *runs, *names, "--per-query", "--quiet"]
    assert main([*arguments, "--format", format]) == 0
    return capsys.readouterr().out


@pytest.mark.slow
def test_what_evaluate_writes_comes_back(files, capsys):
    text = written(capsys, "csv", MEASURES)
    found = SystemScores.read(io.BytesIO(text.encode()))
    expected = score_systems(
        "qrels", {name: name for name in ("good", 'a "b", c')}, MEASURES, n_items=1_000_000
    )
    assert list(found) == MEASURES
    for name, scores in expected.items():
        assert found[name].systems == scores.systems == ("good", 'a "b", c')
        assert found[name].queries == scores.queries == ("1", "2", "3")
        assert found[name].greater_is_better == scores.greater_is_better
        assert found[name].is_preference is scores.is_preference is False
        np.testing.assert_array_equal(found[name].values, scores.values)
    assert not found["search_length"].greater_is_better


def test_four_digits_of_the_trec_format(files, capsys):
    found = SystemScores.read(io.StringIO(written(capsys, "trec", ["ndcg_f@2", "ap"])))
    expected = score_systems("qrels", {name: name for name in ("good", 'a "b", c')}, "ap")["ap"]
    # A run is named by its own tag, as by trec_eval.
    assert found["ap"].systems == ("x", expected.systems[1])
    np.testing.assert_allclose(found["ap"].values, expected.values, atol=0.5e-4)


def test_trec_eval(tmp_path):
    path = tmp_path / "first.txt.gz"
    path.write_bytes(gzip.compress(TREC_EVAL.encode()))
    other = tmp_path / "second.txt"
    # Without the run's name, the file's is taken; columns may be parted by blanks.
    lines = [line for line in TREC_EVAL.splitlines() if "runid" not in line]
    other.write_text("\n".join(line.replace("\t", " ") for line in lines))
    found = SystemScores.read([path, other])
    assert list(found) == ["map", "P_5"]
    assert found["map"].systems == ("my run", "second")
    np.testing.assert_array_equal(found["map"].values, [[1, 0.5], [1, 0.5]])
    assert list(SystemScores.read(path, measures="P_5")) == ["P_5"]


def test_several_runs_in_one_trec_file():
    text = TREC_EVAL + TREC_EVAL.replace("my run", "other").replace("0.5000", "0.2500")
    found = SystemScores.read(io.StringIO(text))["map"]
    assert found.systems == ("my run", "other")
    np.testing.assert_array_equal(found.values, [[1, 0.5], [1, 0.25]])


def test_preferences_are_shares_of_those_that_are_worse():
    # Of topic 1: c > a = b, so that a and b beat half of each other. Of topic 2: all differ.
    text = "run,qid,lexirecall(scale=preference)\na,1,2\na,2,3\nb,1,2\nb,2,1\nc,1,7\nc,2,2\n"
    (scores,) = SystemScores.read(io.StringIO(text)).values()
    assert scores.is_preference
    np.testing.assert_array_equal(scores.values, [[0.25, 1], [0.25, 0], [1, 0.5]])
    # Other values are as they are.
    text = text.replace("scale=preference", "n_items=1000")
    (scores,) = SystemScores.read(io.StringIO(text)).values()
    assert not scores.is_preference
    np.testing.assert_array_equal(scores.values, [[2, 3], [2, 1], [7, 2]])


def test_missing_values():
    # Undefined is empty in csv; the topic 3 is not there for b.
    text = "run,qid,ap\na,1,0.5\na,2,\na,3,1\nb,1,0.25\nb,2,1\n"
    with pytest.raises(ValueError, match="2 values are missing") as caught:
        SystemScores.read(io.StringIO(text))
    assert caught.value.lacking == {"a": ("2",), "b": ("3",)}
    found = SystemScores.read(io.StringIO(text), missing="drop")["ap"]
    assert (found.queries, found.dropped_queries) == (("1",), ("2", "3"))
    found = SystemScores.read(io.StringIO(text), missing=0.0)["ap"]
    np.testing.assert_array_equal(found.values, [[0.5, 0, 1], [0.25, 1, 0]])


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "the file is empty"),
        ("\n\n", None, "the file is empty"),
        ("run,ap\na,0.5\n", 1, "the header must be run,qid,MEASURE,..., got 'run,ap'"),
        ("run,qid,ap\na,1\n", 2, "expected 3 columns as in the header, got 2"),
        ("run,qid,ap\na,1,0.5\na,2,x\n", 3, "a value of ap must be a number, got 'x'"),
        ("run,qid,ap\na,1,inf\n", 2, "a value of ap must be a number, got 'inf'"),
        (
            "run,qid,ap\na,1,0.5\na,1,0.5\n",
            3,
            "run 'a' must have each query once, but has '1' a second time",
        ),
        ("run,qid,ap\n,1,0.5\n", 2, "the name of a run must not be empty"),
        ('{"run": "a", "mean": {"ap": 0.5}}\n', 1, "evaluate --per-query` with --format csv or"),
        ("run         ap\n", 1, "expected 3 columns (measure, query, value), got 2"),
        ("ap\t1\t0.5\nap\t1\t0.7\n", 2, "expected one value of ap for query '1'"),
        ("ap\t1\tmuch\n", 1, "a value of ap must be a number, got 'much'"),
        ("ap\t1\t0.5\nrunid\tall\ta\nap\t1\t1\nrunid\tall\ta\n", 4, "two runs have the same name"),
        ("runid\tall\ta\nap\tall\t0.5\n", None, "only means"),
        (
            "runid\tall\ta\nap\t1\t0.5\nrunid\tall\tb\nap\t1\t1\n",
            1,
            "behind the values of each run, got it before them: move it",
        ),
    ],
)
def test_errors_name_file_and_line(tmp_path, text, line, message):
    path = tmp_path / "values"
    path.write_text(text)
    with pytest.raises(FileFormatError, match="values") as caught:
        SystemScores.read(path)
    assert caught.value.line == line
    assert message in str(caught.value)


def test_what_spreadsheets_save():
    for text in ("run;qid;ap\na;1;0,5\nb;1;0.25\n", "run\tqid\tap\na\t1\t0.5\nb\t1\t0.25\n"):
        scores = SystemScores.read(io.StringIO(text))["ap"]
        assert scores.systems == ("a", "b")
        assert scores.values.tolist() == [[0.5], [0.25]]


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "values"
    path.write_bytes(b"run,qid,ap\na,1,0.5\nb\xff,1,0.5\n")
    with pytest.raises(FileFormatError, match="values:3: byte 0xff is not UTF-8"):
        SystemScores.read(path)


def test_errors_of_several_files(tmp_path):
    (tmp_path / "one").write_text(TREC_EVAL)
    (tmp_path / "two").write_text(TREC_EVAL)
    with pytest.raises(
        FileFormatError, match=r"two: run 'my run' must be in one file, but is also in .*one"
    ):
        SystemScores.read([tmp_path / "one", tmp_path / "two"])
    with pytest.raises(
        ValueError, match="measures must be in the file, got 'ap': the file holds 'map'"
    ):
        SystemScores.read(tmp_path / "one", measures="ap")
    with pytest.raises(ValueError, match="at least one file"):
        SystemScores.read([])
