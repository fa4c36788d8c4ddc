"""Answers of a forum, from the XML of SemEval."""

import gzip

import pytest

from served_files import LABELS, XML
from skfilterrank.datasets import _text_collections, fetch_semeval_cqa
from skfilterrank.exceptions import DownloadError, FileFormatError, InputError


@pytest.fixture
def forum(server, monkeypatch):
    part = _text_collections._Part(server.put("dev.xml", XML), LABELS)
    monkeypatch.setitem(_text_collections._PARTS, "dev", part)


def test_forum_answers(server, forum, tmp_path):
    found = fetch_semeval_cqa("dev", data_home=tmp_path)
    assert found.data.iloc[0].to_dict() == {
        "qid": "Q1_R2",
        "docid": "Q1_R2_C1",
        "question_subject": "Banks",
        "question_body": "Which bank & why?",
        "question_category": "Advice",
        "question_user": "U1",
        "question_date": "2013-05-02 19:43:00",
        "comment": "The one — near you",
        "user": "U2",
        "date": "2013-05-03 07:23:20",
        "position": 1,
    }
    assert found.target.tolist() == ["Good", "Bad"]
    assert found.groups.tolist() == ["Q1_R2", "Q1_R2"]
    assert found.data["position"].tolist() == [1, 2]
    fetch_semeval_cqa("dev", data_home=tmp_path)
    assert server.asked == ["/dev.xml"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (XML.replace(b'RELQ="Bad"', b'RELQ="Good"'), "ids and labels of its 2 comments"),
        (XML[: len(XML) // 2], "XML was expected"),
    ],
)
def test_other_forum_answers_are_not_kept(server, forum, tmp_path, content, said):
    server.put("dev.xml", content)
    with pytest.raises(DownloadError, match=said):
        fetch_semeval_cqa("dev", data_home=tmp_path)
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"no JSON", b"\xff", b"3", b'{"qid": "1"}'])
def test_damaged_forum_answers_on_this_machine(server, forum, tmp_path, content):
    fetch_semeval_cqa("dev", data_home=tmp_path)
    (path,) = tmp_path.rglob("*.gz")
    path.write_bytes(gzip.compress(content))
    with pytest.raises(FileFormatError, match=r"dev\.jsonl.*one JSON object.*remove the file"):
        fetch_semeval_cqa("dev", data_home=tmp_path)


def test_parts_that_are_not_there():
    with pytest.raises(InputError, match="part must be one of 'train-part2'"):
        fetch_semeval_cqa("test")


@pytest.mark.nightly
def test_published_parts_are_what_their_notes_say(data_dir):
    here = {"data_home": data_dir, "download_if_missing": False}
    assert len(fetch_semeval_cqa("train-part2", **here).data) == 3_790
    assert fetch_semeval_cqa("dev", **here).target.value_counts().tolist() == [1_209, 818, 413]
