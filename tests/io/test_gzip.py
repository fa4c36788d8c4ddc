"""Reading gzip files: several members, damage, and files that would fill the memory."""

import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfilterrank._files import files
from skfilterrank._files.files import open_for_reading, read_bytes
from skfilterrank.exceptions import FileFormatError
from skfilterrank.io import read_letor, read_qrels

# As a path and as bytes; what reads line by line, and what reads the whole.
WAYS = ("whole path", "whole handle", "lines")


def read(way, content, folder):
    if way == "whole handle":
        return read_bytes(io.BytesIO(content))
    path = folder / "file.gz"
    path.write_bytes(content)
    if way == "whole path":
        return read_bytes(path)
    with open_for_reading(path) as handle:
        return b"".join(handle.readlines())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("gzip")


@pytest.mark.parametrize("way", WAYS)
@given(parts=st.lists(st.binary(max_size=20), min_size=1, max_size=9), n_bytes=st.integers(1, 40))
def test_members_one_after_the_other(way, parts, n_bytes, folder):
    # Members of all lengths, around the bytes that are unzipped at a time; zeros may follow each.
    zipped = b"".join(gzip.compress(part) + b"\0" * (len(part) % 3) for part in parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_ZIPPED_BYTES", n_bytes)
        assert read(way, zipped, folder) == b"".join(parts)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("n_lost", [1, 9, 30])
def test_cut_short(way, n_lost, folder):
    zipped = gzip.compress(b"1 0 a 1\n") + gzip.compress(b"1 0 b 1\n" * 1000)
    with pytest.raises(FileFormatError, match="the gzip file is damaged or cut short"):
        read(way, zipped[:-n_lost], folder)
    with pytest.raises(FileFormatError, match="the gzip file is damaged or cut short"):
        read(way, zipped + b"more", folder)


@pytest.mark.parametrize("way", WAYS)
def test_what_would_fill_the_memory(way, folder, monkeypatch):
    zipped = gzip.compress(bytes(10**6))
    monkeypatch.setattr(files, "_MOST_BYTES", 10**5)
    assert len(zipped) * 200 < 10**6
    with pytest.raises(FileFormatError, match=r"more than 200 times its size.*100,000 bytes"):
        read(way, zipped, folder)
    # Large, but not out of proportion; and out of proportion, but not large.
    monkeypatch.setattr(files, "_MOST_TIMES", 1100)
    assert len(read(way, zipped, folder)) == 10**6
    monkeypatch.setattr(files, "_MOST_TIMES", 200)
    monkeypatch.setattr(files, "_MOST_BYTES", 10**6)
    assert len(read(way, zipped, folder)) == 10**6


def test_what_the_error_says_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_MOST_BYTES", 10**5)
    qrels, letor = tmp_path / "qrels.gz", tmp_path / "letor.gz"
    qrels.write_bytes(gzip.compress(b" " * 10**6 + b"1 0 a 1\n"))
    letor.write_bytes(gzip.compress(b"\n" * 10**6 + b"1 qid:1 1:2\n"))
    for reader, path in ((read_qrels, qrels), (read_letor, letor)):
        with pytest.raises(FileFormatError, match=r"\.gz: .* or pass gzip\.open\(path\)"):
            reader(path)
        with gzip.open(path) as handle:
            assert len(reader(handle)[0 if reader is read_letor else "qid"]) == 1
