"""Damaged Parquet files, and small ones that say that they are large."""

import contextlib
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from skfilterrank._files import files as packings
from skfilterrank._files.tables import csv_text, records_of, restored
from skfilterrank.exceptions import FileFormatError, InputError
from skfilterrank.io import Rows, read_judged_table, read_run
from skfilterrank.metrics import evaluate
from thinned import thinned

N = 300

TABLE = pa.table(
    {
        "qid": ["a"] * N + ["b"] * N,
        "docno": [str(i) for i in range(2 * N)],
        "label": [1, 0] * N,
        "score": np.arange(2.0 * N),
    }
)


def parquet_of(table, **options):
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink, **options)
    return sink.getvalue().to_pybytes()


FILES = {
    "plain.parquet": lambda: parquet_of(TABLE),
    "packed.parquet": lambda: parquet_of(TABLE, compression="zstd", row_group_size=100),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_damaged_files_raise_errors_of_input(name, tmp_path):
    whole, path = FILES[name](), tmp_path / name
    rng = np.random.default_rng(7)
    path.write_bytes(whole[:-100])
    with pytest.raises(FileFormatError, match=f"{name}: .*damaged"):
        evaluate(Rows(path), "ap")
    n_errors, times = 0, thinned(range(30))
    for _ in times:
        damaged = np.frombuffer(whole, dtype=np.uint8).copy()
        damaged[rng.integers(0, len(whole), 3)] = rng.integers(0, 256, 3)
        path.write_bytes(damaged.tobytes()[: rng.integers(1, 8 * len(whole))])
        for read in (lambda: evaluate(Rows(path), "ap"), lambda: read_run(path)):
            # Where bytes of values changed, ids and scores are others, and any may be refused.
            with contextlib.suppress(InputError):
                read()
                n_errors -= 1
            n_errors += 1
    assert n_errors > len(times) / 3


def test_few_bytes_that_say_they_are_many_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(packings, "_MOST_BYTES", 1 << 20)
    columns = {"qid": ["q"], "docno": ["d"], "score": [1.0]}
    rows = pa.table({name: pa.array(value * 100_000) for name, value in columns.items()})
    (tmp_path / "run.parquet").write_bytes(parquet_of(rows))
    with pytest.raises(
        FileFormatError, match=r"run\.parquet: the Parquet file unpacks to more than 200 t"
    ):
        read_run(tmp_path / "run.parquet")


def judged(text, **options):
    file = io.BytesIO(text.encode())
    file.name = "t.csv"
    return read_judged_table(file, **options)


RETURNS = ["a\rb", "\rb", "a\r", 'a"\r"b', "a\r\nb", "a\nb", "a\r,b"]


def rows(text, separator=",", **options):
    return list(records_of(text, separator, "t.csv", **options))


def test_what_is_written():
    frame = pd.DataFrame({"name": ["a,b", 'c "d"', "e"], "n": [1, 2.5, None]}, index=[7, 8, 9])
    assert csv_text(frame, index=False) == 'name,n\n"a,b",1.0\n"c ""d""",2.5\ne,\n'
    assert csv_text(frame.rename_axis("row"), header=False).splitlines()[2] == "9,e,"


def test_a_carriage_return_is_written_between_quotes():
    frame = pd.DataFrame({"a\rb": ["c\rd", "e", 'f"\r\ng'], "n": [1, 2, 3]})
    assert csv_text(frame, index=False) == '"a\rb",n\n"c\rd",1\ne,2\n"f""\r\ng",3\n'


@pytest.mark.parametrize("text", RETURNS)
def test_a_text_with_a_carriage_return_stays_one_field(text):
    frame = pd.DataFrame({"qid": ["1", "1"], "docno": ["x", "y"], "label": [1, 0], "t": [text, ""]})
    written = csv_text(frame, index=False)
    fields = [["qid", "docno", "label", "t"], ["1", "x", "1", restored(text)], ["1", "y", "0", ""]]
    # What begins with a carriage return has an apostrophe, as a formula has.
    assert [[restored(field) for field in row] for _, row in rows(written)] == fields
    read = judged(written, columns={"docno": "docno"})
    assert restored(read["t"].iloc[0]) == text
    assert read["label"].tolist() == [1, 0]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_in_each_way(end):
    text = end.join(["a,b", "1,x", "", '2,"y"', ""])
    assert rows(text) == [(1, ["a", "b"]), (2, ["1", "x"]), (4, ["2", "y"])]


def test_the_line_where_a_row_begins():
    text = 'a,b\n"1\n2\n3",x\n\n"",\n'
    assert rows(text) == [(1, ["a", "b"]), (2, ["1\n2\n3", "x"]), (6, ["", ""])]


def test_a_carriage_return_outside_quotes_ends_a_row():
    assert rows("a,b\n1,x\ry\n") == [(1, ["a", "b"]), (2, ["1", "x"]), (3, ["y"])]
    with pytest.raises(FileFormatError, match=r"t\.csv:3: 2 fields were expected.* got 1"):
        judged("qid,t\n1,x\ry\n", labelled=False)


def test_a_pair_of_quotes_is_a_row_and_blanks_are_none():
    assert rows('a\n""\n \n\t\n1\n') == [(1, ["a"]), (2, [""]), (5, ["1"])]


def test_an_open_quote_is_an_error_where_it_is_asked_for():
    assert rows('a\n"1\n2\n') == [(1, ["a"]), (2, ["1\n2\n"])]
    with pytest.raises(FileFormatError, match=r"t\.csv:2: the row cannot be read .*a quote that"):
        rows('a\n"1\n2\n', strict=True)


def test_other_separators_and_marks():
    assert rows("\ufeffa;b\n1;x,y\n", ";") == [(1, ["a", "b"]), (2, ["1", "x,y"])]


def test_a_table_with_two_other_separators():
    message = r"separated by ';', but CSV uses ',': .*sep=';'\)"
    with pytest.raises(FileFormatError, match=message):
        judged("qid;docno|label\n1;a|1\n")


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("=1+1", "'=1+1"),
        ("@x", "'@x"),
        ("-a", "'-a"),
        ("'=x", "''=x"),
        ("-1.5", "-1.5"),
        ("+3", "+3"),
        ("'x", "'x"),
        ("a=b", "a=b"),
        ("\tx", "'\tx"),
    ],
)
def test_texts_that_spreadsheets_take_for_formulas(value, written):
    assert csv_text(pd.DataFrame({"a": [value]}), index=False, header=False) == f"{written}\n"
    assert restored(written) == value


def test_values_that_are_no_texts():
    assert [restored(value) for value in (1, None, "a", "''")] == [1, None, "a", "''"]
    frame = pd.DataFrame({"a": [-1, "-b"], "c": [-0.5, 2.0]})
    assert csv_text(frame, index=False, header=False) == "-1,-0.5\n'-b,2.0\n"
