"""Curves from scores to probabilities, and the chances of ordered labels."""

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, xlogy
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression

from given_scores import as_column, prefit
from skfilterrank._base.probabilities import (
    chances_of_levels,
    fit_calibrator,
    levels_above,
    probabilities,
)
from skfilterrank.datasets import make_rank_and_filter


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(n_queries=150, bayes=False, random_state=0)


class TestCurves:
    def test_isotonic_by_hand(self):
        # Scores 2 and 3 fall from good to bad: they share 1 of 2. The ends keep 1 / (4 + 2) off.
        model = prefit([1, 2, 3, 4], [-1, 1, -1, 2])
        expected = [1 / 6, 1 / 2, 1 / 2, 5 / 6]
        np.testing.assert_allclose(model.predict_proba(as_column([1, 2, 3, 4]))[:, 1], expected)
        np.testing.assert_allclose(
            model.predict_proba(as_column([-9, 1.5, 2.5, 3.5, 9]))[:, 1],
            [1 / 6, (1 / 6 + 1 / 2) / 2, 1 / 2, (1 / 2 + 5 / 6) / 2, 5 / 6],
        )

    @given(rows=st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=12))
    def test_isotonic_is_the_minimax_of_means(self, rows):
        scores, good = np.array([(s, g) for s, g in rows], dtype=float).T
        levels = np.unique(scores)
        found = probabilities(fit_calibrator("isotonic", scores, good == 1), levels)
        # max over left ends of the min over right ends of the mean between them.
        least = 1 / (len(scores) + 2)
        expected = [
            max(
                min(good[(scores >= low) & (scores <= high)].mean() for high in levels[i:])
                for low in levels[: i + 1]
            )
            for i in range(len(levels))
        ]
        np.testing.assert_allclose(found, np.clip(expected, least, 1 - least), atol=1e-12)

    @pytest.mark.parametrize("seed", range(3))
    def test_sigmoid_maximises_platts_likelihood(self, seed):
        rng = np.random.default_rng(seed)
        scores = 100 + 30 * rng.normal(size=60)
        good = rng.random(60) < expit((scores - 110) / 20)
        n_good, n_bad = good.sum(), (~good).sum()
        target = np.where(good, (n_good + 1) / (n_good + 2), 1 / (n_bad + 2))

        def loss(parameters):
            p = expit(parameters[0] * (scores - 100) / 30 + parameters[1])
            return -np.sum(xlogy(target, p) + xlogy(1 - target, 1 - p))

        best = minimize(loss, [0.0, 0.0], tol=1e-12)
        np.testing.assert_allclose(
            probabilities(fit_calibrator("sigmoid", scores, good), scores),
            expit(best.x[0] * (scores - 100) / 30 + best.x[1]),
            atol=1e-5,
        )

    def test_sigmoid_equals_scikit_learns(self, data):
        inner = LogisticRegression().fit(data.X, data.y > 0)
        frozen = sklearn.frozen.FrozenEstimator(inner)
        theirs = CalibratedClassifierCV(frozen, method="sigmoid").fit(data.X, data.y > 0)
        # Theirs reads the decision function.
        model = prefit(inner.decision_function(data.X), data.y, method="sigmoid")
        np.testing.assert_allclose(
            model.predict_proba(as_column(inner.decision_function(data.X))),
            theirs.predict_proba(data.X),
            atol=1e-4,
        )

    def test_perfect_separation_stays_finite(self):
        for method in ("isotonic", "sigmoid"):
            model = prefit([1, 2, 3, 4], [0, 0, 1, 1], method=method)
            good = model.predict_proba(as_column([1, 2, 3, 4]))[:, 1]
            assert (good > 0).all()
            assert (good < 1).all()
            assert good[1] < 0.5 < good[2]

    def test_all_good_or_all_bad(self):
        for method in ("isotonic", "sigmoid"):
            for label, expected in ((1, 5 / 6), (-1, 1 / 6)):
                model = prefit([1, 2, 3, 4], [label] * 4, method=method)
                good = model.predict_proba(as_column([0, 2.5]))[:, 1]
                np.testing.assert_allclose(good, [expected] * 2, atol=1e-8)
                assert np.isnan(model.auc_)

    def test_equal_scores(self):
        for method in ("isotonic", "sigmoid"):
            model = prefit([5, 5, 5, 5], [1, 1, 1, -1], method=method)
            (good,) = model.predict_proba(as_column([5]))[:, 1]
            # Platt's targets: (3 * 4 / 5 + 1 / 3) / 4.
            expected = 3 / 4 if method == "isotonic" else (3 * 4 / 5 + 1 / 3) / 4
            assert good == pytest.approx(expected, abs=1e-8)

    def test_huge_scores(self):
        for method in ("isotonic", "sigmoid"):
            model = prefit(np.array([1, 2, 3, 4]) * 1e100, [-1, 1, -1, 2], method=method)
            good = model.predict(as_column(np.array([1, 2, 4]) * 1e100))
            assert good[0] < good[1] < good[2] < 1


def test_chances_of_levels_by_hand():
    levels, above = levels_above(np.array([2.0, -1.0, np.nan, 0.0]))
    assert levels.tolist() == [-1.0, 0.0, 2.0]
    assert [each.tolist() for each in above] == [
        [True, False, False, True],
        [True, False, False, False],
    ]
    # The second row says .4, then .9, which is lowered to .4.
    found = chances_of_levels(np.array([[0.9, 0.4], [0.5, 0.9]]))
    np.testing.assert_allclose(found, [[0.1, 0.6], [0.4, 0.0], [0.5, 0.4]])
