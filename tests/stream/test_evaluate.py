"""Measures of streams are those of arrays, whatever the rows come as and however they are cut."""

import os
import pickle
import subprocess
import sys
from datetime import date
from decimal import Decimal

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import dataset, parquet

from profiles import times
from skfilterrank import metrics, stream
from skfilterrank._core.measure import MEASURES
from skfilterrank.exceptions import (
    DataWarning,
    FileFormatError,
    InputError,
    InputTypeError,
    MissingPackageError,
)
from skfilterrank.stream import Rows, evaluate
from stream_rows import arrays, cut, make_rows

NAMES = ["ndcg_f@10", "ap", "forbidden@3", "lexirecall", "false_reject_rate", "gm_map", "num_rel"]
COLUMNS = make_rows()
IN_MEMORY = metrics.evaluate(**arrays(COLUMNS), measures=NAMES, average="mean")


def same(result, expected=IN_MEMORY):
    np.testing.assert_allclose(result.means, expected, rtol=1e-13)
    assert list(result.means.index) == list(expected.index)


def bits(result):
    return [each.hex() for each in result.means]


def test_every_measure_is_that_of_arrays():
    names = [name for name, each in MEASURES.items() if not each.columns]
    options = {"n_items": 1000}
    labels = {"label": np.abs(COLUMNS["label"])}
    columns = COLUMNS | labels
    defined = []
    for name in names:
        own = options if "n_items" in MEASURES[name].options else {}
        try:
            expected = metrics.evaluate(**arrays(columns), measures=name, average="mean", **own)
        except ValueError:
            # Wants what these rows do not have.
            continue
        same(evaluate(Rows(cut(columns, 100, 101, 333)), name, **own), expected)
        defined.append(name)
    assert len(defined) >= 40


@pytest.mark.parametrize("undefined", [0.0, 0.5, "drop"])
@pytest.mark.parametrize("unjudged", ["zero", "drop"])
def test_options_are_those_of_arrays(undefined, unjudged):
    given = {"undefined": undefined, "unjudged": unjudged, "gains": "exp2", "ties": "best"}
    names = ["ndcg_f@10", "false_reject_rate", "ap"]
    expected = metrics.evaluate(**arrays(COLUMNS), measures=names, average="mean", **given)
    result = evaluate(Rows(cut(COLUMNS, 200)), names, **given)
    same(result, expected)
    values = metrics.evaluate(**arrays(COLUMNS), measures=names, **given | {"undefined": "drop"})
    assert result.n_undefined.tolist() == values.isna().sum().tolist()


def test_like_other_libraries():
    columns = COLUMNS | {"label": np.abs(np.nan_to_num(COLUMNS["label"]))}
    expected = metrics.evaluate(
        **arrays(columns), measures="ndcg@5", like="lightgbm", average="mean"
    )
    same(evaluate(Rows(cut(columns, 50)), "ndcg@5", like="lightgbm"), expected)


def test_an_option_of_each_row_is_a_column():
    pooled = np.arange(len(COLUMNS["qid"])) % 3 > 0
    columns = COLUMNS | {"in_pool": pooled, "label": np.where(pooled, COLUMNS["label"], np.nan)}
    expected = metrics.evaluate(
        **arrays(columns), measures="inferred_ap", pooled=pooled, average="mean"
    )
    same(evaluate(Rows(cut(columns, 77)), "inferred_ap", pooled="in_pool"), expected)


def test_standard_deviations():
    values = metrics.evaluate(**arrays(COLUMNS), measures=["ndcg_f@10", "ap"])
    frame = evaluate(Rows(cut(COLUMNS, 9)), ["ndcg_f@10", "ap"]).to_frame()
    np.testing.assert_allclose(frame["sd"], values.std(), rtol=1e-12)
    assert frame["n_queries"].tolist() == [60, 60]


@times(0.5)
@given(st.lists(st.integers(0, len(COLUMNS["qid"])), max_size=20), st.integers(10, 1000))
def test_cuts_change_nothing(places, chunk_rows):
    frames = cut(COLUMNS, *sorted(places))
    same(evaluate(Rows(frames, chunk_rows=chunk_rows), NAMES))


@pytest.mark.parametrize("chunk_rows", [20, 100, 10_000])
def test_processes_change_nothing(chunk_rows, tmp_path):
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table(COLUMNS), path, row_group_size=90)
    for source in (COLUMNS, cut(COLUMNS, 10, 11, 300), path):
        rows = Rows(source, chunk_rows=chunk_rows)
        # Threads are processes enough.
        with joblib.parallel_backend("threading"):
            result = evaluate(rows, NAMES, n_jobs=3)
        same(result)
        assert (result.n_queries, result.n_rows) == (60, len(COLUMNS["qid"]))


def test_real_processes(tmp_path):
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table(COLUMNS), path, row_group_size=90)
    out = tmp_path / "values.parquet"
    result = evaluate(Rows(path, chunk_rows=100), NAMES, n_jobs=2, out=out)
    same(result)
    assert pd.read_parquet(out)["qid"].tolist() == list(dict.fromkeys(COLUMNS["qid"].tolist()))


def written(tmp_path, kind):
    """The same rows as a source of some kind."""
    table = pa.table(COLUMNS)
    frame = pd.DataFrame(COLUMNS)
    if kind == "Parquet":
        parquet.write_table(table, tmp_path / "a.parquet", row_group_size=101)
        return tmp_path / "a.parquet"
    if kind == "Arrow":
        with pa.ipc.new_file(str(tmp_path / "a.arrow"), table.schema) as writer:
            writer.write_table(table, max_chunksize=50)
        return str(tmp_path / "a.arrow")
    if kind == "Arrow stream":
        with pa.ipc.new_stream(str(tmp_path / "a.arrow"), table.schema) as writer:
            writer.write_table(table, max_chunksize=50)
        return tmp_path / "a.arrow"
    if kind in ("folder", "files"):
        (tmp_path / "rows" / "day=1").mkdir(parents=True)
        frame[:300].to_parquet(tmp_path / "rows/0.parquet")
        frame[300:310].to_feather(tmp_path / "rows/1.feather")
        pl.from_pandas(frame[310:]).write_parquet(tmp_path / "rows" / "day=1" / "2.parquet")
        (tmp_path / "rows/_SUCCESS").touch()
        names = ("0.parquet", "1.feather", "day=1/2.parquet")
        folder = tmp_path / "rows"
        return folder if kind == "folder" else [folder / name for name in names]
    if kind == "memory maps":
        for name, values in COLUMNS.items():
            np.save(tmp_path / f"{name}.npy", values)
        return {name: np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in COLUMNS}
    return {
        "pandas": frame,
        "index": frame.set_index("qid"),
        "polars": pl.from_pandas(frame),
        "polars lazy": pl.from_pandas(frame).lazy(),
        "polars categories": pl.from_pandas(frame.astype({"qid": str})).with_columns(
            pl.col("qid").cast(pl.Categorical)
        ),
        "dataset": dataset.dataset(table),
        "pyarrow": table,
        "dictionary": table.set_column(
            0, "qid", table["qid"].cast(pa.string()).dictionary_encode()
        ),
        "batches": table.to_batches(max_chunksize=37),
        "reader": table.to_reader(37),
        "generator": (pl.from_pandas(frame[i : i + 40]) for i in range(0, len(frame), 40)),
        "function": lambda: iter(cut(COLUMNS, 5, 500)),
        "other endianness": {name: v.astype(v.dtype.newbyteorder()) for name, v in COLUMNS.items()},
        "lists": {name: values.tolist() for name, values in COLUMNS.items()},
        "float32": pd.DataFrame(COLUMNS).astype({"label": "float32"}),
    }[kind]


KINDS = [
    *("Parquet", "Arrow", "Arrow stream", "folder", "files", "memory maps", "pandas", "index"),
    *("polars", "pyarrow", "dictionary", "batches", "reader", "generator", "function"),
    *("other endianness", "lists", "float32", "polars lazy", "polars categories", "dataset"),
]


@pytest.mark.parametrize("kind", KINDS)
def test_sources(kind, tmp_path):
    source, two = written(tmp_path, kind), ["ndcg_f@10", "num_rel"]
    same(evaluate(Rows(source, chunk_rows=64), two), IN_MEMORY[two])


@pytest.mark.parametrize("kind", ["generator", "reader"])
def test_what_is_read_once_says_so(kind, tmp_path):
    rows = Rows(written(tmp_path, kind))
    evaluate(rows, NAMES)
    with pytest.raises(InputError, match="rows can be read once only"):
        evaluate(rows, NAMES)


def test_other_names_of_columns():
    columns = {"q": COLUMNS["qid"], "y": COLUMNS["label"], "s": COLUMNS["score"]}
    same(evaluate(Rows(columns, query="q", label="y", score="s"), NAMES))


def test_labels_that_are_words():
    gains = {"bad": -1, "good": 1}
    words = np.where(COLUMNS["label"] < 0, "bad", "good").astype(object)
    columns = COLUMNS | {"label": words}
    expected = metrics.evaluate(**arrays(columns), measures="ndcg_f", gains=gains, average="mean")
    same(evaluate(Rows(cut(columns, 70)), "ndcg_f", gains=gains), expected)


@pytest.mark.parametrize("text_ids", [False, True])
def test_values_of_queries(tmp_path, text_ids):
    columns = make_rows(text_ids=text_ids)
    out = tmp_path / "values.parquet"
    evaluate(Rows(cut(columns, 200), chunk_rows=90), ["ndcg_f@10", "ap"], out=out)
    values = pd.read_parquet(out).set_index("qid").sort_index()
    expected = metrics.evaluate(**arrays(columns), measures=["ndcg_f@10", "ap"])
    pd.testing.assert_frame_equal(values, expected, check_index_type=False, check_dtype=False)


def test_values_are_not_written_over_rows(tmp_path):
    folder = tmp_path / "rows"
    folder.mkdir()
    path = folder / "a.parquet"
    parquet.write_table(pa.table(COLUMNS), path)
    (tmp_path / "link").symlink_to(path)
    for source, out in ((path, path), (path, tmp_path / "link"), (folder, folder / "values")):
        with pytest.raises(InputError, match="where rows are read from: name a file apart"):
            evaluate(Rows([source]), "ap", out=out)
    assert [each.name for each in folder.iterdir()] == ["a.parquet"]
    same(evaluate(Rows(path), NAMES, out=folder / "values"))


def test_merging():
    names = ["ndcg_f@10", "gm_map", "num_q"]
    heads = np.flatnonzero(np.diff(COLUMNS["qid"])) + 1
    parts = [evaluate(Rows(each), names) for each in cut(COLUMNS, *heads[[3, 20, 41]])]
    left = parts[0].merge(parts[1]).merge(parts[2]).merge(parts[3])
    right = parts[3].merge(parts[0].merge(parts[2].merge(parts[1])))
    assert bits(left) == bits(right) == bits(evaluate(Rows(COLUMNS), names))
    pd.testing.assert_frame_equal(left.to_frame(), right.to_frame(), check_exact=True)
    assert bits(pickle.loads(pickle.dumps(left))) == bits(left)
    with pytest.raises(InputError, match="queries have rows in both of two parts"):
        left.merge(parts[2])
    with pytest.raises(InputError, match="other must be a StreamEvaluation of ndcg_f@10"):
        left.merge(evaluate(Rows(COLUMNS), "ap"))
    cut_query = [evaluate(Rows(each), names) for each in cut(COLUMNS, heads[3] + 1)]
    with pytest.raises(InputError, match="1 queries have rows in both"):
        cut_query[0].merge(cut_query[1])


def shuffled(columns, seed=0):
    order = np.random.default_rng(seed).permutation(len(columns["qid"]))
    return {name: values[order] for name, values in columns.items()}


@pytest.mark.parametrize(("text_ids", "n_jobs"), [(False, None), (True, 2)])
def test_scattered_rows_are_brought_together(tmp_path, text_ids, n_jobs):
    columns = make_rows(text_ids=text_ids)
    frames = cut(shuffled(columns), 100, 400)
    rows = Rows(frames, scattered="partition", folder=tmp_path, chunk_rows=70)
    same(evaluate(rows, NAMES, n_jobs=n_jobs))
    assert os.listdir(tmp_path) == []
    # A generator is written once, and read as often as wanted.
    same(evaluate(Rows(iter(frames), scattered="partition"), NAMES))


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path, monkeypatch):
    import skfilterrank.stream._partition as partition

    class Full:
        def __init__(self, *args):
            open(*args).close()

        def __enter__(self):
            return self

        def __exit__(self, *args):
            pass

        def write(self, data):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(partition, "open", Full, raising=False)
    rows = Rows(COLUMNS, scattered="partition", folder=tmp_path)
    with pytest.raises(OSError, match="No space left") as error:
        evaluate(rows, "ap")
    assert str(tmp_path) in error.value.filename
    assert "give a folder with more space" in error.value.__notes__[0]
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("chunk_rows", [3, 10_000])
@pytest.mark.parametrize("text_ids", [False, True])
def test_a_query_that_comes_back_is_an_error(tmp_path, n_jobs, chunk_rows, text_ids):
    columns = make_rows(20, text_ids=text_ids)
    moved = {name: np.append(values, values[:1]) for name, values in columns.items()}
    first = columns["qid"].tolist()[0]
    out = tmp_path / "values.parquet"
    said = f"rows of query {first!r} do not stand together"
    with joblib.parallel_backend("threading"), pytest.raises(InputError, match=said) as error:
        evaluate(Rows(moved, chunk_rows=chunk_rows), "ap", out=out, n_jobs=n_jobs)
    assert "scattered='partition'" in str(error.value)
    assert os.listdir(tmp_path) == []


def test_a_stream_that_breaks_off_leaves_nothing(tmp_path):
    def broken():
        yield COLUMNS
        raise ConnectionError("the line is dead")

    out = tmp_path / "values.parquet"
    out.write_text("old")
    with pytest.raises(ConnectionError, match="the line is dead"):
        evaluate(Rows(broken), "ap", out=out)
    assert out.read_text() == "old"
    assert os.listdir(tmp_path) == ["values.parquet"]


def test_files_that_end_early(tmp_path):
    for kind, name in (("Parquet", "a.parquet"), ("Arrow stream", "a.arrow")):
        written(tmp_path, kind)
        whole = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(whole[: len(whole) // 2])
        with pytest.raises(FileFormatError, match=f"{name}.*damaged or ends early"):
            evaluate(Rows(tmp_path / name), "ap")


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


@pytest.mark.parametrize("kind", ["pandas", "pyarrow", "polars"])
def test_missing_query_ids(kind):
    frame = pd.DataFrame(COLUMNS).astype({"qid": "Int64"})
    frame.loc[200, "qid"] = None
    source = {
        "pandas": frame,
        "pyarrow": pa.Table.from_pandas(frame),
        "polars": pl.from_pandas(frame),
    }[kind]
    with pytest.raises(InputError, match="'qid' has 1 missing value"):
        evaluate(Rows(source), "ap")


def test_bad_scores_say_where(tmp_path):
    columns = COLUMNS | {"score": np.where(np.arange(len(COLUMNS["qid"])) == 150, np.nan, 0.0)}
    parquet.write_table(pa.table(columns), tmp_path / "a.parquet", row_group_size=100)
    with pytest.raises(InputError, match=r"a\.parquet, rows from 100: column 'score' holds 1 NaN"):
        evaluate(Rows(tmp_path / "a.parquet", chunk_rows=100), "ap")


def test_ids_of_two_types():
    numbers, texts = make_rows(5), make_rows(5, text_ids=True)
    with pytest.raises(InputError, match="query ids are of different types"):
        evaluate(Rows([numbers, texts]), "ap")
    with pytest.raises(InputError, match="query ids are of different types"):
        evaluate(Rows([numbers, texts], scattered="partition"), "ap")


def objects(*values):
    ids = np.empty(len(values), dtype=object)
    ids[:] = values
    return ids


# Ids in one table: the first, another query, and one that is or is not the first.
IDS = {
    "zero bytes": objects("a", "b", "a\0"),
    "zero bytes, bytes": objects(b"a", b"b", b"a\0"),
    "True and 1": objects(True, 2, 1),
    "1 and 1.0": objects(1, 2, 1.0),
    "1 and Decimal": objects(1, 2.5, Decimal(1)),
    "-0.0": np.array([-0.0, 1.0, 0.0]),
    "-0.0 and 0": objects(-0.0, 1.0, 0),
    "near 2**53": objects(2**53, 1, 2**53 + 1),
    "above 2**64": objects(2**70, 1, 2**70 + 1),
    "-1 and -2": objects(-1, 0, -2),
    "numbers of numpy": objects(np.int64(1), 2, np.float32(1)),
    "dates": objects(date(2020, 1, 1), date(2020, 1, 2), date(2020, 1, 1)),
    "tuples": objects((1, "a"), (2, "a"), (1.0, "a")),
    "datetime64": np.array(["2020-01-01", "2020-01-02", "2020-01-01"], dtype="M8[D]"),
    "uint64": np.array([2**63, 1, 2**63 + 1], dtype=np.uint64),
}
# Ids of two tables, of which a computer cannot say, or not without loss, whether they are equal.
UNLIKE = {
    "a and b'a'": (["a", "a"], [b"a", b"a"]),
    "a and b'a' in one": (objects("a", b"a"), objects("a", b"a")),
    "True and 1": ([True, True], [1, 1]),
    "1 and 1.0": ([1, 1], [1.0, 2.0]),
    "uint64 and int64": (np.array([2**63, 2**63], dtype=np.uint64), [-1, -1]),
    "units": (np.array([1, 1], dtype="M8[s]"), np.array([1, 1], dtype="M8[ms]")),
}


@pytest.mark.parametrize("kind", IDS)
def test_equal_ids_are_one_query_as_in_memory(kind):
    columns = {"qid": IDS[kind], "label": [1, 0, 1], "score": [3, 2, 1]}
    names = {"label": "y_true", "score": "y_score", "qid": "groups"}
    in_memory = metrics.evaluate(
        **{names[name]: values for name, values in columns.items()}, measures="ap"
    )
    frames = [{name: values[i : i + 1] for name, values in columns.items()} for i in range(3)]
    together = [{name: np.asarray(values) for name, values in columns.items()}]
    found = evaluate(Rows(together, scattered="partition"), "ap")
    assert found.n_queries == len(in_memory)
    same(found, in_memory.mean())
    if len(in_memory) == 3:
        assert evaluate(Rows(together), "ap").n_queries == 3
    else:
        for rows in (Rows(together), Rows(frames)):
            with pytest.raises(InputError, match="comes back"):
                evaluate(rows, "ap")


@pytest.mark.parametrize("kind", UNLIKE)
@pytest.mark.parametrize("scattered", ["raise", "partition"])
def test_ids_of_unlike_types_are_an_error(kind, scattered):
    frames = [{"qid": ids, "label": [1, 0], "score": [2, 1]} for ids in UNLIKE[kind]]
    with pytest.raises(InputError, match="of different types"):
        evaluate(Rows(frames, scattered=scattered), "ap")


def test_one_warning_of_forbidden_documents():
    with pytest.warns(DataWarning, match="some gains are below 0") as caught:
        evaluate(Rows(cut(COLUMNS, 100, 200), chunk_rows=10), "ndcg")
    assert len(caught) == 1


def test_pyarrow_is_named_where_it_is_missing(monkeypatch, tmp_path):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for call in (
        lambda: Rows(tmp_path / "a.parquet"),
        lambda: evaluate(Rows(COLUMNS), "ap", out=tmp_path / "values.parquet"),
    ):
        with pytest.raises(MissingPackageError, match=r"skfilterrank\[parquet\]"):
            call()
    # Everything else goes without it.
    same(evaluate(Rows(pd.DataFrame(COLUMNS)), NAMES))


def test_dask_is_not_needed():
    code = (
        "import sys\n"
        "sys.modules |= dict.fromkeys(['dask', 'distributed', 'dask.dataframe'])\n"
        "from skfilterrank.stream import Rows, evaluate, threshold_curve\n"
        "rows = Rows({'qid': [1, 1], 'label': [1, 0], 'score': [2, 1]}, scattered='partition')\n"
        "print(evaluate(rows, 'ap').means['ap'], threshold_curve(rows).best_value)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1.0 1.0\n"


@pytest.mark.parametrize("source", [None, 3, np.zeros(3), pd.Series([1.0]), "", 4.5, dict])
def test_what_names_no_rows(source):
    with pytest.raises((InputTypeError, FileNotFoundError)):
        evaluate(Rows(source), "ap")


def test_odd_calls():
    with pytest.raises(InputTypeError, match=r"rows must be skfilterrank\.stream\.Rows, got dict"):
        evaluate(COLUMNS, "ap")
    with pytest.raises(InputTypeError, match="number 1 is 3"):
        evaluate(Rows([COLUMNS, 3]), "ap")
    with pytest.raises(InputError, match="no column 'nothing'"):
        evaluate(Rows(COLUMNS, score="nothing"), "ap")
    with pytest.raises(InputTypeError, match="a column is 3: expected an array"):
        evaluate(Rows({"qid": 3}), "ap")
    with pytest.raises(InputError, match="columns of different lengths"):
        evaluate(Rows(COLUMNS | {"label": [1]}), "ap")
    with pytest.raises(InputError, match="persistence is not an option"):
        evaluate(Rows(COLUMNS), "ap", persistence=0.5)


def test_progress(capsys):
    evaluate(Rows(COLUMNS), "ap", verbose=1)
    assert "row" in capsys.readouterr().err
    evaluate(Rows(COLUMNS), "ap")
    assert capsys.readouterr().err == ""


def test_the_module_is_found():
    assert stream.__all__
