"""RBP and ERR: values by hand, gdeval, and ties of any length in exact fractions."""

from fractions import Fraction
from itertools import pairwise, product
from math import comb

import numpy as np
import pytest

from one_query import one
from skfilterrank._lists import ties as ties_module
from skfilterrank._lists.ties import long_tie_stops
from skfilterrank.metrics import err_score, evaluate, get_measure, rbp_score
from skfilterrank.thresholds import threshold_curve
from thinned import thinned

NO, NAN = -np.inf, np.nan


class TestByHand:
    """Shown are labels 2, 0, unjudged, 1, 4, -1; a document of label 3 is hidden."""

    y_true = (2, 0, NAN, 1, 4, -1, 3)
    y_score = (9, 8, 7, 6, 5, 4, NO)

    def value(self, function, **params):
        return one(function, self.y_true, self.y_score, **params)

    def test_rbp(self):
        assert self.value(rbp_score) == pytest.approx(0.2 * (1 + 0.8**3 + 0.8**4))
        assert self.value(rbp_score, k=4) == pytest.approx(0.2 * (1 + 0.8**3))
        assert self.value(rbp_score, persistence=0.5) == pytest.approx(1 / 2 + 1 / 16 + 1 / 32)
        assert self.value(rbp_score, unjudged="drop") == pytest.approx(0.2 * (1 + 0.8**2 + 0.8**3))

    def test_err(self):
        # Labels 1, 2 and 4 satisfy with probability 1/16, 3/16 and 15/16.
        first = 3 / 16
        fourth = 13 / 16 * 1 / 16
        fifth = 13 / 16 * 15 / 16 * 15 / 16
        assert self.value(err_score) == pytest.approx(first + fourth / 4 + fifth / 5)
        assert self.value(err_score, k=4) == pytest.approx(first + fourth / 4)
        dropped = self.value(err_score, unjudged="drop")
        assert dropped == pytest.approx(first + fourth / 3 + fifth / 4)

    def test_max_grade(self):
        assert one(err_score, [1, 0], [2, 1], max_grade=1) == pytest.approx(1 / 2)
        assert one(err_score, [1, 0], [2, 1], max_grade=2) == pytest.approx(1 / 4)
        assert one(err_score, [1, 0], [2, 1]) == pytest.approx(1 / 16)

    def test_a_query_of_low_grades_alone_is_not_measured_by_another_scale(self):
        values = err_score.per_query([1, 4], [1, 1], groups=["low", "high"])
        # Sorted query ids: high before low.
        np.testing.assert_allclose(values, [15 / 16, 1 / 16])


class TestOptions:
    """What the options may be."""

    @pytest.mark.parametrize("persistence", [0, 1, -0.5, 1.5, NAN, True, "0.8", None])
    def test_persistence(self, persistence):
        with pytest.raises(ValueError, match="persistence must be a number between 0 and 1"):
            one(rbp_score, [1, 0], [2, 1], persistence=persistence)

    @pytest.mark.parametrize("max_grade", [0, -1, NAN, np.inf, 50.5, True, "4", None])
    def test_max_grade(self, max_grade):
        with pytest.raises(
            ValueError, match="max_grade must be a finite number above 0 and up to 50"
        ):
            one(err_score, [1, 0], [2, 1], max_grade=max_grade)

    @pytest.mark.parametrize("score", [1, NO])
    def test_a_gain_beyond_the_scale(self, score):
        """Whether it is shown or not, and in whichever query."""
        with pytest.raises(ValueError, match=r"a gain of 7 is above max_grade=4: pass max_grade"):
            err_score([1, 3], [1, score], groups=["a", "b"], gains="exp2")

    def test_a_gain_just_beyond_the_scale(self):
        assert one(err_score, [4, 0], [2, 1]) == 15 / 16
        with pytest.raises(ValueError, match=r"a gain of 4\.000000000000001 is above max_grade=4:"):
            one(err_score, [np.nextafter(4, 5), 0], [2, 1])


class TestSmallChances:
    """Probabilities to satisfy that are lost beside 1."""

    def test_one_document(self):
        assert one(err_score, [1, 0], [2, 1], max_grade=50) == 2.0**-50
        assert one(err_score, [0, 1], [2, 1], max_grade=50) == 2.0**-51
        # 2**g - 1 is about g log 2.
        value = one(err_score, [1e-12], [1], max_grade=50)
        assert value == pytest.approx(np.log(2) * 1e-12 * 2.0**-50, rel=1e-11, abs=0)

    @pytest.mark.parametrize("scores", [[3, 2, 1], [1, 1, 1]])
    def test_beside_the_highest_grade(self, scores):
        value = one(err_score, [50, 50, 1], scores, max_grade=50)
        assert value == pytest.approx(
            err_of_tied([50, 50, 1], scores, max_grade=50), rel=1e-15, abs=0
        )


def err_of_tied(y_true, y_score, k=None, max_grade=4):
    """Mean over all tied orders, in fractions."""
    return float(sum(parts_of_tied(y_true, y_score, max_grade)[:k]))


def parts_of_tied(y_true, y_score, max_grade=4):
    """What each place adds to the mean over all tied orders, in fractions.

    The mean product of j of n factors is the coefficient of t**j in the product of (1 + factor t),
    divided by C(n, j).
    """
    parts, still_looking = [], Fraction(1)
    for score in sorted(set(y_score), reverse=True):
        polynomial = [Fraction(1)]
        for label, of_row in zip(y_true, y_score):
            if of_row == score:
                factor = 1 - Fraction(2 ** int(label) - 1, 2**max_grade)
                shifted = [0, *(factor * coefficient for coefficient in polynomial)]
                polynomial = [a + b for a, b in zip([*polynomial, 0], shifted)]
        n = len(polynomial) - 1
        means = [coefficient / comb(n, j) for j, coefficient in enumerate(polynomial)]
        for before, after in pairwise(means):
            parts.append(still_looking * (before - after) / (len(parts) + 1))
        still_looking *= means[-1]
    return parts


class TestTies:
    """Long ties, which cannot be gone through order by order."""

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("sizes", "labels"),
        thinned(
            product(
                [(150, 1), (120, 2), (200, 4), (90, 60)], [[0, 1, 2, 3, 4], [0, 0, 0, 1], [4, 4, 3]]
            ),
            parts=2,
        ),
        ids=str,
    )
    def test_fractions(self, sizes, labels):
        n, n_scores = sizes
        rng = np.random.default_rng(n)
        y_true, y_score = rng.choice(labels, n), rng.integers(0, n_scores, n)
        parts = parts_of_tied(y_true, y_score)
        for k in (None, 1, 7, 50):
            expected = float(sum(parts[:k]))
            value = one(err_score, y_true, y_score, k=k)
            assert value == pytest.approx(expected, rel=1e-13, abs=0), k

    def test_gains_below_0_satisfy_nobody(self):
        # Of grade 1 on a scale up to 4, a document satisfies in 1 case of 16.
        for gain in (-0.5, -1, -3):
            assert one(err_score, [gain, 1], [2, 1]) == 1 / 16 / 2

    @pytest.mark.slow
    @pytest.mark.parametrize(("n", "max_grade"), thinned(product([2, 3, 25, 70], [1, 4, 30, 50])))
    def test_by_integrals(self, n, max_grade, monkeypatch):
        """The way of the longest ties, on ties short enough for fractions."""
        calls = []
        monkeypatch.setattr(ties_module, "_LONG", 0)
        monkeypatch.setattr(
            ties_module, "long_tie_stops", lambda *args: calls.append(1) or long_tie_stops(*args)
        )
        rng = np.random.default_rng(n)
        for labels in ([0, 1], [0, 1, max_grade], [0] * 30 + [max_grade], [1], [max_grade]):
            y_true, y_score = rng.choice(labels, n), rng.integers(0, 2, n)
            y_true[0] = labels[-1]
            parts = parts_of_tied(y_true, y_score, max_grade)
            for k in (None, 2, 30):
                expected = float(sum(parts[:k]))
                value = one(err_score, y_true, y_score, k=k, max_grade=max_grade)
                assert value == pytest.approx(expected, rel=1e-13, abs=0)
        assert calls

    def test_a_hundred_thousand_documents(self):
        """By the sum over sets of i satisfying documents, of which few terms count here."""
        n, m, chance = 100_000, 30_000, 2.0**-30
        j, stops, term = np.arange(n), 0.0, m / n * chance
        for i in range(6):
            stops = stops + term
            term = -term * (j - i) / (i + 1) * (m - i - 1) / (n - i - 1) * chance
        expected = stops @ (1 / (j + 1))
        value = one(err_score, np.arange(n) < m, np.zeros(n), max_grade=30)
        assert value == pytest.approx(expected, rel=1e-13, abs=0)


class TestGradedRelevance:
    def test_by_hand(self):
        # (1 - 0.5) * (0.5 * 0.5**0 + 0 * 0.5**1 + 1 * 0.5**2); the forbidden document counts 0
        value = one(
            rbp_score,
            [1, -2, 2],
            [3, 2, 1],
            persistence=0.5,
            relevance="graded",
            gains={1: 0.5, -2: -3, 2: 1},
        )
        assert value == pytest.approx(0.5 * (0.5 + 0.25))

    def test_the_rbp_of_trec_eval_10(self):
        """Persistence 0.9; gains over the greatest label of the topic, retrieved or not."""
        y_true = [1, 0, 2, -1, NAN, 3, 4, 1, 0]
        y_score = [9, 8, 7, 6, 5, 4, -np.inf, 2, 1]
        groups = list("aaaaaaabb")
        expected = 0.1 * np.array([(1 + 2 * 0.9**2 + 3 * 0.9**5) / 4, 1])
        settings = {"groups": groups, "ties": "average"}
        found = evaluate(
            y_true, y_score, ["trec_rbp", "TREC_RBP@3", "trec_rbp(p=0.5)"], **settings
        ).per_query
        np.testing.assert_allclose(found["trec_rbp"], expected)
        np.testing.assert_allclose(found["TREC_RBP@3"], [0.1 * (1 + 2 * 0.9**2) / 4, 0.1])
        np.testing.assert_allclose(found["trec_rbp(p=0.5)"].iloc[1], 0.5)
        canonical = get_measure("trec_rbp@3").text
        assert canonical == "rbp(persistence=0.9,relevance=scaled)@3"
        assert get_measure(canonical).text == canonical
        best = threshold_curve(y_true, y_score, groups=groups, measure="trec_rbp").best_value
        assert best == pytest.approx(expected.mean())

    def test_equal_to_binary_for_binary_gains(self):
        for relevance in ("binary", "graded", "scaled"):
            value = one(rbp_score, [1, 0, 1], [1, 3, 2], relevance=relevance)
            assert value == pytest.approx(0.2 * (0.8 + 0.8**2))

    def test_bad_input(self):
        with pytest.raises(ValueError, match=r"a gain of 2 is above 1: .* gains=\{0: 0, 1: 0.5"):
            one(rbp_score, [1, 2], [2, 1], relevance="graded")
        with pytest.raises(
            ValueError, match="relevance must be one of 'binary', 'graded', 'scaled', got 1"
        ):
            one(rbp_score, [1, 2], [2, 1], relevance=1)
