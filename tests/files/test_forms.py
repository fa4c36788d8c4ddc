"""What a file is, told from its first bytes and lines."""

import contextlib
import gzip
import json
import time
from functools import partial

import pytest

from skfilterrank._files.forms import (
    COLUMN_NAMES,
    LINES,
    form_of,
    has_labels,
    header_of,
    n_columns,
    read_form,
    read_texts,
)
from skfilterrank.cli._inputs import read_documents, read_topics
from skfilterrank.exceptions import FileFormatError, SkfilterrankError


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
        (b"qid,label,score\n", LINES),  # it names no documents
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
    assert header_of(line, COLUMN_NAMES["qid"], COLUMN_NAMES["docno"]) == format


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


def test_texts_whose_form_cannot_be_told():
    said = r"t:1: the format .* its first line names no column a"
    with pytest.raises(FileFormatError, match=said):
        read_texts(b"301 cats\n", "t", ["a"])
    # Ids alone.
    with pytest.raises(FileFormatError, match="the format of the file is unknown"):
        read_texts(b"a\n301\n", "t", ["a"])
    # The name of the file says it.
    table, _ = read_texts(b"a;b,c\n1,2\n", "t.csv", ["a"])
    assert list(table) == ["a;b", "c"]
    with pytest.raises(FileFormatError, match="the format of the file is unknown"):
        read_texts(b"2 qid:1 1:0.5", "t", ["qid"])


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
    table, _ = read_form(form_of(content), content, "t", [])
    assert list(table[["qid", "docno", "label"]].itertuples(index=False, name=None)) == records


def test_json_of_another_shape():
    read = partial(read_form, "json")
    # One object is one row of a table.
    assert read(b'{"a": 2}', "t", [])[0].to_dict("list") == {"a": [2]}
    for content in (b"[]", b"[1]"):
        with pytest.raises(
            FileFormatError, match=r"object \{query: \{document: number\}\}, or a l"
        ):
            read(content, "t", [])
    with pytest.raises(FileFormatError, match=r"t:2: it is not JSON \(.*delimiter"):
        read_form("json", b'{"1": {"a": 2},\n "2" {}}', "t", [])
    with pytest.raises(FileFormatError, match="the name '1' occurs twice in one object"):
        read_form("json", b'{"1": {"a": 1},\n "1": {"b": 2}}', "t", [])


TREC = """
<top>

<num> Number: 301
<title> the cats

<desc> Description:
All the cats
of the town &amp; more.

<narr> Narrative:
A <b>cat</b> counts.
</top>

<top><num>302</num><title>dog</title></top>
"""

XML = """<?xml version="1.0"?>
<topics task="x">
  <topic number="301"><query>the cats</query><question>all?</question></topic>
  <topic number="302" type="y">
    <query>dog</query>
  </topic>
</topics>
"""

FORMS = {
    "trec": TREC,
    "xml": XML,
    "without names": "301\tthe cats\n302\tdog\n",
    "tsv": "qid\tquery\n301\tthe cats\n302\tdog\n",
    "csv": "query_id,title\n301,the cats\n302,dog\n",
    "beir": '{"_id": "301", "text": "the cats", "metadata": {}}\n{"_id": "302", "text": "dog"}\n',
    "dict": json.dumps({"301": "the cats", "302": "dog"}),
    "records": json.dumps([{"qid": 301, "query": "the cats"}, {"qid": 302, "query": "dog"}]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("file", ["topics", "topics.tsv", "topics.jsonl.gz"])
def test_forms_topics(name, file, tmp_path):
    path = tmp_path / file
    content = FORMS[name].encode()
    path.write_bytes(gzip.compress(content) if file.endswith(".gz") else content)
    topics = read_topics(path)
    assert topics.index.tolist() == ["301", "302"]
    assert topics.iloc[:, 0].tolist() == ["the cats", "dog"]


def test_fields_of_trec_topics(tmp_path):
    (tmp_path / "t").write_text(TREC)
    topics = read_topics(tmp_path / "t")
    assert topics.loc["301"].tolist()[:2] == ["the cats", "All the cats of the town & more."]
    assert topics.columns.tolist()[:3] == ["title", "description", "narrative"]
    assert topics.loc["302", "description"] == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "temp < 35 degrees",
        "a<b and c > d",
        "a <b and c> d",
        "x <y> z",
        "a <b>bold</b> word",
        "</b> < <3",
        "size (<title)",
    ],
)
@pytest.mark.parametrize(
    "form",
    [
        "<num> Number: 1\n<title> {}\n<desc> Description:\nof {}\n<narr>\nin {}\n",
        "<num>1<title>{}<desc>of {}<narr> Narrative: in {}",
        "<num>1</num><title>{}</title><desc>\nof {}\n</desc>\n<narr>in {}</narr>",
        "<num>1</num>\n<title>\n{}\n</title>\n<desc>of {}</desc><narr>\nin {}\n</narr>",
    ],
)
def test_texts_of_trec_topics_hold_any_mark(text, form, tmp_path):
    content = form.format(text, text, text)
    (tmp_path / "t").write_text(f"<top>\n{content}</top>\n" + TREC)
    fields = read_topics(tmp_path / "t").loc["1", ["title", "description", "narrative"]]
    assert fields.tolist() == [text, f"of {text}", f"in {text}"]


@pytest.mark.slow
def test_reading_trec_topics_takes_linear_time(tmp_path):
    n = 10_000
    parts = ["<b>x</b> ", "<title>x ", " ", "\n", "< ", "<b x='1' ", "</b ", "<top "]
    hostile = [f"<top><num> 1\n<title> a{part * n}b</top>\n" for part in parts]
    topics = "".join(f"<top>\n<num> {i}\n<title> t\n</top>\n" for i in range(n))
    begin = time.process_time()
    for content in (topics, *hostile):
        (tmp_path / "t").write_text(content)
        with contextlib.suppress(SkfilterrankError):
            read_topics(tmp_path / "t")
    # Quadratic, a single one of them takes longer.
    assert time.process_time() - begin < 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (TREC.replace("</top>", "", 1), "t:2: <top> is not closed"),
        ("\n<top>\n<num> 1\n<title> x\n", "t:2: <top> is not closed; is the file cut short"),
        ("<top>\n<title> x\n</top>\n", "t:1: the topic has no number"),
        (TREC + "<top><num>301<title>x</top>", "t:16: the query '301' occurs twice"),
        ("301\tcats\n302 dog\n", "t:2: expected an id, a tab and a text"),
        ("301 the cats\n", "t:1: the format of the file is unknown"),
        ("code\tquery\n301\tcats\n", "t:1: .* its first line names no column qid or query_id"),
        ("<html><body>\n", "t:1: the format of the file is unknown"),
        ('{"301": ["cats"]}', "must be an object|no column is called"),
    ],
)
def test_errors(content, message, tmp_path):
    (tmp_path / "t").write_text(content)
    with pytest.raises(SkfilterrankError, match=message):
        read_topics(tmp_path / "t")


def test_documents_without_names(tmp_path):
    (tmp_path / "collection.tsv").write_text('d1\tsome "words\n\nd2\tmore\twords\n')
    texts = read_documents(tmp_path / "collection.tsv")
    assert texts.to_dict() == {"d1": 'some "words', "d2": "more\twords"}
