"""Judgments of TREC tracks, and runs of TREC-COVID round 1."""

import gzip

import pandas as pd
import pytest

from served_files import QRELS, RUN
from skfilterrank.datasets import _loaders, fetch_trec_covid, fetch_trec_qrels
from skfilterrank.exceptions import DownloadError, FileFormatError, InputError


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


def test_tracks_that_are_not_there():
    with pytest.raises(InputError, match="track must be one of 'web-2010'"):
        fetch_trec_qrels("web-2009")


def test_published_judgments_are_what_their_notes_say(data_dir):
    """Counts as published, over the copy that is compared with the published digest."""
    found = fetch_trec_qrels("web-2013", data_home=data_dir, download_if_missing=False)
    labels = found.qrels["label"]
    assert (len(labels), (labels == -2).sum()) == (14_474, 234)


def test_tracks_come_from_the_pages_of_their_years():
    for name, where, collection in (
        ("web-2010", "/web/10/", "ClueWeb09"),
        ("web-2011", "/web/11/", "ClueWeb09"),
        ("web-2012", "/web/12/", "ClueWeb09"),
        ("web-2013", "/web/2013/", "ClueWeb12"),
        ("web-2014", "/web/2014/", "ClueWeb12"),
    ):
        track, year = _loaders._TRACKS[name], name.removeprefix("web-")
        assert where in track.url
        assert track.file == f"trec-web-qrels/web{year}.qrels.txt.gz"
        assert f"the TREC {year} web track ({collection})" in track.about


def test_runs_of_trec_covid(server, track, tmp_path, monkeypatch):
    server.put("BERT", RUN)
    server.put("T5R1", RUN.replace(b"mine", b"T5R1"))
    monkeypatch.setattr(_loaders, "_RUNS", server.url)
    data = fetch_trec_covid(["T5R1", "BERT"], data_home=tmp_path)
    assert list(data.runs) == ["T5R1", "BERT"]
    assert gzip.decompress(data.runs["BERT"].read_bytes()) == RUN
    assert len(data.qrels) == 3
    fetch_trec_covid(["BERT"], data_home=tmp_path, download_if_missing=False)
    assert sorted(server.asked) == ["/BERT", "/T5R1", "/qrels"]


@pytest.mark.parametrize("content", [RUN[: len(RUN) // 2], b"<html>not here</html>", b""])
def test_what_is_no_whole_run_is_not_kept(server, track, tmp_path, monkeypatch, content):
    server.put("BERT", content)
    monkeypatch.setattr(_loaders, "_RUNS", server.url)
    with pytest.raises(DownloadError, match=r"BERT.txt.gz could not be fetched"):
        fetch_trec_covid(["BERT"], data_home=tmp_path)
    assert not (tmp_path / "trec-covid-round1" / "runs").exists()


@pytest.mark.parametrize("content", [RUN[: len(RUN) // 2], b""])
def test_a_run_that_was_cut_is_told_of(server, track, tmp_path, monkeypatch, content):
    server.put("BERT", RUN)
    monkeypatch.setattr(_loaders, "_RUNS", server.url)
    path = fetch_trec_covid(["BERT"], data_home=tmp_path).runs["BERT"]
    path.write_bytes(gzip.compress(content))
    with pytest.raises(FileFormatError, match=r"BERT.txt.gz.* remove the file, so that it is fet"):
        fetch_trec_covid(["BERT"], data_home=tmp_path)


@pytest.mark.parametrize("runs", ["BERT", ["BERT", "nobody's"], [3]])
def test_runs_that_did_not_take_part(runs, tmp_path):
    with pytest.raises(InputError, match="runs must be None or a list of names"):
        fetch_trec_covid(runs, data_home=tmp_path)
    with pytest.raises(InputError, match="runs must be a list"):
        fetch_trec_covid(3, data_home=tmp_path)


@pytest.mark.nightly
def test_published_runs_are_what_their_notes_say(data_dir):
    covid = fetch_trec_covid(data_home=data_dir, download_if_missing=False)
    assert (len(covid.runs), len(covid.qrels), covid.qrels["qid"].nunique()) == (143, 8_691, 30)
