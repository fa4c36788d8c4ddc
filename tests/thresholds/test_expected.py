"""Cuts at the prefix of the highest expected value."""

import warnings
from itertools import product

import numpy as np
import pytest
from scipy.special import ndtri
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from skfilterrank._base.probabilities import reaching
from skfilterrank._lists.content import query_folds
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.prefixes import Ranking, best_prefix, places
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import DataWarning
from skfilterrank.metrics import f_score, ndcg_f_score
from skfilterrank.thresholds import (
    ExpectedThreshold,
    PerQueryThreshold,
    TunedThreshold,
    load_threshold,
)
from skfilterrank.thresholds._expected import (
    ByExpectation,
    ByWorth,
    WorthRegression,
    normalised_gains,
)
from skfilterrank.thresholds._expected_values import expected_worth
from skfilterrank.thresholds._judged_scores import JudgedScores
from thinned import thinned

INF = np.inf


def named(k):
    return "ndcg_f" if k is None else f"ndcg_f@{k}"


def learned(k, gains, scores, groups):
    """A cut that has learned from all rows."""
    lists = RankedLists(gains, scores, groups=groups)
    cut, none = ByExpectation(), np.empty((len(gains), 0))
    judged = JudgedScores(lists, np.arange(lists.index.n_queries), none, [])
    cut.learn(judged, parse_measure(named(k)))
    return cut


def worth_of(cut, scores, index, k=None):
    parts = expected_worth(
        cut.gains,
        reaching(cut.curves, scores),
        Ranking(scores, index),
        k=k,
        correlation=cut.correlation,
    )
    return parts.sum(axis=0)


class TestNdcgF:
    """E[gain / (I - W)] from the probability of each gain."""

    @staticmethod
    def of_probabilities(gains, k=None):
        """A cut to which scores are the probability of the higher of two gains."""
        cut = ByExpectation()
        cut.parsed = parse_measure(named(k))
        cut.gains = np.array(gains, dtype=float)
        cut.curves = [(np.array([0.0, 1.0]), np.array([0.0, 1.0]))]
        cut.correlation = 0.0
        return cut

    @pytest.mark.parametrize("k", [None, 1, 2])
    def test_is_that_of_all_outcomes(self, k):
        p = np.array([0.9, 0.6, 0.35, 0.2])
        index = GroupIndex.from_groups([0] * 4)
        exact = np.zeros(4)
        for number in range(2**4):
            is_good = np.array([number >> i & 1 for i in range(4)], dtype=bool)
            chance = np.where(is_good, p, 1 - p).prod()
            exact += chance * normalised_gains(np.where(is_good, 2.0, -3.0), index, k)
        found = worth_of(self.of_probabilities([-3, 2], k), p, index, k)
        np.testing.assert_allclose(found, exact, atol=0.03)

    def test_one_document_is_shown_from_a_half_on_whatever_a_bad_one_costs(self):
        p = np.array([0.45, 0.55])
        for price in (0.5, 1, 10, 100):
            keys = self.of_probabilities([-price, 1]).keys(
                p, np.empty((2, 0)), GroupIndex.from_groups([0, 1])
            )
            assert keys.tolist() == [-1, 1]

    @pytest.mark.slow
    def test_of_a_long_list_what_pays_in_gains(self):
        # Bad = -10: 10 / 11.
        n = 300
        p = np.linspace(0.999, 0.8, n)
        index = GroupIndex.from_groups(np.zeros(n, dtype=int))
        worth = worth_of(self.of_probabilities([-10, 1]), p, index)
        assert p[worth > 0].min() == pytest.approx(10 / 11, abs=0.01)

    @pytest.mark.slow
    def test_learns_the_probabilities(self):
        _, y, groups, scores = make_rank_and_filter(2000, random_state=0)
        cut = learned(3, y.astype(float), scores, groups)
        assert cut.gains.tolist() == np.unique(y).tolist()
        for low, (nodes, values) in zip(cut.gains[1:], cut.curves):
            found = np.interp(scores, nodes, values)
            for part in np.array_split(np.argsort(scores), 5):
                assert found[part].mean() == pytest.approx(np.mean(y[part] >= low), abs=0.03)

    @pytest.mark.slow
    @pytest.mark.parametrize("correlation", [0.0, 0.3, 0.6])
    def test_learns_how_documents_of_a_query_go_together(self, correlation):
        rng = np.random.RandomState(0)
        groups = np.repeat(np.arange(2000), 10)
        scores = rng.uniform(0.05, 0.95, len(groups))
        behind = np.sqrt(correlation) * rng.normal(size=2000)[groups]
        behind += np.sqrt(1 - correlation) * rng.normal(size=len(groups))
        gains = np.where(behind < ndtri(scores), 1.0, -1.0)
        cut = learned(None, gains, scores, groups)
        assert cut.correlation == pytest.approx(correlation, abs=0.06)

    def test_documents_that_go_together(self):
        # All good or all bad: (1 / I) / 2 - (1 / -W) / 2 = 0 at any price but for the discounts.
        cut = self.of_probabilities([-5, 1])
        cut.correlation = 0.95
        apart = self.of_probabilities([-5, 1])
        p, index = np.full(20, 0.5), GroupIndex.from_groups(np.zeros(20, dtype=int))
        assert worth_of(apart, p, index).max() < 3 * worth_of(cut, p, index).min() < 0

    def test_lists_do_not_depend_on_each_other(self):
        _, y, groups, scores = make_rank_and_filter(200, random_state=0)
        index = GroupIndex.from_groups(groups)
        cut = learned(3, y.astype(float), scores, groups)
        every = worth_of(cut, scores, index, 3)
        for query in (0, 7, 100):
            rows = np.flatnonzero(groups == query)
            alone = worth_of(cut, scores[rows], GroupIndex.from_groups(groups[rows]), 3)
            np.testing.assert_allclose(alone, every[rows], atol=1e-15)

    @pytest.mark.slow
    def test_many_gains_are_binned(self):
        rng = np.random.RandomState(0)
        gains, scores = rng.normal(size=3000), rng.normal(size=3000)
        cut = learned(None, gains, scores, np.arange(3000) // 10)
        assert len(cut.gains) == 10
        assert cut.gains.mean() == pytest.approx(gains.mean(), abs=0.01)

    @pytest.mark.slow
    def test_follows_the_size_of_lists_where_one_threshold_does_not(self):
        # Chosen on lists of ten, used on lists of one, where a half is the best threshold.
        rng = np.random.RandomState(0)
        p = rng.uniform(size=6000)
        y = np.where(rng.uniform(size=6000) < p, 1, -10)
        groups = np.arange(6000) // 10
        new_p = rng.uniform(size=3000)
        new_y = np.where(rng.uniform(size=3000) < new_p, 1, -10)
        value = {}
        for mode, kind in (("tune", TunedThreshold), ("expected", ExpectedThreshold)):
            model = kind().fit(p, y, groups=groups)
            with warnings.catch_warnings(action="ignore", category=DataWarning):
                kept = model.predict(new_p, groups=np.arange(3000))
            value[mode] = ndcg_f_score(new_y, kept, groups=np.arange(3000))
        best = ndcg_f_score(new_y, np.where(new_p >= 0.5, 0, -INF), groups=np.arange(3000))
        assert value["expected"] == pytest.approx(best, abs=0.01)
        assert value["tune"] < best - 0.1


@pytest.mark.parametrize(
    ("kind", "measure"),
    thinned(
        product([PerQueryThreshold, ExpectedThreshold], ["f", "dcg", "ap", "rbp", "precision"])
    ),
)
def test_other_measures(kind, measure, tmp_path):
    _, y, groups, scores = make_rank_and_filter(60, random_state=0)
    with warnings.catch_warnings(action="ignore"):
        cut = kind(measure).fit(scores, y, groups=groups)
        shown = cut.predict(scores, groups=groups)
        assert cut.best_score_ >= cut.held_out_.loc["everything", "value"] - 0.02
        cut.save(tmp_path / "cut.json")
        loaded = load_threshold(tmp_path / "cut.json")
        np.testing.assert_array_equal(loaded.predict(scores, groups=groups), shown)
        if kind is PerQueryThreshold and measure in ("ap", "rbp"):
            # They never fall.
            assert (shown > -INF).all()


@pytest.mark.slow
def test_f_follows_the_number_of_relevant_documents():
    # Lists of other sizes than those that were learned from.
    rng = np.random.default_rng(0)
    p = rng.uniform(size=4000) ** 3
    y = (rng.uniform(size=4000) < p).astype(float)
    cut = ExpectedThreshold("f").fit(p, y, groups=np.arange(4000) // 5)
    new_p = rng.uniform(size=4000) ** 3
    new_y = (rng.uniform(size=4000) < new_p).astype(float)
    groups = np.arange(4000) // 100
    with warnings.catch_warnings(action="ignore", category=DataWarning):
        value = f_score(new_y, cut.predict(new_p, groups=groups), groups=groups)
    best = max(
        f_score(new_y, np.where(new_p >= t, new_p, -INF), groups=groups)
        for t in np.linspace(0, 1, 41)
    )
    assert value > best - 0.01


@pytest.mark.parametrize("kind", [ExpectedThreshold, PerQueryThreshold])
def test_measures_without_values_of_prefixes_are_named(kind):
    with pytest.raises(ValueError, match=f"{kind.__name__} supports measures such as"):
        kind("bpref").fit([1.0, 2], [0, 1], groups=[0, 0])


class Fitted:
    """A fitted cut, its out-of-fold decisions and those of now."""

    def __init__(self, k, gains, scores, index):
        self.k = k
        self.cut = ByWorth()
        lists = RankedLists(gains, scores, groups=index)
        none = np.empty((len(gains), 0))
        judged = JudgedScores(lists, np.arange(index.n_queries), none, [])
        self.shown = self.cut.learn(judged, parse_measure(named(k))) > 0

    def shown_now(self, scores, index):
        worth = self.cut.regression.predict(self.features(scores, index))
        return best_prefix(worth, scores, index, self.k)

    def features(self, scores, index):
        features = self.cut._features(scores, index)
        return np.clip(features, *self.cut.range)


def features_by_the_letter(scores, groups, mean, deviation):
    """Score, sum of the others over the size of the list, and the logarithm of the size."""
    rows = []
    for score, query in zip(scores, groups):
        shown = [s for s, q in zip(scores, groups) if q == query and np.isfinite(s)]
        standard = [(s - mean) / deviation for s in shown]
        mine = (score - mean) / deviation if np.isfinite(score) else 0.0
        size = max(len(shown), 1)
        rows.append([mine, (sum(standard) - mine) / size, np.log(size)])
    return np.array(rows)


def worth_by_the_letter(gains, groups, k):
    """Gain over I - W."""
    worth = np.zeros(len(gains))
    for query in np.unique(groups):
        mine = np.nan_to_num(gains[groups == query])
        discount = (1 / np.log2(np.arange(len(mine)) + 2))[:k]
        ideal = np.sort(np.maximum(mine, 0))[::-1][:k] @ discount
        worst = np.sort(np.minimum(mine, 0))[:k] @ discount
        if ideal > worst:
            worth[groups == query] = mine / (ideal - worst)
    return worth


@pytest.mark.slow
@pytest.mark.parametrize("k", [None, 2])
@pytest.mark.parametrize("n_queries", [2, 60])
def test_by_the_letter(k, n_queries):
    rng = np.random.default_rng(n_queries)
    groups = np.repeat(np.arange(n_queries), rng.integers(3, 9, n_queries))
    scores = 5 + 3 * rng.normal(size=len(groups))
    gains = np.round(scores - 5 + 2 * rng.normal(size=len(groups)) + groups % 3 - 1)
    scores[rng.random(len(groups)) < 0.1] = -INF
    gains[rng.random(len(groups)) < 0.1] = np.nan
    index = GroupIndex.from_groups(groups)
    found = Fitted(k, gains, scores, index)

    worth = worth_by_the_letter(gains, groups, k)
    place = [np.sum(scores[groups == q] > s) for s, q in zip(scores, groups)]
    learned = np.isfinite(scores) & ~np.isnan(gains) & (np.array(place) < 2 * (k or INF))

    def expected(train, test):
        finite = scores[train][np.isfinite(scores[train])]
        features = features_by_the_letter(scores, groups, finite.mean(), finite.std())
        # Cut to the middle 99 %.
        features = np.clip(features, *np.quantile(features[train], [0.005, 0.995], axis=0))
        squares = PolynomialFeatures(2, include_bias=False)
        model = make_pipeline(StandardScaler(), squares, StandardScaler(), Ridge(alpha=10.0))
        train = np.intersect1d(train, np.flatnonzero(learned))
        return model.fit(features[train], worth[train]).predict(features[test])

    every = np.arange(len(groups))
    out_of_fold = np.zeros(len(groups))
    fold = query_folds(groups, min(5, n_queries))
    for number in range(fold.max() + 1):
        test = np.flatnonzero(fold == number)
        out_of_fold[test] = expected(np.flatnonzero(fold != number), test)
    np.testing.assert_array_equal(found.shown, best_prefix(out_of_fold, scores, index, k))
    np.testing.assert_array_equal(
        found.shown_now(scores, index), best_prefix(expected(every, every), scores, index, k)
    )


def test_filtered_rows_are_never_kept():
    index = GroupIndex.from_groups([0, 0, 0, 1, 1])
    scores = np.array([2.0, 1, -INF, -INF, -INF])
    assert best_prefix(np.ones(5), scores, index, 3).tolist() == [True, True, *[False] * 3]


def test_exact_worth_gives_what_exact_scores_give():
    # The exact scores are the expected worth, of which what is below 0 is best filtered.
    _, y, groups, exact = make_rank_and_filter(300, query_effect=0.4, random_state=0)
    shown = best_prefix(exact, exact, GroupIndex.from_groups(groups), 3)
    by_prefix = np.where(shown, exact, -INF)
    by_sign = np.where(exact >= 0, exact, -INF)
    np.testing.assert_allclose(
        ndcg_f_score.per_query(y, by_prefix, groups=groups, k=3),
        ndcg_f_score.per_query(y, by_sign, groups=groups, k=3),
    )


@pytest.mark.slow
def test_true_worth_reaches_the_best_filter_of_each_list():
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(40), 5)
    gains = rng.choice([-1.0, 1, 2], size=200)
    scores = rng.normal(size=200)
    index = GroupIndex.from_groups(groups)
    shown = best_prefix(normalised_gains(gains, index, 3), scores, index, 3)
    kept = np.where(shown, scores, -INF)
    for query in range(40):
        rows = groups == query
        best = max(
            ndcg_f_score(
                gains[rows],
                np.where(scores[rows] >= t, scores[rows], -INF),
                groups=groups[rows],
                k=3,
            )
            for t in [*scores[rows], INF]
        )
        value = ndcg_f_score(gains[rows], kept[rows], groups=groups[rows], k=3)
        assert value == pytest.approx(best)


def test_normalised_gains_by_hand():
    index = GroupIndex.from_groups(list("aabbc"))
    gains = np.array([2.0, -1, 0, 0, np.nan])
    # Query a: I = 2, W = -1. Query b and c: I = W.
    np.testing.assert_allclose(normalised_gains(gains, index, 3), [2 / 3, -1 / 3, 0, 0, 0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gains", "scores", "groups"),
    [
        ([1.0], [0.5], ["a"]),
        ([-1.0], [-INF], ["a"]),
        ([1.0, -1, 2], [0.5, 0.1, 0.7], ["a", "a", "a"]),
        ([1.0, -1], [0.5, 0.1], ["a", "b"]),
        ([1.0, -1, 2, -1], [0.5, 0.5, 0.5, 0.5], ["a", "a", "b", "b"]),
        ([1.0, -1, 2, -1], [-INF, -INF, -INF, -INF], ["a", "a", "b", "b"]),
        ([1.0, -1, 2, -1], [-INF, 0.1, 0.7, -INF], ["a", "a", "b", "b"]),
        ([np.nan, np.nan, 2, -1], [0.3, 0.1, 0.7, 0.2], ["a", "a", "b", "b"]),
        ([0.0, 0, 0, 0], [0.3, 0.1, 0.7, 0.2], ["a", "a", "b", "b"]),
    ],
)
def test_tiny_data(gains, scores, groups):
    gains, scores = np.array(gains), np.array(scores)
    index = GroupIndex.from_groups(groups)
    with warnings.catch_warnings(action="error"):
        model = Fitted(3, gains, scores, index)
        assert np.isfinite(model.cut.regression.predict(model.features(scores, index))).all()
        for shown in (model.shown, model.shown_now(scores, index)):
            assert not shown[np.isneginf(scores)].any()


def test_unjudged_rows_are_not_learned_from():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 4)
    scores = rng.normal(size=240)
    gains = np.where(scores + rng.normal(size=240) > 0, 1.0, -1.0)
    gains[rng.uniform(size=240) < 0.5] = np.nan
    index = GroupIndex.from_groups(groups)
    model = Fitted(3, gains, scores, index)
    judged = ~np.isnan(gains)
    features = model.features(scores, index)
    residual = normalised_gains(gains, index, 3) - model.cut.regression.predict(features)
    top = places(scores, index) < 6
    assert residual[judged & top].mean() == pytest.approx(0, abs=1e-9)


def test_the_regression_is_that_of_its_estimators():
    rng = np.random.default_rng(0)
    features, worth = rng.normal(size=(200, 3)) * [1, 10, 0.1] + 3, rng.normal(size=200)
    features[:, 2] = np.where(rng.random(200) < 0.5, features[:, 2], 3)
    model = make_pipeline(
        StandardScaler(), PolynomialFeatures(2, include_bias=False), StandardScaler(), Ridge(10.0)
    ).fit(features, worth)
    found = WorthRegression.fitted(features, worth).predict(features)
    np.testing.assert_allclose(found, model.predict(features), rtol=1e-10, atol=1e-12)
    assert WorthRegression.fitted(features[:0], worth[:0]).predict(features).tolist() == [0] * 200


@pytest.mark.slow
def test_tied_documents_are_learned_from_together():
    rng = np.random.default_rng(0)
    groups, scores = np.repeat(np.arange(40), 8), rng.integers(0, 4, 320).astype(float)
    gains = rng.choice([-1.0, 0.0, 1.0], 320)
    best_first, worst_first = np.argsort(-gains, kind="stable"), np.argsort(gains, kind="stable")
    one, two = (
        Fitted(2, gains[rows], scores[rows], GroupIndex.from_groups(groups[rows])).shown_now(
            scores, GroupIndex.from_groups(groups)
        )
        for rows in (best_first, worst_first)
    )
    np.testing.assert_array_equal(one, two)
