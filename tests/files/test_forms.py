"""What a file is, told from its first bytes and lines."""

import gzip
import io
import pickle

import numpy as np
import pytest

from skfilterrank._files.forms import (
    LINES,
    form_of,
    has_labels,
    header_of,
    is_empty,
    n_columns,
    read_texts,
    unknown_header,
)
from skfilterrank.exceptions import FileFormatError


def npy():
    out = io.BytesIO()
    np.save(out, [1])
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"1 0 a 1\n", "columns between white space"),
        (b"PAR\n", "columns between white space"),
        (b"[d1] 0 a 1\n", "columns between white space"),
        (b"{x 0 a 1\n", "columns between white space"),
        (b"PAR1\x15\x04", "Parquet"),
        (b"ARROW1\0\0rest", "Arrow"),
        (b"PK\x03\x04", "a zip archive"),
        (b"x" * 257 + b"ustar", "a tar archive"),
        (b"Rar!\x1a\x07", "an archive"),
        (gzip.compress(b"1", mtime=0), "a packed file inside of a packed one"),
        (b"\x28\xb5\x2f\xfd\0", "a packed file inside of a packed one"),
        (b"%PDF-1.4", "a document, picture or database"),
        (b"\x89PNG\r\n", "a document, picture or database"),
        (pickle.dumps([1]), "objects of Python"),
        (npy(), "objects of Python"),
        (b"version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS"),
        ("1 0 a 1".encode("utf-16"), "UTF-16 text"),
        (b'{"qid": 1}', "JSON"),
        (b' [ {"a\\"b" :1}]', "JSON"),
        (b"<top>\n<num> 1", "TREC topics (<top>)"),
        (b"<?xml version='1.0'?>\n<topics x='1'>\n<topic number='1'>", "TREC topics (<top>)"),
        (b"\n<!DOCTYPE html>", "a web page or XML"),
        (b"<?xml version='1.0'?><feed>", "a web page or XML"),
        (b"2 qid:1 1:0.5", "LETOR text (label qid:ID index:value)"),
        (b"-1.5\tqid:a 7:0", "LETOR text (label qid:ID index:value)"),
        (b"qid,docno,label\n", "a table of csv"),
        (b'# c\n\n"query-id"\t"corpus-id"\tscore\n', "a table of tsv"),
        (b"qid docno score\r\n", "a table of columns"),
        (b"qid,label,score\n", "columns between white space"),  # it names no documents
    ],
)
def test_forms(content, name):
    form = form_of(content)
    assert form.name == name
    assert (form is LINES) is (name == "columns between white space")
    assert form.read or form.advice or form is LINES


def test_lines_are_counted_from_the_top_of_the_file():
    content = b"# a comment\n\nqid,docno,label\n1,a,1\n\n1,b,0\n"
    table, line_of = form_of(content).read(content, "t", ["qid", "docno"])
    assert table.to_dict("list") == {"qid": ["1", "1"], "docno": ["a", "b"], "label": [1, 0]}
    assert [line_of(row) for row in range(2)] == [4, 6]


@pytest.mark.parametrize(
    ("line", "format"),
    [
        (b"qid,docno", "csv"),
        (b'"topic_id"\t"document_id"\tx\r', "tsv"),
        (b"a b query docid", "columns"),
        (b"qid, docno", "csv"),
        (b"qid;docno", None),
        (b"1 Q0 docno 1 2 qid", "columns"),
        (b"docno doc_id", None),
        (b"\xff,qid,docno", "csv"),
    ],
)
def test_headers(line, format):
    assert header_of(line) == format


def test_the_first_line_that_counts():
    assert is_empty(b"")
    assert is_empty(b"# c\n \t\n#\n")
    assert not is_empty(b"# c\n1\n")
    assert n_columns(b"# c d e\n\n 1  Q0\ta \n1 2\n") == 3
    assert n_columns(b"#\n") == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"id,docno,label", "hold queries ('qid', 'query_id', 'q_id', 'query-id'); rename"),
        (b"# c\nqid\tname\tlabel", "documents ('docno', 'doc_id', 'docid', 'corpus-id'); rename"),
        (b"id,name,label", "'query-id') or documents ('docno'"),
        (b"qid;docno;label", "separated by ';'; separate the columns by commas or tabs"),
        (b'"qid"|"docno"|"label"', "separated by '|'"),
        (b"1 Q0 a 1 2 x", None),
        (b"1,a,2", None),
        (b"qid;docno", None),  # two names may be anything
        (b"", None),
    ],
)
def test_headers_that_are_not_known(line, message):
    found = unknown_header(line)
    assert found is None if message is None else message in found


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["qid", "docno", "label"], True),
        (["qid", "docno", "rel", "score"], True),
        (["query-id", "corpus-id", "score"], True),
        (["q_id", "doc_id", "score"], True),
        (["qid", "docno", "score"], False),
        (["corpus-id"], False),
    ],
)
def test_tables_of_judgments(names, expected):
    assert has_labels(names) is expected


TEXTS = {"301": "cats", "302": "dogs, big"}


@pytest.mark.parametrize(
    ("content", "id", "text"),
    [
        (b"301\tcats\n302\tdogs, big\n", "id", "text"),
        (b"\xef\xbb\xbfqid\ttext\n301\tcats\n302\tdogs, big\n", "qid", "text"),
        (b'text,qid\ncats,301\n"dogs, big",302\n', "qid", "text"),
        (b'{"301": "cats", "302": "dogs, big"}', "id", "text"),
        (b'{"qid": "301", "x": "cats"}\n{"qid": "302", "x": "dogs, big"}\n', "qid", "x"),
        (b'[{"qid": 301, "x": "cats"}, {"qid": 302, "x": "dogs, big"}]', "qid", "x"),
        (
            b"<top><num> 301\n<title> cats\n</top>\n<top><num> 302\n<title> dogs, big\n</top>\n",
            "number",
            "title",
        ),
    ],
)
def test_texts_in_each_form(content, id, text):
    table, _ = read_texts(content, "topics", ["qid", "query_id"])
    assert dict(zip(table[id].astype(str), table[text], strict=True)) == TEXTS


def test_texts_whose_form_cannot_be_told():
    with pytest.raises(FileFormatError, match=r"t:1: the form .* its first line names no column a"):
        read_texts(b"301 cats\n", "t", ["a"])
    # Ids alone.
    with pytest.raises(FileFormatError, match="the form of the file cannot be told"):
        read_texts(b"a\n301\n", "t", ["a"])
    # The name of the file says it.
    table, _ = read_texts(b"a;b,c\n1,2\n", "t.csv", ["a"])
    assert list(table) == ["a;b", "c"]
    for content, message in (
        (b"PK\x03\x04", "this looks like a zip archive, where a table was expected: unpack it"),
        (b"2 qid:1 1:0.5", "LETOR text"),
    ):
        with pytest.raises(FileFormatError, match=message):
            read_texts(content, "t", ["qid"])


@pytest.mark.parametrize(
    ("content", "records"),
    [
        (b'{"1": {"a": 2}, "2": {"a": 1}}', [("1", "a", 2), ("2", "a", 1)]),
        (b'[{"qid": 1, "docno": "a", "label": 2}]', [(1, "a", 2)]),
        (b'{"qid": 1, "docno": "a", "label": 2}', [(1, "a", 2)]),
        (b'\n{"qid": 1, "docno": "a", "label": 2}\n\n', [(1, "a", 2)]),
    ],
)
def test_json(content, records):
    table, _ = form_of(content).read(content, "t", [])
    assert list(table[["qid", "docno", "label"]].itertuples(index=False, name=None)) == records


def test_json_of_another_shape():
    read = form_of(b'{"a": 2}').read
    # One object is one row of a table.
    assert read(b'{"a": 2}', "t", [])[0].to_dict("list") == {"a": [2]}
    for content in (b"[]", b"[1]"):
        with pytest.raises(
            FileFormatError, match=r"object \{topic: \{document: number\}\}, or a l"
        ):
            read(content, "t", [])
    with pytest.raises(FileFormatError, match=r"t:2: the file is not JSON \(.*delimiter"):
        form_of(b'{"1": {"a": 1}').read(b'{"1": {"a": 2},\n "2" {}}', "t", [])
    with pytest.raises(FileFormatError, match="the name '1' is twice in one object"):
        form_of(b'{"1": 2}').read(b'{"1": {"a": 1},\n "1": {"b": 2}}', "t", [])
