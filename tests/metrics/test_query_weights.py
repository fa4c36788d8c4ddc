"""A weight per query, in every mean over queries."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn import config_context
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, validation_curve

from measure_table import MEASURES as TABLE
from profiles import times
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import InputError
from skfilterrank.io import Rows
from skfilterrank.metrics import (
    average_precision_score,
    err_score,
    evaluate,
    get_measure,
    lexirecall_score,
    make_ranking_scorer,
    ndcg_f_score,
    rank_filter_report,
)
from skfilterrank.ranking import RankAndFilter
from skfilterrank.thresholds import ExpectedThreshold, PerQueryThreshold, threshold_curve

MEASURES = [ndcg_f_score, average_precision_score, err_score, lexirecall_score]
N = 7
SIZES = [3, 1, 4, 2, 5, 3, 2]
IDS = np.array(["e", "b", "g", "a", "d", "c", "f"])
GROUPS = np.repeat(IDS, SIZES)
rng = np.random.default_rng(0)
Y = rng.choice([-1, 0, 1, 2], len(GROUPS))
SCORES = rng.normal(size=len(GROUPS)).round(1)
SHUFFLED = rng.permutation(len(GROUPS))

weights_of_queries = st.lists(st.integers(0, 4), min_size=N, max_size=N).filter(any)


def repeated(counts, *columns):
    """The rows of each query as many times as it counts, with query ids of their own."""
    parts = [
        (np.flatnonzero(query == GROUPS), f"{query}{copy}")
        for query, count in zip(IDS, counts, strict=True)
        for copy in range(count)
    ]
    rows = np.concatenate([rows for rows, _ in parts])
    ids = np.concatenate([np.full(len(rows), name) for rows, name in parts])
    return [column[rows] for column in columns], ids


def values_of(y, scores, groups, **how):
    """Every mean over queries there is, as numbers."""
    report = rank_filter_report(y, {"a": scores}, groups=groups, k=2, **how)
    curve = threshold_curve(y, scores, groups=groups, measure="ndcg_f@2", **how)
    names = ["ndcg_f@2", "ap", "false_reject_rate"]
    means = evaluate(y, scores, names, groups=groups, undefined="drop", **how).means
    return [
        *(measure(y, scores, groups=groups, **how) for measure in MEASURES),
        *means,
        *report.drop(columns=["low", "high"]).to_numpy().ravel(),
        curve.best_value,
    ]


@pytest.mark.slow
@times(1 / 2)
@given(weights_of_queries)
def test_a_whole_weight_is_as_many_queries(counts):
    (y, scores), ids = repeated(counts, Y, SCORES)
    expected = values_of(y, scores, ids)
    found = values_of(Y, SCORES, GROUPS, query_weight=dict(zip(IDS, counts, strict=True)))
    assert_allclose(found, expected, atol=1e-12)


OF_SUMS = [name for name, each in TABLE.items() if each.over_queries == "sum"]


@pytest.mark.slow
@pytest.mark.parametrize("measure", OF_SUMS)
@pytest.mark.parametrize("counts", [[1, 1, 0, 1, 1, 0, 1], [2, 0, 1, 3, 1, 1, 0], [2] * N])
def test_sums_are_weighted_sums(measure, counts):
    (y, scores), ids = repeated(counts, Y, SCORES)
    weights = dict(zip(IDS, counts, strict=True))
    how = {"groups": GROUPS, "query_weight": weights}
    expected = TABLE[measure](y, scores, groups=ids)
    assert TABLE[measure](Y, SCORES, **how) == expected
    assert evaluate(Y, SCORES, measure, **how).means[measure] == expected
    model = LinearRegression().fit(SCORES[:, None], SCORES)
    sign = 1 if get_measure(measure).measure.greater_is_better else -1
    for fixed, called in (({}, {"query_weight": weights}), ({"query_weight": weights}, {})):
        scorer = make_ranking_scorer(measure, **fixed)
        assert sign * scorer(model, SCORES[:, None], Y, groups=GROUPS, **called) == expected
    rows = Rows({"qid": ids, "label": y, "score": scores})
    assert evaluate(rows, measure).means[measure] == expected


@pytest.mark.slow
@pytest.mark.parametrize("weight", [1, 0.1, 1e-310, 7])
def test_equal_weights_are_the_plain_mean_to_the_bit(weight):
    found = values_of(Y, SCORES, GROUPS, query_weight=np.full(len(Y), weight))
    assert np.array_equal(found, values_of(Y, SCORES, GROUPS), equal_nan=True)


@pytest.mark.parametrize("weight", [1, 0.1])
def test_zero_leaves_a_query_out_to_the_bit(weight):
    kept = ~np.isin(GROUPS, ["b", "d"])
    weights = np.where(kept, weight, 0.0)
    for measure in MEASURES:
        found = measure(Y, SCORES, groups=GROUPS, query_weight=weights)
        assert found == measure(Y[kept], SCORES[kept], groups=GROUPS[kept])
    curve = threshold_curve(Y, SCORES, groups=GROUPS, query_weight=weights)
    expected = threshold_curve(Y[kept], SCORES[kept], groups=GROUPS[kept])
    assert_allclose(curve.thresholds, expected.thresholds)
    assert_allclose(curve.values, expected.values, atol=1e-12)
    assert curve.best_threshold == expected.best_threshold
    # Left out, but not unlooked at.
    bad = np.where(GROUPS == "b", np.nan, SCORES)
    with pytest.raises(InputError, match="y_score holds 1 NaN"):
        ndcg_f_score(Y, bad, groups=GROUPS, query_weight=weights)


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["ndcg_f@2", "ap", "err", "qwa", "false_reject_rate"])
@pytest.mark.parametrize("undefined", [0.0, "drop"])
def test_curves_hold_the_weighted_measure(measure, undefined):
    weights = dict(zip(IDS, [0, 1, 2, 0.5, 3, 0, 1], strict=True))
    curve = threshold_curve(
        Y, SCORES, groups=GROUPS, measure=measure, undefined=undefined, query_weight=weights
    )
    for threshold, value in zip(curve.thresholds, curve.values, strict=True):
        kept = np.where(threshold <= SCORES, SCORES, -np.inf)
        how = {"groups": GROUPS, "undefined": undefined}
        (expected,) = evaluate(Y, kept, measure, query_weight=weights, **how).means
        assert value == pytest.approx(expected, nan_ok=True)


def test_forms():
    weights = dict(zip(IDS, [1, 2, 3, 4, 5, 6, 7], strict=True))
    y, scores, groups = Y[SHUFFLED], SCORES[SHUFFLED], GROUPS[SHUFFLED]
    by_row = np.array([weights[query] for query in groups])
    expected = ndcg_f_score(y, scores, groups=groups, query_weight=weights)
    assert expected != ndcg_f_score(y, scores, groups=groups)
    more = pd.Series(weights | {"other": -1.0})
    for form in (
        by_row,
        by_row.tolist(),
        pd.Series(by_row),
        pd.Series(by_row, index=pd.Index(groups, name="qid")),
        pd.Series(weights),
        more,
        more.rename_axis("qid").sample(frac=1.0, random_state=0),
    ):
        assert ndcg_f_score(y, scores, groups=groups, query_weight=form) == expected


def test_a_series_of_as_many_rows_as_queries():
    y, scores, groups = [1, -1, 1], [0.5, 0.4, 0.3], np.array([2, 0, 1])
    by_id = pd.Series([4.0, 5.0, 6.0], index=[0, 1, 2])
    with pytest.raises(InputError, match="name the index 'qid' if weights go by it"):
        ndcg_f_score(y, scores, groups=groups, query_weight=by_id)
    named = ndcg_f_score(y, scores, groups=groups, query_weight=by_id.rename_axis("qid"))
    assert named == ndcg_f_score(y, scores, groups=groups, query_weight=[6.0, 4.0, 5.0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (
            np.arange(len(Y)) + 1,
            r"weights 9 and 10 for rows of query 'a': all rows of a query must",
        ),
        (dict.fromkeys("abcdef", 1), "no weight for 1 of 7 queries, such as 'g': give a dict"),
        ([1.0, 2.0], "has 2 entries for 20 rows of 7 queries"),
        (dict.fromkeys(IDS, -1), "query_weight of query 'a' is -1: a weight must be a finite"),
        (dict.fromkeys(IDS, np.inf), "query_weight of query 'a' is inf"),
        (np.full(len(Y), np.nan), "query_weight of query 'a' is nan"),
        (np.where(np.arange(len(Y)) == 0, np.nan, 1.0), "weights nan and 1 for rows of query 'e'"),
        (np.zeros(len(Y)), "is 0 for each of the 7 queries: at least one must count"),
        (pd.Series([1, 1], index=["a", "a"]), "several weights for query 'a'"),
        (dict.fromkeys(IDS, "much"), "query_weight must hold numbers"),
        (2.0, "query_weight must hold one weight per row, got 2.0"),
    ],
)
def test_errors(weights, message):
    for call in (
        lambda: ndcg_f_score(Y, SCORES, groups=GROUPS, query_weight=weights),
        lambda: rank_filter_report(Y, {"a": SCORES}, groups=GROUPS, query_weight=weights),
        lambda: threshold_curve(Y, SCORES, groups=GROUPS, query_weight=weights),
        lambda: make_ranking_scorer("ap", query_weight=weights)(
            Ridge().fit(SCORES[:, None], Y), SCORES[:, None], Y, groups=GROUPS
        ),
    ):
        with pytest.raises(InputError, match=message):
            call()


def test_without_a_mean_there_is_nothing_to_weigh():
    with pytest.raises(TypeError, match="unexpected keyword argument 'query_weight'"):
        ndcg_f_score.per_query(Y, SCORES, groups=GROUPS, query_weight=dict.fromkeys(IDS, 1))


def test_intervals_take_queries_for_a_sample():
    # One query counted twice is no second query, and equal weights change nothing.
    plain = rank_filter_report(Y, {"a": SCORES, "b": -SCORES}, groups=GROUPS, baseline="a")
    near = dict(zip(IDS, [1, 1, 1, 1, 1, 1, 1 + 1e-9], strict=True))
    weighted = rank_filter_report(
        Y, {"a": SCORES, "b": -SCORES}, groups=GROUPS, baseline="a", query_weight=near
    )
    pd.testing.assert_frame_equal(plain, weighted, rtol=1e-6)
    counts = dict(zip(IDS, [0, 1, 2, 1, 1, 3, 1], strict=True))
    few, more = (
        rank_filter_report(
            Y, {"a": SCORES}, groups=GROUPS, query_weight={q: c * n for q, c in counts.items()}
        )
        for n in (1, 100)
    )
    pd.testing.assert_frame_equal(few, more)


class TestInModelSelection:
    X, y, groups, _ = make_rank_and_filter(n_queries=60, random_state=0)
    weights = np.random.default_rng(1).uniform(0.1, 3.0, 60)
    by_query = pd.Series(weights, index=pd.Index(np.unique(groups), name="qid"))
    by_row = by_query[groups].to_numpy()
    cv = GroupKFold(3)

    def by_hand(self):
        found = []
        for train, test in self.cv.split(self.X, groups=self.groups):
            model = Ridge().fit(self.X[train], self.y[train])
            found.append(
                ndcg_f_score(
                    self.y[test],
                    model.predict(self.X[test]),
                    groups=self.groups[test],
                    k=3,
                    query_weight=self.by_query,
                )
            )
        return found

    @pytest.mark.slow
    @pytest.mark.parametrize("form", ["by_query", "by_row"])
    def test_routed(self, form):
        scorer = make_ranking_scorer("ndcg_f@3")
        metadata = {"groups": self.groups, "query_weight": getattr(self, form)}
        with config_context(enable_metadata_routing=True):
            found = cross_val_score(
                Ridge(), self.X, self.y, scoring=scorer, cv=self.cv, params=metadata
            )
            search = GridSearchCV(Ridge(), {"alpha": [1.0]}, scoring=scorer, cv=self.cv)
            search.fit(self.X, self.y, **metadata)
        assert found.tolist() == self.by_hand()
        assert search.best_score_ == np.mean(self.by_hand())

    def test_without_routing_the_scorer_knows_the_weights(self):
        y = pd.Series(self.y, index=pd.Index(self.groups, name="qid"))
        scorer = make_ranking_scorer("ndcg_f@3", query_weight=self.by_query)
        how = {"scoring": scorer, "cv": self.cv, "groups": self.groups}
        assert cross_val_score(Ridge(), self.X, y, **how).tolist() == self.by_hand()
        tried = {"param_name": "alpha", "param_range": [1.0]}
        _, scores = validation_curve(Ridge(), self.X, y, **tried, **how)
        assert scores.ravel().tolist() == self.by_hand()
        with pytest.raises(InputError, match="the scorer was made with one"):
            scorer(Ridge().fit(self.X, y), self.X, y, query_weight=self.by_query)

    def test_score_of_a_ranker(self):
        model = RankAndFilter(Ridge(), measure="ndcg_f@3").fit(self.X, self.y, groups=self.groups)
        weighted = model.score(self.X, self.y, groups=self.groups, query_weight=self.by_row)
        expected = ndcg_f_score(
            self.y, model.predict(self.X), groups=self.groups, k=3, query_weight=self.by_query
        )
        assert weighted == expected != model.score(self.X, self.y, groups=self.groups)

    @pytest.mark.slow
    @pytest.mark.parametrize("measure", ["ndcg_f", "err", "forbidden"])
    def test_the_threshold_is_that_of_the_weighted_mean(self, measure):
        counts = np.random.default_rng(2).integers(0, 4, 60)
        by_query = pd.Series(counts, index=self.by_query.index)
        scores = Ridge().fit(self.X, self.y).predict(self.X)
        truth = [np.flatnonzero(self.groups == query) for query in by_query.index]
        parts = [rows for rows, count in zip(truth, counts, strict=True) for _ in range(count)]
        ids = np.repeat(np.arange(len(parts)), [len(rows) for rows in parts])
        rows = np.concatenate(parts)
        expected = threshold_curve(self.y[rows], scores[rows], groups=ids, measure=f"{measure}@3")
        model = RankAndFilter(Ridge().fit(self.X, self.y), measure=f"{measure}@3", cv="prefit")
        model.fit(self.X, self.y, groups=self.groups, query_weight=by_query)
        assert model.threshold_ == pytest.approx(expected.best_threshold)
        assert abs(model.best_score_) == pytest.approx(abs(expected.best_value))

    @pytest.mark.parametrize(
        "threshold",
        [PerQueryThreshold(), ExpectedThreshold()],
        ids=lambda threshold: type(threshold).__name__,
    )
    def test_thresholds_that_count_each_query_once(self, threshold):
        model = RankAndFilter(Ridge(), threshold, measure="ndcg_f@3")
        message = f"query_weight is not possible with {type(threshold).__name__}"
        with pytest.raises(InputError, match=message):
            model.fit(self.X, self.y, groups=self.groups, query_weight=self.by_row)

    @pytest.mark.slow
    def test_routed_to_the_threshold(self):
        direct = RankAndFilter(Ridge(), measure="ndcg_f@3")
        direct.fit(self.X, self.y, groups=self.groups, query_weight=self.by_query)
        with config_context(enable_metadata_routing=True):
            search = GridSearchCV(
                RankAndFilter(Ridge(), measure="ndcg_f@3"), {"estimator__alpha": [1.0]}, cv=2
            )
            search.fit(self.X, self.y, groups=self.groups, query_weight=self.by_query)
        assert search.best_estimator_.threshold_ == direct.threshold_
