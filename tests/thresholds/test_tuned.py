"""The best threshold on a score, and what it is worth on queries it was not chosen on."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold

from all_thresholds import PLAIN
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import FitWarning
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.thresholds import TunedThreshold, threshold_curve

INF = np.inf


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(300, random_state=0)


def fitted(data, **parameters):
    model = TunedThreshold("ndcg_f@3", **parameters)
    return model.fit(data.bayes_scores, data.y, groups=data.groups)


def first_places(scores, groups, n):
    """Whether each row stands among the first n of its query."""
    first = np.empty(len(scores), dtype=bool)
    for query in np.unique(groups):
        own = np.flatnonzero(groups == query)
        first[own] = np.argsort(np.argsort(-scores[own], kind="stable")) < n
    return first


def test_the_curve_is_that_of_the_function(data):
    model = fitted(data)
    curve = threshold_curve(data.y, data.bayes_scores, groups=data.groups, measure="ndcg_f@3")
    np.testing.assert_array_equal(model.threshold_curve_.thresholds, curve.thresholds)
    np.testing.assert_allclose(model.threshold_curve_.values, curve.values)
    assert model.threshold_ == curve.best_threshold
    assert model.best_score_ == pytest.approx(curve.best_value)
    assert model.measure_ == "ndcg_f@3"


def test_the_threshold_is_the_best_under_the_cap(data):
    model = fitted(data, max_shown=2)
    first = first_places(data.bayes_scores, data.groups, 2)
    capped = np.where(first, data.bayes_scores, -INF)
    curve = threshold_curve(data.y, capped, groups=data.groups, measure="ndcg_f@3")
    assert model.best_score_ == pytest.approx(curve.best_value)
    assert model.threshold_ == pytest.approx(curve.best_threshold)


def test_weights_of_queries(data):
    """A query of weight 2 counts as two."""
    half = data.groups < 150
    twice = np.append(np.arange(len(data.y)), np.flatnonzero(half))
    groups = np.append(data.groups, 1000 + data.groups[half])
    two = TunedThreshold("ndcg_f@3").fit(data.bayes_scores[twice], data.y[twice], groups=groups)
    one = TunedThreshold("ndcg_f@3").fit(
        data.bayes_scores, data.y, groups=data.groups, query_weight=np.where(half, 2.0, 1.0)
    )
    assert one.threshold_ == two.threshold_
    assert one.best_score_ == pytest.approx(two.best_score_)


def test_nothing_good_is_told():
    _, y, groups, scores = make_rank_and_filter(200, random_state=0)
    unsafe = np.where(y < 0, -1, 0)
    model = TunedThreshold("ndcg_f@3")
    with pytest.warns(FitWarning, match=r"no label has a gain above 0.*gains=\{0: 1, -1: -1\}"):
        model.fit(scores, unsafe, groups=groups)
    with pytest.warns(FitWarning, match=r"no label has a gain above 0.*Check y and gains="):
        model.fit(scores, np.full(len(y), -1), groups=groups)
    model.set_params(gains={0: 1, -1: -1}).fit(scores, unsafe, groups=groups)
    assert np.isfinite(model.predict(scores, groups=groups)).mean() > 0.3


def _dear(labels):
    """Gains at which a forbidden document costs ten times as much."""
    return np.where(labels < 0, 10 * labels, labels)


class TestHeldOutScore:
    def test_is_that_of_thresholds_chosen_without_the_query(self, data):
        model = fitted(data)
        kept = np.full(len(data.y), -INF)
        folds = GroupKFold(5, shuffle=True, random_state=0)
        for train, test in folds.split(data.y, groups=data.groups):
            curve = threshold_curve(
                data.y[train],
                data.bayes_scores[train],
                groups=data.groups[train],
                measure="ndcg_f@3",
            )
            is_shown = data.bayes_scores[test] >= curve.best_threshold
            kept[test] = np.where(is_shown, data.bayes_scores[test], -INF)
        expected = ndcg_f_score(data.y, kept, groups=data.groups, k=3)
        assert model.held_out_score_ == pytest.approx(expected)

    @pytest.mark.nightly
    def test_is_nearer_to_new_queries_than_the_best_in_sample(self):
        every = make_rank_and_filter(4800, random_state=5)
        scores, y, groups = every.bayes_scores, every.y, every.groups
        new = groups >= 1800
        best, held_out, truth = [], [], []
        for start in range(0, 1800, 60):
            own = (groups >= start) & (groups < start + 60)
            model = TunedThreshold("ndcg_f@3").fit(scores[own], y[own], groups=groups[own])
            best.append(model.best_score_)
            held_out.append(model.held_out_score_)
            kept = np.where(scores[new] >= model.threshold_, scores[new], -INF)
            truth.append(ndcg_f_score(y[new], kept, groups=groups[new], k=3))
        best, held_out, truth = map(np.mean, (best, held_out, truth))
        assert best > truth + 0.005
        assert abs(held_out - truth) < 0.5 * (best - truth)

    def test_is_negated_where_lower_is_better(self, data):
        model = TunedThreshold("forbidden@3", min_shown=1)
        model.fit(data.bayes_scores, data.y, groups=data.groups)
        assert model.held_out_score_ < 0

    @pytest.mark.slow
    @pytest.mark.parametrize("name", [name for name in PLAIN if name not in ("all", "fixed")])
    def test_without_the_filter(self, data, name):
        model = clone(PLAIN[name]).fit(data.bayes_scores, data.y, groups=data.groups)
        expected = ndcg_f_score(data.y, data.bayes_scores, groups=data.groups, k=3)
        assert model.held_out_score_unfiltered_ == pytest.approx(expected, abs=1e-12)

    def test_without_the_filter_caps_remain(self, data):
        first = first_places(data.bayes_scores, data.groups, 2)
        capped = np.where(first, data.bayes_scores, -INF)
        expected = ndcg_f_score(data.y, capped, groups=data.groups, k=3)
        assert fitted(data, max_shown=2).held_out_score_unfiltered_ == pytest.approx(expected)

    @pytest.mark.parametrize("weights", [False, True])
    def test_a_filter_that_does_not_pay(self, data, weights):
        scores, rows = data.bayes_scores, data.groups < 30 * (1 + weights)
        heavy = np.where(data.groups < 30, 1.0, 0.0)[rows] if weights else None
        expected = "not shown to pay.*Use FixedThreshold.. to show every document, or judge more"
        with pytest.warns(FitWarning, match=expected) as caught:
            model = TunedThreshold("ndcg_f@3").fit(
                scores[rows], data.y[rows], groups=data.groups[rows], query_weight=heavy
            )
        (text,) = {str(each.message) for each in caught}
        assert f"score {model.held_out_score_:.4f} with it" in text
        assert f"and {model.held_out_score_unfiltered_:.4f} without it" in text

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["tuned", "expected", "per_query"])
    def test_a_filter_that_pays(self, data, name):
        model = clone(PLAIN[name]).set_params(gains=_dear)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", message=".*below 0")
            model.fit(data.bayes_scores, data.y, groups=data.groups)
        assert model.held_out_score_ > model.held_out_score_unfiltered_ + 0.01
