"""Simple thresholds: a number, and a length."""

import numpy as np
import pytest

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.thresholds import FirstK, FixedThreshold

INF = np.inf


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(80, random_state=0)


def test_documents_of_one_score_stand_in_the_order_of_the_rows():
    scores, groups = np.array([0.5, 0.5, 0.5, 0.5, 0.2]), np.array([0, 0, 0, 1, 1])
    model = FixedThreshold(0.3, max_shown=2).fit(scores, [1, -1, 1, 1, -1], groups=groups)
    shown = [True, True, False, True, False]
    assert (model.predict(scores, groups=groups) > -INF).tolist() == shown
    assert (model.decision_function(scores, groups=groups) >= 0).tolist() == shown
    assert model.rank(scores, groups=groups).tolist() == [1, 2, 0, 1, 0]


@pytest.mark.parametrize("threshold", [-INF, -1.0, 0.3, INF])
def test_margins_of_infinite_scores_are_finite(threshold):
    model = FixedThreshold(threshold).fit()
    scores = np.array([-INF, -1e308, 0.5, 1e308])
    margins = model.decision_function(scores)
    assert np.isfinite(margins).all()
    assert (margins >= 0).tolist() == (model.predict(scores) > -INF).tolist()
    assert (np.diff(margins) >= 0).all()


def test_none_shows_all_and_margins_are_the_scores(data):
    model = FixedThreshold().fit()
    assert model.threshold_ == -INF
    scores = data.bayes_scores
    np.testing.assert_array_equal(model.predict(scores), scores)
    np.testing.assert_array_equal(model.decision_function(scores), scores)


def test_scores_without_labels(data):
    model = FixedThreshold(0.3).fit(data.bayes_scores)
    expected = ndcg_f_score(
        data.y, np.where(data.bayes_scores >= 0.3, data.bayes_scores, -INF), groups=data.groups
    )
    assert model.score(data.bayes_scores, data.y, groups=data.groups) == pytest.approx(expected)


@pytest.mark.parametrize("threshold", ["0.3", np.nan, True, [0.3]])
def test_what_is_no_number(threshold):
    with pytest.raises(ValueError, match="threshold must be a number or None"):
        FixedThreshold(threshold).fit()


def test_the_number_is_the_best_of_all():
    _, y, groups, scores = make_rank_and_filter(80, random_state=0)
    y = np.where(y < 0, 4 * y, y)
    model = FirstK("ndcg_f").fit(scores, y, groups=groups)
    place = np.empty(len(y))
    for query in range(80):
        own = np.flatnonzero(groups == query)
        place[own] = np.argsort(np.argsort(-scores[own])) + 1
    values = [
        ndcg_f_score(y, np.where(place <= k, scores, -np.inf), groups=groups) for k in range(20)
    ]
    assert model.best_score_ == pytest.approx(max(values))
    number = int(model.rank(scores, groups=groups).max())
    assert values[number] == pytest.approx(max(values))
    # The level lies between two numbers, which are negative.
    assert -model.level_ == pytest.approx(number + 0.5)
    assert 0 < number < 8
    assert model.threshold_ is None
