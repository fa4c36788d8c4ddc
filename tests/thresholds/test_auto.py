"""The simplest cut that is as good as the best one on held-out queries."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.ranking import RankAndFilter
from skfilterrank.thresholds import (
    AutoThreshold,
    ExpectedThreshold,
    FirstK,
    LearnedThreshold,
    TunedThreshold,
    _auto,
    load_threshold,
)
from skfilterrank.thresholds._auto import _simplest

INF = np.inf


@pytest.fixture
def quick(monkeypatch):
    """Leaves out the learned cut, which takes a second."""
    kinds = {name: kind for name, kind in _auto._CANDIDATES.items() if name != "learned"}
    monkeypatch.setattr(_auto, "_CANDIDATES", kinds)


def test_the_simplest_within_one_standard_error():
    values = np.array([[0.0, 0, 0, 0], [1, 1, 1, 1], [2.0, 0.9, 1, 1], [1, 1, 1, 1]])
    assert _simplest(values, np.arange(4)) == 1
    assert _simplest(values[[0, 2, 1]], np.arange(4)) == 1
    # Lists of one cluster count as one.
    assert _simplest(values[:1], np.zeros(4, dtype=int)) == 0
    assert _simplest(values[:, [0, 3]], np.array([0, 3])) == 1


def test_one_threshold_where_scores_mean_the_same_in_every_query(quick):
    rng = np.random.default_rng(0)
    groups, scores = np.repeat(np.arange(80), 10), rng.normal(size=800)
    y = (scores > 0).astype(float)
    cut = AutoThreshold("f", random_state=0).fit(scores, y, groups=groups)
    assert isinstance(cut.chosen_, TunedThreshold)
    assert cut.threshold_ == TunedThreshold("f").fit(scores, y, groups=groups).threshold_
    assert cut.candidates_.loc["one_threshold", "is_chosen"]
    assert cut.candidates_["loss"].min() == 0
    assert cut.held_out_score_ == pytest.approx(cut.candidates_.loc["one_threshold", "value"])


def test_a_fixed_number_where_scores_say_nothing_between_queries(quick):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 10)
    scores = -np.tile(np.arange(10.0), 60) * np.exp(rng.normal(size=60))[groups]
    scores += 9 * rng.normal(size=60)[groups]
    y = np.tile(np.arange(10) < 3, 60).astype(float)
    cut = AutoThreshold("f", random_state=0).fit(scores, y, groups=groups)
    assert isinstance(cut.chosen_, FirstK)
    assert cut.rank(scores, groups=groups).max() == 3
    assert cut.threshold_ is None


@pytest.mark.filterwarnings("ignore::skfilterrank.exceptions.FitWarning")
def test_everything_where_nothing_is_better_than_noise(quick):
    rng = np.random.default_rng(1)
    groups, scores = np.repeat(np.arange(30), 5), rng.normal(size=150)
    y = rng.choice([-1.0, 1.0, 2.0], p=[0.1, 0.6, 0.3], size=150)
    cut = AutoThreshold(random_state=0).fit(scores, y, groups=groups)
    assert cut.candidates_.loc["everything", "is_chosen"]
    assert cut.threshold_ == -INF
    np.testing.assert_array_equal(cut.predict(scores, groups=groups), scores)


def test_caps_hold_for_all(quick):
    _, y, groups, scores = make_rank_and_filter(60, random_state=0)
    cut = AutoThreshold("dcg", max_shown=2, min_shown=1, random_state=0)
    cut.fit(scores, y, groups=groups)
    n_shown = np.bincount(groups, cut.predict(scores, groups=groups) > -INF)
    assert set(n_shown) <= {1, 2}


@pytest.mark.filterwarnings("ignore::skfilterrank.exceptions.FitWarning")
def test_measures_without_values_of_prefixes_have_fewer_candidates():
    _, y, groups, scores = make_rank_and_filter(20, random_state=0)
    cut = AutoThreshold("bpref", random_state=0).fit(scores, y, groups=groups)
    assert cut.candidates_.index.tolist() == ["everything", "first_k", "one_threshold"]


def test_inside_rank_and_filter(quick):
    X, y, groups, _ = make_rank_and_filter(60, bayes=False, random_state=0)
    model = RankAndFilter(LogisticRegression(), "auto", measure="f").fit(X, y, groups=groups)
    assert isinstance(model.filter_, AutoThreshold)
    assert model.rank(X, groups=groups).max() > 0


def test_is_saved(quick, tmp_path):
    rng = np.random.default_rng(0)
    groups, scores = np.repeat(np.arange(40), 8), rng.normal(size=320)
    y = (scores > 0.2).astype(float)
    cut = AutoThreshold("f", random_state=0).fit(scores, y, groups=groups)
    cut.save(tmp_path / "cut.json")
    loaded = load_threshold(tmp_path / "cut.json")
    new = rng.normal(size=320)
    np.testing.assert_array_equal(
        loaded.predict(new, groups=groups), cut.predict(new, groups=groups)
    )


@pytest.mark.nightly
def test_all_candidates_are_compared(tmp_path):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(150), 12)
    behind = rng.normal(size=len(groups))
    y = (behind + 0.2 * rng.normal(size=len(groups)) > rng.normal(size=150)[groups]).astype(float)
    scores = behind * np.exp(rng.normal(size=150))[groups] + 5 * y.mean() * groups % 7
    cut = AutoThreshold("f", random_state=0).fit(scores, y, groups=groups)
    kinds = {"expected": ExpectedThreshold, "learned": LearnedThreshold}
    assert set(kinds) <= set(cut.candidates_.index)
    best = cut.candidates_["value"].max()
    row = cut.candidates_[cut.candidates_["is_chosen"]].iloc[0]
    assert row["value"] >= best - row["error"]
    cut.save(tmp_path / "cut.json")
    loaded = load_threshold(tmp_path / "cut.json")
    np.testing.assert_array_equal(
        loaded.predict(scores, groups=groups), cut.predict(scores, groups=groups)
    )


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_one_query_gives_no_warning_of_numpy():
    cut = AutoThreshold(random_state=0).fit([3.0, 2, 1, 0], [1.0, -1, 0, 1], groups=[0] * 4)
    assert cut.chosen_name_ in cut.candidates_.index


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_no_warning_that_hiding_does_not_pay_where_nothing_is_hidden():
    rng, groups = np.random.RandomState(1), np.repeat(np.arange(12), 4)
    scores, y = rng.rand(48), np.where(rng.rand(48) < 0.45, -1.0, 1.0)
    # Without some folds another candidate is chosen, which does not pay.
    cut = AutoThreshold("dcg", random_state=0).fit(scores, y, groups=groups)
    assert cut.chosen_name_ == "everything"
    assert cut.held_out_score_ < cut.held_out_score_unfiltered_
