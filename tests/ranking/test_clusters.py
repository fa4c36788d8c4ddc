"""RankAndFilter on Dask DataFrames: the rows each model learns from, thresholds, and serving."""

import pickle
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import (
    FitWarning,
    InputError,
    InputTypeError,
    MissingPackageError,
)
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.ranking import QueryRanker, RankAndFilter, threshold_curve
from skfilterrank.stream import Rows, evaluate

dask = pytest.importorskip("dask", reason="dask is not installed")
dd = pytest.importorskip("dask.dataframe", reason="dask is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")
lightgbm = pytest.importorskip("lightgbm")
xgboost = pytest.importorskip("xgboost")
xgboost_dask = pytest.importorskip("xgboost.dask")

FEATURES = [f"f{i}" for i in range(6)]


@pytest.fixture(scope="module")
def cluster():
    """One worker, a thread of this process."""
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as workers,
        distributed.Client(workers) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def table():
    """Rows in query order."""
    X, y, groups, _ = make_rank_and_filter(
        n_queries=200, n_features=len(FEATURES), bayes=False, random_state=0
    )
    return pd.DataFrame(X, columns=FEATURES).assign(label=y, query=groups)


def partitions(table, cuts):
    """A Dask DataFrame that is cut at the given row numbers."""
    parts = [table.iloc[a:b] for a, b in zip([0, *cuts], [*cuts, len(table)])]
    return dd.from_map(lambda part: part, parts, meta=table.iloc[:0])


def whole(table, n):
    """A Dask DataFrame in n partitions that cut no query of sorted rows."""
    queries = table["query"].to_numpy()
    cuts = np.linspace(0, len(table), n + 1).astype(int)[1:-1]
    return partitions(table, np.searchsorted(queries, queries[cuts]))


def columns(frame):
    return frame[FEATURES], frame["label"], frame["query"]


def fit(model, frame):
    X, y, groups = columns(frame)
    return model.fit(X, y, groups=groups)


class Recorded(xgboost_dask.DaskXGBRanker):
    """Notes the partitions that it learns from."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y, *, qid, **params):
        came = zip(*dask.compute(*(each.to_delayed() for each in (X, y, qid))))
        parts = [x.assign(target=t.to_numpy(), number=q.to_numpy()) for x, t, q in came]
        self.seen.append(parts)
        return super().fit(X, y, qid=qid, **params)


@pytest.mark.parametrize("n_partitions", [1, 4])
def test_one_worker_learns_what_lightgbm_learns(cluster, table, n_partitions):
    settings = {"n_estimators": 5, "min_child_samples": 5, "n_jobs": 1, "verbose": -1}
    settings |= {"deterministic": True, "force_row_wise": True}
    model = RankAndFilter(lightgbm.DaskLGBMRanker(**settings), threshold=None)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Parameter n_jobs will be ignored")
        fit(model, whole(table, n_partitions))
    grades = np.unique(table["label"], return_inverse=True)[1]
    sizes = table["query"].value_counts(sort=False)
    alone = lightgbm.LGBMRanker(**settings).fit(table[FEATURES], grades, group=sizes)
    np.testing.assert_array_equal(model.predict(table[FEATURES]), alone.predict(table[FEATURES]))


@pytest.mark.parametrize("n_partitions", [1, 4])
def test_one_worker_learns_what_one_process_learns(cluster, table, n_partitions):
    # In XGBoost 3.0 the default is another on a cluster.
    settings = {"n_estimators": 5, "max_depth": 3, "objective": "rank:ndcg"}
    model = RankAndFilter(xgboost_dask.DaskXGBRanker(**settings), threshold=None)
    fit(model, whole(table, n_partitions))
    grades = np.unique(table["label"], return_inverse=True)[1]
    alone = xgboost.XGBRanker(**settings).fit(table[FEATURES], grades, qid=table["query"])
    np.testing.assert_array_equal(model.predict(table[FEATURES]), alone.predict(table[FEATURES]))


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


def test_rows_of_a_query_keep_their_order(cluster, table):
    scattered = table.sample(frac=1, random_state=1)
    Recorded.seen.clear()
    fit(RankAndFilter(Recorded(n_estimators=1), threshold=0.0), partitions(scattered, [50, 300]))
    (parts,) = Recorded.seen
    rows = pd.concat(parts)
    came = scattered.reset_index(drop=True).reset_index().merge(rows, on=FEATURES)
    order = rows.merge(came, on=FEATURES)
    assert order.groupby("query")["index"].is_monotonic_increasing.all()


MANY, UNEVEN = list(range(40, 400, 40)), [5, 6, 7, 300]


@pytest.mark.parametrize(
    ("measure", "cuts"),
    [
        ("ndcg_f@5", []),
        ("ndcg_f@5", UNEVEN),
        ("ap", MANY),
        ("forbidden@5", [150]),
    ],
)
def test_threshold_of_given_scores_is_that_of_memory(cluster, table, cuts, measure):
    scores = table.rename(columns={"f0": "score"})
    scores["score"] = scores["score"].round(1)
    frame = partitions(scores.sample(frac=1, random_state=0), cuts)
    model = RankAndFilter("passthrough", measure=measure)
    model.fit(frame[["score"]], frame["label"], groups=frame["query"])
    alone = clone(model).fit(scores[["score"]], scores["label"], groups=scores["query"])
    assert model.threshold_ == alone.threshold_
    assert model.best_score_ == pytest.approx(alone.best_score_, abs=1e-12)
    np.testing.assert_allclose(model.list_sizes_, alone.list_sizes_)


def test_nothing_good_is_told(cluster, table):
    frame = whole(table.assign(label=np.where(table["label"] < 0, -1, 0)), 3)
    model = RankAndFilter("passthrough")
    with pytest.warns(FitWarning, match="no label has a gain above 0"):
        model.fit(frame[["f0"]], frame["label"], groups=frame["query"])
    with warnings.catch_warnings(action="error"):
        model.set_params(gains={0: 1, -1: -1})
        model.fit(frame[["f0"]], frame["label"], groups=frame["query"])


def test_threshold_is_the_best_of_out_of_fold_scores(cluster, table):
    settings = {"n_estimators": 4, "max_depth": 3}
    frame = partitions(table, [100, 200, 301])
    model = RankAndFilter(xgboost_dask.DaskXGBClassifier(**settings), cv=3, k=5)
    fit(model, frame)
    # A query's fold is decided by the upper half of pandas' hash of its id.
    hashes = pd.util.hash_pandas_object(table["query"], index=False).to_numpy()
    fold = (hashes >> np.uint64(32)) % np.uint64(3)
    good = (table["label"] > 0).astype(int)
    scores = np.empty(len(table))
    for i in range(3):
        inner = xgboost.XGBClassifier(**settings)
        inner.fit(table.loc[fold != i, FEATURES], good[fold != i])
        scores[fold == i] = inner.predict_proba(table.loc[fold == i, FEATURES])[:, 1]
    curve = threshold_curve(table["label"], scores, groups=table["query"], k=5)
    assert model.threshold_ == pytest.approx(curve.best_threshold, abs=1e-6)
    assert model.best_score_ == pytest.approx(curve.best_value, abs=1e-9)
    assert isinstance(model.estimator_, xgboost.XGBClassifier)
    per_query = []
    for i in range(3):
        own, other = fold == i, fold != i
        best = threshold_curve(
            table["label"][other], scores[other], groups=table["query"][other], k=5
        ).best_threshold
        values = {
            level: ndcg_f_score(
                table["label"][own],
                np.where(scores[own] >= level, scores[own], -np.inf),
                groups=table["query"][own],
                k=5,
                average=None,
            )
            for level in (best, model.threshold_)
        }
        per_query.append(values[best])
        assert model.cv_results_["n_queries"][i] == len(values[best])
        mean = values[model.threshold_].mean()
        assert model.cv_results_["test_score"][i] == pytest.approx(mean, abs=1e-9)
    assert model.held_out_score_ == pytest.approx(np.concatenate(per_query).mean(), abs=1e-9)
    shown_all = ndcg_f_score(table["label"], scores, groups=table["query"], k=5)
    assert model.held_out_score_unfiltered_ == pytest.approx(shown_all, abs=1e-9)


def test_one_split_keeps_its_model(cluster, table):
    Recorded.seen.clear()
    fit(RankAndFilter(Recorded(n_estimators=1), cv=0.3, refit=False), whole(table, 3))
    ((parts),) = Recorded.seen
    share = pd.concat(parts)["number"].nunique() / table["query"].nunique()
    assert 0.6 < share < 0.8


@pytest.mark.parametrize("name", ["predict", "decision_function"])
def test_partitions_are_served_as_rows_in_memory(cluster, table, name):
    model = RankAndFilter(LogisticRegression(), k=3)
    model.fit(table[FEATURES], table["label"], groups=table["query"])
    expected = getattr(model, name)(table[FEATURES])
    served = getattr(model, name)(partitions(table, [3, 77, 78])[FEATURES])
    assert isinstance(served, dd.Series)
    found = served.compute()
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    pd.testing.assert_index_equal(found.index, table.index)


def test_places_and_list_rules_want_whole_queries(cluster, table):
    model = RankAndFilter(LogisticRegression(), threshold="first_k")
    model.fit(table[FEATURES], table["label"], groups=table["query"])
    frame = whole(table, 4)
    for name in ("rank", "predict"):
        expected = getattr(model, name)(table[FEATURES], groups=table["query"])
        found = getattr(model, name)(frame[FEATURES], groups=frame["query"])
        np.testing.assert_array_equal(found.compute(), expected)
    queries = table["query"].to_numpy()
    inside = int(np.flatnonzero(queries[1:] == queries[:-1])[0]) + 1
    frame = partitions(table, [inside])
    with pytest.raises(
        InputError, match=rf"query {queries[inside]} has rows in partitions 0 and 1"
    ):
        model.rank(frame[FEATURES], groups=frame["query"])
    with pytest.raises(InputError, match="groups is missing"):
        model.rank(frame[FEATURES])


@pytest.mark.parametrize("threshold", ["tune", "first_k"])
def test_partitions_are_measured_as_rows_in_memory(cluster, table, threshold, monkeypatch):
    unjudged = table.assign(label=table["label"].where(table.index % 7 > 0))
    model = RankAndFilter(
        LogisticRegression(), k=3, threshold=threshold, gains={-1: -2, 0: 0, 1: 1, 2: 3}
    )
    X, y, groups = columns(unjudged)
    expected = fit(model, table).score(X, y, groups=groups)
    mixed = unjudged.sample(frac=1, random_state=0)
    for frame in (whole(unjudged, 3), partitions(mixed, [1, 1, 150])):
        X, y, groups = columns(frame)
        with monkeypatch.context() as on_the_client:
            on_the_client.setattr(dd.Series, "__array__", None)
            found = model.score(X, y, groups=groups)
        assert found == pytest.approx(expected, rel=1e-12)
    for odd in ((X, table["label"], groups), (X, y, table["query"]), (table[FEATURES], y, groups)):
        with pytest.raises(InputError, match=r"must be a Dask Series|are Dask's and X is not"):
            model.score(*odd)
    with pytest.raises(InputError, match="sample_weight is not possible where X is a Dask"):
        model.score(X, y, groups, sample_weight=y)
    with pytest.raises(InputError, match="X has no rows"):
        model.score(*columns(partitions(table.iloc[:0], [0])))


def test_a_model_from_a_cluster_needs_none_to_serve(cluster, table):
    model = RankAndFilter(xgboost_dask.DaskXGBRanker(n_estimators=2), cv=0.3, refit=False)
    fit(model, whole(table, 2))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(table[FEATURES]), model.predict(table[FEATURES]))
    assert list(model.feature_names_in_) == FEATURES
    value = model.score(table[FEATURES], table["label"], groups=table["query"])
    shown = model.predict(table[FEATURES])
    assert value == ndcg_f_score(table["label"], shown, groups=table["query"])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table[FEATURES[::-1]])


def test_queries_in_the_index(cluster, table):
    sorted_by = table.rename(columns={"query": "qid"}).set_index("qid")
    frame = dd.from_pandas(sorted_by, npartitions=3)
    model = RankAndFilter(xgboost_dask.DaskXGBRanker(n_estimators=2), threshold=None)
    found = clone(model).fit(frame[FEATURES], frame["label"]).predict(table[FEATURES])
    np.testing.assert_array_equal(found, fit(model, whole(table, 3)).predict(table[FEATURES]))


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
        "labels that are not numbers(.|\n)*came up in partition 1",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_values_name_the_partition(cluster, table, name):
    spoil, message = BAD[name]
    with pytest.raises(InputError, match=message):
        fit(RankAndFilter(xgboost_dask.DaskXGBRanker()), partitions(spoil(table), [150]))


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


UNSUPPORTED = {
    "threshold='risk'": ({"threshold": "risk", "risk": "forbidden", "k": 3}, "threshold='risk'"),
    "threshold='expected'": ({"threshold": "expected"}, "threshold='expected'"),
    "abstain": ({"abstain": "best_score"}, "abstain='best_score' is not possible"),
    "max_shown": ({"max_shown": 3}, "max_shown=3 is not possible"),
    "splitter": ({"cv": GroupKFold(2)}, "cv must be None, a number of folds"),
    "labels": ({"target": "label"}, "target='label' is not possible"),
    "refit": ({"refit": False}, "refit=False keeps the model of the only split"),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_what_only_memory_has(cluster, table, name):
    parameters, message = UNSUPPORTED[name]
    with pytest.raises(InputError, match=message):
        fit(RankAndFilter(xgboost_dask.DaskXGBRanker(), **parameters), whole(table, 2))


def test_measures_collect_nothing_unasked(cluster, table):
    _, y, groups = columns(whole(table, 2))
    with pytest.raises(InputTypeError, match=r"y_true is a Dask Series, .*skfilterrank.stream"):
        ndcg_f_score(y, y, groups=groups)


def test_estimators_and_data_must_both_be_of_a_cluster(cluster, table):
    frame = whole(table, 2)
    for inner in (Ridge(), make_pipeline(Ridge())):
        with pytest.raises(InputError, match="DataFrame"):
            fit(RankAndFilter(inner), frame)
    for outer in (RankAndFilter, QueryRanker):
        with pytest.raises(InputError, match="DaskXGBRanker learns from Dask DataFrames, got rows"):
            fit(outer(xgboost_dask.DaskXGBRanker()), table)
    with pytest.raises(InputError, match="client is set on DaskLGBMRanker"):
        fit(RankAndFilter(lightgbm.DaskLGBMRanker(client=cluster)), frame)
    X, y, groups = columns(frame)
    model = RankAndFilter(xgboost_dask.DaskXGBRanker())
    with pytest.raises(InputError, match="sample_weight has entries of its own"):
        model.fit(X, y, groups=groups, sample_weight=y)
    with pytest.raises(InputError, match="eval_set is not possible"):
        model.fit(X, y, groups=groups, eval_set=(X, y))
    with pytest.raises(InputError, match="query_weight is not possible"):
        model.fit(X, y, groups=groups, query_weight={})


def test_without_a_cluster(table, monkeypatch):
    def no_client():
        raise ValueError("No clients found")

    monkeypatch.setattr(distributed, "default_client", no_client)
    frame = whole(table, 2)
    with pytest.raises(InputError, match="DaskXGBRanker needs a cluster"):
        fit(RankAndFilter(xgboost_dask.DaskXGBRanker()), frame)


def test_without_distributed(table, monkeypatch):
    frame = whole(table, 2)
    monkeypatch.setitem(sys.modules, "distributed", None)
    for measured in (
        lambda: fit(RankAndFilter(xgboost_dask.DaskXGBRanker()), frame),
        lambda: evaluate(Rows(frame, query="query", score="f0"), "ap"),
    ):
        with pytest.raises(MissingPackageError, match=r"pip install 'skfilterrank\[dask\]'"):
            measured()


def test_a_failed_fit_changes_nothing(cluster, table):
    model = RankAndFilter(xgboost_dask.DaskXGBRanker(n_estimators=1), cv=0.3, refit=False)
    fit(model, whole(table, 2))
    before = vars(model).copy()
    with pytest.raises(InputError):
        fit(model, partitions(table.astype({"query": float}).assign(query=np.nan), [9]))
    assert vars(model) == before
