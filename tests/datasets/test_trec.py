"""Judgments of TREC tracks."""

import gzip

import pandas as pd
import pytest

from served_files import QRELS
from skfilterrank.datasets import _trec, fetch_trec_qrels
from skfilterrank.exceptions import InputError


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


@pytest.mark.parametrize(
    ("year", "n_judgments", "n_junk"),
    [
        pytest.param(2010, 25_329, 1_431, marks=pytest.mark.nightly),
        pytest.param(2011, 19_381, 1_019, marks=pytest.mark.nightly),
        pytest.param(2012, 16_055, 858, marks=pytest.mark.nightly),
        (2013, 14_474, 234),
        pytest.param(2014, 14_432, 556, marks=pytest.mark.nightly),
    ],
)
def test_published_judgments_are_what_their_notes_say(data_dir, year, n_judgments, n_junk):
    """Counts as published, over the copies that are compared with the published digests."""
    found = fetch_trec_qrels(f"web-{year}", data_home=data_dir, download_if_missing=False)
    labels = found.qrels["label"]
    assert (len(labels), (labels == -2).sum()) == (n_judgments, n_junk)


def test_tracks_come_from_the_pages_of_their_years():
    for name, where, collection in (
        ("web-2010", "/web/10/", "ClueWeb09"),
        ("web-2011", "/web/11/", "ClueWeb09"),
        ("web-2012", "/web/12/", "ClueWeb09"),
        ("web-2013", "/web/2013/", "ClueWeb12"),
        ("web-2014", "/web/2014/", "ClueWeb12"),
    ):
        track, year = _trec._TRACKS[name], name.removeprefix("web-")
        assert where in track.url
        assert track.file == f"trec-web-qrels/web{year}.qrels.txt.gz"
        assert f"the TREC {year} web track ({collection})" in track.about
