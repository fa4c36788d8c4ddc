"""Scores of judged rows: reading them, taking some, folds of clusters, and margins."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.scoring import t_interval
from skfilterrank.exceptions import FitWarning, InputError
from skfilterrank.metrics import dcg_score
from skfilterrank.thresholds import JudgedScores
from skfilterrank.thresholds._judged_scores import (
    margins_of,
    mean_of_clusters,
    number_clusters,
    read_scores,
    values_shown,
    warn_without_forbidden,
)

INF = np.inf
GROUPS = np.array([7, 7, 7, 8, 8, 9])
GAINS = np.array([1.0, -1.0, 2.0, np.nan, 1.0, 0.0])
SCORES = np.array([0.5, 0.4, 0.3, 0.9, 0.8, 0.1])


def judged_scores(**fields):
    lists = RankedLists(GAINS, SCORES, groups=GROUPS)
    fields = (
        {"clusters": np.array([0, 1, 1]), "more": np.arange(6.0)[:, None]}
        | {"more_names": ["own"]}
        | fields
    )
    return JudgedScores(lists, **fields)


@given(st.lists(st.integers(0, 6), min_size=2, max_size=30), st.integers(2, 5))
def test_folds_never_split_a_cluster(clusters, n_folds):
    clusters = np.array(clusters)
    groups = np.repeat(np.arange(len(clusters)), 2)
    lists = RankedLists(np.ones(len(groups)), np.arange(len(groups)) / 7, groups=groups)
    judged = JudgedScores(lists, clusters, np.empty((len(groups), 0)), [])
    tried = []
    for train, test in judged.fold_rows(n_folds):
        of_train, of_test = (set(clusters[groups[rows]]) for rows in (train, test))
        assert not of_train & of_test
        tried += test.tolist()
    n_clusters = len(set(clusters))
    assert sorted(tried) == (list(range(len(groups))) if n_clusters > 1 else [])


def test_some_lists_are_taken_with_all_that_belongs_to_them():
    judged = judged_scores(folds=np.array([2, 1, 0]), names=(GROUPS, np.arange(6)))
    judged.lists = judged.lists.replace(weights=np.array([1.0, 0.5, 0.25]))
    some = judged.take(np.array([5, 3, 4]))
    np.testing.assert_array_equal(some.scores, [0.1, 0.9, 0.8])
    np.testing.assert_array_equal(some.gains, [0.0, np.nan, 1.0])
    np.testing.assert_array_equal(some.codes, [1, 0, 0])
    np.testing.assert_array_equal(some.clusters, [1, 1])
    np.testing.assert_array_equal(some.folds, [1, 0])
    np.testing.assert_array_equal(some.lists.weights, [0.5, 0.25])
    np.testing.assert_array_equal(some.more[:, 0], [5, 3, 4])
    np.testing.assert_array_equal(some.names[1], [5, 3, 4])


def test_lists_of_a_cluster_count_as_one():
    judged = judged_scores(clusters=np.array([0, 2, 2]))
    values = np.array([3.0, 1.0, 2.0])
    means, weights = judged.by_cluster(values)
    np.testing.assert_array_equal(means, [3.0, 1.5])
    np.testing.assert_array_equal(weights, [1.0, 2.0])
    judged.lists = judged.lists.replace(weights=np.array([1.0, 0.5, 0.0]))
    means, weights = judged.by_cluster(values)
    np.testing.assert_array_equal(means, [3.0, 1.0])
    np.testing.assert_array_equal(weights, [1.0, 0.5])
    judged.lists = judged.lists.replace(weights=np.array([0.0, 0.5, 0.5]))
    assert judged.by_cluster(values)[0].tolist() == [1.5]
    alone = judged_scores(clusters=np.array([0, 2, 1]))
    assert alone.by_cluster(values)[1] is None
    folds, n_folds = judged.deal_folds()
    assert n_folds == 2
    assert folds[0] != folds[1] == folds[2]


SIZES = [[200] + [2] * 39, [150, 40, 20, 10] + [4] * 11, range(1, 21), [1e9] + [1] * 59]


@pytest.mark.parametrize("power", [0, 0.5])
@pytest.mark.parametrize("sizes", SIZES)
def test_intervals_hold_for_clusters_of_any_sizes(sizes, power):
    """Deviations of cluster means are equal, or fall with the root of the size."""
    rng, sizes, n_held = np.random.default_rng(0), np.array(sizes, dtype=np.float64), 0
    for _ in range(400):
        means = rng.normal(size=len(sizes)) / sizes**power
        mean, error, n = mean_of_clusters(means, sizes)
        low, high = t_interval(mean, error, n, 0.95)
        n_held += low <= 0 <= high
    assert n_held >= 0.93 * 400


def test_means_of_clusters():
    means, sizes = np.array([3.0, 1.0, 2.0]), np.array([2.0, 1.0, 1.0])
    mean, error, n = mean_of_clusters(means, sizes)
    assert mean == 2.25
    # Squared deviations times squared sizes, over the least of 1 - h and 1 - 2 h + 3 / 8.
    squares = 2.25 / 0.375 + 1.5625 / 0.75 + 0.0625 / 0.75
    assert (error, n) == pytest.approx((np.sqrt(squares) / 4, 16 / 6))
    assert mean_of_clusters(means) == (2.0, means.std(ddof=1) / np.sqrt(3), 3)
    assert mean_of_clusters(means, np.full(3, 2.0))[:2] == pytest.approx(
        mean_of_clusters(means)[:2]
    )
    assert mean_of_clusters(np.full(3, 0.1), sizes)[:2] == (pytest.approx(0.1), 0)
    # Of a cluster with nearly all of the weight there are at least two.
    assert mean_of_clusters(means, np.array([100.0, 1.0, 1.0]))[2] == 2
    mean, error, n = mean_of_clusters(np.array([3.0]))
    assert (mean, n) == (3, 1)
    assert np.isnan(error)


@pytest.mark.parametrize("form", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_of_any_table_are_found_by_name(form):
    column, more, names = read_scores("Own", form({"Filter_Score": SCORES + 1, "Score": SCORES}), 1)
    np.testing.assert_array_equal(column, SCORES)
    np.testing.assert_array_equal(more, SCORES[:, np.newaxis] + 1)
    assert names == ["filter_score"]
    with pytest.raises(InputError, match="scores has a column 'other' beside 'score'"):
        read_scores("Own", form({"score": SCORES, "other": SCORES}), 1)
    named = {"score": SCORES, "docno": [f"d{place}" for place in range(len(SCORES))]}
    np.testing.assert_array_equal(read_scores("Own", form(named), 1)[0], SCORES)


def test_scores_are_read_from_every_container():
    table = pd.DataFrame({"score": SCORES, "filter_score": SCORES + 1, "other": 0.0})
    assert read_scores("Own", [True, False])[0].dtype == np.float64
    for given_scores in (SCORES, SCORES[:, None], SCORES.tolist(), table, table[["score"]]):
        column, more, names = read_scores("Own", given_scores)
        np.testing.assert_array_equal(column, SCORES)
        assert (more.shape, names) == ((6, 0), [])
    two = np.column_stack([SCORES, SCORES + 1])
    for given_scores in (two, table, pd.DataFrame(two), pd.DataFrame(two, columns=["a", "b"])):
        column, more, names = read_scores("Own", given_scores, 1)
        np.testing.assert_array_equal(column, SCORES)
        assert len(names) == 1
        np.testing.assert_array_equal(more, SCORES[:, None] + 1)
    assert read_scores("Own", table, None)[2] == ["filter_score", "other"]
    turned = pd.DataFrame({"filter_score": SCORES + 1, "bm25": SCORES})
    np.testing.assert_array_equal(read_scores("Own", turned, 1)[0], SCORES)
    # The only column that is not chosen is the score, whatever its name.
    column, more, names = read_scores("Own", turned[["bm25", "filter_score"]], None, ["bm25"])
    np.testing.assert_array_equal(column, SCORES + 1)
    assert (more[:, 0].tolist(), names) == (SCORES.tolist(), ["bm25"])


@pytest.mark.parametrize(
    ("n_more", "scores", "match"),
    [
        (0, np.ones((3, 3)), r"shape \(n_rows,\) or \(n_rows, 1\), got \(3, 3\)"),
        (1, np.ones((3, 3)), r"shape \(n_rows,\) or \(n_rows, 1\), got \(3, 3\)"),
        (0, pd.DataFrame({"a": [1.0], "b": [2.0]}), "one column, or one named 'score'"),
        (0, np.ones((3, 2)), "scores has two columns, but Own reads one score"),
        (1, pd.DataFrame({"score": [1.0], "harm": [2.0]}), "column 'harm' beside 'score'. Name it"),
        (1, np.column_stack([SCORES, SCORES * np.nan]), "filter_score holds 6 NaN"),
    ],
)
def test_other_scores_are_refused(n_more, scores, match):
    with pytest.raises(InputError, match=match):
        read_scores("Own", scores, n_more)


def test_clusters_are_numbered_by_list():
    index = RankedLists(GAINS, SCORES, groups=GROUPS).index
    np.testing.assert_array_equal(number_clusters(None, index), [0, 1, 2])
    named = np.array(["b", "b", "b", "a", "a", "b"])
    np.testing.assert_array_equal(number_clusters(named, index), [1, 0, 1])
    with pytest.raises(InputError, match="several clusters for query 7"):
        number_clusters(np.arange(6), index)


def test_values_are_of_what_is_shown():
    lists = judged_scores().lists
    shown = np.array([True, False, True, True, True, False])
    expected = dcg_score.per_query(GAINS, np.where(shown, SCORES, -INF), groups=GROUPS)
    # 0.3 is shown and 0.4 above it is not; of the other mask each list is cut.
    cut = np.array([True, True, False, True, False, False])
    of_cut = dcg_score.per_query(GAINS, np.where(cut, SCORES, -INF), groups=GROUPS)
    found = values_shown(lists, parse_measure("dcg"), shown, cut, np.where(shown, SCORES, -INF))
    np.testing.assert_array_equal(found, [expected, of_cut, expected])


def test_warning_of_nothing_forbidden():
    gains = np.array([0.0, 1.0, np.nan])
    with pytest.warns(FitWarning, match="no label has a gain below 0, .* best by ndcg_f@3"):
        warn_without_forbidden(gains, parse_measure("ndcg_f@3"))
    # Other measures lose by documents that are not good.
    warn_without_forbidden(gains, parse_measure("f@3"))
    warn_without_forbidden(np.append(gains, -1.0), parse_measure("ndcg_f@3"))


def test_margins_are_finite_and_at_least_0_where_shown():
    scores = np.array([2.0, 1.0, 0.5, -INF, 3.0])
    shown = np.array([True, True, False, False, True])
    thresholds = np.array([1.0, 1.0, 1.0, 1.0, -INF])
    margins = margins_of(scores, thresholds, shown)
    assert np.isfinite(margins).all()
    np.testing.assert_array_equal(margins >= 0, shown)
    np.testing.assert_array_equal(margins[:3], [1.0, 0.0, -0.5])


def test_names_of_scores_count_in_any_case():
    table = pd.DataFrame({"Filter_Score": [0.1, 0.2], "Score": [3.0, 4.0]})
    column, more, _ = read_scores("TunedThreshold", table, 1)
    assert (column.tolist(), more[:, 0].tolist()) == ([3.0, 4.0], [0.1, 0.2])
