"""Files that no reader should trip over: a value, or an error that is worded and names the file."""

import importlib.util
import io
from functools import partial

import pandas as pd
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from hostile_files import CONTENTS, CSV, DOCUMENTS, JSONL, SCORES, mutated
from profiles import times
from skfilterrank.cli._inputs import read_documents, read_topics
from skfilterrank.cli._output import message_of
from skfilterrank.comparison import SystemScores
from skfilterrank.exceptions import SkfilterrankError
from skfilterrank.io import read_judged_table, read_letor, read_qrels, read_run
from thinned import thinned

# What labels below 0 mean is not said here, and not what is tested.
pytestmark = pytest.mark.filterwarnings("ignore:.* holds labels below 0")

HAS_PARQUET = importlib.util.find_spec("pyarrow") is not None


def parquet(table):
    if not HAS_PARQUET:
        return b""
    out = io.BytesIO()
    pd.read_csv(io.BytesIO(table), dtype={"qid": str}).to_parquet(out)
    return out.getvalue()


# How each reader is called, the end of the file's name, and a valid file.
READERS = {
    "letor": (read_letor, "", b"2 qid:1 1:0.5 3:-2 # docid = a\n-1 qid:2 2:1e-3\n"),
    "csv": (partial(read_judged_table, columns={"docno": "docno"}), ".csv", CSV),
    "tsv": (
        partial(read_judged_table, columns={"docno": "docno"}),
        ".tsv",
        CSV.replace(b",", b"\t"),
    ),
    "jsonl": (partial(read_judged_table, columns={"docno": "docno"}), ".jsonl", JSONL),
    "parquet": (partial(read_judged_table, columns={"docno": "docno"}), ".parquet", parquet(CSV)),
    "qrels": (read_qrels, "", b"1 0 a 2\n1 0 b -1\n2 0 a 0.5\n"),
    "qrels csv": (read_qrels, "", CSV),
    "qrels json": (read_qrels, "", b'{"1": {"a": 2, "b": -1}, "2": {"a": 0.5}}'),
    "run json lines": (read_run, "", JSONL.replace(b"label", b"score").replace(b"null", b"1")),
    "run parquet": (
        read_run,
        "",
        parquet(CSV.replace(b"label", b"score").replace(b"b,,", b"b,1,")),
    ),
    "run without scores": (read_run, "", b"1 a 1\n1 b 2\n"),
    "trec topics": (read_topics, "", b"<top>\n<num> 1\n<title> t\n</top>\n"),
    "bare topics": (read_topics, "", b"1\tsome words\n2\tmore\n"),
    "prels": (read_qrels, "", b"1 a 2 1 0.5\n1 b 0 1 1.0\n"),
    "run": (read_run, "", b"1 Q0 a 1 9.5 x\n1 Q0 b 2 -1e3 x\n2 Q0 a 1 -inf x\n"),
    "scores csv": (partial(SystemScores.read, missing="drop"), "", SCORES),
    "scores trec": (
        partial(SystemScores.read, missing="drop"),
        "",
        b"ap\t1\t0.5\nap\t2\t0.25\nrunid\tall\tr\n",
    ),
    "documents csv": (read_documents, ".csv", DOCUMENTS),
    "documents jsonl": (read_documents, ".jsonl", JSONL),
    "documents parquet": (read_documents, ".parquet", parquet(DOCUMENTS)),
    "topics": (read_topics, ".jsonl", JSONL),
}
# They take files apart as others of the readers do.
ALIKE = {"tsv", "documents csv", "documents jsonl", "documents parquet", "topics"}


def outcome(reader, content, path):
    """Value or error of reading a file; all other errors are left."""
    function, suffix, _ = READERS[reader]
    path = path.with_suffix(suffix)
    path.write_bytes(content)
    try:
        return function(path)
    except (SkfilterrankError, OSError) as error:
        return error


def check(found, path):
    """An error names the file, on one line."""
    if isinstance(found, Exception):
        message = message_of(found)
        assert str(path) in message
        assert "\n" not in message


@pytest.fixture
def path(tmp_path):
    return tmp_path / "hostile"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* holds no document")
@pytest.mark.parametrize("reader", READERS)
def test_hostile_files(path, reader):
    for content in thinned(CONTENTS.values(), turn=list(READERS).index(reader), parts=5):
        check(outcome(reader, content, path), path)


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_valid_files_are_read(path, reader):
    content = READERS[reader][2]
    assert not isinstance(outcome(reader, content, path), Exception)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* holds no document")
@pytest.mark.filterwarnings("ignore:.* is not closed")
@pytest.mark.parametrize("reader", [reader for reader in READERS if reader not in ALIKE])
@times(0.5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_mutated_files(path, reader, data):
    check(outcome(reader, data.draw(mutated(READERS[reader][2])), path), path)
