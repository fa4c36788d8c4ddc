"""The rows of Dask DataFrames that models learn from: whole queries, in their order."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from cluster_rows import FEATURES, Recorded, columns, fit, partitions, whole
from skfilterrank.exceptions import (
    InputError,
    InputTypeError,
)
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.ranking import RankAndFilter

pytestmark = pytest.mark.slow

dask = pytest.importorskip("dask", reason="dask is not installed")
dd = pytest.importorskip("dask.dataframe", reason="dask is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")
lightgbm = pytest.importorskip("lightgbm")
xgboost = pytest.importorskip("xgboost")
xgboost_dask = pytest.importorskip("xgboost.dask")


@pytest.mark.nightly
def test_every_model_learns_from_whole_queries_in_their_order(cluster, table):
    scattered = table.sample(frac=1, random_state=0)
    scattered.loc[scattered.index[::7], "label"] = np.nan
    Recorded.seen.clear()
    model = RankAndFilter(Recorded(n_estimators=1), cv=2)
    with pytest.warns(UserWarning, match="unjudged"):
        fit(model, partitions(scattered, [100, 400, 401]))
    *folds, last = Recorded.seen
    assert len(folds) == 2
    judged = scattered.dropna()
    levels = np.unique(judged["label"])
    queries_of = []
    for parts in (*folds, last):
        rows = pd.concat(parts)
        assert rows["number"].is_monotonic_increasing
        assert all(len(part) for part in parts)
        numbers = [set(part["number"]) for part in parts]
        assert sum(map(len, numbers)) == len(set().union(*numbers))
        # Features tell which row it is.
        known = judged.reset_index(drop=True).merge(rows, on=FEATURES, validate="1:1")
        assert len(known) == len(rows)
        np.testing.assert_array_equal(levels[known["target"]], known["label"])
        pairs = known[["query", "number"]].drop_duplicates()
        assert pairs["query"].is_unique
        assert pairs["number"].is_unique
        queries_of.append(set(known["query"]))
        counts = judged["query"].value_counts()
        assert rows["number"].nunique() == len(queries_of[-1])
        assert len(rows) == counts[list(queries_of[-1])].sum()
    every = set(judged["query"])
    assert queries_of[-1] == every
    held_out = [every - queries for queries in queries_of[:-1]]
    assert all(held_out)
    assert sum(map(len, held_out)) == len(every) == len(set().union(*held_out))
    assert model.n_unjudged_ == scattered["label"].isna().sum()


@pytest.mark.nightly
def test_partitions_without_rows(cluster, table):
    model = RankAndFilter(xgboost_dask.DaskXGBRanker(n_estimators=2), cv=0.3, refit=False)
    expected = fit(clone(model), whole(table, 1))
    frame = partitions(table, [0, 0, 150, len(table)])
    assert fit(model, frame).threshold_ == expected.threshold_
    for name in ("predict", "decision_function"):
        found = getattr(model, name)(frame[FEATURES]).compute()
        np.testing.assert_array_equal(found, getattr(expected, name)(table[FEATURES]))
    places = model.rank(partitions(table, [0])[FEATURES], groups=partitions(table, [0])["query"])
    assert places.compute().dtype == np.int64
    # More partitions than queries: a shuffle leaves some empty.
    few = table[table["query"] < 8].sample(frac=1, random_state=0)
    fit(RankAndFilter(xgboost_dask.DaskXGBRanker(n_estimators=1), cv=2), partitions(few, [3, 5, 7]))
    with pytest.raises(InputError, match="X has no rows"):
        fit(model, partitions(table.iloc[:0], [0]))


@pytest.mark.nightly
def test_rows_of_a_query_keep_their_order(cluster, table):
    scattered = table.sample(frac=1, random_state=1)
    Recorded.seen.clear()
    fit(RankAndFilter(Recorded(n_estimators=1), threshold=0.0), partitions(scattered, [50, 300]))
    (parts,) = Recorded.seen
    rows = pd.concat(parts)
    came = scattered.reset_index(drop=True).reset_index().merge(rows, on=FEATURES)
    order = rows.merge(came, on=FEATURES)
    assert order.groupby("query")["index"].is_monotonic_increasing.all()


@pytest.mark.nightly
def test_queries_in_the_index(cluster, table):
    sorted_by = table.rename(columns={"query": "qid"}).set_index("qid")
    frame = dd.from_pandas(sorted_by, npartitions=3)
    model = RankAndFilter(xgboost_dask.DaskXGBRanker(n_estimators=2), threshold=None)
    found = clone(model).fit(frame[FEATURES], frame["label"]).predict(table[FEATURES])
    np.testing.assert_array_equal(found, fit(model, whole(table, 3)).predict(table[FEATURES]))


@pytest.mark.nightly
def test_text_ids_categories_and_unknown_divisions(cluster, table):
    named = table.assign(query=[f"q{i}" for i in table["query"]])
    model = RankAndFilter(xgboost_dask.DaskXGBRegressor(n_estimators=2), cv=0.3, refit=False)
    expected = fit(clone(model), partitions(named, [100, 250]))
    categories = named.assign(query=named["query"].astype("category"))
    parts = [categories.iloc[:100], categories.iloc[100:250], categories.iloc[250:]]
    # Each partition with categories of its own.
    parts = [part.assign(query=part["query"].cat.remove_unused_categories()) for part in parts]
    frame = dd.from_map(lambda part: part, parts, meta=categories.iloc[:0])
    assert not frame.known_divisions
    assert fit(model, frame).threshold_ == expected.threshold_


BAD = {
    "a null in ids": (
        lambda t: t.assign(query=t["query"].astype(float).where(t.index != 250)),
        r"groups holds 1 null\(s\) in partition 1, the first at its row 100",
    ),
    "a label without a number": (
        lambda t: t.assign(label=t["label"].astype(object).where(t.index != 250, "good")),
        "labels that are not numbers(.|\n)*occurred in partition 1",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_values_name_the_partition(cluster, table, name):
    spoil, message = BAD[name]
    # Else Dask makes texts of all labels where one is a text, and every partition is wrong.
    with (
        dask.config.set({"dataframe.convert-string": False}),
        pytest.raises(InputError, match=message),
    ):
        fit(RankAndFilter(xgboost_dask.DaskXGBRanker()), partitions(spoil(table), [150]))


@pytest.mark.nightly
@pytest.mark.parametrize("column", ["f1", "query", "label"])
def test_partitions_of_other_types(cluster, table, column):
    parts = [table.iloc[:150], table.iloc[150:].astype({column: str})]
    frame = dd.from_map(lambda part: part, parts, meta=table.iloc[:0])
    with pytest.raises(InputError, match=r"in partition 1, expected (int|float)64"):
        fit(RankAndFilter(xgboost_dask.DaskXGBRanker()), frame)


def test_other_partitions_of_labels(cluster, table):
    X, y, groups = columns(whole(table, 3))
    model = RankAndFilter(xgboost_dask.DaskXGBRanker())
    with pytest.raises(InputError, match="y has 2 partitions but X has 3"):
        model.fit(X, whole(table, 2)["label"], groups=groups)
    shifted = partitions(table, [10, 20])["label"]
    with pytest.raises(InputError, match=r"y has \d+ rows in partition \d but X has"):
        model.fit(X, shifted, groups=groups)
    with pytest.raises(InputError, match="groups must be a Dask Series"):
        model.fit(X, y, groups=table["query"].to_numpy())
    with pytest.raises(InputError, match="groups is missing"):
        model.fit(X, y)
    with pytest.raises(InputError, match="y holds no judged"):
        model.fit(X, y.where(y > 1000), groups=groups)


def test_measures_collect_nothing_unasked(cluster, table):
    _, y, groups = columns(whole(table, 2))
    with pytest.raises(InputTypeError, match=r"y_true is a Dask Series, .*skfilterrank.io.Rows"):
        ndcg_f_score(y, y, groups=groups)
