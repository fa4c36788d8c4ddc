"""Dask DataFrames have the measures of arrays, however the rows are cut."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import times
from rows_of_queries import arrays, make_rows
from skfilterrank import metrics
from skfilterrank._files.rows import plain_ids
from skfilterrank.exceptions import InputError
from skfilterrank.io import Rows
from skfilterrank.metrics import evaluate


@pytest.fixture(autouse=True, scope="module")
def in_this_thread():
    global dask, dd
    dask = pytest.importorskip("dask", reason="dask is not installed")
    dd = pytest.importorskip("dask.dataframe", reason="dask is not installed")
    pytest.importorskip("dask.array")
    with dask.config.set(scheduler="synchronous"):
        yield


def test_ids_with_categories_are_those_without():
    names = pd.Series(["b", "a", "b", "c"])
    as_categories = plain_ids(0, names.astype("category"), "category", "groups")
    pd.testing.assert_series_equal(as_categories, names)


MEASURES = ["ndcg_f@5", "ap", "forbidden@3", "lexirecall"]


def partitions(table, cuts):
    parts = [table.iloc[a:b] for a, b in zip([0, *cuts], [*cuts, len(table)])]
    return dd.from_map(lambda part: part, parts, meta=table.iloc[:0])


def table_of(**options):
    return pd.DataFrame(make_rows(**options))


def in_memory(table):
    columns = {name: table[name].to_numpy() for name in table}
    return metrics.evaluate(**arrays(columns), measures=MEASURES).means


@pytest.mark.slow
@times(0.5)
@given(
    seed=st.integers(0, 5),
    shuffled=st.booleans(),
    text=st.booleans(),
    cuts=st.lists(st.integers(0, 800), max_size=6).map(sorted),
)
def test_as_in_memory_however_rows_are_cut(seed, shuffled, text, cuts):
    table = table_of(seed=seed, text_ids=text)
    expected = in_memory(table)
    if shuffled:
        table = table.sample(frac=1, random_state=seed).reset_index(drop=True)
    with dask.config.set(scheduler="synchronous"):
        found = evaluate(Rows(partitions(table, cuts).shuffle("qid")), MEASURES)
    np.testing.assert_allclose(found.means, expected, rtol=0, atol=1e-12)
    assert (found.n_rows, found.n_queries) == (len(table), table["qid"].nunique())


# Up to eight are merged at a time, so that 1, 8, 9 and 70 take none, one, two and three rounds.
@pytest.mark.slow
@pytest.mark.parametrize("n_partitions", [1, 8, 9, pytest.param(70, marks=pytest.mark.nightly)])
def test_many_partitions_are_merged_in_rounds(n_partitions):
    table = table_of(n_queries=100)
    first = np.flatnonzero(table["qid"] != table["qid"].shift())
    found = evaluate(Rows(partitions(table, list(first[1:n_partitions]))), MEASURES)
    np.testing.assert_allclose(found.means, in_memory(table), rtol=0, atol=1e-12)
    assert (found.n_rows, found.n_queries) == (len(table), 100)


@pytest.mark.slow
def test_a_query_in_two_partitions_is_an_error():
    table = table_of()
    inside = int(np.flatnonzero(table["qid"].to_numpy()[1:] == table["qid"].to_numpy()[:-1])[20])
    with pytest.raises(InputError, match=r"1 queries have rows in both .* frame\.shuffle\(query\)"):
        evaluate(Rows(partitions(table, [inside + 1])), MEASURES)


@pytest.mark.slow
def test_query_ids_in_the_index():
    table = table_of()
    frame = dd.from_pandas(table.set_index("qid").sort_index(kind="stable"), npartitions=4)
    found = evaluate(Rows(frame), MEASURES)
    np.testing.assert_allclose(found.means, in_memory(table), rtol=0, atol=1e-12)


@pytest.mark.slow
def test_empty_partitions_and_none_at_all():
    table = table_of()
    frame = partitions(table, [0, 0, len(table)])
    np.testing.assert_allclose(evaluate(Rows(frame), MEASURES).means, in_memory(table), atol=1e-12)
    with pytest.raises(InputError, match="rows holds no rows"):
        evaluate(Rows(partitions(table.iloc[:0], [0])), MEASURES)


@pytest.mark.slow
def test_bad_partitions_are_named():
    table = table_of()
    missing = table.astype({"qid": float})
    missing.loc[150, "qid"] = np.nan
    with pytest.raises(InputError, match=r"1 null\(s\) in partition 1, the first at its row 50"):
        evaluate(Rows(partitions(missing, [100])), MEASURES)
    parts = [table.iloc[:100], table.iloc[100:].astype({"qid": float})]
    frame = dd.from_map(lambda part: part, parts, meta=table.iloc[:0])
    with pytest.raises(InputError, match="has dtype float64 in partition 1, expected int64"):
        evaluate(Rows(frame), MEASURES)
    infinite = table.copy()
    infinite.loc[150, "score"] = np.inf
    end = int(np.flatnonzero(infinite["qid"].to_numpy()[1:] != infinite["qid"].to_numpy()[:-1])[0])
    with pytest.raises(InputError, match="partition 1: column 'score' holds 1"):
        evaluate(Rows(partitions(infinite, [end + 1])), MEASURES)
    twice = pd.concat([table, table[["score"]]], axis=1)
    with pytest.raises(InputError, match="rows has several columns 'score'"):
        evaluate(Rows(dd.from_pandas(twice, npartitions=2)), MEASURES)
    with pytest.raises(TypeError, match="source must name rows, got dask"):
        Rows(dask.array.ones((3, 3)))
    with pytest.raises(InputError, match="rows has no column 'score'"):
        evaluate(Rows(partitions(table.drop(columns="score"), [9])), MEASURES)


@pytest.mark.slow
def test_what_stays_on_the_workers(tmp_path):
    frame = partitions(table_of(), [50])
    with pytest.raises(InputError, match="out is not possible"):
        evaluate(Rows(frame), MEASURES, out=tmp_path / "values.parquet")
    with pytest.raises(TypeError, match="source is a Dask Series"):
        Rows(frame["score"])
