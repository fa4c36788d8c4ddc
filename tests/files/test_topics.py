"""Texts of topics in every form in which they come."""

import contextlib
import gzip
import json
import time

import pandas as pd
import pytest

from skfilterrank.cli._documents import read_documents, read_pool, read_topics
from skfilterrank.exceptions import SkfilterrankError

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
def test_forms(name, file, tmp_path):
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
        (TREC + "<top><num>301<title>x</top>", "t:16: the topic '301' is there a second time"),
        ("301\tcats\n302 dog\n", "t:2: an id, a tab and a text were expected"),
        ("301 the cats\n", "t:1: the form of the file cannot be told"),
        ("code\tquery\n301\tcats\n", "t:1: .* its first line names no column qid or query_id"),
        ("<html><body>\n", "t:1: this looks like a web page"),
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


def test_pools(tmp_path):
    expected = pd.MultiIndex.from_tuples([("1", "a"), ("2", "b")], names=["qid", "docno"])
    for content, is_run in (
        ("1 0 a 1\n2 0 b 0\n", False),
        ("# c\n1 Q0 a 1 2 x\n2 Q0 b 1 2 x\n", True),
        ("1 a 1\n2 b 1\n", True),
        ("query_id,doc_id\n1,a\n2,b\n", False),
        ('[{"qid": "1", "docno": "a"}, {"qid": "2", "docno": "b"}]', False),
    ):
        (tmp_path / "pool").write_text(content)
        index, run = read_pool(tmp_path / "pool")
        assert index.equals(expected)
        assert (run is not None) == is_run
