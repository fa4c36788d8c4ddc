"""What a file is, told from its first bytes and lines."""

import pytest

from skfilterrank._files.forms import read_form
from skfilterrank._files.kinds import LINES, ROLES, form_of, has_labels, header_of, n_columns


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"1 0 a 1\n", LINES),
        (b"PAR\n", LINES),
        (b"[d1] 0 a 1\n", LINES),
        (b"{x 0 a 1\n", LINES),
        (b"PAR1\x15\x04", "parquet"),
        (b'{"qid": 1}', "json"),
        (b' [ {"a\\"b" :1}]', "json"),
        (b"qid,docno,label\n", "csv"),
        (b'# c\n\n"query-id"\t"corpus-id"\tscore\n', "tsv"),
        (b"qid docno score\r\n", "columns"),
        (b"qid,label,score\n", "csv"),  # it names no documents, but columns
        (b"q|a|stars\n7|b|2\n", "csv"),
        (b"q a stars\n7 b 2\n", "columns"),
        (b"q Q0 a Good\n7 Q0 b Bad\n", LINES),
        (b"q a x\ny b z\n", LINES),
        (b"question,answer,verdict\nx y,a,good\n", "csv"),
        (b'question;the answer;verdict\n"x;y";a;good\n', "csv"),
        (b"question|answer|verdict\r\nx|a|good\r\n", "csv"),
        (b"question\tanswer\tverdict\nx y\ta\tgood\n", "tsv"),
        (b"q,a,a\nx,b,c\n", LINES),
        (b"q,a,verdict\nx,b\n", LINES),
        (b"q1\tjudge\ta\tGood\nq2\tjudge\tb\tBad\n", LINES),
        (b"q1\tpredicted:x\ta\tGood\nq2\tpredicted:y\tb\tBad\n", LINES),
        (b"a,b,c 0 d Good\nx,y,z 0 e Bad\n", LINES),
    ],
)
def test_forms(content, name):
    assert form_of(content) == name


def test_lines_are_counted_from_the_top_of_the_file():
    content = b"# a comment\n\nqid,docno,label\n1,a,1\n\n1,b,0\n"
    table, line_of = read_form(form_of(content), content, "t", [["qid"], ["docno"]])
    assert table.to_dict("list") == {"qid": ["1", "1"], "docno": ["a", "b"], "label": [1, 0]}
    assert [line_of(row) for row in range(2)] == [4, 6]


@pytest.mark.parametrize(
    ("line", "format"),
    [
        (b"qid,docno", "csv"),
        (b'"topic_id"\t"document_id"\tx\r', "tsv"),
        (b"a b query docid", "columns"),
        (b"qid, docno", "csv"),
        (b"qid;docno", "csv"),
        (b"1 Q0 docno 1 2 qid", "columns"),
        (b"docno doc_id", None),
        (b"\xff,qid,docno", "csv"),
    ],
)
def test_headers(line, format):
    assert header_of(line, [ROLES["qid"], ROLES["docno"]]) == format


def test_the_first_line_that_counts():
    assert n_columns(b"# c\n \t\n#\n") == n_columns(b"") == 0
    assert n_columns(b"# c d e\n\n 1  Q0\ta \n1 2\n") == 3
    assert n_columns(b"#\n") == 0


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
