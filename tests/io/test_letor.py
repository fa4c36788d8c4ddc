import gzip
import io
import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

from profiles import times
from skfilterrank.exceptions import DataWarning, FileFormatError
from skfilterrank.io import read_letor, write_letor

TEXT = """\
# a comment line

2 qid:10 1:0.5 3:-2e-3 # docid = GX-1 inc = 1
nan qid:10 2:.25 #docid=GX-2
-1.5\tqid:9  1:nan   3:7. #rel docid = x#y
0 qid:9
"""


def test_values_ids_and_comments():
    X, y, groups, docnos, comments, zero_based = read_letor(io.StringIO(TEXT))
    np.testing.assert_array_equal(
        X, [[0.5, 0, -0.002], [0, 0.25, 0], [np.nan, 0, 7], [0, 0, 0]], strict=True
    )
    np.testing.assert_array_equal(y, [2, np.nan, -1.5, 0], strict=True)
    np.testing.assert_array_equal(groups, np.array([10, 10, 9, 9], dtype=np.int64), strict=True)
    assert docnos.tolist() == ["GX-1", "GX-2", "x#y", ""]
    assert comments.tolist() == ["docid = GX-1 inc = 1", "docid=GX-2", "rel docid = x#y", ""]
    assert zero_based is False


@pytest.mark.parametrize("opened", ["path", "str", "gz", "gz named .txt", "text", "bytes", "bom"])
def test_sources(tmp_path, opened):
    path = tmp_path / ("data.txt.gz" if opened == "gz" else "data.txt")
    data = TEXT.encode()
    if opened.startswith("gz"):
        data = gzip.compress(data)
    if opened == "bom":
        data = b"\xef\xbb\xbf" + data
    path.write_bytes(data)
    if opened in ("text", "bytes"):
        with open(path, "r" if opened == "text" else "rb") as handle:
            read = read_letor(handle)
            assert not handle.closed
    else:
        read = read_letor(str(path) if opened == "str" else path)
    np.testing.assert_array_equal(read.X, read_letor(io.StringIO(TEXT)).X)


def test_only_plain_blanks_are_blanks():
    data = read_letor(io.StringIO("1 qid:a\xa0b 1:1 # docid = x\xa0 \n"))
    assert (data.groups[0], data.docnos[0]) == ("a\xa0b", "x\xa0")
    assert data.comments[0] == "docid = x\xa0"


def test_windows_line_ends():
    read = read_letor(io.BytesIO(TEXT.replace("\n", "\r\n").encode()))
    assert read.docnos.tolist() == ["GX-1", "GX-2", "x#y", ""]
    assert read.comments[2] == "rel docid = x#y"


def test_many_blocks_give_the_same_as_one(monkeypatch):
    text = "".join(f"{i % 3} qid:{i // 7} {i % 5 + 1}:{i} # docid = d{i}\n" for i in range(200))
    whole = read_letor(io.BytesIO(text.encode()), sparse=False)
    monkeypatch.setattr("skfilterrank._files.files._CHUNK_BYTES", 100)
    for one, other in zip(whole, read_letor(io.BytesIO(text.encode())), strict=True):
        np.testing.assert_array_equal(one, other, strict=True)
    with pytest.raises(
        FileFormatError, match=r"<stream>:201: expected 'label qid:ID index:value ...'"
    ):
        read_letor(io.BytesIO(text.encode() + b"1 1:2\n"))
    with pytest.raises(FileFormatError, match=r"<stream>:201: byte 0xff is not UTF-8"):
        read_letor(io.BytesIO(text.encode() + b"1 qid:\xff\n"))


def test_files_are_joined_and_a_query_in_both_stays_one():
    first, second = io.StringIO("1 qid:b 1:1\n"), io.StringIO("0 qid:a 3:2\n1 qid:b 1:3\n")
    data = read_letor([first, second], sparse=False)
    assert data.groups.tolist() == ["b", "a", "b"]
    np.testing.assert_array_equal(data.X, [[1, 0, 0], [0, 0, 2], [3, 0, 0]])


@pytest.mark.parametrize("odd", ["007", "+7", "-0", "7.0", "q7", "9" * 19, "\u0667"])
def test_query_ids_stay_strings_where_one_is_no_plain_integer(odd):
    groups = read_letor(io.StringIO(f"1 qid:7\n1 qid:{odd}\n1 qid:7\n")).groups
    assert groups.dtype == object
    assert groups.tolist() == ["7", odd, "7"]


def test_query_id_types_are_decided_over_all_files():
    assert read_letor([io.StringIO("1 qid:-3"), io.StringIO("1 qid:4")]).groups.dtype == np.int64
    joined = read_letor([io.StringIO("1 qid:3"), io.StringIO("1 qid:x")])
    assert joined.groups.tolist() == ["3", "x"]


def test_n_features_widens_and_limits():
    assert read_letor(io.StringIO(TEXT), n_features=5, zero_based=False).X.shape == (4, 5)
    with pytest.raises(FileFormatError, match=r"<stream>:3: feature index 3: .* 2, by n_features"):
        read_letor(io.StringIO(TEXT), n_features=2)


@pytest.mark.parametrize(
    ("comments", "docnos"),
    [
        (["7555 rambo", "1370\trambo", "7555"], ["7555", "1370", "7555"]),
        (["rambo 7555", "rambo 1370", "x"], ["", "", ""]),  # one word of two documents
        (["7555", "", "x"], ["", "", ""]),
        (["7555", "docid = a", "x"], ["", "a", ""]),
        (["7555", "docid =", "x"], ["", "", ""]),
    ],
)
def test_a_comment_may_begin_with_the_document(comments, docnos):
    lines = [f"1 qid:{qid} 1:1 # {comment}" for qid, comment in zip("112", comments)]
    assert read_letor(io.StringIO("\n".join(lines))).docnos.tolist() == docnos


def test_a_text_in_the_only_line_of_a_query_names_no_document():
    text = "1 qid:1 1:1 # query one\n1 qid:2 1:1 # query two\n"
    assert read_letor(io.StringIO(text)).docnos.tolist() == ["", ""]


FROM_0 = "1 qid:1 1:3 0:2\n0 qid:1 1:4\n"


def test_features_may_be_numbered_from_0():
    read = read_letor(io.StringIO(FROM_0))
    assert read.zero_based is True
    np.testing.assert_array_equal(read.X, [[2.0, 3], [0, 4]], strict=True)
    # The index 0 of a test file may not occur.
    part = io.StringIO("0 qid:1 1:4\n"), io.StringIO("0 qid:2 1:4\n")
    X = read_letor(part[0], zero_based=True, n_features=2).X
    np.testing.assert_array_equal(X, [[0.0, 4]], strict=True)
    np.testing.assert_array_equal(read_letor(part[1]).X, [[4.0]], strict=True)


def test_scikit_learn_writes_what_is_read(tmp_path):
    X, y, qid = np.array([[0.0, 2.5, 1.0], [3.0, 0.0, -1.0]]), [1, 0], [4, 4]
    for zero_based in (True, False):
        path = tmp_path / f"{zero_based}.txt"
        dump_svmlight_file(X, y, str(path), zero_based=zero_based, query_id=qid)
        read = read_letor(path, sparse=False)
        np.testing.assert_array_equal(read.X, X, strict=True)
        assert (read.groups.tolist(), read.zero_based) == (qid, zero_based)


def dumped(X, comment="c", zero_based=True):
    out = io.BytesIO()
    settings = {"zero_based": zero_based, "comment": comment}
    dump_svmlight_file(np.array(X), [1] * len(X), out, query_id=[4] * len(X), **settings)
    return io.BytesIO(out.getvalue())


def test_a_comment_of_scikit_learn_says_where_indices_begin():
    X = np.array([[0.0, 2.5, 1.0]])
    read = read_letor(dumped(X), sparse=False, n_features=3)
    np.testing.assert_array_equal(read.X, X, strict=True)
    assert read.zero_based is True
    X = np.array([[1.0, 2.5, 0.0]])
    read = read_letor(dumped(X, zero_based=False), sparse=False, n_features=3)
    np.testing.assert_array_equal(read.X, X, strict=True)
    assert read.zero_based is False
    # A comment below a row belongs to another file, and says nothing.
    text = "1 qid:1 1:1\n# Column indices are zero-based\n"
    assert read_letor(io.StringIO(text)).zero_based is False
    # The caller's word counts more.
    assert read_letor(dumped(X), zero_based=True).zero_based is True


def test_files_that_begin_at_different_indices():
    from_1 = dumped([[1.0, 2]], zero_based=False).getvalue()
    for other in (dumped([[0.0, 2]]), io.StringIO(FROM_0)):
        with pytest.raises(ValueError, match="some of the files number features from 0, and some"):
            read_letor([io.BytesIO(from_1), other])
    wrong = from_1.replace(b" 1:", b" 0:")
    with pytest.raises(FileFormatError, match=":5: feature index 0: indices must be from 1 to"):
        read_letor(io.BytesIO(wrong))


def test_a_start_that_nothing_tells_causes_a_warning():
    with pytest.warns(DataWarning, match=r"index 0 or 3, .* to begin at 1\. Pass zero_based="):
        read = read_letor(dumped([[0.0, 2.5, 0]], comment=None), sparse=False, n_features=3)
    np.testing.assert_array_equal(read.X, [[2.5, 0, 0]])
    # Nothing is doubtful where the last index occurs, or no feature.
    read_letor(io.StringIO("1 qid:1 3:1\n"), n_features=3)
    read_letor(io.StringIO("1 qid:1\n"), n_features=3)


WITHOUT_IDS = "2 1:0.5 # 7 x\n0 2:1 # 8 y\n\n1 1:3 # 7 z\n"


def test_sizes_of_queries_stand_in_a_file_of_their_own(tmp_path):
    path = tmp_path / "rank.train"
    path.write_text(WITHOUT_IDS)
    with pytest.raises(FileFormatError, match="svmlight format without ids of queries: put the"):
        read_letor(path)
    beside = tmp_path / "rank.train.group"
    beside.write_text("2\n1\n")
    with pytest.warns(DataWarning, match=r"are read from .*rank\.train\.group, as group_sizes="):
        found = read_letor(path)
    np.testing.assert_array_equal(found.groups, np.array([0, 0, 1]), strict=True)
    assert found.docnos.tolist() == ["7", "8", "7"]
    for sizes in (beside, io.StringIO("2 1"), [2, 1], np.array([2, 1])):
        assert read_letor(path, group_sizes=sizes).groups.tolist() == [0, 0, 1]
    both = read_letor([path, path], group_sizes=[[1, 2], beside])
    assert both.groups.tolist() == [0, 1, 1, 2, 2, 3]
    packed = tmp_path / "rank.train.gz"
    packed.write_bytes(gzip.compress(WITHOUT_IDS.encode()))
    with pytest.warns(DataWarning, match="sizes of its queries"):
        assert read_letor(packed).groups.tolist() == [0, 0, 1]
    (tmp_path / "rank.train.query").write_text("3\n")
    with pytest.raises(ValueError, match=r"must be one of '.*train\.query', '.*train\.group'"):
        read_letor(path)


def test_sizes_of_queries_in_several_blocks(monkeypatch):
    text = "".join(f"{i % 3} 1:{i}\n" for i in range(100))
    monkeypatch.setattr("skfilterrank._files.files._CHUNK_BYTES", 50)
    sizes = [30, 1, 69]
    found = read_letor(io.StringIO(text), group_sizes=sizes)
    np.testing.assert_array_equal(found.groups, np.repeat([0, 1, 2], sizes))


@pytest.mark.parametrize(
    ("texts", "sizes", "message"),
    [
        (
            [WITHOUT_IDS],
            [[2, 2]],
            "group_sizes holds sizes of 2 queries with 4 rows, but",
        ),
        ([WITHOUT_IDS], [[3, 0]], "group_sizes must hold the number of rows of each query.* got 0"),
        ([WITHOUT_IDS], [io.StringIO("x")], "<stream> must hold the number of rows .* got 'x'"),
        ([WITHOUT_IDS], [3], "group_sizes must be a list of numbers of rows, got 3"),
        ([WITHOUT_IDS], [[3], [3]], r"with an entry for each file \(1\), got"),
        (
            [WITHOUT_IDS, TEXT],
            [[3], None],
            "some of the files have ids of queries, and some have not",
        ),
        ([TEXT], [[4]], r"<stream> has ids of queries \(qid:ID\): leave out group_sizes="),
        (["1 1:2 x\n"], [[1]], "expected 'label index:value ...', .* got 'x'"),
    ],
)
def test_sizes_that_do_not_fit(texts, sizes, message):
    with pytest.raises(ValueError, match=message):
        read_letor([io.StringIO(text) for text in texts], group_sizes=sizes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 Q0 d 1 2.5 x\n", "got 'Q0'; the file seems to be a run"),
        ("# c\nqid,docno,f\n1,a,2\n", "got 'qid,docno,f'; the file seems to be a table with names"),
        ('{"a": 1}\n', "the file seems to be JSON"),
        ("1 qid:1 x\n", "got 'x'. Correct the line"),
    ],
)
def test_an_error_of_the_first_line_says_what_the_file_seems_to_be(text, message):
    with pytest.raises(FileFormatError, match=message):
        read_letor(io.StringIO(text))


@pytest.mark.parametrize(
    ("text", "params", "message"),
    [
        (
            FROM_0,
            {"zero_based": False},
            "<stream>:1: feature index 0: indices must be from 1 to 21474836",
        ),
        (
            FROM_0,
            {"zero_based": True, "n_features": 1},
            "index 1: indices must be from 0 to 0, by n_feat",
        ),
        (
            FROM_0,
            {"n_features": 2},
            "zero_based must be said if n_features is given and some feature has",
        ),
        (FROM_0, {"zero_based": 1}, 'zero_based must be "auto", True or False, got 1'),
        (TEXT, {"n_features": 0}, "n_features must be None or a whole number from 1 to"),
        (TEXT, {"n_features": True}, "n_features must be None .* got True"),
        (TEXT, {"sparse": "yes"}, "sparse must be \"auto\", True or False, got 'yes'"),
        (TEXT, {"dtype": np.int64}, "dtype must be float32 or float64, got int64"),
        (TEXT, {"dtype": "real"}, "dtype must be float32 or float64, got 'real'"),
    ],
)
def test_bad_parameters(text, params, message):
    with pytest.raises(ValueError, match=message):
        read_letor(io.StringIO(text), **params)


def test_no_files_and_no_file():
    with pytest.raises(ValueError, match="source must hold at least one file, got an empty list"):
        read_letor([])
    with pytest.raises(TypeError, match="a path or an open file was expected, got int"):
        read_letor(3)


def test_sparse():
    dense = read_letor(io.StringIO(TEXT), sparse=False).X
    sparse = read_letor(io.StringIO(TEXT.replace("2:.25", "2:0")), sparse=True).X
    assert sp.issparse(sparse)
    assert sparse.format == "csr"
    assert sparse.nnz == 4  # the written zero is not stored
    dense[1, 1] = 0
    np.testing.assert_array_equal(sparse.toarray(), dense)


def test_auto_is_sparse_below_a_tenth():
    # One entry of ten, and one of eleven, that differs from 0.
    assert isinstance(read_letor(io.StringIO("1 qid:1 10:1")).X, np.ndarray)
    assert sp.issparse(read_letor(io.StringIO("1 qid:1 11:1")).X)


def test_dtype():
    for sparse in (False, True):
        X = read_letor(io.StringIO(TEXT), dtype=np.float32, sparse=sparse).X
        assert X.dtype == np.float32


def test_rows_without_any_feature():
    assert read_letor(io.StringIO("1 qid:1\n0 qid:1\n")).X.shape == (2, 0)


WORDS = "expected 'label qid:ID index:value ...', .*"
INDEX = "indices must be from 0 to 2147483647, the highest index, without repeats"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 1:0.5", f"{WORDS} got '1:0.5'"),
        ("1", f"{WORDS} got the end of the line"),
        ("1 qid: 1:0.5", f"{WORDS} got 'qid:'"),
        ("good qid:1 1:0.5", f"{WORDS} got 'good'"),
        ("inf qid:1 1:0.5", f"{WORDS} got 'inf'"),
        ("1e999 qid:1 1:0.5", "the label '1e999' is too large"),
        ("1 qid:1 1:0.5 2:", f"{WORDS} got '2:'"),
        ("1 qid:1 1:0.5 a:2", f"{WORDS} got 'a:2'"),
        ("1 qid:1 1:0.5 2:x", f"{WORDS} got '2:x'"),
        ("1 qid:1 1:1_0", f"{WORDS} got '1:1_0'"),
        ("1 qid:1 1:0.5 2:3:4", f"{WORDS} got '2:3:4'"),
        ("1 qid:1 1:\u0663", WORDS),
        ("1 qid:1 1:0.5 qid:2", f"{WORDS} got 'qid:2'"),
        ("1 qid:1 -1:0.5", f"{WORDS} got '-1:0.5'"),
        ("1 qid:1 4294967296:1", f"feature index 4294967296: {INDEX}"),
        (f"1 qid:1 {'9' * 5000}:1", WORDS),
        ("1 qid:1 3:1 1:1 2:2 1:0", f"feature index 1: {INDEX}"),
        ("1 qid:1 1:1 1:1", f"feature index 1: {INDEX}"),
        ("1 qid:1 1:1 2:-Infinity", f"{WORDS} got '2:-Infinity'"),
        ("1 qid:1 1:1 2:1e999", "feature index 2: .* be finite in float64"),
    ],
)
def test_broken_line(tmp_path, line, message):
    path = tmp_path / "broken.txt"
    # Blank lines, comments and rows without features stand before it, so that rows are not lines.
    path.write_text(f"# head\n\n1 qid:1\n0 qid:1 1:1 2:2\n{line} # docid = x\n1 qid:2 1:1\n")
    with pytest.raises(FileFormatError) as error:
        read_letor(path)
    assert re.match(f"{path}:5: {message}", str(error.value))
    assert (error.value.file, error.value.line) == (str(path), 5)


TOKENS = st.sampled_from(
    ["1", "qid:1", "1:2", "2:nan", " ", "\t", "-", "+1:2", ":", "#", "\xa0", "3:", "0:1", "é", "\0"]
)


@pytest.mark.slow
@times(6)
@given(st.lists(TOKENS, max_size=8).map("".join) | st.lists(TOKENS, max_size=8).map(" ".join))
def test_any_line_is_read_or_explained(line):
    line = f"1 qid:1\n{line}\n"
    n_rows = error = None
    try:
        n_rows = len(read_letor(io.BytesIO(line.encode())).y)
    except FileFormatError as caught:
        error = caught
    if error is None:
        assert n_rows == sum(bool(part.partition("#")[0].strip(" \t")) for part in line.split("\n"))
    else:
        assert error.line == 2


def test_value_too_large_for_float32():
    with pytest.raises(FileFormatError, match=r":1: feature index 1: .* be finite in float32"):
        read_letor(io.StringIO("1 qid:1 1:1e300"), dtype=np.float32)


@pytest.mark.parametrize("content", [b"", b"\n \n", b"# only\n# comments\n"])
def test_file_without_rows(tmp_path, content):
    path = tmp_path / "none.txt"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"none\.txt: the file holds no rows"):
        read_letor([io.StringIO(TEXT), path])


def test_undecodable_bytes(tmp_path):
    path = tmp_path / "latin1.txt"
    path.write_bytes("1 qid:1 1:1\n1 qid:é 1:1\n".encode("latin-1"))
    with pytest.raises(FileFormatError, match=r"latin1\.txt:2: byte 0xe9 is not UTF-8"):
        read_letor(path)
    with (
        open(path, encoding="utf-8") as handle,
        pytest.raises(FileFormatError, match=r"latin1\.txt: some byte does not decode"),
    ):
        read_letor(handle)


# Everything that is neither white space nor "#"; surrogates cannot be written as UTF-8.
IDS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n\r\f\v#"), min_size=1
)
NUMBERS = st.floats(allow_infinity=False)


@st.composite
def tables(draw):
    n_rows, n_features = draw(st.integers(1, 6)), draw(st.integers(0, 5))

    def column(elements):
        return draw(st.lists(elements, min_size=n_rows, max_size=n_rows))

    values = draw(
        st.lists(NUMBERS | st.just(0.0), min_size=n_rows * n_features, max_size=n_rows * n_features)
    )
    groups = column(draw(st.sampled_from([IDS, st.integers(-(10**17), 10**17)])))
    docnos = column(st.just("") | IDS.filter(lambda text: text.strip(" ")))
    X = np.array(values, dtype=np.float64).reshape(n_rows, n_features)
    return X, np.array(column(NUMBERS)), groups, docnos


@pytest.mark.slow
@times(2)
@given(table=tables(), sparse=st.booleans())
def test_round_trip(table, sparse):
    X, y, groups, docnos = table
    file = io.BytesIO()
    write_letor(file, sp.csr_matrix(X) if sparse else X, y, groups, docnos=docnos)
    file.seek(0)
    read = read_letor(file, sparse=sparse)
    np.testing.assert_array_equal(read.X.toarray() if sparse else read.X, X, strict=True)
    np.testing.assert_array_equal(read.y, y)
    assert list(map(str, read.groups)) == list(map(str, groups))
    assert (read.groups.dtype == np.int64) or isinstance(groups[0], str)
    assert read.docnos.tolist() == docnos


def test_dump_text():
    file = io.StringIO()
    write_letor(
        file,
        pd.DataFrame({"a": [1, 2], "b": [0.1, np.nan]}),
        pd.Series([2.0, np.nan]),
        pd.Series(["q", "r"]),
        docnos=["d", None],
    )
    assert file.getvalue() == "2 qid:q 1:1.0 2:0.1 #docid = d\nnan qid:r 1:2.0 2:nan\n"


def test_dump_sparse_keeps_the_width_and_the_caller_s_matrix():
    X = sp.csr_matrix(([1.0, 0.0, 2.0], [2, 1, 0], [0, 2, 3]), shape=(2, 4))
    file = io.StringIO()
    write_letor(file, X, [1, 0.5], [1, 1])
    assert file.getvalue() == "1 qid:1 3:1.0 4:0.0\n0.5 qid:1 1:2.0\n"
    assert X.nnz == 3


def test_dump_gzip_is_the_same_each_time(tmp_path):
    for name in ("a.txt.gz", "b.txt.gz"):
        write_letor(tmp_path / name, [[1.0]], [1], ["q"])
    data = (tmp_path / "a.txt.gz").read_bytes()
    assert gzip.decompress(data) == b"1 qid:q 1:1.0\n"
    assert data == (tmp_path / "b.txt.gz").read_bytes()
    assert data[4:8] == bytes(4)  # the time


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.empty((0, 2))}, r"at least one row, got shape \(0, 2\)"),
        ({"X": [1.0, 2.0]}, r"X must be 2-dimensional"),
        ({"y": [1]}, "y must have one entry per row of X, got 1 entries for 2 rows"),
        (
            {"groups": [1, 2, 3]},
            "groups must have one entry per row of X, got 3 entries for 2 rows",
        ),
        ({"docnos": ["a"]}, "docnos must have one entry per row of X, got 1 entries for 2 rows"),
        ({"X": [[np.inf], [1]]}, "X must not hold infinite values"),
        ({"y": [1, -np.inf]}, "y must not hold infinite values"),
        ({"groups": ["a", "b c"]}, "groups holds 'b c', but ids in a LETOR file must not"),
        ({"groups": ["a", "b#"]}, "groups holds 'b#'"),
        ({"groups": ["a", ""]}, "groups holds ''"),
        ({"groups": ["a", None]}, "groups holds ''"),
        ({"docnos": ["a", "b\n"]}, r"docnos holds 'b\\n'"),
    ],
)
def test_dump_errors_leave_no_file(tmp_path, change, message):
    arguments = {"X": [[1.0], [2.0]], "y": [1, 2], "groups": [1, 1], "docnos": None} | change
    path = tmp_path / "out.txt"
    with pytest.raises(ValueError, match=message):
        write_letor(path, **arguments)
    assert not path.exists()


def test_dump_to_no_file():
    with pytest.raises(TypeError, match="path must be a path or an open file, got NoneType"):
        write_letor(None, [[1.0]], [1], [1])


def test_entries_of_one_place_are_added_up():
    X = sp.csr_matrix(([1.0, 2.0, 5.0, -5.0], [0, 0, 1, 1], [0, 4]), shape=(1, 3))
    file = io.StringIO()
    write_letor(file, X, [1], [1])
    # The zero at the end keeps the number of columns.
    assert file.getvalue() == "1 qid:1 1:3.0 3:0.0\n"
    assert X.nnz == 4


def test_labels_of_many_digits_are_written_short():
    file = io.StringIO()
    write_letor(file, [[0.0]] * 4, [1e15, -1e300, 999999999999999.0, -0.5], [1] * 4)
    labels = [line.split()[0] for line in file.getvalue().splitlines()]
    assert labels == ["1000000000000000.0", "-1e+300", "999999999999999", "-0.5"]
