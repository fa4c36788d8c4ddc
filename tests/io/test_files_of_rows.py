"""Parquet files, and folders of them."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import dataset, parquet

from rows_of_queries import COLUMNS, NAMES, cut, make_rows, same, written
from skfilterrank.exceptions import FileFormatError, InputError
from skfilterrank.io import Rows
from skfilterrank.metrics import evaluate

# Not among the oldest packages.
pl = pytest.importorskip("polars")


def test_files_that_end_early(tmp_path):
    path = tmp_path / "a.parquet"
    written(tmp_path, "Parquet")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileFormatError, match=r"a\.parquet.*damaged or ends early"):
        evaluate(Rows(path), "ap")


@pytest.mark.slow
@pytest.mark.parametrize("place", ["", "_rows", ".rows"])
def test_folders_hide_what_pyarrow_does_not_read(tmp_path, place):
    folder = tmp_path / place
    frame = pd.DataFrame(COLUMNS)
    names = ["1.parquet", "day=2/hour=3/2.parquet", "x_1/3.parquet"]
    hidden = [".a.parquet", "_b.parquet", "_temporary/0/c.parquet", ".ipynb_checkpoints/d.parquet"]
    hidden += ["day=2/_temporary/e.parquet", "day=2/.f/g/h.parquet"]
    for number, name in enumerate(names + hidden):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        frame.assign(qid=frame["qid"] + 1000 * number).to_parquet(folder / name)
    expected = dataset.dataset(str(folder), format="parquet", exclude_invalid_files=False)
    assert evaluate(Rows(folder), "num_rel").n_rows == len(expected.to_table()) == 3 * len(frame)
    # A partition, which Spark reads and pyarrow does not.
    (folder / "_day=1").mkdir()
    frame.assign(qid=-1).to_parquet(folder / "_day=1" / "4.parquet")
    assert evaluate(Rows(folder), "num_rel").n_rows == 4 * len(frame)


def test_folders_of_unlike_files(tmp_path):
    frame = pd.DataFrame(COLUMNS)
    frame[:300].to_parquet(tmp_path / "a.parquet")
    frame[300:].astype({"qid": str}).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(FileFormatError, match=r"b\.parquet.*'qid' holds text, but whole numbers"):
        evaluate(Rows(tmp_path), "ap")
    frame[300:].drop(columns="label").to_parquet(tmp_path / "b.parquet")
    with pytest.raises(FileFormatError, match=r"b\.parquet.*no column 'label'"):
        evaluate(Rows(tmp_path), "ap")
    (tmp_path / "b.parquet").rename(tmp_path / "notes.txt")
    with pytest.raises(InputError, match=r"notes\.txt"):
        evaluate(Rows(tmp_path), "ap")


def test_dictionaries_that_change_between_files(tmp_path):
    columns = make_rows(text_ids=True)
    for number, part in enumerate(cut(columns, 203)):
        table = pa.table(part)
        table = table.set_column(0, "qid", table["qid"].dictionary_encode())
        parquet.write_table(table, tmp_path / f"{number}.parquet")
    same(evaluate(Rows(tmp_path), NAMES))


def test_empty_row_groups_and_frames(tmp_path):
    table = pa.table(COLUMNS)
    with parquet.ParquetWriter(tmp_path / "a.parquet", table.schema) as writer:
        for part in (table[:0], table[:50], table[:0], table[50:], table[:0]):
            writer.write_table(part)
    same(evaluate(Rows(tmp_path / "a.parquet"), NAMES))
    frames = [{name: values[:0] for name, values in COLUMNS.items()}, *cut(COLUMNS, 0, 5, 5)]
    same(evaluate(Rows(frames), NAMES))
    for nothing in ([], frames[:1], pd.DataFrame(COLUMNS)[:0], lambda: iter([])):
        with pytest.raises(InputError, match="rows holds no rows"):
            evaluate(Rows(nothing), "ap")


def test_bad_scores_say_where(tmp_path):
    columns = COLUMNS | {"score": np.where(np.arange(len(COLUMNS["qid"])) == 150, np.nan, 0.0)}
    parquet.write_table(pa.table(columns), tmp_path / "a.parquet", row_group_size=100)
    with pytest.raises(InputError, match=r"a\.parquet, rows from 100: column 'score' holds 1 NaN"):
        evaluate(Rows(tmp_path / "a.parquet", chunk_rows=100), "ap")
