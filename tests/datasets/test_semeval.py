"""The forum answers of SemEval from XML: fetched once, checked always, kept nowhere by halves."""

import gzip

import pytest

from served_files import LABELS, XML
from skfilterrank.datasets import _semeval, fetch_semeval_cqa
from skfilterrank.datasets._semeval import find_data_home
from skfilterrank.exceptions import DownloadError, FileFormatError, InputError, InputTypeError


@pytest.fixture
def forum(server, monkeypatch):
    part = (server.put("dev.xml", XML), LABELS)
    monkeypatch.setitem(_semeval._PARTS, "dev", part)


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
@pytest.mark.parametrize(
    ("content", "said"),
    [
        *[
            (gzip.compress(content), r"dev\.jsonl.*one JSON object.*remove the file")
            for content in (b"no JSON", b"\xff", b"3", b'{"qid": "1"}')
        ],
        (gzip.compress(b'{"qid": "1"}')[:-10], r"dev\.jsonl.*remove the file"),
    ],
)
def test_damaged_forum_answers_on_this_machine(server, forum, tmp_path, content, said):
    fetch_semeval_cqa("dev", data_home=tmp_path)
    (path,) = tmp_path.rglob("*.gz")
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=said):
        fetch_semeval_cqa("dev", data_home=tmp_path)


def test_offline(server, forum, tmp_path):
    server.http.shutdown()
    server.http.server_close()
    with pytest.raises(
        DownloadError, match=r"dev\.jsonl.* could not be fetched .*refused"
    ) as error:
        fetch_semeval_cqa("dev", data_home=tmp_path)
    assert isinstance(error.value, OSError)
    assert "Nothing was written" in str(error.value)
    assert "SKFILTERRANK_DATA" in str(error.value)
    assert list(tmp_path.rglob("*")) == []


def test_nothing_is_fetched_unasked(server, forum, tmp_path):
    with pytest.raises(DownloadError, match="does not exist and download_if_missing=False"):
        fetch_semeval_cqa("dev", data_home=tmp_path, download_if_missing=False)
    assert server.asked == []


@pytest.mark.parametrize("where", ["file", "file/below", "x" * 300])
def test_a_folder_that_cannot_hold_it(forum, tmp_path, where):
    (tmp_path / "file").write_text("")
    with pytest.raises(DownloadError, match=r"dev\.jsonl.* cannot be .*: name another folder"):
        fetch_semeval_cqa("dev", data_home=tmp_path / where)


def test_a_folder_where_the_file_should_be(forum, tmp_path):
    (tmp_path / "semeval2016-cqa" / "dev.jsonl.gz").mkdir(parents=True)
    with pytest.raises(DownloadError, match=r"dev\.jsonl.* cannot be read .*name another folder"):
        fetch_semeval_cqa("dev", data_home=tmp_path)


def test_the_data_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("SKFILTERRANK_DATA", str(tmp_path))
    assert find_data_home() == tmp_path
    assert find_data_home("other").name == "other"
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    assert find_data_home("~/sets") == tmp_path / "me" / "sets"
    monkeypatch.delenv("SKFILTERRANK_DATA")
    assert find_data_home() == tmp_path / "me" / "skfilterrank_data"
    assert not find_data_home().exists()


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"part": "test"}, InputError, "part must be one of 'train-part2'"),
        ({"data_home": 3}, InputTypeError, "data_home must be None or the path"),
        ({"data_home": "~nobody here/sets"}, InputError, "data_home must be the path"),
        ({"download_if_missing": 1}, InputError, "download_if_missing"),
    ],
)
def test_arguments(options, error, said):
    with pytest.raises(error, match=said):
        fetch_semeval_cqa(**{"part": "dev"} | options)
