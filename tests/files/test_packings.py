"""Reading packed files: several members, damage, and files that would fill the memory."""

import bz2
import gzip
import importlib.util
import io
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import times
from skfilterrank._files import packings
from skfilterrank._files.files import open_for_reading, read_bytes
from skfilterrank.exceptions import FileFormatError, MissingPackageError
from skfilterrank.io import read_letor, read_qrels

pytestmark = pytest.mark.slow

# As a path and as bytes; what reads line by line, and what reads the whole.
WAYS = ("whole path", "whole handle", "lines")
HAS_ZSTD = importlib.util.find_spec("zstandard") is not None


def zstd(data):
    import zstandard

    return zstandard.compress(data)


# Unpadded: an xz file has a multiple of four bytes.
PACK = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress, "zstd": zstd}


@pytest.fixture(scope="session", params=PACK)
def packing(request):
    if request.param == "zstd" and not HAS_ZSTD:
        pytest.skip("zstandard is not installed")
    return request.param


def read(way, content, folder):
    if way == "whole handle":
        return read_bytes(io.BytesIO(content))
    path = folder / "file.packed"
    path.write_bytes(content)
    if way == "whole path":
        return read_bytes(path)
    with open_for_reading(path) as handle:
        return b"".join(handle.readlines())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("packed")


@pytest.mark.parametrize("way", WAYS)
@times(0.5)
@given(parts=st.lists(st.binary(max_size=20), min_size=1, max_size=9), n_bytes=st.integers(1, 40))
def test_members_one_after_the_other(way, packing, parts, n_bytes, folder):
    # Members of all lengths, around the bytes that are unpacked at a time; zeros may follow each.
    packed = b"".join(PACK[packing](part) + b"\0" * (len(part) % 3) for part in parts)
    with pytest.MonkeyPatch.context() as patch:
        smaller = tuple(each._replace(n_bytes=n_bytes) for each in packings._PACKINGS)
        patch.setattr(packings, "_PACKINGS", smaller)
        assert read(way, packed, folder) == b"".join(parts)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("n_lost", [1, 9, 20])
def test_cut_short(way, packing, n_lost, folder):
    pack = PACK[packing]
    packed = pack(b"1 0 a 1\n") + pack(b"1 0 b 1\n" * 1000)
    with pytest.raises(FileFormatError, match=f"the {packing} file is damaged or cut short"):
        read(way, packed[:-n_lost], folder)
    with pytest.raises(FileFormatError, match=f"the {packing} file is damaged or cut short"):
        read(way, packed + b"more", folder)


def test_the_line_of_the_damage_is_told(packing, tmp_path):
    lines = [f"{i} 0 d{i * 7919 % 10007} {i % 3}\n".encode() for i in range(9_000)]
    parts = [b"".join(lines[:6_000]), b"".join(lines[6_000:])]
    first, second = map(PACK[packing], parts)
    path = tmp_path / "qrels.txt"
    path.write_bytes(first + second[:40])
    with pytest.raises(FileFormatError, match=rf"qrels.txt:\d+: the {packing} file is") as caught:
        read_qrels(path)
    assert 6_000 < caught.value.line <= 9_000
    path.write_bytes(first + second)
    assert len(read_qrels(path)) == 9_000


@pytest.mark.parametrize("way", WAYS)
def test_what_would_fill_the_memory(way, packing, folder, monkeypatch):
    packed = PACK[packing](bytes(10**6))
    monkeypatch.setattr(packings, "_MOST_BYTES", 10**5)
    assert len(packed) * 200 < 10**6
    with pytest.raises(FileFormatError, match=r"more than 200 times its size.*100,000 bytes"):
        read(way, packed, folder)
    # Large, but not out of proportion; and out of proportion, but not large.
    monkeypatch.setattr(packings, "_MOST_TIMES", 10**6)
    assert len(read(way, packed, folder)) == 10**6
    monkeypatch.setattr(packings, "_MOST_TIMES", 200)
    monkeypatch.setattr(packings, "_MOST_BYTES", 10**6)
    assert len(read(way, packed, folder)) == 10**6


def test_a_packing_that_needs_a_package_names_the_extra(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    content = b"\x28\xb5\x2f\xfd\x04\x00"
    with pytest.raises(MissingPackageError, match=r"needs zstandard.*skfilterrank\[zstd\]"):
        read_qrels(io.BytesIO(content))


def test_what_the_error_says_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(packings, "_MOST_BYTES", 10**4)
    qrels, letor = tmp_path / "qrels.gz", tmp_path / "letor.gz"
    qrels.write_bytes(gzip.compress(b" " * 10**5 + b"1 0 a 1\n"))
    letor.write_bytes(gzip.compress(b"\n" * 10**5 + b"1 qid:1 1:2\n"))
    for reader, path in ((read_qrels, qrels), (read_letor, letor)):
        with pytest.raises(FileFormatError, match=r"\.gz: .* such as gzip\.open\(path\)"):
            reader(path)
        with gzip.open(path) as handle:
            assert len(reader(handle)[0 if reader is read_letor else "qid"]) == 1
