"""Filters warn of scores on another scale than those of their calibration, and of no others."""

import warnings

import numpy as np
import pytest
from scipy.special import logit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from all_thresholds import THRESHOLDS
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import DataWarning
from skfilterrank.ranking import RankAndFilter
from skfilterrank.thresholds import (
    CertifiedThreshold,
    TunedThreshold,
    _drift,
    load_threshold,
)

MATCH = "not on the scale of those that the threshold was chosen on"


@pytest.fixture(scope="module")
def data():
    _, y, groups, scores = make_rank_and_filter(300, random_state=0)
    return y, groups, np.clip(scores, 0.01, 0.99)


def fitted(data, scores, name="tuned"):
    y, groups, _ = data
    return clone(THRESHOLDS[name]).fit(scores, y, groups=groups)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tuned", "certified", "expected"])
@pytest.mark.parametrize("to_logits", [True, False])
def test_both_directions_are_told_once(data, name, to_logits, tmp_path):
    _, groups, scores = data
    served, other = (scores, logit(scores)) if to_logits else (logit(scores), scores)
    model = fitted(data, served, name)
    model.save(tmp_path / "filter.json")
    for each in (model, load_threshold(tmp_path / "filter.json")):
        with pytest.warns(DataWarning, match=MATCH):
            each.rank(other, groups=groups)
        each.predict(other, groups=groups)  # warnings are errors


@pytest.mark.parametrize("change", [lambda s: s + 5, lambda s: 100 * s, lambda s: s / 100])
def test_other_scales(data, change):
    with pytest.warns(DataWarning, match=MATCH):
        fitted(data, data[2]).predict(change(data[2]), groups=data[1])


@pytest.mark.parametrize(("shift", "side"), [(-0.016, "below"), (0.32, "at or above")])
def test_a_threshold_that_divides_no_scores_is_told(data, shift, side):
    y, groups, scores = data
    model = CertifiedThreshold({"any_forbidden@3": 0.1}, confidence_level=0.9, measure="ndcg_f@3")
    model.fit(scores, y, groups=groups)
    with pytest.warns(DataWarning, match=f"all of them are {side} the threshold 0.32"):
        model.predict(0.34 * scores + shift, groups=groups)


def test_queries_one_by_one_are_told_when_they_are_enough(data):
    _, groups, scores = data
    model = fitted(data, scores)
    other = logit(scores)
    for query in range(29):
        rows = groups == query
        model.predict(other[rows], groups=groups[rows])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for query in range(29, 60):
            rows = groups == query
            model.predict(other[rows], groups=groups[rows])
    assert [str(each.message)[:14] for each in caught] == ["The scores are"]


def test_threads_that_serve_one_model_do_not_disturb_each_other(data, monkeypatch):
    _, groups, scores = data
    model = fitted(data, scores)
    counted, calls = _drift.effective_lists, []

    def interrupted(sizes):
        calls.append(len(sizes))
        if len(calls) == 1:
            model.predict(scores, groups=groups)
        return counted(sizes)

    monkeypatch.setattr(_drift, "effective_lists", interrupted)
    model.predict(scores, groups=groups)
    assert len(calls) > 1


def test_without_query_ids_rows_of_enough_lists_are_told(data):
    _, groups, scores = data
    model = fitted(data, scores)
    model.predict(logit(scores[groups < 20]))
    with pytest.warns(DataWarning, match=MATCH):
        model.predict(logit(scores))


@pytest.mark.slow
def test_ordinary_batches_and_single_queries_are_not_told(data):
    _, groups, scores = data
    model = fitted(data, scores)
    rng = np.random.default_rng(0)
    for size in (1, 5, 30, 100):
        for _ in range(50):
            rows = np.isin(groups, rng.choice(300, size, replace=False))
            model.predict(scores[rows], groups=groups[rows])
    # Few rows without query ids may be one query, and a long list beside short ones counts once.
    fresh = fitted(data, scores)
    fresh.predict(np.full(100, 0.5))
    long = np.append(np.zeros(10_000, dtype=int), np.arange(1, 29))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fresh.predict(np.full(len(long), 0.5), groups=long)
    assert not [each for each in caught if MATCH in str(each.message)]


def test_few_calibration_queries_and_one_score_are_no_scale(data):
    y, groups, scores = data
    rows = groups < 20
    few = TunedThreshold("ndcg_f@3").fit(scores[rows], y[rows], groups=groups[rows])
    few.predict(logit(scores), groups=groups)
    constant = TunedThreshold("ndcg_f@3").fit(np.ones(len(y)), y, groups=groups)
    constant.predict(scores, groups=groups)


def test_hidden_rows_are_no_scores(data):
    _, groups, scores = data
    hidden = np.where(np.arange(len(scores)) % 2, -np.inf, scores)
    fitted(data, scores).predict(hidden, groups=groups)
    model = fitted(data, hidden)
    assert np.isfinite(model.calibration_.quantiles).all()
    shown = model.predict(hidden, groups=groups) > -np.inf
    share = shown.sum() / np.isfinite(hidden).sum()
    assert model.calibration_.share_shown == pytest.approx(share)


def test_scores_of_an_estimator_within_are_not_compared():
    X, y, groups, _ = make_rank_and_filter(300, random_state=0)
    model = RankAndFilter(LogisticRegression(), measure="ndcg_f@3").fit(X, y, groups=groups)
    assert not hasattr(model.filter_, "calibration_")
    model.predict(X / 100, groups=groups)  # warnings are errors


@pytest.mark.parametrize(
    ("sizes", "expected"),
    # Of lists of sizes 4, 1 and 1 a mean over rows says as much as 36 / 18 of one size.
    [([3, 3, 3], 3.0), ([7], 1.0), ([4, 1, 1], 2.0), ([0, 5, 5], 2.0), ([], 0.0), ([0], 0.0)],
)
def test_lists_that_say_as_much_by_hand(sizes, expected):
    assert _drift.effective_lists(sizes) == expected
