"""Files that are fetched once and checked always, and errors that say what cannot be done."""

import gzip

import pytest

from served_files import QRELS
from skfilterrank.datasets import fetch_cranfield, fetch_trec_qrels
from skfilterrank.datasets._remote import find_data_home
from skfilterrank.exceptions import DownloadError, FileFormatError, InputError, InputTypeError


def test_another_file_is_not_kept(server, track, tmp_path):
    server.put("qrels", QRELS + b"3 0 a 1\n")
    with pytest.raises(
        DownloadError, match=r"its sha256 is [0-9a-f]{64}, but the published sha256 is"
    ):
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
    with pytest.raises(DownloadError, match="does not exist and download_if_missing=False"):
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
    ("call", "error", "said"),
    [
        (lambda: find_data_home(3), InputTypeError, "data_home must be None or the path"),
        (lambda: fetch_cranfield(data_home=3), InputTypeError, "data_home"),
        (
            lambda: find_data_home("~nobody here/sets"),
            InputError,
            "data_home must be the path",
        ),
        (lambda: fetch_cranfield(download_if_missing=1), InputError, "download_if_missing"),
    ],
)
def test_arguments(call, error, said):
    with pytest.raises(error, match=said):
        call()
