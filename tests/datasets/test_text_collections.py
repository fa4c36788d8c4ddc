"""The Cranfield collection from its archive, and the forum answers of SemEval from XML."""

import gzip
import hashlib
import json

import pytest

from served_files import CRANFIELD, LABELS, XML, packed
from skfilterrank.datasets import _loaders, fetch_cranfield, fetch_semeval_cqa
from skfilterrank.exceptions import DownloadError, FileFormatError, InputError


def expect_lines(monkeypatch, *counts):
    monkeypatch.setattr(_loaders, "_N_LINES", dict(zip(_loaders._N_LINES, counts)))


def serve_cranfield(server, monkeypatch, archive):
    expect_lines(monkeypatch, 2, 2, 3)
    monkeypatch.setattr(_loaders, "_CRANFIELD_URL", server.put("cran.tar.gz", archive))
    monkeypatch.setattr(_loaders, "_CRANFIELD_MD5", hashlib.md5(archive).hexdigest())
    monkeypatch.setattr(_loaders, "MIRROR", f"{server.url}mirror-")


def test_cranfield(server, monkeypatch, tmp_path):
    serve_cranfield(server, monkeypatch, packed(CRANFIELD))
    data = fetch_cranfield(data_home=tmp_path)
    assert data.documents.to_dict("records") == [
        {
            "docno": "1",
            "title": "a wing in air .",
            "author": "b,m.",
            "bib": "j. 25",
            "text": "a wing in air . it flies",
        },
        {"docno": "2", "title": "", "author": "", "bib": "", "text": ""},
    ]
    assert data.queries.to_numpy().tolist() == [["1", "what flies and why ."], ["2", "heat ."]]
    assert data.qrels.to_numpy().tolist() == [["1", "1", 4], ["1", "2", 0], ["2", "1", 1]]
    fetch_cranfield(data_home=tmp_path)
    assert server.asked == ["/cran.tar.gz"]
    # Of one archive, what is missing alone is made again.
    kept = (tmp_path / "cranfield" / "queries.jsonl").stat().st_mtime_ns
    (tmp_path / "cranfield" / "qrels.txt").unlink()
    fetch_cranfield(data_home=tmp_path)
    assert (tmp_path / "cranfield" / "queries.jsonl").stat().st_mtime_ns == kept


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"no JSON", b"\xff", b"[1,", b'{"docid": "1"}', b""])
@pytest.mark.parametrize("name", ["docs.jsonl.gz", "queries.jsonl"])
def test_a_damaged_collection_on_this_machine(monkeypatch, tmp_path, name, content):
    expect_lines(monkeypatch, 1, 1, 1)
    folder = tmp_path / "cranfield"
    folder.mkdir()
    document = dict.fromkeys(("docid", "title", "author", "bib", "text"), "1")
    (folder / "docs.jsonl.gz").write_bytes(json.dumps(document).encode())
    (folder / "queries.jsonl").write_text('{"qid": "1", "text": "wing"}')
    (folder / "qrels.txt").write_text("1 0 1 1")
    assert fetch_cranfield(data_home=tmp_path).qrels["label"].tolist() == [4]
    (folder / name).write_bytes(content)
    with pytest.raises(FileFormatError, match=f"{name}.*(one JSON|lines, got 0).*remove the file"):
        fetch_cranfield(data_home=tmp_path)


@pytest.mark.parametrize("name", ["docs.jsonl.gz", "queries.jsonl", "qrels.txt"])
def test_a_collection_that_is_cut_in_half(server, monkeypatch, tmp_path, name):
    serve_cranfield(server, monkeypatch, packed(CRANFIELD))
    fetch_cranfield(data_home=tmp_path)
    path = tmp_path / "cranfield" / name
    lines = (gzip.decompress if name.endswith("gz") else bytes)(path.read_bytes()).splitlines(True)
    path.write_bytes(lines[0])
    with pytest.raises(
        FileFormatError, match=rf"{name}: expected . lines, got 1\b.*remove the file"
    ):
        fetch_cranfield(data_home=tmp_path)
    path.unlink()
    path.mkdir()
    with pytest.raises(DownloadError, match=rf"{name} cannot be read .*name another folder"):
        fetch_cranfield(data_home=tmp_path)


def test_another_archive_is_not_kept(server, monkeypatch, tmp_path):
    serve_cranfield(server, monkeypatch, packed(CRANFIELD))
    server.put("cran.tar.gz", packed(CRANFIELD | {"cranqrel": b"1 1 2\n"}))
    with pytest.raises(DownloadError, match="its md5 is"):
        fetch_cranfield(data_home=tmp_path)
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.parametrize(
    ("archive", "said"),
    [
        (b"not packed", "expected a tar archive"),
        (packed({"cran.qry": b""}), "expected a file cran.all.1400"),
    ],
    # An archive holds the time at which it was packed.
    ids=["no archive", "one file"],
)
def test_an_archive_without_the_files(server, monkeypatch, tmp_path, archive, said):
    serve_cranfield(server, monkeypatch, archive)
    with pytest.raises(DownloadError, match=said):
        fetch_cranfield(data_home=tmp_path)


@pytest.mark.slow
def test_the_published_collection_is_what_its_notes_say(data_dir):
    cranfield = fetch_cranfield(data_home=data_dir, download_if_missing=False)
    counts = cranfield.qrels["label"].value_counts().to_dict()
    assert counts == {2: 734, 3: 387, 1: 363, 0: 225, 4: 128}
    assert (len(cranfield.documents), len(cranfield.queries)) == (1400, 225)


@pytest.fixture
def forum(server, monkeypatch):
    part = (server.put("dev.xml", XML), LABELS)
    monkeypatch.setitem(_loaders._PARTS, "dev", part)


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
