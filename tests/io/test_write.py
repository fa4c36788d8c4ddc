"""Lines of runs, with and without pyarrow."""

import gzip
import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import times
from skfilterrank._files import files
from skfilterrank.io import _write as module
from skfilterrank.io import write_letor, write_qrels, write_run

NO = -np.inf


def run_text(run, docnos=None, y_score=None, **params):
    file = io.StringIO()
    counts = write_run(file, run, docnos=docnos, y_score=y_score, **params)
    return file.getvalue(), (counts.written, counts.hidden, counts.empty_queries)


def test_order_ranks_and_counts():
    # Query 10 comes behind 9 as these are numbers; "b" before "a" as ids break ties descending.
    groups = [10, 9, 10, 10, 9, 8, 8]
    docnos = ["a", "x", "b", "c", "y", "z", "w"]
    y_score = [0.5, NO, 0.5, 2.0, -1e-300, NO, NO]
    text, counts = run_text(groups, docnos, y_score, name="mine")
    assert text == (
        "9 Q0 y 1 -1e-300 mine\n10 Q0 c 1 2.0 mine\n10 Q0 b 2 0.5 mine\n10 Q0 a 3 0.5 mine\n"
    )
    assert counts == (4, 3, 1)


def test_everything_filtered():
    assert run_text(["a", "b"], ["x", "x"], [NO, NO]) == ("", (0, 2, 2))


def test_ids_of_any_type():
    text, _ = run_text(pd.Series(["b", "a"]), pd.Series([10, 9]), pd.Series([1, 1]))
    assert text == "a Q0 9 1 1.0 skfilterrank\nb Q0 10 1 1.0 skfilterrank\n"
    # Document ids are text in a run, so that "9" is above "10" in a tie.
    assert run_text([1, 1], [10, 9], [1, 1])[0].split()[2] == "9"


def test_gzip_and_path(tmp_path):
    write_run(tmp_path / "run.gz", ["q"], docnos=["d"], y_score=[1])
    assert gzip.decompress((tmp_path / "run.gz").read_bytes()) == b"q Q0 d 1 1.0 skfilterrank\n"
    write_run(str(tmp_path / "run"), ["é"], docnos=["{0}"], y_score=[1], name="{1}")
    assert (tmp_path / "run").read_text(encoding="utf-8") == "é Q0 {0} 1 1.0 {1}\n"


@pytest.mark.slow
@times(2)
@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.floats(allow_nan=False).filter(lambda x: x != np.inf)),
        min_size=1,
    )
)
def test_scores_read_back_exactly(rows):
    groups, y_score = zip(*rows, strict=True)
    docnos = [f"d{i}" for i in range(len(rows))]
    text, counts = run_text(groups, docnos, y_score)
    read = [line.split() for line in text.splitlines()]
    assert {row[2]: float(row[4]) for row in read} == {
        docno: score for docno, score in zip(docnos, y_score, strict=True) if score > NO
    }
    assert counts[0] + counts[1] == len(rows)
    for qid in {row[0] for row in read}:
        mine = [row for row in read if row[0] == qid]
        assert [int(row[3]) for row in mine] == list(range(1, len(mine) + 1))
        keys = [(float(row[4]), row[2]) for row in mine]
        assert keys == sorted(keys, reverse=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"run": ["a", "b c"]}, "run holds 'b c', but ids in a TREC file must not"),
        ({"run": ["a", ""]}, "run holds no id in column 'qid' in row 1"),
        ({"run": [1, np.nan]}, "run holds no id in column 'qid' in row 1"),
        ({"docnos": ["a", "b\tc"]}, r"docnos holds 'b\\tc'"),
        ({"docnos": ["a", "b\xa0c"]}, r"docnos holds 'b\\xa0c'"),
        ({"docnos": ["a", None]}, "run holds no id in column 'docno' in row 1"),
        ({"docnos": ["a", "a"]}, r"document 'a' twice in query '1' in row 1 \(first in row 0\)"),
        (
            {"y_score": [1, np.nan]},
            "y_score holds 1 NaN, the first at row 1",
        ),
        ({"y_score": [1]}, "got lengths 2, 2 and 1"),
        ({"y_score": [[1, 2], [2, 1]]}, "y_score must hold one score per row"),
        ({"run": [], "docnos": [], "y_score": []}, "not be empty"),
        (
            {"name": "my run"},
            "name must be a text without white space that is not empty, got 'my run'",
        ),
        ({"name": ""}, "name must be a text without white space that is not empty, got ''"),
    ],
)
def test_errors_leave_no_file(tmp_path, change, message):
    arguments = {"run": [1, 1], "docnos": ["a", "b"], "y_score": [1, 2]} | change
    with pytest.raises(ValueError, match=message):
        write_run(tmp_path / "run", **arguments)
    assert not (tmp_path / "run").exists()


def test_frames_of_runs():
    frame = pd.DataFrame(
        {"score": [1.0, NO, 2.0], "docno": ["a", "b", "c"], "qid": [1, 1, 1], "rank": [7, 8, 9]}
    )
    expected = "1 Q0 c 1 2.0 skfilterrank\n1 Q0 a 2 1.0 skfilterrank\n"
    assert run_text(frame) == (expected, (2, 1, 0))
    assert run_text(frame.set_index(["qid", "docno"]))[0] == expected
    renamed = frame.rename(columns={"qid": "query_id", "docno": "doc_id"})
    assert run_text(renamed)[0] == expected
    assert run_text(frame, name="mine")[0] == expected.replace("skfilterrank", "mine")
    named = frame.assign(run=["x", "y", "z"])
    assert run_text(named)[0] == "1 Q0 c 1 2.0 z\n1 Q0 a 2 1.0 x\n"
    assert run_text(named, name="mine")[0] == expected.replace("skfilterrank", "mine")
    # Ranks alone are an order too.
    assert run_text(frame.drop(columns="score"))[0].split()[2::6] == ["a", "b", "c"]
    no_name = "name must be a text without white space that is not empty, got "
    for arguments, params, message in (
        ([frame.assign(run="a b")], {}, f"{no_name}'a b'"),
        ([frame], {"name": 5}, f"{no_name}5"),
        ([frame.drop(columns=["score", "rank"])], {}, "run has no column 'score'; its columns are"),
        ([frame.assign(qid="#1")], {}, "run holds the query '#1', but a line .* is a comment"),
        ([frame, ["a", "b", "c"]], {}, "docnos and y_score must be None"),
        ([[1, 1, 1]], {}, "run must be a data frame, or query ids"),
    ):
        with pytest.raises(ValueError, match=message):
            run_text(*arguments, **params)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda frame, path: write_run(frame, path), r"call write_run\(path, run\)"),
        (lambda frame, path: write_qrels(frame, path), r"call write_qrels\(path, qrels\)"),
        (
            lambda frame, path: write_letor(frame, [1], [1], path),
            r"call write_letor\(path, X, y, groups",
        ),
    ],
)
def test_swapped_arguments(tmp_path, call, message):
    frame = pd.DataFrame({"qid": [1], "docno": ["a"], "score": [1.0], "label": [1]})
    with pytest.raises(TypeError, match=f"^path must be a path.*, got DataFrame: {message}"):
        call(frame, tmp_path / "file")
    assert not (tmp_path / "file").exists()


QRELS = pd.DataFrame({"qid": ["2", "1", "1"], "docno": ["a", "b", "a"], "label": [2.0, -1.0, 0.5]})


def test_qrels(tmp_path):
    file = io.StringIO()
    write_qrels(file, QRELS)
    assert file.getvalue() == "2 0 a 2\n1 0 b -1\n1 0 a 0.5\n"
    write_qrels(tmp_path / "qrels.gz", QRELS)
    assert gzip.decompress((tmp_path / "qrels.gz").read_bytes()).decode() == file.getvalue()
    missing = io.StringIO()
    write_qrels(missing, QRELS.assign(label=[1, np.nan, 0]), unjudged_label=-1)
    assert missing.getvalue() == "2 0 a 1\n1 0 b -1\n1 0 a 0\n"


@pytest.mark.parametrize(
    ("change", "params", "message"),
    [
        ({"label": [1, np.nan, 0]}, {}, "qrels holds no label in row 1; .* unjudged_label="),
        (
            {"label": [1, np.nan, -1]},
            {"unjudged_label": -1},
            "qrels holds the label -1 in row",
        ),
        ({"label": [1, np.inf, 0]}, {}, "qrels holds the label inf in row 1"),
        (
            {"label": ["x", "y", "z"]},
            {},
            "qrels holds 'x' in column 'label' in row 0, but a",
        ),
        ({"qid": ["a b", "1", "1"]}, {}, "qid holds 'a b', but ids in a TREC file must not"),
        ({"docno": ["\ufeffa", "1", "2"]}, {}, "but ids in a TREC file must not"),
        (
            {"docno": ["a", "b", "b"]},
            {},
            r"qrels holds document 'b' twice in query '1' in row 2 .first in row 1",
        ),
        ({"docno": ["a", None, "b"]}, {}, "qrels holds no id in column 'docno' in row 1"),
    ],
)
def test_errors_of_qrels_leave_no_file(tmp_path, change, params, message):
    with pytest.raises(ValueError, match=message):
        write_qrels(tmp_path / "qrels", QRELS.assign(**change), **params)
    assert not (tmp_path / "qrels").exists()


class Pieces(list):
    """A handle that keeps what it is given, piece by piece."""

    def write(self, text):
        if text:
            self.append(text)


@pytest.mark.parametrize("n_rows", [1, 6, 7, 8, 50])
def test_pieces_make_the_whole(monkeypatch, n_rows):
    """No piece holds more lines than it should, however long the file."""
    rng = np.random.default_rng(n_rows)
    docnos = [f"d{number}" for number in rng.permutation(n_rows)]
    frame = pd.DataFrame({"qid": rng.integers(0, 3, n_rows).astype(str), "docno": docnos})
    run = frame.assign(score=rng.integers(0, 5, n_rows) / 4, run=[f"run{i}" for i in range(n_rows)])
    run.loc[rng.random(n_rows) < 0.2, "score"] = NO
    qrels = frame.assign(label=rng.choice([0, 1, -2, 0.5, np.nan], n_rows))
    for write in (
        lambda file: write_run(file, run),
        lambda file: write_qrels(file, qrels, unjudged_label=-1),
    ):
        whole, pieces = Pieces(), Pieces()
        write(whole)
        with monkeypatch.context() as patch:
            patch.setattr(module, "_CHUNK_ROWS", 7)
            patch.setattr(files, "_CHUNK_LINES", 7)
            write(pieces)
        assert len(whole) <= 1
        assert "".join(pieces) == "".join(whole)
        assert all(piece.count("\n") == 7 for piece in pieces[:-1])
        assert all(piece.count("\n") <= 7 for piece in pieces)


def test_qrels_must_be_a_frame():
    with pytest.raises(TypeError, match="qrels must be a data frame, got dict"):
        write_qrels(io.StringIO(), {})
