"""Public sets: fetched once, checked always, and said plainly when that cannot be done."""

import gzip
import hashlib
import io
import json
import subprocess
import sys
import tarfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pandas as pd
import pytest

from skfilterrank.datasets import (
    _cranfield,
    _semeval,
    _trec,
    fetch_cranfield,
    fetch_semeval_cqa,
    fetch_trec_covid,
    fetch_trec_qrels,
    get_data_home,
)
from skfilterrank.exceptions import DownloadError, FileFormatError, InputError, InputTypeError

QRELS = b"1 0 a 2\n1 0 b -2\n2 0 a 0\n"
RUN = "".join(f"{topic} Q0 d{topic} 1 0.5 mine\n" for topic in range(1, 31)).encode()
XML = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE xml [<!ELEMENT xml (OrgQuestion*)> <!ATTLIST xml version CDATA #REQUIRED>]>
<xml version="1.0"><OrgQuestion ORGQ_ID="Q1">
<Thread THREAD_SEQUENCE="Q1_R1" SubtaskA_Skip_Because_Same_As_RelQuestion_ID="Q0_R9">
<RelQuestion RELQ_ID="Q1_R1"/><RelComment RELC_ID="Q1_R1_C1" RELC_RELEVANCE2RELQ="Good"/>
</Thread>
<Thread THREAD_SEQUENCE="Q1_R2">
<RelQuestion RELQ_ID="Q1_R2" RELQ_CATEGORY="Advice" RELQ_DATE="2013-05-02 19:43:00"
 RELQ_USERID="U1" RELQ_USERNAME="somebody"><RelQSubject>Banks</RelQSubject>
<RelQBody>Which bank &amp; why?</RelQBody></RelQuestion>
<RelComment RELC_ID="Q1_R2_C1" RELC_DATE="2013-05-03 07:23:20" RELC_USERID="U2"
 RELC_USERNAME="another" RELC_RELEVANCE2ORGQ="Bad" RELC_RELEVANCE2RELQ="Good">
<RelCText>The one — near you</RelCText></RelComment>
<RelComment RELC_ID="Q1_R2_C2" RELC_DATE="2013-05-04 07:04:50" RELC_USERID="U1"
 RELC_USERNAME="somebody" RELC_RELEVANCE2ORGQ="Good" RELC_RELEVANCE2RELQ="Bad">
<RelCText></RelCText></RelComment>
</Thread></OrgQuestion></xml>
""".encode()
LABELS = hashlib.sha256(b"Q1_R2_C1 Good\nQ1_R2_C2 Bad").hexdigest()
CRANFIELD = {
    "cran.all.1400": b".I 1\n.T\na wing\nin air .\n.A\nb,m.\n.B\nj. 25\n.W\na wing\n"
    b"in air . it flies\n"
    b".I 2\n.T\n.A\n.B\n.W\n",
    "cran.qry": b".I 001\n.W\nwhat flies\nand why .\n.I 004\n.W\nheat .\n",
    "cranqrel": b"1 1 1 \n1 2 -1\n2 1 4\n",
}


class Server:
    """A folder on this machine's own address, and how often files were asked for."""

    def __init__(self, folder):
        asked = self.asked = []

        class Handler(SimpleHTTPRequestHandler):
            def log_message(self, *_):
                asked.append(self.path)

        self.folder = folder
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder))
        self.url = f"http://127.0.0.1:{self.http.server_port}/"

    def put(self, name, content):
        (self.folder / name).write_bytes(content)
        return self.url + name


@pytest.fixture
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("served"))
    thread = threading.Thread(target=server.http.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.http.shutdown()
    server.http.server_close()
    thread.join()


@pytest.fixture
def track(server, monkeypatch):
    """web-2010 is a small file of the server, and the mirror holds nothing."""
    track = _trec._Track(
        "trec-web-qrels/web2010.qrels.txt.gz",
        server.put("qrels", QRELS),
        hashlib.sha256(QRELS).hexdigest(),
        hashlib.md5(QRELS).hexdigest(),
        "About.",
    )
    monkeypatch.setattr(_trec, "MIRROR", f"{server.url}mirror-")
    for name in ("web-2010", "covid-round1"):
        monkeypatch.setitem(_trec._TRACKS, name, track)
    return track


def test_judgments_are_fetched_once(server, track, tmp_path):
    data = fetch_trec_qrels("web-2010", data_home=tmp_path)
    assert data.path == tmp_path / track.file
    assert gzip.decompress(data.path.read_bytes()) == QRELS
    expected = pd.DataFrame({"qid": list("112"), "docno": list("aba"), "label": [2, -2, 0]})
    pd.testing.assert_frame_equal(data.qrels, expected, check_dtype=False)
    assert track.url in data.DESCR
    again = fetch_trec_qrels("web-2010", data_home=tmp_path, download_if_missing=False)
    pd.testing.assert_frame_equal(again.qrels, data.qrels)
    assert server.asked == ["/qrels"]
    assert [path.name for path in data.path.parent.iterdir()] == [data.path.name]


def test_another_file_is_not_kept(server, track, tmp_path):
    server.put("qrels", QRELS + b"3 0 a 1\n")
    with pytest.raises(DownloadError, match=r"its sha256 is [0-9a-f]{64}, not [0-9a-f]{64}"):
        fetch_trec_qrels("web-2010", data_home=tmp_path)
    assert list(tmp_path.rglob("*")) == []


def test_the_mirror_is_asked_where_the_source_does_not_answer(server, track, tmp_path):
    (server.folder / "qrels").unlink()
    server.put(f"mirror-{track.md5}", QRELS)
    assert len(fetch_trec_qrels("web-2010", data_home=tmp_path).qrels) == 3
    assert server.asked[-1] == f"/mirror-{track.md5}"


def test_offline(server, track, tmp_path):
    server.http.shutdown()
    server.http.server_close()
    with pytest.raises(DownloadError, match=r"web2010.* could not be fetched .*refused") as error:
        fetch_trec_qrels("web-2010", data_home=tmp_path)
    assert isinstance(error.value, OSError)
    assert "Nothing was written" in str(error.value)
    assert "SKFILTERRANK_DATA" in str(error.value)
    assert list(tmp_path.rglob("*")) == []


def test_nothing_is_fetched_unasked(server, track, tmp_path):
    with pytest.raises(DownloadError, match="is not there and download_if_missing=False"):
        fetch_trec_qrels("web-2010", data_home=tmp_path, download_if_missing=False)
    assert server.asked == []


def test_a_file_that_changed_on_this_machine(track, tmp_path):
    path = fetch_trec_qrels("web-2010", data_home=tmp_path).path
    path.write_bytes(gzip.compress(QRELS + b"3 0 a 1\n"))
    with pytest.raises(FileFormatError, match=r"web2010.*its sha256 is .*remove the file"):
        fetch_trec_qrels("web-2010", data_home=tmp_path)


def test_a_file_that_is_cut_off_on_this_machine(track, tmp_path):
    path = fetch_trec_qrels("web-2010", data_home=tmp_path).path
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(FileFormatError, match=r"web2010.*remove the file"):
        fetch_trec_qrels("web-2010", data_home=tmp_path)


@pytest.mark.parametrize("where", ["file", "file/below", "x" * 300])
def test_a_folder_that_cannot_hold_it(track, tmp_path, where):
    (tmp_path / "file").write_text("")
    with pytest.raises(DownloadError, match=r"web2010.* cannot be .*: name another folder"):
        fetch_trec_qrels("web-2010", data_home=tmp_path / where)


def test_a_folder_where_the_file_should_be(track, tmp_path):
    (tmp_path / "trec-web-qrels" / "web2010.qrels.txt.gz").mkdir(parents=True)
    with pytest.raises(DownloadError, match=r"web2010.* cannot be read .*name another folder"):
        fetch_trec_qrels("web-2010", data_home=tmp_path)


def test_runs_of_trec_covid(server, track, tmp_path, monkeypatch):
    server.put("BERT", RUN)
    server.put("T5R1", RUN.replace(b"mine", b"T5R1"))
    monkeypatch.setattr(_trec, "_RUNS", server.url)
    data = fetch_trec_covid(["T5R1", "BERT"], data_home=tmp_path)
    assert list(data.runs) == ["T5R1", "BERT"]
    assert gzip.decompress(data.runs["BERT"].read_bytes()) == RUN
    assert len(data.qrels) == 3
    fetch_trec_covid(["BERT"], data_home=tmp_path, download_if_missing=False)
    assert sorted(server.asked) == ["/BERT", "/T5R1", "/qrels"]


@pytest.mark.parametrize("content", [RUN[: len(RUN) // 2], b"<html>not here</html>", b""])
def test_what_is_no_whole_run_is_not_kept(server, track, tmp_path, monkeypatch, content):
    server.put("BERT", content)
    monkeypatch.setattr(_trec, "_RUNS", server.url)
    with pytest.raises(DownloadError, match=r"BERT.txt.gz could not be fetched"):
        fetch_trec_covid(["BERT"], data_home=tmp_path)
    assert not (tmp_path / "trec-covid-round1" / "runs").exists()


@pytest.mark.parametrize("content", [RUN[: len(RUN) // 2], b""])
def test_a_run_that_was_cut_is_told_of(server, track, tmp_path, monkeypatch, content):
    server.put("BERT", RUN)
    monkeypatch.setattr(_trec, "_RUNS", server.url)
    path = fetch_trec_covid(["BERT"], data_home=tmp_path).runs["BERT"]
    path.write_bytes(gzip.compress(content))
    with pytest.raises(FileFormatError, match=r"BERT.txt.gz.* remove the file, and it will be fet"):
        fetch_trec_covid(["BERT"], data_home=tmp_path)


@pytest.mark.parametrize("runs", ["BERT", ["BERT", "nobody's"], [3]])
def test_runs_that_did_not_take_part(runs, tmp_path):
    with pytest.raises(InputError, match="runs must be None or a list of names"):
        fetch_trec_covid(runs, data_home=tmp_path)


@pytest.fixture
def forum(server, monkeypatch):
    part = _semeval._Part(server.put("dev.xml", XML), LABELS)
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


@pytest.mark.parametrize("content", [b"no JSON", b"\xff", b"3", b'{"qid": "1"}'])
def test_damaged_forum_answers_on_this_machine(server, forum, tmp_path, content):
    fetch_semeval_cqa("dev", data_home=tmp_path)
    (path,) = tmp_path.rglob("*.gz")
    path.write_bytes(gzip.compress(content))
    with pytest.raises(FileFormatError, match=r"dev\.jsonl.*one JSON object.*remove the file"):
        fetch_semeval_cqa("dev", data_home=tmp_path)


def packed(files):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"./{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def expect_lines(monkeypatch, *counts):
    monkeypatch.setattr(_cranfield, "_N_LINES", dict(zip(_cranfield._N_LINES, counts)))


def serve_cranfield(server, monkeypatch, archive):
    expect_lines(monkeypatch, 2, 2, 3)
    monkeypatch.setattr(_cranfield, "_URL", server.put("cran.tar.gz", archive))
    monkeypatch.setattr(_cranfield, "_MD5", hashlib.md5(archive).hexdigest())
    monkeypatch.setattr(_cranfield, "MIRROR", f"{server.url}mirror-")


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
    with pytest.raises(FileFormatError, match=f"{name}.*(one JSON|0 lines).*remove the file"):
        fetch_cranfield(data_home=tmp_path)


@pytest.mark.parametrize("name", ["docs.jsonl.gz", "queries.jsonl", "qrels.txt"])
def test_a_collection_that_is_cut_in_half(server, monkeypatch, tmp_path, name):
    serve_cranfield(server, monkeypatch, packed(CRANFIELD))
    fetch_cranfield(data_home=tmp_path)
    path = tmp_path / "cranfield" / name
    lines = (gzip.decompress if name.endswith("gz") else bytes)(path.read_bytes()).splitlines(True)
    path.write_bytes(lines[0])
    with pytest.raises(FileFormatError, match=rf"{name}: it has 1 lines .*remove the file"):
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
        (b"not packed", "a tar archive was expected"),
        (packed({"cran.qry": b""}), "lacks cran.all.1400"),
    ],
    # An archive holds the time at which it was packed.
    ids=["no archive", "one file"],
)
def test_an_archive_without_the_files(server, monkeypatch, tmp_path, archive, said):
    serve_cranfield(server, monkeypatch, archive)
    with pytest.raises(DownloadError, match=said):
        fetch_cranfield(data_home=tmp_path)


def test_the_data_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("SKFILTERRANK_DATA", str(tmp_path))
    assert get_data_home() == tmp_path
    assert get_data_home("other").name == "other"
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    assert get_data_home("~/sets") == tmp_path / "me" / "sets"
    monkeypatch.delenv("SKFILTERRANK_DATA")
    assert get_data_home() == tmp_path / "me" / "skfilterrank_data"
    assert not get_data_home().exists()


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: get_data_home(3), InputTypeError, "data_home must be None or the path"),
        (lambda: fetch_cranfield(data_home=3), InputTypeError, "data_home"),
        (lambda: get_data_home("~nobody here/sets"), InputError, "data_home must be the path of a"),
        (lambda: fetch_trec_qrels("web-2009"), InputError, "track must be one of 'web-2010'"),
        (lambda: fetch_semeval_cqa("test"), InputError, "part must be one of 'train-part2'"),
        (lambda: fetch_cranfield(download_if_missing=1), InputError, "download_if_missing"),
        (lambda: fetch_trec_covid(3), InputError, "runs must be a list"),
    ],
)
def test_arguments(call, error, said):
    with pytest.raises(error, match=said):
        call()


def test_importing_asks_for_nothing():
    code = (
        "import socket\n"
        "def refuse(*_): raise AssertionError('asked for an address')\n"
        "socket.getaddrinfo = socket.create_connection = refuse\n"
        "import skfilterrank.datasets\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_published_sets_are_what_their_notes_say(data_dir):
    """Counts as published, over the copies that are compared with the published digests."""
    here = {"data_home": data_dir, "download_if_missing": False}
    for year, n_judgments, n_junk in (
        (2010, 25_329, 1_431),
        (2011, 19_381, 1_019),
        (2012, 16_055, 858),
        (2013, 14_474, 234),
        (2014, 14_432, 556),
    ):
        labels = fetch_trec_qrels(f"web-{year}", **here).qrels["label"]
        assert (len(labels), (labels == -2).sum()) == (n_judgments, n_junk)
    covid = fetch_trec_covid(**here)
    assert (len(covid.runs), len(covid.qrels), covid.qrels["qid"].nunique()) == (143, 8_691, 30)
    assert len(fetch_semeval_cqa("train-part2", **here).data) == 3_790
    assert fetch_semeval_cqa("dev", **here).target.value_counts().tolist() == [1_209, 818, 413]
    cranfield = fetch_cranfield(**here)
    assert cranfield.qrels["label"].value_counts().to_dict() == {
        2: 734,
        3: 387,
        1: 363,
        0: 225,
        4: 128,
    }
    assert (len(cranfield.documents), len(cranfield.queries)) == (1400, 225)
