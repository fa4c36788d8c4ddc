"""Rows of queries in frames, and as arrays."""

import joblib
import numpy as np
import pandas as pd
import pytest

from skfilterrank import metrics
from skfilterrank.io import Rows
from skfilterrank.thresholds import threshold_curve


def make_rows(n_queries=60, *, seed=0, text_ids=False):
    """A dict of columns: ids in no order, some labels missing, scores tied and filtered."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 30, n_queries)
    ids = rng.permutation(10 * n_queries)[:n_queries]
    qid = np.repeat(ids, sizes)
    n_rows = len(qid)
    label = rng.choice([-1.0, 0.0, 1.0, 2.0, np.nan], n_rows, p=[0.2, 0.3, 0.25, 0.15, 0.1])
    # Something of each query is judged.
    first = np.cumsum(sizes) - sizes
    label[first] = np.nan_to_num(label[first])
    score = rng.normal(size=n_rows).round(1)
    score[rng.random(n_rows) < 0.1] = -np.inf
    if text_ids:
        qid = np.array([f"q{each}" for each in qid], dtype=object)
    return {"qid": qid, "label": label, "score": score}


def lists_of(seed, n_queries=6, n_ties=4, filtered=True):
    """Labels, scores with ties and -inf, and queries in no order."""
    rng = np.random.RandomState(seed)
    groups = rng.randint(0, n_queries, 40)
    scores = rng.randint(0, n_ties * 4, 40) / 4.0
    if filtered:
        scores[rng.rand(40) < 0.1] = -np.inf
    return rng.choice([-1.0, 0, 1, 2], 40), scores, groups


def cut(columns, *places):
    """The same rows in several frames."""
    ends = [*places, len(columns["qid"])]
    return [
        {name: values[begin:end] for name, values in columns.items()}
        for begin, end in zip([0, *places], ends)
    ]


def arrays(columns):
    """Arguments of the functions for arrays."""
    return {"y_true": columns["label"], "y_score": columns["score"], "groups": columns["qid"]}


NAMES = ["ndcg_f@10", "ap", "forbidden@3", "lexirecall", "false_reject_rate", "gm_map", "num_rel"]
COLUMNS = make_rows()
IN_MEMORY = metrics.evaluate(**arrays(COLUMNS), measures=NAMES).means


def same(result, expected=IN_MEMORY):
    """Check that means are those of arrays, in their order."""
    np.testing.assert_allclose(result.means, expected, rtol=1e-13)
    assert list(result.means.index) == list(expected.index)


def scores_of_all_kinds(columns):
    """Scores by what is odd about them."""
    rng, n_rows = np.random.default_rng(0), len(columns["qid"])
    labels = np.nan_to_num(columns["label"])
    return {
        "uniform": rng.random(n_rows),
        "good": rng.random(n_rows) + 0.4 * labels,
        "float32": (rng.random(n_rows) + 0.4 * labels).astype(np.float32),
        "whole numbers": rng.integers(0, 50, n_rows) + 20 * labels.astype(int),
        "few": (rng.normal(size=n_rows) + labels).round(),
        "all in one bin": 1 + 1e-13 * (rng.random(n_rows) + labels),
        "all tied": np.zeros(n_rows),
        "denormals": 5e-324 * (rng.integers(0, 100, n_rows) + 30 * labels),
        "zeros of both signs": np.where(rng.random(n_rows) < 0.5, 0.0, -0.0) + (labels > 1),
        "huge range": 10.0 ** rng.uniform(-320, 308, n_rows) * rng.choice([-1, 1], n_rows),
        "ends of the range": rng.choice([-1.7e308, -5e-324, 0.0, 5e-324, 1.7e308], n_rows),
        "filtered": np.where(rng.random(n_rows) < 0.5, -np.inf, rng.random(n_rows) + labels),
        "all filtered": np.full(n_rows, -np.inf),
    }


def check_curve(columns, rows=None, **given):
    """Check that the curve of rows has the best threshold of arrays, and true values."""
    expected = threshold_curve(**arrays(columns), **given)
    rows = Rows(columns, chunk_rows=200) if rows is None else rows
    with joblib.parallel_backend("threading"):
        curve = threshold_curve(rows, **given)
    assert curve.best_threshold == expected.best_threshold
    size = np.nanmax(np.abs(expected.values), initial=1.0)
    assert curve.best_value == pytest.approx(
        expected.best_value, rel=0, abs=1e-15 * size, nan_ok=True
    )
    # The other thresholds are some of all, with their values.
    if given.get("measure", "ndcg_f").startswith(("ndcg_f", "dcg", "forbidden")):
        # Others may have steps that are only rounding.
        assert np.isin(curve.thresholds, expected.thresholds).all()
    np.testing.assert_allclose(
        expected.value_at(curve.thresholds), curve.values, rtol=0, atol=1e-12 * size
    )
    assert curve.thresholds[0] == np.inf
    return curve


def written(tmp_path, kind):
    """The same rows as a source of some kind."""
    import polars as pl
    import pyarrow as pa
    from pyarrow import dataset, parquet

    table = pa.table(COLUMNS)
    frame = pd.DataFrame(COLUMNS)
    if kind == "Parquet":
        parquet.write_table(table, tmp_path / "a.parquet", row_group_size=101)
        return tmp_path / "a.parquet"
    if kind in ("folder", "files"):
        (tmp_path / "rows" / "day=1").mkdir(parents=True)
        frame[:300].to_parquet(tmp_path / "rows/0.parquet")
        frame[300:310].to_parquet(tmp_path / "rows/1.pq")
        pl.from_pandas(frame[310:]).write_parquet(tmp_path / "rows" / "day=1" / "2.parquet")
        (tmp_path / "rows/_SUCCESS").touch()
        names = ("0.parquet", "1.pq", "day=1/2.parquet")
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
