"""Lexicographic recall and precision of rankings; test_colex.py has the arithmetic."""

from itertools import permutations
from math import comb, log, log1p

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from one_query import one
from profiles import times
from skfilterrank.metrics import (
    lexicographic_preference,
    lexiprecision_score,
    lexirecall_score,
    metric_lexirecall_score,
)

NO = -np.inf
SCALES = ("log_odds", "share", "log")
SCORES = {"recall": lexirecall_score, "precision": lexiprecision_score}


class TestByHand:
    # Relevant at 2 and 5 of six. Of the C(6, 2) = 15 placements
    # - those with both at 6 or one at 6 are 5 worse for recall, and 3 5, 4 5 are 2 more;
    # - those that begin at 3, 4 or 5 are 3 + 2 + 1 worse for precision, and 2 6 is 1 more.
    y_true = (0, 1, 0, 0, 1, 0)
    y_score = (6, 5, 4, 3, 2, 1)

    @pytest.mark.parametrize(("kind", "n_worse"), [("recall", 5 + 2), ("precision", 6 + 1)])
    def test_complete(self, kind, n_worse):
        share = one(SCORES[kind], self.y_true, self.y_score, scale="share", n_items=6)
        assert share == pytest.approx(n_worse / 14)
        logs = one(SCORES[kind], self.y_true, self.y_score, scale="log", n_items=6)
        assert logs == pytest.approx(log1p(n_worse) / log(15))
        odds = one(SCORES[kind], self.y_true, self.y_score, n_items=6)
        assert odds == pytest.approx(1 / 2 + log((1 + n_worse) / (15 - n_worse)) / log(15) / 2)

    # The last is missing, among 10 items: at 2 and 10, of 45 placements. Worse are 3 10 to 9 10,
    # and, for precision, those that begin at 3 to 9: 7 + 6 + ... + 1.
    @pytest.mark.parametrize(("kind", "n_worse"), [("recall", 7), ("precision", 28)])
    def test_missing(self, kind, n_worse):
        y_score = (6, 5, 4, 3, NO, 1)
        actual = one(SCORES[kind], self.y_true, y_score, scale="share", n_items=10)
        assert actual == pytest.approx(n_worse / 44)

    def test_weighted_sum_of_three(self):
        delta = 1 / (100 + 0.25)
        weights = (delta / (1 + delta)) ** 2, delta / (1 + delta) ** 2, 1 / (1 + delta)
        assert sum(weights) == pytest.approx(1)
        expected = sum(w * (100 - p) / 100 for w, p in zip(weights, (1, 3, 100), strict=True))
        actual = one(
            metric_lexirecall_score, [1, 0, 1, 1], [3, 2, 1, NO], n_items=100, epsilon=0.25
        )
        assert actual == pytest.approx(expected, rel=1e-14)

    @pytest.mark.parametrize("function", SCORES.values())
    def test_one_placement_only(self, function):
        assert one(function, [1, 1], [2, 1], n_items=2) == 1
        assert one(function, [1, 1], [NO, 1], n_items=2) == 1
        assert one(function, [1, 1], [NO, 1], scale="log", n_items=2) == 1

    @pytest.mark.parametrize("scale", SCALES)
    @pytest.mark.parametrize("function", SCORES.values())
    def test_to_filter_what_is_relevant_never_pays(self, function, scale):
        # By default a missing item is behind every row, also where all rows are relevant.
        assert one(function, [1], [1], scale=scale) == 1
        assert one(function, [1], [NO], scale=scale) == 0
        shown = [
            one(function, [1, 1, 1], scores, scale=scale)
            for scores in ([NO, NO, NO], [NO, 1, NO], [NO, 1, 2], [3, 1, 2])
        ]
        assert shown[0] == 0
        assert shown[-1] == 1
        assert shown == sorted(set(shown))

    @pytest.mark.parametrize("scale", SCALES)
    @pytest.mark.parametrize("function", SCORES.values())
    def test_ends(self, function, scale):
        y_true = np.arange(1000) < 100
        rank = np.arange(1000.0)
        assert one(function, y_true, -rank, scale=scale, n_items=10**6) == 1
        assert one(function, y_true, rank, scale=scale, n_items=1000) == 0
        nothing = np.full(1000, NO)
        assert one(function, y_true, nothing, scale=scale, n_items=10**6) == 0

    @pytest.mark.parametrize("scale", ["share", "log"])
    @pytest.mark.parametrize("function", SCORES.values())
    def test_next_to_the_ideal(self, function, scale):
        # Of 1e9 items: one of some 1e26 placements is better, less than float64 can take from 1.
        assert one(function, [1, 1, 0, 1], [4, 3, 2, 1], scale=scale, n_items=10**9) == 1

    @pytest.mark.parametrize("function", SCORES.values())
    def test_log_odds_next_to_the_ideal(self, function):
        # One placement is better, of C(10**9, 3).
        actual = one(function, [1, 1, 0, 1], [4, 3, 2, 1], n_items=10**9)
        assert actual == pytest.approx(1 - log(2) / log(comb(10**9, 3)) / 2, rel=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", SCORES)
@times(1 / 2)
@given(st.data())
def test_scores_follow_preferences(kind, scale, data):
    """Rankings with ties and hidden documents, in a collection that holds more."""
    n = data.draw(st.integers(1, 12))
    y_true = data.draw(st.lists(st.sampled_from([0, 1]), min_size=n, max_size=n))
    score = st.lists(st.sampled_from([NO, *range(12)]), min_size=n, max_size=n)
    a, b = data.draw(score), data.draw(score)
    n_items = data.draw(st.sampled_from([None, n, 2 * n, 10**6]))
    groups = ["q"] * n
    preference = lexicographic_preference(y_true, a, b, groups=groups, kind=kind, n_items=n_items)
    values = [one(SCORES[kind], y_true, y, n_items=n_items, scale=scale) for y in (a, b)]
    sign = np.sign(values[0] - values[1])
    # Shares that are closer than float64 shows are the same.
    assert sign in (preference[0], 0)
    if n_items is None or n_items < 100:
        assert sign == preference[0]


def test_all_rankings_of_a_small_query():
    """The share is the place among all different placements."""
    y_true = np.array([1, 1, 1, 0, 0, 0])
    scores = np.array(list(permutations(range(6))))
    groups = np.repeat(np.arange(len(scores)), 6)
    for function in SCORES.values():
        labels = np.tile(y_true, len(scores))
        how = {"groups": groups, "scale": "share", "n_items": 6}
        values = function.per_query(labels, scores.ravel(), **how)
        distinct, counts = np.unique(values.round(12), return_counts=True)
        np.testing.assert_allclose(distinct, np.arange(comb(6, 3)) / (comb(6, 3) - 1), atol=1e-12)
        assert (counts == 36).all()


def test_weighted_sum_loses_what_lexirecall_keeps():
    """Relevant at 1001 to 1010 of 10,000, the first of which moves up to the top."""
    y_true = np.zeros(10_000)
    y_true[1000:1010] = 1
    moved = np.roll(y_true[:1001], 1).tolist() + y_true[1001:].tolist()
    score = -np.arange(10_000)
    assert np.argmax(moved) == 0
    values = [one(metric_lexirecall_score, y, score) for y in (y_true, moved)]
    assert values[0] == values[1]
    groups = ["q"] * 10_000
    swapped = score.copy()
    swapped[[0, 1000]] = swapped[[1000, 0]]
    assert lexicographic_preference(y_true, swapped, score, groups=groups).tolist() == [1]


class TestErrors:
    @pytest.mark.parametrize("function", SCORES.values())
    def test_scale(self, function):
        with pytest.raises(
            ValueError,
            match="scale must be one of 'log_odds', 'share', 'log', 'preference', got 'rank'",
        ):
            one(function, [1], [1], scale="rank")

    @pytest.mark.parametrize("epsilon", [0, 1, -1, "x", True])
    def test_epsilon(self, epsilon):
        with pytest.raises(ValueError, match="epsilon must be a number between 0 and 1"):
            one(metric_lexirecall_score, [1], [1], epsilon=epsilon)

    @pytest.mark.parametrize("function", [*SCORES.values(), metric_lexirecall_score])
    def test_n_items_and_ties(self, function):
        with pytest.raises(ValueError, match="n_items=2 is too small for query 'q'"):
            one(function, [1, 0, 0], [NO, 2, 1], n_items=2)
        with pytest.raises(ValueError, match="ties='average' is not possible for"):
            one(function, [1], [1], ties="average")
