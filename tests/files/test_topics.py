"""Topics and documents in every form."""

import contextlib
import gzip
import json
import time

import pytest

from skfilterrank._files.topics import read_texts
from skfilterrank.cli._inputs import read_documents, read_topics
from skfilterrank.exceptions import DataWarning, FileFormatError, SkfilterrankError


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


WEB = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE webtrack2012 [
<!ELEMENT topic (query)>
]>
<!-- Topics of
     a track -->
<webtrack2012>
<!-- <topic number="9"> was dropped -->
<topic number="301" type="faceted">
  <query>the cats</query>
  <description>All the cats.</description>
  <subtopic number="1" type="inf">Where are cats?</subtopic>
</topic>
<topic number="302" type="single"><query>dog</query></topic>
</webtrack2012>
"""


@pytest.mark.parametrize(
    "content",
    [
        WEB,
        "<queries>\n<query>\n<qid>301</qid>\n<content>the cats</content>\n</query>\n"
        "<query><qid>302</qid><content>dog</content></query>\n</queries>\n",
        '<topics task="t">\n<topic number="301">\nthe cats\n</topic>\n'
        '<topic number="302">dog</topic></topics>',
        "<topics><topic><identifier>301</identifier><title>the cats</title></topic>"
        "<topic><identifier>302</identifier><title>dog</title></topic></topics>",
        "301:the cats\n302:dog\n",
        "301:1:the cats\n302:4:dog\n",
        "wt09-301:the cats\nwt09-302:dog\n",
        '[{"question_id": "301", "query": "the cats", "background": "b"},\n'
        ' {"question_id": "302", "query": "dog", "background": "c"}]',
    ],
    ids=["web", "ntcir", "free", "clef", "mq", "mq 2009", "web 2009", "epidemic-qa"],
)
def test_topics_of_tracks(content, tmp_path):
    (tmp_path / "t").write_text(content)
    topics = read_topics(tmp_path / "t")
    assert topics.index.tolist() == ["301", "302"]
    assert topics.iloc[:, 0].tolist() == ["the cats", "dog"]


def test_a_colon_in_a_text_is_no_priority(tmp_path):
    (tmp_path / "t").write_text("1:2:1 is a ratio\n2:dog\n")
    assert read_topics(tmp_path / "t").iloc[:, 0].tolist() == ["2:1 is a ratio", "dog"]


def test_the_last_topic_may_lack_its_end(tmp_path):
    (tmp_path / "t").write_text(
        "<top>\n<num> 1\n<title> cat\n</top>\n<top>\n<num> 2\n<title> dog\n"
    )
    with pytest.warns(
        DataWarning, match="t:5: the last <top> is not closed. It is read as it is; if"
    ):
        topics = read_topics(tmp_path / "t")
    assert topics["title"].to_dict() == {"1": "cat", "2": "dog"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (TREC.replace("</top>", "", 1), "t:2: <top> is not closed"),
        ("<top>\n<title> x\n</top>\n", "t:1: the topic has no number"),
        (TREC + "<top><num>301<title>x</top>", "t:16: the query '301' occurs twice"),
        ("301\tcats\n302 dog\n", "t:2: expected an id, a tab and a text"),
        ("301:cats\n302 dog\n", "t:2: expected an id, a colon and a text"),
        ("301 the cats\n", "t:1: the format of the file is unknown"),
        ("code\tquery\n301\tcats\n", "t:1: .* its first line names no column qid or query_id"),
        ("<html><body>\n", "t:1: the format of the file is unknown.* a page of HTML"),
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
