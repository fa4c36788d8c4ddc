"""Judgments and runs from whatever holds them: paths, open files, packed ones, tables."""

import gzip
import io
import pickle
import tarfile

import pandas as pd
import pytest

from skfilterrank.exceptions import DataWarning, FileFormatError, InputTypeError
from skfilterrank.io import read_qrels, read_run

RUN = "1 Q0 a 1 2.5 x\n1 Q0 b 2 -1 x\n2 Q0 a 1 7 y\n"
QRELS = "1 0 a 1\n1 0 b -2\n2 0 a 0\n"


def run_of(text):
    return read_run(io.StringIO(text))


def qrels_of(text, **params):
    return read_qrels(io.StringIO(text), **params)


def sources(text, folder):
    """The same content by every way a reader takes."""
    data = text.encode()
    (folder / "plain").write_bytes(data)
    (folder / "zipped").write_bytes(gzip.compress(data))
    half = text.index("\n") + 1
    members = gzip.compress(data[:half]) + gzip.compress(data[half:])
    (folder / "members").write_bytes(members + bytes(5))  # tape drives pad with zeros
    yield folder / "plain"
    yield str(folder / "plain")
    yield folder / "zipped"
    yield folder / "members"
    yield io.StringIO(text)
    yield io.BytesIO(data)
    yield io.BytesIO(gzip.compress(data))
    yield io.BytesIO(b"\xef\xbb\xbf" + data)
    yield io.StringIO(text.replace(" ", "\t"))
    yield io.StringIO(text.replace(" ", "  \t "))
    yield io.BytesIO(text.replace("\n", "\r\n").encode())
    yield io.StringIO(text.rstrip("\n"))
    yield io.BytesIO(text.replace("\n", "\r\n").rstrip().encode())
    yield io.StringIO("\n\n" + text.replace("\n", " \n\n \t\n"))
    yield io.StringIO("  " + text.replace("\n", "\n  "))


@pytest.mark.slow
def test_sources(tmp_path):
    for source in sources(RUN, tmp_path):
        pd.testing.assert_frame_equal(read_run(source), run_of(RUN))
    for source in sources(QRELS, tmp_path):
        pd.testing.assert_frame_equal(read_qrels(source), qrels_of(QRELS))


@pytest.mark.parametrize("read", [read_run, read_qrels])
def test_what_is_packed_twice_or_in_an_archive(read):
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as file:
        file.addfile(tarfile.TarInfo("run.txt"), io.BytesIO())
    packed = gzip.compress(archive.getvalue())
    for content, what in (
        (packed, "a tar archive"),
        (gzip.compress(packed), "a packed file inside of a packed one"),
        (pickle.dumps({"1": {"a": 1}}), "objects of Python"),
    ):
        with pytest.raises(FileFormatError, match=f"this looks like {what}, where"):
            read(io.BytesIO(content))


@pytest.mark.parametrize("read", [read_run, read_qrels])
@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ({}, r"got \{\}, which holds no topic"),
        ({"1": 1.0}, r"got \{'1': 1.0\}\."),
        ({"1": ["a", "b"]}, r"got \{'1': \['a', 'b'\]\}\."),
    ],
)
def test_dicts_of_another_form(read, source, shown):
    with pytest.raises(
        InputTypeError, match=r"source must be a dict \{topic: \{document: .*" + shown
    ):
        read(source)


@pytest.mark.parametrize("read", [read_run, read_qrels])
def test_files_that_hold_nothing_or_cannot_be_read(read, tmp_path):
    if read is read_run:
        with pytest.warns(DataWarning, match="<stream> holds no document"):
            assert read(io.StringIO("qid,docno,score\n")).empty
    for empty in ("", "\n \n\t\r\n", "\ufeff"):
        if read is read_run:
            with pytest.warns(DataWarning, match="<stream> holds no document"):
                assert read(io.StringIO(empty)).empty
        else:
            with pytest.raises(FileFormatError, match=r"<stream>: the file holds no lines; lines"):
                read(io.StringIO(empty))
    with pytest.raises(FileFormatError, match=r"<stream>:2: byte 0xe9 is not UTF-8"):
        read(io.BytesIO(b"1 0 a 1\n1 0 \xe9 1\n"))
    with (
        io.TextIOWrapper(io.BytesIO(b"1 0 \xe9 1\n"), encoding="utf-8") as handle,
        pytest.raises(FileFormatError, match="some byte does not decode"),
    ):
        read(handle)
    with pytest.raises(FileFormatError, match="the gzip file is damaged or cut short"):
        read(io.BytesIO(gzip.compress(b"1 0 a 1\n" * 1000)[:-9]))
    with pytest.raises(FileFormatError, match="the gzip file is damaged or cut short"):
        read(io.BytesIO(gzip.compress(RUN.encode())[:-8] + b"\1" * 8))
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "absent")
    with pytest.raises(TypeError, match="source must be a data frame, a path or an open file, got"):
        read([])


@pytest.mark.parametrize("content", [b"PAR\n", b"\x00\x15\x04PAR1", b"no table"])
def test_a_damaged_table_is_taken_for_no_lines(tmp_path, content):
    path = tmp_path / "q.parquet"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"q\.parquet: .* it is damaged\. Write or fetch"):
        read_qrels(path)
