"""Whether scores compare between queries: the slope between lists over that within lists."""

import re
import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from skfilterrank.exceptions import DataWarning, FitWarning
from skfilterrank.ranking import RankAndFilter
from skfilterrank.thresholds import (
    ExpectedThreshold,
    FirstK,
    TunedThreshold,
    load_threshold,
    score_comparability,
)
from skfilterrank.thresholds._comparability import comparability_of

N_DOCUMENTS = 10


class Lists(NamedTuple):
    y: np.ndarray
    log_odds: np.ndarray
    groups: np.ndarray
    of_list: np.ndarray  # a random number for each list


def make_lists(n_queries, *, seed=0, n_documents=N_DOCUMENTS, unknown=0.0):
    """Lists whose true log odds differ by 1, and by `unknown` that no score knows."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_queries), n_documents)
    log_odds = rng.normal(size=n_queries)[groups] + rng.normal(size=len(groups))
    true = log_odds + rng.normal(scale=unknown, size=n_queries)[groups]
    y = (rng.random(len(groups)) < 1 / (1 + np.exp(-true))).astype(float)
    return Lists(y, log_odds, groups, rng.normal(size=n_queries))


def found(lists, scores, **given):
    return score_comparability(lists.y, scores, groups=lists.groups, **given)


LISTS = make_lists(200)
OF_LIST = LISTS.of_list[LISTS.groups]
MEAN = pd.Series(LISTS.log_odds).groupby(LISTS.groups).transform("mean").to_numpy()
SLIGHTLY, SHIFTED = (LISTS.log_odds + share * OF_LIST for share in (0.2, 3))
SCALED = (LISTS.log_odds + 5) * np.exp(OF_LIST)
UNDERSTATED = LISTS.log_odds - 0.6 * MEAN


class TestDecision:
    @pytest.mark.parametrize(
        ("scores", "compares", "holds", "words"),
        [
            (
                LISTS.log_odds,
                True,
                lambda r: r.lower < 1 < r.upper,
                "^Scores compare between queries: ",
            ),
            (SLIGHTLY, True, lambda r: r.lower < 1 < r.upper, "^Scores compare between queries: "),
            (UNDERSTATED, True, lambda r: r.lower > 1, "lists differ more than they say"),
            (SHIFTED, False, lambda r: r.upper < 0.5, "^Scores do not compare between queries: "),
            (SCALED, False, lambda r: r.upper < 0.5, "^Scores do not compare between queries: "),
            (LISTS.log_odds - MEAN, False, lambda _: True, "every list has the same mean score"),
        ],
        ids=["log odds", "a small shift", "understated", "shifted", "scaled", "normalised"],
    )
    def test_of_scores_of_one_meaning_and_of_others(self, scores, compares, holds, words):
        result = found(LISTS, scores)
        assert result.compares is compares
        assert holds(result)
        assert re.search(words, result.sentence)

    def test_lists_that_differ_by_what_scores_do_not_know_are_no_fault(self):
        plain, unknown = (make_lists(400, unknown=u) for u in (0.0, 2.0))
        one, two = (found(each, each.log_odds) for each in (plain, unknown))
        assert (one.compares, two.compares) == (True, True)
        assert one.spread < 0.3
        assert two.spread > 1.2

    def test_nor_do_they_if_some_rows_are_unjudged(self):
        lists = make_lists(1000)
        table = pd.Series(lists.log_odds).groupby(lists.groups)
        scores = (lists.log_odds - table.transform("mean")) / table.transform("std")
        y = np.where(np.random.default_rng(1).random(len(scores)) < 0.1, np.nan, lists.y)
        result = score_comparability(y, scores, groups=lists.groups)
        assert result.compares is False
        assert "every list has the same mean score" in result.sentence
        # Judged rows alone have list means that tell, unlike those of all rows.
        scores += 0.01 * lists.of_list[lists.groups]
        assert score_comparability(y, scores, groups=lists.groups).ratio < 0

    @pytest.mark.parametrize(
        ("scores", "rows", "told"),
        [
            (LISTS.log_odds, LISTS.groups < 29, "needs 30 judged queries, got 29"),
            (np.random.default_rng(1).normal(size=2000), None, "scores"),
            (np.zeros(2000), None, "no score tells good documents from others"),
            (LISTS.log_odds, LISTS.y > 0, "no score tells good documents from others"),
        ],
        ids=["few queries", "noise", "equal scores", "all good"],
    )
    def test_what_cannot_be_told_is_said(self, scores, rows, told):
        rows = slice(None) if rows is None else rows
        result = score_comparability(LISTS.y[rows], scores[rows], groups=LISTS.groups[rows])
        assert result.compares is None
        assert result.sentence.startswith("It cannot be told whether scores compare")
        assert told in result.sentence

    @pytest.mark.nightly
    def test_the_interval_covers_the_ratio(self):
        # A shift of the standard deviation of list means halves the slope between lists.
        n_inside, true = 0, 1.025 / (1.025 + 1.0)
        for seed in range(100):
            lists = make_lists(300, seed=seed, n_documents=40)
            result = found(lists, lists.log_odds + lists.of_list[lists.groups])
            n_inside += result.lower < true < result.upper
        assert 82 <= n_inside <= 97


class TestRatio:
    @pytest.mark.parametrize("shift", [0.5, 2.0])
    def test_a_shift_is_noise_in_the_means_of_lists(self, shift):
        lists = make_lists(4000)
        result = found(lists, lists.log_odds + shift * lists.of_list[lists.groups])
        # List means have the variance 1 + 1 / 10, and a part of it is told.
        assert result.ratio == pytest.approx(1.1 / (1.1 + shift**2), rel=0.15)

    def test_only_the_order_of_scores_counts(self):
        assert found(LISTS, np.exp(SHIFTED)).to_frame().equals(found(LISTS, SHIFTED).to_frame())

    def test_the_order_of_rows_does_not_count(self):
        rows = np.random.default_rng(0).permutation(len(SHIFTED))
        other = score_comparability(LISTS.y[rows], SHIFTED[rows], groups=-LISTS.groups[rows])
        assert other.to_frame().equals(found(LISTS, SHIFTED).to_frame())

    def test_rows_without_score_or_label_are_left_out(self):
        extra = np.array([-np.inf, 5.0]), np.array([1.0, np.nan])
        scores, y = (np.append(a, b) for a, b in zip((SHIFTED, LISTS.y), extra))
        result = score_comparability(y, scores, groups=np.append(LISTS.groups, [0, 1]))
        assert result.n_queries == 200
        assert result.ratio == pytest.approx(found(LISTS, SHIFTED).ratio, rel=0.1)

    def test_long_lists_count_no_more_than_short_ones(self):
        # Scores of the first lists are shifted; repeated rows make these lists long.
        scores = np.where(LISTS.groups < 60, SHIFTED, LISTS.log_odds)
        rows = np.repeat(np.arange(2000), np.where(LISTS.groups < 60, 20, 1))
        result = score_comparability(LISTS.y[rows], scores[rows], groups=LISTS.groups[rows])
        assert result.ratio == pytest.approx(found(LISTS, scores).ratio, rel=0.15)

    def test_extreme_scores_do_not_overflow(self):
        assert found(LISTS, SHIFTED * 1e307).ratio == found(LISTS, SHIFTED).ratio

    def test_copies_in_one_cluster_do_not_narrow_the_interval(self):
        twice = [np.concatenate([each, each]) for each in (SHIFTED, LISTS.y)]
        groups, users = np.append(LISTS.groups, LISTS.groups + 200), np.tile(LISTS.groups, 2)
        widths = []
        for clusters in (None, users):
            judged = TunedThreshold()._read_judged(
                *twice, groups, clusters=clusters, query_weight=None
            )
            result = comparability_of(judged)
            widths.append(result.upper - result.lower)
        few = TunedThreshold()._read_judged(
            *(each[groups < 40] for each in (*twice, groups)),
            clusters=users[groups < 40] // 2,
            query_weight=None,
        )
        assert (
            "needs 30 clusters of judged queries, got 20: judge more."
            in comparability_of(few).sentence
        )
        # Twice as many queries divide the width by the root of 2, and the curve is less noisy.
        assert 0.5 * widths[1] < widths[0] < 0.72 * widths[1]

    def test_swapped_arguments_are_told(self):
        with pytest.warns(
            DataWarning, match="y_true has 2.* values and y_score 2. If they are swapped"
        ):
            score_comparability(LISTS.log_odds, LISTS.y, groups=LISTS.groups)

    def test_gains_say_what_is_good(self):
        grades = np.where(LISTS.y > 0, 3, 1)
        result = found(LISTS._replace(y=grades), SHIFTED, gains={3: 1, 1: -1})
        assert result.ratio == found(LISTS, SHIFTED).ratio


class TestThresholds:
    @pytest.mark.filterwarnings("ignore:.*as good on held-out queries")
    @pytest.mark.filterwarnings("ignore:no label has a gain below 0")
    def test_fit_keeps_the_finding(self, tmp_path):
        threshold = FirstK()
        threshold.fit(SHIFTED, LISTS.y, groups=LISTS.groups)
        expected = found(LISTS, SHIFTED)
        assert threshold.comparability_.to_frame().equals(expected.to_frame())
        threshold.save(tmp_path / "threshold.json")
        loaded = load_threshold(tmp_path / "threshold.json").comparability_
        assert loaded.to_frame().equals(expected.to_frame())

    @pytest.mark.filterwarnings("ignore:.*as good on held-out queries")
    def test_expected_threshold_warns_of_scores_that_do_not_compare(self):
        with warnings.catch_warnings(action="error", category=FitWarning):
            ExpectedThreshold("dcg").fit(LISTS.log_odds, LISTS.y, groups=LISTS.groups)
        with pytest.warns(FitWarning, match="Scores do not compare .* those of FirstK and Learned"):
            ExpectedThreshold("dcg").fit(SHIFTED, LISTS.y, groups=LISTS.groups)

    @pytest.mark.filterwarnings("ignore:no label has a gain below 0")
    def test_without_queries_nothing_is_compared(self):
        with pytest.warns(FitWarning, match="without query ids"):
            model = TunedThreshold().fit(LISTS.log_odds, LISTS.y)
        assert not hasattr(model, "comparability_")

    @pytest.mark.filterwarnings("ignore:no label has a gain below 0")
    def test_rank_and_filter_compares_held_out_scores(self):
        X = np.column_stack([SHIFTED, LISTS.log_odds])
        model = RankAndFilter(LogisticRegression()).fit(X, LISTS.y, groups=LISTS.groups)
        assert model.comparability_.compares is True
        assert model.comparability_ is model.filter_.comparability_


def test_equal_scores_within_each_list_tell_nothing():
    rng = np.random.default_rng(0)
    for _ in range(10):
        of_list = rng.normal(size=60)
        log_odds = np.repeat(of_list, 8)
        y = (rng.random(480) < 1 / (1 + np.exp(-log_odds))).astype(int)
        found = score_comparability(y, log_odds, groups=np.repeat(np.arange(60), 8))
        assert found.compares is None
        assert np.isnan(found.ratio)
