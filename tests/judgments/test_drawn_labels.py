"""sample_labels: sets of labels by their chances, whatever the order of the rows."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier

from skfilterrank.exceptions import InputError
from skfilterrank.judgments._drawn_labels import depth_offset, sample_labels


def _data(seed=0, n_queries=6, n_rows=20):
    rng = np.random.RandomState(seed)
    groups = np.repeat(np.arange(n_queries), n_rows)
    features = rng.randn(len(groups), 3)
    y = np.digitize(features[:, 0] + 0.5 * rng.randn(len(groups)), [0.3, 1.2]) * 1.0
    y[rng.rand(len(groups)) < 0.5] = np.nan
    return features, y, groups


def _sample(features, y, groups, **params):
    return sample_labels(features, y, groups, **{"random_state": 0, "n_draws": 5} | params)


def test_known_labels_stay_and_the_others_vary():
    features, y, groups = _data()
    sets = _sample(features, y, groups)
    known = ~np.isnan(y)
    assert sets.shape == (5, len(y))
    assert (sets[:, known] == y[known]).all()
    assert set(np.unique(sets)) == {0.0, 1.0, 2.0}
    assert 0 < (np.ptp(sets, axis=0) > 0)[~known].mean() < 1
    # The first column tells high labels.
    assert np.corrcoef(sets.mean(axis=0)[~known], features[~known, 0])[0, 1] > 0.6


@pytest.mark.parametrize("classifier", [None, DecisionTreeClassifier(max_depth=2, random_state=0)])
def test_neither_order_nor_names_nor_jobs_count(classifier):
    features, y, groups = _data()
    sets = _sample(features, y, groups, classifier=classifier)
    order = np.random.RandomState(1).permutation(len(y))
    names = np.array(["x", "b", "m", "a", "z", "c"])[groups]
    again = _sample(features[order], y[order], names[order], classifier=classifier, n_jobs=2)
    np.testing.assert_array_equal(again, sets[:, order])
    assert (_sample(features, y, groups, random_state=1) != sets).any()


def test_a_changed_label_changes_no_random_number():
    features, y, groups = _data()
    changed = y.copy()
    row = int(np.flatnonzero(~np.isnan(y))[0])
    changed[row] = 1 - y[row] if y[row] < 2 else 0
    other = DummyClassifier(strategy="uniform", random_state=0)
    before = _sample(features, y, groups, classifier=other)
    after = _sample(features, changed, groups, classifier=other)
    unjudged = np.isnan(y)
    np.testing.assert_array_equal(after[:, unjudged], before[:, unjudged])


def test_labels_are_drawn_by_their_chances():
    # The prior of the classifier is the share of labels in the judged rows: 0, 1 and 3.
    groups = np.repeat(np.arange(40), 100)
    y = np.full(len(groups), np.nan)
    y.reshape(40, 100)[:, :10] = [0, 0, 0, 0, 0, 1, 1, 1, 3, 3]
    features = np.arange(len(y), dtype=float)[:, np.newaxis]
    prior = DummyClassifier(strategy="prior")
    drawn = _sample(features, y, groups, classifier=prior)[:, np.isnan(y)]
    shares = [np.mean(drawn == label) for label in (0, 1, 3)]
    assert shares == pytest.approx([0.5, 0.3, 0.2], abs=0.01)
    # Log-odds of labels above 0 that fall by log 2: odds of 0.5 instead of 1.
    less = _sample(features, y, groups, classifier=prior, offset=np.full(len(y), -np.log(2)))
    shares = [np.mean(less[:, np.isnan(y)] == label) for label in (0, 1, 3)]
    assert shares == pytest.approx([2 / 3, 0.2, 0.4 / 3], abs=0.01)


def test_each_set_disturbs_the_runs_beyond_the_judged_depth():
    groups = np.repeat(np.arange(40), 100)
    y = np.full(len(groups), np.nan)
    y.reshape(40, 100)[:, :10] = [0, 1] * 5
    features = np.arange(len(y), dtype=float)[:, np.newaxis]
    # Two runs that nothing is known of: one disturbs half of the unjudged rows, one no row.
    tail = np.zeros((len(y), 2))
    tail.reshape(40, 100, 2)[:, 55:, 0] = 20.0
    prior = DummyClassifier(strategy="prior")
    sets = _sample(features, y, groups, classifier=prior, tail=tail, n_draws=40)
    beyond, within = tail[:, 0] > 0, np.isnan(y) & (tail[:, 0] == 0)
    shares = sets[:, beyond].mean(axis=1)
    # exp(0.45 * 20 * z) is below 1 / 9 or above 9 with chance 0.81.
    is_clear = (shares < 0.1) | (shares > 0.9)
    assert is_clear.mean() == pytest.approx(0.81, abs=0.15)
    assert min((shares < 0.1).mean(), (shares > 0.9).mean()) > 0.2
    np.testing.assert_allclose(sets[:, within].mean(axis=1), 0.5, atol=0.05)


def test_whole_queries_are_drawn_with_replacement():
    # Each query has its own label, so a query that is not drawn has a label that nothing gets.
    groups = np.repeat(np.arange(8), 2)
    y = np.tile([0.0, np.nan], 8)
    y[::2] = np.arange(8)
    prior = DummyClassifier(strategy="prior")
    many = _sample(np.ones((16, 1)), y, groups, classifier=prior, n_draws=400)
    # A label that stands k times among 8 drawn queries is given to a row with chance k / 8.
    times = binom.pmf(np.arange(9), 8, 1 / 8)
    expected = 8 * (1 - times @ (1 - np.arange(9) / 8) ** 8)
    n_labels = np.mean([len(np.unique(labels[1::2])) for labels in many])
    assert n_labels == pytest.approx(expected, abs=0.2)


def test_one_label_in_the_drawn_queries_is_given_to_all():
    groups = np.array([0, 0, 1, 1])
    y = np.array([1.0, np.nan, 0.0, np.nan])
    sets = _sample(np.arange(4.0)[:, np.newaxis], y, groups, n_draws=40)[:, [1, 3]]
    shares = [(sets == label).all(axis=1).mean() for label in (0, 1)]
    assert min(shares) > 0.2


def test_the_offset_begins_at_the_judged_depth_of_each_query():
    ranks = np.array([2.0, 4, 8, 1, 2, np.nan, 3])
    y = np.array([1, 0, np.nan, np.nan, np.nan, 1, np.nan])
    found = depth_offset(ranks, y, np.array([0, 0, 0, 1, 1, 1, 0]))
    expected = [0, 0, -0.25 * np.log(2), 0, -0.25 * np.log(2), 0, 0]
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_draws": 0}, "n_draws"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_bad_parameters_are_named(params, message):
    with pytest.raises(InputError, match=message):
        _sample(*_data(), **params)


def test_a_label_is_needed():
    features, y, groups = _data()
    with pytest.raises(InputError, match="y has no label"):
        _sample(features, np.full(len(y), np.nan), groups)
