"""Judgments and runs from whatever holds them: paths, open files, packed ones, tables."""

import gzip
import io
import pickle
import tarfile
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfilterrank.exceptions import DataWarning, FileFormatError, InputError, InputTypeError
from skfilterrank.io import align, read_qrels, read_run, read_runs, write_qrels, write_run
from skfilterrank.metrics import stat_ap_score
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


def test_ranks_are_carried_along():
    assert run_of("1 Q0 a 9 1 x\n1 Q0 b 3 2 x\n")["rank"].tolist() == [9, 3]
    ranks = ["-1", "2.5", "1e3", "12345678901"]
    text = "".join(f"1 Q0 d{rank} {rank} 1 x\n" for rank in ranks)
    assert run_of(text)["rank"].tolist() == [-1.0, 2.5, 1e3, 12345678901.0]


def test_filtered_documents():
    assert run_of("1 Q0 a 1 -inf x\n")["score"].tolist() == [-np.inf]


BAD_RUNS = [
    (
        "1 Q0 a 1 2 x\n1 Q0 b 2 1\n",
        2,
        r"5 columns where a run has 6 \(qid Q0 docno rank .*: ids must not hold",
    ),
    (
        "\n\n" + QRELS,
        3,
        r"4 columns where a run has 6 .*; the file seems to be judgments \(qid iteration docno "
        r"label\): judgments come first, .* a folder of runs must hold nothing else",
    ),
    ("1 Q0 a 1 2 x 1\n Q0 b 2 1 x\n", 1, "7 columns"),  # 12 words, at the wrong places
    ("1 Q0 a 1 2\nx 1 Q0 b 2 1 x\n", 1, "5 columns"),
    ("1 Q0 a 1 2 x\n1 Q0 b\n", 2, "3 columns where a run has 6"),
    ("1 a 1\n1 Q0 b 2 3 x\n", 2, r"6 columns where a MS MARCO run has 3 \(qid docno rank\)"),
    (
        "1 a 1\n1 b 2.5\n",
        2,
        "the rank 2.5, but a whole number was expected: a run with 3 columns is",
    ),
    ("1 a 1\n1 b x\n", 2, "the rank 'x', but a number was expected"),
    ("1 a 1\n1 b 2\n1 a 3\n", 3, r"'a' twice in query '1' \(first in line 1"),
    ("1\n", 1, "1 column where"),
    (f"{RUN}2 Q0 b 2 1 x y\n", 4, "7 columns where .* ids must not hold white space"),
    (
        f"{RUN}2 Q0 b first 1 x\n",
        4,
        "the rank 'first', but a number was expected; the columns of a run",
    ),
    (f"{RUN}2 Q0 b nan 1 x\n", 4, "the rank 'nan', but a number was expected"),
    ("1 Q0 a 1 2 x\n\n1 Q0 b 2 high x\n", 3, "the score 'high', but a number was expected"),
    ("1 Q0 a 1 1_0 x\n", 1, "the score '1_0', but a number was expected"),
    ("1 Q0 a 1 2 x\n1 Q0 b 2 NaN x\n", 2, "the score nan; a score must be finite, or -inf"),
    ("1 Q0 a 1 inf x\n", 1, "the score inf; a score must be finite, or -inf"),
    (
        "\n" + RUN + "1 Q0 b 2 -1 x\n",
        5,
        r"document 'b' twice in query '1' \(first in line 3",
    ),
    ("1 Q0 a 1 2 x\0\n", 1, "a zero byte or a carriage return; if the file is UTF-16"),
    ("1 Q0 a 1 2 x\n1 Q0 b 1 1 x\n1 Q0 c\0 1 0 x\n1 Q0 d 1 0 x\n", 3, "zero byte"),
    (
        "1,a,2\n",
        1,
        "1 column .* seems to be a table without names of columns: put names of the col",
    ),
    (
        "1::a::5::9783\n",
        1,
        "1 column .* seems to be fields between '::': write tabs instead, and p",
    ),
    (
        "version https://git-lfs.github.com/spec/v1\noid sha256:abc\n",
        1,
        "lines of a run .* pointer",
    ),
    ("%PDF-1.4\n", 1, "seems to be a PDF"),
    ("2 qid:1 1:0.5 2:1 3:0 4:1\n", 1, "lines of a run .* seems to be a LETOR file, which read_l"),
    ("0 1:0.5 2:1\n", 1, "seems to be features in svmlight format without ids of queries: put"),
    ("<html lang='en'>\n", 1, "seems to be a page of HTML, perhaps of a failed download: fetch it"),
]

BAD_QRELS = [
    ("1 0 a 1\n1 0 b\n", 2, r"3 columns where a qrels has 4 \(qid iteration docno label\)"),
    (
        RUN,
        1,
        r"6 columns where a qrels has 4 .*; the file seems to be a run \(.*\): judgments come",
    ),
    ("1 0 a 1\n1 0 b good\n", 2, "the label 'good', but a number was expected"),
    (
        "1 0 a 1\n1 0 b nan\n",
        2,
        "the label nan; labels must be finite numbers, .* the unjudged label",
    ),
    ("1 0 a -inf\n", 1, "the label -inf; labels must be finite"),
    ("1 0 a 1\n2 0 a 1\n1 1 a 1\n", 3, r"'a' twice in query '1' \(first in line 1"),
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


@pytest.mark.parametrize("read", [read_run, read_qrels])
def test_what_is_packed_twice_or_in_an_archive(read):
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as file:
        file.addfile(tarfile.TarInfo("run.txt"), io.BytesIO())
    packed = gzip.compress(archive.getvalue())
    for content in (packed, gzip.compress(packed), pickle.dumps({"1": {"a": 1}})):
        with pytest.raises(FileFormatError, match=r"a tar arch|a binary file|zero byte"):
            read(io.BytesIO(content))


@pytest.mark.parametrize("read", [read_run, read_qrels])
@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ({"1": 1.0}, r"got \{'1': 1.0\}"),
        ({"1": ["a", "b"]}, r"got \{'1': \['a', 'b'\]\}"),
    ],
)
def test_dicts_of_another_form(read, source, shown):
    message = shown + r"\. A dict \{query: \{document: .*\}\}, an Arrow table"
    with pytest.raises(InputTypeError, match=message):
        read(source)


def test_an_empty_dict_is_read_as_an_empty_file_is():
    with pytest.warns(DataWarning, match="holds no document"):
        assert len(read_run({})) == 0
    with pytest.raises(InputTypeError, match=r"got \{\}\. A dict"):
        read_qrels({})


@pytest.mark.parametrize("read", [read_run, read_qrels])
def test_files_that_hold_nothing_or_cannot_be_read(read, tmp_path):
    if read is read_run:
        with pytest.warns(DataWarning, match="<stream> holds no document"):
            assert read(io.StringIO("qid,docno,score\n")).empty
    for empty in ("", "\n \n\t\r\n", "\ufeff"):
        if read is read_run:
            with pytest.warns(DataWarning, match="<stream> holds no document"):
                assert read(io.StringIO(empty)).empty
        else:
            with pytest.raises(FileFormatError, match=r"<stream>: the file holds no lines; lines"):
                read(io.StringIO(empty))
    with pytest.raises(FileFormatError, match=r"<stream>:2: byte 0xe9 is not UTF-8"):
        read(io.BytesIO(b"1 0 a 1\n1 0 \xe9 1\n"))
    with (
        io.TextIOWrapper(io.BytesIO(b"1 0 \xe9 1\n"), encoding="utf-8") as handle,
        pytest.raises(FileFormatError, match="some byte does not decode"),
    ):
        read(handle)
    with pytest.raises(FileFormatError, match="the gzip file is damaged or cut short"):
        read(io.BytesIO(gzip.compress(b"1 0 a 1\n" * 1000)[:-9]))
    with pytest.raises(FileFormatError, match="the gzip file is damaged or cut short"):
        read(io.BytesIO(gzip.compress(RUN.encode())[:-8] + b"\1" * 8))
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "absent")
    with pytest.raises(TypeError, match="source must be a data frame, a path or an open file, got"):
        read([])
    with pytest.raises(TypeError, match=r"got Series\. .* such as by reset_index\(\) where q"):
        read(pd.Series([1.0]))


PRELS = """\
10 d1 2 1 0.5
10 d2 0 0 1
10 d3 1 2 0.25
"""

RUN_PRELS = pd.DataFrame({"qid": "10", "docno": ["d2", "x", "d3"], "score": [3.0, 2.0, 1.0]})


def test_probabilities_are_carried_along():
    aligned = align(read_qrels(io.StringIO(PRELS)), RUN_PRELS)
    assert aligned.docnos.tolist() == ["d2", "x", "d3", "d1"]
    np.testing.assert_array_equal(aligned.inclusion_probability, [1, np.nan, 0.25, 0.5])
    # R is estimated as 1 / 0.5 + 1 / 0.25; d3 at place 3 has nothing relevant above it.
    y_true, y_score, groups = aligned
    value = stat_ap_score(
        y_true, y_score, groups=groups, inclusion_probability=aligned.inclusion_probability
    )
    assert value == pytest.approx((1 / 0.25) * (1 / 3) / (2 + 4))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "10 d1 2 1 1\n10 d1 2 1\n",
            "2: 4 columns where a sample has 5 .*, as the first line does",
        ),
        (
            "10 d1 2 1 0\n",
            "1: the line holds the inclusion probability 0.0 for a label.* above 0 and at most 1",
        ),
        ("10 d1 2 1 1\n10 d2 2 1 1.5\n", "2: the line holds the inclusion probability 1.5"),
        ("10 d1 2 1 nan\n", "1: the line holds the inclusion probability nan"),
        (
            "10 d1 2 1 x\n",
            "1: the line holds the inclusion probability 'x', but a number was expected; "
            "the columns of a sample are qid docno label method inclusion_probability; ids",
        ),
        # An id with a blank makes no sample.
        ("10 0 c 1 2\n10 0 d 2 1\n", "1: the line holds the label 'c', but .* no white"),
        ("10 0 c 1\n10 0 c 2 1\n", "2: 5 columns where a qrels has 4"),
        ('{"1": ["d1", "d2"], "2": []}', "maps ids to lists, but each query must map its docum"),
        # Rows without fields count.
        ("qid;docno;label\n1;a;0\n;;\n1;b;1\n1;c;no\n", ":5: the row holds 'no' in column 'label'"),
        (
            '{"qid": "1", "docno": "a", "label": ["0"]}\n'
            '{"qid": "1", "docno": "b", "label": [0, 1]}\n',
            r":2: .* 2 labels, \[0, 1\]; keep one",
        ),
    ],
)
def test_bad_files(text, message):
    with pytest.raises(FileFormatError, match=message):
        read_qrels(io.StringIO(text))


@pytest.mark.slow
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["1", "02", "q"]),
            st.integers(0, 99).map("d{}".format),
            st.one_of(st.integers(-2, 4), st.floats(-1e300, 1e300)),
            st.floats(0, 1, exclude_min=True),
        ),
        min_size=1,
        unique_by=lambda row: row[:2],
    )
)
def test_what_is_written_reads_back(rows):
    columns = ["qid", "docno", "label", "inclusion_probability"]
    prels = pd.DataFrame(rows, columns=columns)
    file = io.StringIO()
    write_qrels(file, prels)
    found = read_qrels(io.StringIO(file.getvalue()))
    pd.testing.assert_frame_equal(found, prels, check_dtype=False, check_exact=True)


def test_a_probability_of_0_cannot_be_written():
    prels = read_qrels(io.StringIO(PRELS)).assign(inclusion_probability=0.0)
    with pytest.raises(InputError, match=r"inclusion probability 0\.0 in row 0 for a label"):
        write_qrels(io.StringIO(), prels)


def test_unjudged_documents_of_a_sample():
    sample = read_qrels(io.StringIO(PRELS)).assign(label=[1, np.nan, 0])
    file = io.StringIO()
    write_qrels(file, sample, unjudged_label=-9)
    assert file.getvalue() == "10 d1 1 1 0.5\n10 d2 -9 1 1\n10 d3 0 1 0.25\n"
    found = read_qrels(io.StringIO(file.getvalue()), unjudged_label=-9)
    pd.testing.assert_frame_equal(found, sample)
    sample.loc[1, "inclusion_probability"] = np.nan
    with pytest.raises(InputError, match="no inclusion probability in row 1: leave such rows out"):
        write_qrels(io.StringIO(), sample, unjudged_label=-9)


def test_tables_with_probabilities():
    table = b"qid,docno,label,inclusion_probability\n1,a,2,0.25\n1,b,0,1\n"
    expected = read_qrels(io.StringIO("1 a 2 1 0.25\n1 b 0 1 1\n"))
    pd.testing.assert_frame_equal(read_qrels(io.BytesIO(table)), expected)
    with pytest.raises(
        ValueError, match=r":3: the row holds the inclusion probability 2.0 for a label"
    ):
        read_qrels(io.BytesIO(table.replace(b"0,1\n", b"0,2\n")))


FRAME = pd.DataFrame(
    {"qid": ["2", "1", "1"], "docno": ["a", "b", "c"], "score": [1.0, 2.5, -np.inf]}
)


def test_ids_of_frames_stay_what_they_are():
    frame = pd.DataFrame({"query_id": [7, 8], "doc_id": [1, 2], "score": [1, 2], "other": "x"})
    found = read_runs({"mine": frame})["mine"]
    assert found.to_dict("list") == {"qid": [7, 8], "docno": [1, 2], "score": [1.0, 2.0]}
    pl = pytest.importorskip("polars")
    of_polars = read_runs({"mine": pl.from_pandas(frame)})["mine"]
    assert of_polars.to_dict("list") == found.to_dict("list")
    levels = FRAME.set_index(["qid", "docno"])
    pd.testing.assert_frame_equal(read_runs({"mine": levels})["mine"], FRAME)


def test_ranks_stand_for_scores():
    ranked = FRAME.drop(columns="score").assign(rank=[1, 1, 2])
    assert read_runs({"mine": ranked})["mine"]["score"].tolist() == [-1.0, -1.0, -2.0]


FILLED = [
    "qid,docno,text,inclusion_probability,label",
    "1,01,a,0.25,no",
    "1,d2,b,1,yes",
    "2,d1,,0.5,",
]


@pytest.mark.parametrize(
    "lines",
    [
        FILLED,
        # As spreadsheets write it: with a byte order mark, other ends of lines, an empty row.
        ["\ufeff" + FILLED[0], *(f'{line}\r' for line in FILLED[1:]), ",,,,\r"],
        [FILLED[0].replace(",", ";"), "1;01;a;0,25;no", "1;d2;b;1;yes", "2;d1;;0,5;", ";;;;"],
        ['"label","docno","qid","note","inclusion_probability"',
         '"no","01","1","a ""b"",\nc",0.25', '"yes","d2","1","",1', '"","d1","2","",0.5'],
        ['{"qid": "1", "docno": "01", "label": ["no"], "inclusion_probability": 0.25}',
         '{"qid": "1", "docno": "d2", "label": ["yes"], "inclusion_probability": 1, "id": 7}',
         '{"qid": "2", "docno": "d1", "label": [], "inclusion_probability": 0.5}'],
        ['[{"qid": "1", "docno": "01", "label": "no", "inclusion_probability": 0.25},',
         '{"qid": "1", "docno": "d2", "label": "yes", "inclusion_probability": 1},',
         '{"qid": "2", "docno": "d1", "label": null, "inclusion_probability": 0.5}]'],
    ],
    ids=["csv", "re-saved", "semicolons", "quotes", "doccano", "list"],
)  # fmt: skip
def test_a_table_that_was_filled_in(lines):
    qrels = read_qrels(io.StringIO("\n".join(lines) + "\n"), gains={"no": 0, "yes": 1})
    assert qrels[["qid", "docno"]].to_numpy().tolist() == [["1", "01"], ["1", "d2"], ["2", "d1"]]
    np.testing.assert_array_equal(qrels["label"], [0, 1, np.nan])
    assert qrels["inclusion_probability"].tolist() == [0.25, 1, 0.5]


def test_empty_probabilities_are_none():
    text = "qid,docno,inclusion_probability,label\n1,a,,1\n1,b,,\n"
    assert "inclusion_probability" not in read_qrels(io.StringIO(text))
    with pytest.raises(FileFormatError, match=":3: the row holds the inclusion probability nan"):
        read_qrels(io.StringIO(text.replace("a,,", "a,.5,").replace("b,,", "b,,1")))


@pytest.mark.parametrize(
    ("read", "lines", "message"),
    [
        (
            read_qrels,
            "1 0 18 1 0.5\n2 0 77 1 0.25\n",
            "1: the line holds '0' in its second column, as",
        ),
        (read_qrels, "1 Q0 18 1 1\n2 0 77 1 1\n", "leave the second one out if this is one, and"),
        (
            read_qrels,
            "1 18 1 0.5\n2 77 1 1\n3 5 0 1\n",
            "1: the line holds '18' in its second .* third",
        ),
        (
            read_run,
            "1 d7 3\n1 d8 12\n2 d1 7\n",
            "1: the line holds the rank 3; a run with 3 columns",
        ),
        (read_run, "1 d7 1\n1 d8 0\n1 d9 1\n", "3: the line holds the rank 1 a second time in its"),
    ],
)
def test_columns_that_mean_something_else(read, lines, message):
    with pytest.raises(FileFormatError, match=message):
        read(io.StringIO(lines))


def test_documents_may_stand_before_a_column_of_zeros():
    text = "# c\n7 01 0 1\n1 a 0 2\n1 b 0 -1\n2 c 0 0\n"
    qrels = read_qrels(io.StringIO(text))
    assert qrels.to_dict("list") == {
        "qid": list("7112"),
        "docno": ["01", "a", "b", "c"],
        "label": [1, 2, -1, 0],
    }
    # A document 0 of several queries, and of two iterations of one.
    assert read_qrels(io.StringIO("1 0 0 2\n2 1 0 1\n"))["docno"].tolist() == ["0", "0"]
    # Subtopics of documents, one of which is called 0.
    for text in ("1 0 0 2\n1 0 0 1\n", "1 1 0 2\n1 2 0 1\n1 1 5 1\n"):
        with pytest.raises(FileFormatError, match="2: the line holds document '0' twice in quer"):
            read_qrels(io.StringIO(text))


def test_runs_of_four_columns():
    for ranks in ((0, 1), (1, 2)):
        text = "# c\n1 a {} 1.5\n1 b {} 0.5\n".format(*ranks)
        run = read_run(io.StringIO(text))
        assert run.to_dict("list") == {
            "qid": ["1", "1"],
            "docno": ["a", "b"],
            "rank": list(ranks),
            "score": [1.5, 0.5],
        }
        with pytest.raises(FileFormatError, match=r"2: lines of a qrels .* a run \(qid docno rank"):
            read_qrels(io.StringIO(text))
    # Documents that are called 1 and 2.
    for text in ("1 0 1 0.5\n1 0 2 0.25\n", "1 0 1 2\n1 1 2 0\n", "1 0 1 0.5\n2 1 2 1\n"):
        with pytest.raises(FileFormatError, match="seems to be judgments"):
            read_run(io.StringIO(text))
        read_qrels(io.StringIO(text))


def test_columns_that_may_look_so():
    assert read_qrels(io.StringIO("1 0 2 1 1\n2 d 0 1 1\n"))["docno"].tolist() == ["0", "d"]
    two = "1 predicted:a d 1\n2 predicted:b e 1\n3 0 f 1\n"
    assert len(read_qrels(io.StringIO(two), predicted="use")) == 3
    assert read_run(io.StringIO("1 d 0\n1 e 3\n2 d 1\n"))["score"].tolist() == [0, -3, -1]


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        ("QID,DocNo,Rating,Prediction", None),
        ("question_id,passage_id,grade,score", None),
        ("Query ID,Document ID,Grade,Score", None),
        ("user;item;rating;prediction", None),
        ("Query_ID\tdocId\tRelevance\tScore", None),
        ("question,answer,verdict,logit", ["qid", "docno", "label", "score"]),
    ],
)
def test_usual_names_of_columns_and_others_that_are_given(header, columns, tmp_path):
    if columns is not None:
        columns = dict(zip(columns, header.split(",")))
    separator = next(each for each in ";\t," if each in header)
    path = tmp_path / "table"
    path.write_text(
        "\n".join([header, *(row.replace(",", separator) for row in ("01,a,2,3", "01,b,0,5"))])
    )
    qrels, run = read_qrels(path, columns=columns), read_run(path, columns=columns)
    assert qrels.to_dict("list") == {"qid": ["01"] * 2, "docno": ["a", "b"], "label": [2, 0]}
    assert run.to_dict("list") == {"qid": ["01"] * 2, "docno": ["a", "b"], "score": [3.0, 5.0]}
    frame = pd.read_csv(path, sep=separator, dtype=str).astype({header.split(separator)[3]: float})
    found = read_runs({"a": frame}, columns=columns)["a"]
    assert found.to_dict("list") == run.to_dict("list")


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        (
            "# c\nqid,text,stars\n1,a,2\n",
            None,
            "no column 'docno' or 'doc_id', and no column 'label' or 'relevance'; its columns are "
            "'qid', 'text', 'stars'. Name each by columns=, or rename it",
        ),
        (
            "1 0 a 1\n",
            {"qid": "q"},
            "the first line names no columns such as 'q': leave out columns=, or put names of the "
            "columns into the first line; the file seems to be judgments",
        ),
        (
            "qid,docno,x\n1,a,2\n",
            {"label": "y"},
            "no column 'y'; its columns are 'qid', 'docno', 'x'",
        ),
        (
            "1 0 a 1\n",
            {"document": "q"},
            "columns must have keys among 'qid', 'docno', .*'document'",
        ),
        ("\n", {"qid": "q"}, "the file holds no lines"),
        ("qid\tdocno,label\n", {"label": "label"}, "names no columns such as 'label'"),
        ("1 0 a 1\n", ["q"], "columns must be a dict of names by our names, such as"),
        # JSON of rows is told from JSON that maps queries to lists.
        ('[{"id": ["d1"]}]', None, "its columns are 'id'"),
    ],
)
def test_columns_that_are_not_known(text, columns, message):
    with pytest.raises(InputError, match=message):
        read_qrels(io.StringIO(text), columns=columns)


@pytest.mark.parametrize("read", [read_qrels, read_run])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_a_header_above_words_names_columns_that_are_not_known(read, separator):
    lines = "question,answer,verdict\nwho is it,a,good\nwhat is it,b,bad\n"
    with pytest.raises(
        InputError, match=r"'question', 'answer', 'verdict'\. Name each by columns="
    ):
        read(io.StringIO(lines.replace(",", separator)))


def test_runs_without_ranks():
    run = read_run(io.StringIO("1 Q0 a 1.5\n1 Q0 b 0.25\n1 Q0 c 0\n"))
    assert run.to_dict("list") == {
        "qid": ["1"] * 3,
        "docno": ["a", "b", "c"],
        "score": [1.5, 0.25, 0.0],
    }
    for scores in ((1, 0), (1.5, 2), ("1.0", "2.0")):
        lines = "".join(f"1 Q0 d{score} {score}\n" for score in scores)
        with pytest.raises(FileFormatError, match=r"judgments, or a run without ranks .*: for a"):
            read_run(io.StringIO(lines))


def read_named(frame):
    return read_runs({"a": frame})["a"]


@pytest.mark.parametrize("name", ["qid", "docno"])
@pytest.mark.parametrize("dtype", [object, "string[pyarrow]", "category"])
@pytest.mark.parametrize(
    ("read", "value"), [(read_qrels, "label"), (read_run, "score"), (read_named, "score")]
)
def test_empty_ids(name, dtype, read, value):
    frame = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], value: [1.0, 0.0]})
    assert len(read(frame)) == 2
    ids = frame[name].tolist()
    frame[name] = pd.Series([ids[0], ""], dtype=dtype)
    message = f"(source|run) holds no id in column '{name}' in row 1; every row needs one"
    with pytest.raises(InputError, match=message):
        read(frame)


@pytest.mark.parametrize("dtype", ["Int64", "int64[pyarrow]", "float64", object])
def test_a_missing_rank_hides_nothing(dtype):
    run = pd.DataFrame({"qid": ["1"] * 3, "docno": list("abc"), "score": [3.0, 2.0, 1.0]})
    ranks = pd.Series([1, None, 0], dtype=dtype)
    assert read_run(run.assign(rank=ranks))["score"].tolist() == [3.0, 2.0, -np.inf]


def test_distances_in_the_place_of_scores_are_told():
    lines = [f"{q} Q0 d{rank} {rank} {rank / 10} x" for q in (1, 2) for rank in range(1, 12)]
    run = pd.DataFrame([line.split()[::2] for line in lines], columns=["qid", "docno", "score"])
    ranked = run.assign(rank=[line.split()[3] for line in lines])
    for source in (
        io.StringIO("\n".join(lines)),
        io.StringIO(ranked.to_csv()),
        ranked.astype({"score": float}),
    ):
        with pytest.warns(DataWarning, match="scores of .* rise from rank to rank, as distances"):
            read_run(source)
    with warnings.catch_warnings(action="error"):
        read_run(io.StringIO("\n".join(lines[:-2])))  # few
        read_run(io.StringIO(run.to_csv()))  # without ranks
        read_run(io.StringIO("\n".join([*lines, "2 Q0 d12 12 0.4 x"])))
        read_run(io.StringIO(ranked.drop(columns="score").to_csv()))
        # The first document of each of 30 queries is hidden.
        rows = [f"{q},d{rank},{rank},{9 - rank},{rank - 1}" for q in range(30) for rank in (1, 2)]
        read_run(io.StringIO("\n".join(["qid,docno,rank,score,shown", *rows])))
