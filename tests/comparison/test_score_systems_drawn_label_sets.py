"""Comparison and order of systems by drawn label sets."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from label_sets import drawn_table, random_runs
from skfilterrank.comparison import (
    SystemScores,
    compare_systems,
    kendall_tau,
    order_systems,
    score_systems,
)
from skfilterrank.exceptions import InputError, MissingValuesError
from skfilterrank.metaevaluation import reliability
from skfilterrank.metrics import evaluate_runs

pytestmark = pytest.mark.slow

N_DRAWS, N_QUERIES = 6, 8


def _table(n_queries=N_QUERIES, **how):
    return drawn_table(n_queries=n_queries, n_draws=N_DRAWS, **how)


def _runs():
    return random_runs(n_runs=4, n_queries=N_QUERIES)


def _first_set(table):
    return table[table["draw"].isna() | (table["draw"] == 0)][["qid", "docno", "label"]]


@pytest.fixture(scope="module")
def scores():
    return score_systems(_table(), _runs(), ["ap", "recall_error"])["ap"]


def test_differences_by_the_rules_of_rubin(scores):
    assert scores.draws.shape == (N_DRAWS, 4, N_QUERIES)
    np.testing.assert_allclose(scores.values, scores.draws.mean(axis=0))
    comparison = compare_systems(scores, alpha=0.1, correction=None)
    for pair, (first, second) in enumerate(zip(comparison.first, comparison.second)):
        own = scores.draws[:, first] - scores.draws[:, second]
        means = own.mean(axis=1)
        within = (own.var(axis=1, ddof=1) / N_QUERIES).mean()
        between = (1 + 1 / N_DRAWS) * means.var(ddof=1)
        total = within + between
        share = between / total
        of_queries = N_QUERIES / (N_QUERIES + 2) * (N_QUERIES - 1) * (1 - share)
        df = 1 / (share**2 / (N_DRAWS - 1) + 1 / of_queries)
        t = means.mean() / total**0.5
        assert comparison.difference[pair] == pytest.approx(means.mean())
        assert comparison.p_value[pair] == pytest.approx(2 * stats.t.sf(abs(t), df))
        assert comparison.share_of_draws[pair] == pytest.approx(share)
        width = stats.t.ppf(0.95, df) * total**0.5
        assert comparison.high[pair] == pytest.approx(means.mean() + width)
        width = stats.t.ppf(0.95, N_DRAWS - 1) * between**0.5
        assert comparison.low_these[pair] == pytest.approx(means.mean() - width)
    systems = comparison.systems()
    values = evaluate_runs(_table(), _runs(), "ap")
    wanted = values.intervals(0.9).droplevel("measure").loc[systems.index]
    np.testing.assert_allclose(systems["mean"], wanted["value"])
    np.testing.assert_allclose(systems[["low", "high"]], wanted.filter(like="general"))
    again = compare_systems(values, alpha=0.1, correction=None)
    pd.testing.assert_frame_equal(again.to_frame(), comparison.to_frame())


def test_equal_sets_compare_as_one_set_does():
    table, runs = _table(alike=True), _runs()
    many = compare_systems(score_systems(table, runs, "ap")["ap"])
    one = compare_systems(score_systems(_first_set(table), runs, "ap")["ap"])
    frame = many.to_frame()
    pd.testing.assert_frame_equal(frame[list(one.to_frame())], one.to_frame(), check_exact=True)
    assert (frame["low_these"] == frame["difference"]).all()
    assert (frame["high_these"] == frame["difference"]).all()
    assert (frame["share_of_draws"] == 0).all()
    pd.testing.assert_frame_equal(many.systems(), one.systems(), check_exact=True)


def test_better_systems_come_first_with_their_intervals(scores):
    comparison = compare_systems(scores)
    frame, pairs = comparison.to_frame(), comparison.pairs()
    for row in pairs.itertuples():
        both = frame["first"].isin([row.first, row.second])
        (own,) = frame[both & frame["second"].isin([row.first, row.second])].itertuples()
        ends = (own.low_these, own.high_these)
        assert (row.low_these, row.high_these) == (
            ends if own.first == row.first else (-ends[1], -ends[0])
        )
    assert {"low_these", "high_these", "share_of_draws"} < set(pairs)


def test_printing_says_that_labels_were_drawn(scores):
    assert str(scores).startswith("ap of 4 systems for 8 queries; labels drawn in 6 sets\n")
    text = str(compare_systems(scores))
    assert text.startswith("ap: paired t test over 6 drawn label sets of 4 systems for 8 queries")
    assert "these queries" in text


def test_missing_queries():
    table, runs = _table(), _runs()
    runs["run1"] = runs["run1"].query("qid != '3'")
    with pytest.raises(MissingValuesError):
        score_systems(table, runs, "ap")
    dropped = score_systems(table, runs, "ap", missing="drop")["ap"]
    assert dropped.dropped_queries == ("3",)
    assert dropped.draws.shape == (N_DRAWS, 4, N_QUERIES - 1)
    assert dropped.condensed.shape == (4, N_QUERIES - 1)
    for missing, value in (("empty", 0.0), (0.5, 0.5)):
        filled = score_systems(table, runs, "ap", missing=missing)["ap"]
        assert filled.select(systems=["run1"], queries=["3"]).draws.tolist() == [[[value]]] * 6


@pytest.mark.filterwarnings("ignore:documents among the first 10 of queries have neither")
def test_a_query_that_is_undefined_in_a_set_is_missing_in_all():
    table = _table(n_queries=7)
    of_seven = [("7", "d5", d % 2, "drawn", d) for d in range(N_DRAWS)]
    table = pd.concat([table, pd.DataFrame(of_seven, columns=list(table))])
    with pytest.raises(MissingValuesError):
        score_systems(table, _runs(), "ap", undefined="drop")
    scores = score_systems(table, _runs(), "ap", undefined="drop", missing="drop")["ap"]
    assert scores.dropped_queries == ("7",)
    assert score_systems(table, _runs(), "ap")["ap"].n_queries == 8


def test_parts_keep_the_sets(scores):
    part = scores.select(systems=["run2", "run0"], queries=["5", "1", "3"])
    np.testing.assert_array_equal(part.draws, scores.draws[:, [2, 0]][..., [5, 1, 3]])
    np.testing.assert_array_equal(part.condensed, scores.condensed[[2, 0]][:, [5, 1, 3]])
    assert scores.with_values(scores.values).draws is None


@pytest.mark.parametrize("measure", ["ap", "recall_error"])
def test_the_safe_order(measure):
    table, runs = _table(), _runs()
    scores = score_systems(table, runs, measure)[measure]
    judged = table[table["draw"].isna()][["qid", "docno", "label"]]
    condensed = evaluate_runs(judged, runs, measure, unjudged="drop").means[measure]
    sign = 1 if scores.greater_is_better else -1
    own, other = sign * scores.values.mean(axis=1), sign * condensed.to_numpy()
    wanted = own.mean() + own.std() * (stats.zscore(own) + stats.zscore(other)) / 2
    found = order_systems(scores, method="safe", n_resamples=0)
    assert found.systems == tuple(np.array(scores.systems)[np.argsort(-wanted)])
    np.testing.assert_allclose(found.scores, np.sort(wanted)[::-1])
    values = evaluate_runs(table, runs, measure)
    again = order_systems(values, method="safe", n_resamples=0)
    np.testing.assert_array_equal(again.scores, found.scores)
    with pytest.raises(InputError, match="needs values by drawn label sets"):
        order_systems(scores.with_values(scores.values), method="safe")


def test_intervals_of_ranks_hold_the_spread_of_the_sets():
    # Queries are alike, so that only the sets differ.
    sets = np.array([[0.2, 0.4], [0.5, 0.4], [0.2, 0.4], [0.2, 0.4]])
    index = pd.MultiIndex.from_product([range(4), ["1", "2"]], names=["draw", "qid"])
    draws = pd.DataFrame(sets.repeat(2, axis=0), index, columns=["a", "b"])
    scores = SystemScores.of_draws(draws, draws.loc[0], "ap")
    for method, high in (("win_rate", [2, 2]), ("safe", [1.5, 2])):
        order = order_systems(scores, method=method, random_state=0)
        assert order.systems == ("b", "a")
        assert order.high.tolist() == high
        # One of four sets has the other order, which an interval of 40 % leaves out.
        order = order_systems(scores, method=method, random_state=0, confidence_level=0.4)
        assert order.high.tolist() == [1, 2]


def test_means_are_ordered_as_other_values(scores):
    assert kendall_tau(scores, scores.means) == 1
    plain = scores.with_values(scores.values)
    found, wanted = (order_systems(each, n_resamples=0) for each in (scores, plain))
    assert found.systems == wanted.systems
    np.testing.assert_array_equal(found.scores, wanted.scores)


def test_what_cannot_be_combined(scores):
    with pytest.raises(InputError, match="test must be 't'"):
        compare_systems(scores, test="sign")
    with pytest.raises(InputError, match="scores are values by drawn label sets"):
        reliability(scores)
    with pytest.raises(InputError, match="preferences cannot be averaged"):
        score_systems(_table(), _runs(), ["ap", "lexirecall(scale=preference)"])
