import gzip
import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfilterrank._files import text_columns
from skfilterrank.exceptions import FileFormatError, InputError
from skfilterrank.io import read_qrels, read_run, write_qrels, write_run
from thinned import thinned

# What labels below 0 mean is not said here, and not what is tested.
pytestmark = pytest.mark.filterwarnings("ignore:.* holds labels below 0")

RUN = "1 Q0 a 1 2.5 x\n1 Q0 b 2 -1 x\n2 Q0 a 1 7 y\n"
QRELS = "1 0 a 1\n1 0 b -2\n2 0 a 0\n"

# What an id may hold, non-ASCII letters included, short and longer than one and two words.
LETTERS = st.characters(categories=["L", "N", "P"], include_characters="-_.", max_codepoint=0x2FFF)
IDS = st.text(LETTERS, min_size=1, max_size=20)
# No topic begins with "#", as a line that does is a comment.
TOPICS = IDS.filter(lambda text: not text.startswith("#"))


def run_of(text):
    return read_run(io.StringIO(text))


def qrels_of(text, **params):
    return read_qrels(io.StringIO(text), **params)


def test_run():
    run = run_of(RUN)
    assert list(run.columns) == ["qid", "docno", "rank", "score", "run"]
    assert run["qid"].tolist() == ["1", "1", "2"]
    assert run["docno"].tolist() == ["a", "b", "a"]
    assert run["rank"].tolist() == [1, 2, 1]
    assert run["score"].tolist() == [2.5, -1.0, 7.0]
    assert run["run"].tolist() == ["x", "x", "y"]
    assert run["score"].dtype == np.float64
    assert run["rank"].dtype == np.int64
    # The columns are what pandas makes of strings, so that they join with the user's own.
    assert run["docno"].dtype == pd.Series(["a"]).dtype


def test_qrels():
    qrels = qrels_of(QRELS)
    assert list(qrels.columns) == ["qid", "docno", "label"]
    assert qrels["label"].tolist() == [1, -2, 0]
    assert qrels["label"].dtype == np.int64
    assert qrels_of("1 0 a 0.5\n")["label"].tolist() == [0.5]


def test_unjudged_label():
    text = "1 0 a 1\n1 0 b -1\n"
    assert qrels_of(text)["label"].tolist() == [1, -1]
    np.testing.assert_array_equal(qrels_of(text, unjudged_label=-1)["label"], [1, np.nan])
    np.testing.assert_array_equal(qrels_of(text, unjudged_label="trec")["label"], [1, np.nan])
    np.testing.assert_array_equal(qrels_of(text, unjudged_label=None)["label"], [1, -1])
    assert qrels_of(text, unjudged_label=5)["label"].dtype == np.int64
    for bad in ("-1", np.nan, True):
        with pytest.raises(
            ValueError, match="unjudged_label must be the label that means unjudged"
        ):
            qrels_of(text, unjudged_label=bad)


def test_ids_stay_as_written():
    qrels = qrels_of("01 0 007 1\n1 0 7 1\n1 0 7.0 1\n1 0 NA 1\n1 0 é\u00a0ü 1\n")
    assert qrels["qid"].tolist() == ["01", "1", "1", "1", "1"]
    assert qrels["docno"].tolist() == ["007", "7", "7.0", "NA", "é\u00a0ü"]


def test_ranks_are_carried_along():
    assert run_of("1 Q0 a 9 1 x\n1 Q0 b 3 2 x\n")["rank"].tolist() == [9, 3]
    ranks = ["-1", "2.5", "1e3", "12345678901"]
    text = "".join(f"1 Q0 d{rank} {rank} 1 x\n" for rank in ranks)
    assert run_of(text)["rank"].tolist() == [-1.0, 2.5, 1e3, 12345678901.0]


def test_filtered_documents():
    assert run_of("1 Q0 a 1 -inf x\n")["score"].tolist() == [-np.inf]


BAD_RUNS = [
    ("1 Q0 a 1 2 x\n1 Q0 b 2 1\n", 2, r"5 columns where a run has 6 \(topic Q0 docno.*cut short\?"),
    ("\n\n" + QRELS, 3, "a qrels has 4: if this is one, it stands where a run is"),
    ("1 Q0 a 1 2 x 1\n Q0 b 2 1 x\n", 1, "7 columns"),  # 12 words, at the wrong places
    ("1 Q0 a 1 2\nx 1 Q0 b 2 1 x\n", 1, "5 columns"),
    ("1 Q0 a 1 2 x\n1 Q0 b\n", 2, "3 columns where a run has 6"),
    ("1 a 1\n1 Q0 b 2 3 x\n", 2, r"6 columns where a MS MARCO run has 3 \(topic docno rank\)"),
    ("1 a 1\n1 b 2.5\n", 2, "a rank must be a whole number, got 2.5: a run with 3 columns is one"),
    ("1 a 1\n1 b x\n", 2, "a rank must be a number, got 'x'"),
    ("1 a 1\n1 b 2\n1 a 3\n", 3, r"'a' is a second time in topic '1' \(first in line 1\)"),
    ("1\n", 1, "1 column where"),
    (f"{RUN}2 Q0 b 2 1 x y\n", 4, "7 columns where .* must not hold white space"),
    (f"{RUN}2 Q0 b first 1 x\n", 4, "a rank must be a number, got 'first'; the columns of a run"),
    (f"{RUN}\n2 Q0 b 1x 1 x\n", 5, "a rank must be a number, got '1x'"),
    (f"{RUN}2 Q0 b nan 1 x\n", 4, "a rank must be a number, got 'nan'"),
    (f"{RUN}2 Q0 b 12345678x 1 x\n", 4, "a rank must be a number, got '12345678x'"),
    ("1 Q0 a 1 2 x\n\n1 Q0 b 2 high x\n", 3, "a score must be a number, got 'high'"),
    ("1 Q0 a 1 1_0 x\n", 1, "a score must be a number, got '1_0'"),
    ("1 Q0 a 1 0x10 x\n", 1, "a score must be a number, got '0x10'"),
    ("1 Q0 a 1 1.2.3 x\n", 1, "a score must be a number, got '1.2.3'"),
    ("1 Q0 a 1 . x\n", 1, "a score must be a number, got '.'"),
    ("1 Q0 a 1 - x\n", 1, "a score must be a number, got '-'"),
    ("1 Q0 a 1 ١ x\n", 1, "a score must be a number, got '١'"),
    ("1 Q0 a 1 2 x\n1 Q0 b 2 NaN x\n", 2, "a score must be finite, or -inf .* got nan"),
    ("1 Q0 a 1 inf x\n", 1, "a score must be finite, or -inf .* got inf"),
    ("1 Q0 a 1 1e999 x\n", 1, "got inf"),
    (
        "\n" + RUN + "1 Q0 b 9 0 x\n",
        5,
        r"document 'b' is a second time in topic '1' \(first in l.* 3",
    ),
    ("1 Q0 a 1 2 x\0\n", 1, "zero byte; if the file is UTF-16"),
    ("1 Q0 a 1 2 x\n1 Q0 b 1 1 x\n1 Q0 c\0 1 0 x\n1 Q0 d 1 0 x\n", 3, "zero byte"),
    ("qid;docno;score\n1;a;2\n", 1, "names of columns separated by .;.; separate"),
    ("1,a,2\n", 1, "1 column where .* needs a header that names its columns"),
    ("version https://git-lfs.github.com/spec/v1\noid sha256:abc\n", 1, "a pointer of Git LFS"),
    ("%PDF-1.4\n", 1, "looks like a document, picture or database, where a run was expected"),
]
BAD_QRELS = [
    ("1 0 a 1\n1 0 b\n", 2, r"3 columns where a qrels has 4 \(topic iteration docno label\)"),
    (
        RUN,
        1,
        "6 columns where a qrels has 4 .* a run has 6: if this is one, .* swapped",
    ),
    ("1 0 a 1\n1 0 b good\n", 2, "a label must be a number, got 'good'"),
    ("1 0 a 1\n1 0 b nan\n", 2, "a label must be a finite number, got nan; .* the unjudged label"),
    ("1 0 a -inf\n", 1, "a label must be a finite number, got -inf"),
    ("1 0 a 1\n2 0 a 1\n1 1 a 1\n", 3, r"'a' is a second time in topic '1' \(first in line 1\)"),
]


@pytest.mark.parametrize(("text", "line", "message"), BAD_RUNS)
def test_errors_of_runs(tmp_path, text, line, message):
    check_error(read_run, tmp_path, text, line, message)


@pytest.mark.parametrize(("text", "line", "message"), BAD_QRELS)
def test_errors_of_qrels(tmp_path, text, line, message):
    check_error(read_qrels, tmp_path, text, line, message)


def check_error(read, folder, text, line, message):
    path = folder / "file.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileFormatError, match=message) as caught:
        read(path)
    assert (caught.value.file, caught.value.line) == (str(path), line)
    assert str(caught.value).startswith(f"{path}:{line}: ")


@pytest.mark.slow
@given(
    st.lists(st.tuples(TOPICS, IDS), min_size=1, unique=True, max_size=30).flatmap(
        lambda pairs: st.tuples(
            st.just(pairs),
            st.lists(
                st.floats(allow_nan=False, allow_infinity=False),
                min_size=len(pairs),
                max_size=len(pairs),
            ),
        )
    ),
    st.booleans(),
)
def test_round_trip(rows, zipped):
    pairs, values = rows
    frame = pd.DataFrame(pairs, columns=["qid", "docno"])
    run = io.StringIO()
    write_run(run, frame.assign(score=values, run="name"))
    read = read_run(io.StringIO(run.getvalue()))
    key = ["qid", "docno"]
    expected = frame.assign(score=values).set_index(key)["score"].sort_index()
    found = read.set_index(key)["score"].sort_index()
    pd.testing.assert_series_equal(found, expected, check_exact=True)
    assert read["run"].unique().tolist() == ["name"]
    again = io.StringIO()
    write_run(again, read)
    assert again.getvalue() == run.getvalue()

    qrels = io.StringIO()
    write_qrels(qrels, frame.assign(label=values))
    text = qrels.getvalue()
    source = io.BytesIO(gzip.compress(text.encode())) if zipped else io.StringIO(text)
    read = read_qrels(source)
    expected = frame.assign(label=np.array(values, dtype=read["label"].dtype))
    pd.testing.assert_frame_equal(read, expected, check_exact=True)


def test_without_arrow_strings(monkeypatch):
    """pandas without pyarrow keeps strings as Python objects: the texts are the same."""
    expected = run_of(RUN)
    with pd.option_context("mode.string_storage", "python"):
        run = run_of(RUN)
        assert run["qid"].dtype == pd.Series(["a"]).dtype
    assert run.astype(object).equals(expected.astype(object))
    # Before pandas 3 they are of type object.
    monkeypatch.setattr(text_columns, "_arrow_strings", lambda: None)
    assert run_of(RUN).astype(object).equals(expected.astype(object))


@pytest.mark.slow
def test_parsers_of_trec_eval(data_dir):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    folder = data_dir / "trec-covid-round1"
    for path in thinned(sorted(folder.glob("runs/*.txt.gz"))[::40], parts=4):
        with gzip.open(path, "rt") as file:
            expected = pytrec_eval.parse_run(file)
        assert nested(read_run(path), "score") == expected
    qrels = [folder / "qrels.txt.gz", *sorted(data_dir.glob("trec-web-qrels/*.gz"))]
    assert len(qrels) == 6
    for path in thinned(qrels):
        with gzip.open(path, "rt") as file:
            expected = pytrec_eval.parse_qrel(file)
        assert nested(read_qrels(path), "label") == expected


def nested(frame, column):
    """Dictionary of dictionaries, as pytrec_eval has it."""
    nested = {}
    for qid, docno, value in zip(frame["qid"], frame["docno"], frame[column], strict=True):
        nested.setdefault(qid, {})[docno] = value
    return nested


@pytest.mark.parametrize("score", [2**53, 2**64])
def test_whole_scores_that_would_be_tied_are_refused(tmp_path, score):
    path = tmp_path / "run.txt"
    path.write_text(f"1 Q0 a 1 {score + 1} r\n1 Q0 b 2 {score} r\n")
    with pytest.raises(InputError, match="float64 rounds to one number"):
        read_run(path)
    path.write_text(f"1 Q0 a 1 {score} r\n1 Q0 b 2 {score} r\n1 Q0 c 3 1e300 r\n")
    assert read_run(path)["score"].tolist() == [score, score, 1e300]
