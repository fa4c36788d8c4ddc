"""Rules of two scores: paths, calibrated curves, and what is worth more."""

import numpy as np
import pytest

from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank.metrics import evaluate
from skfilterrank.thresholds._hide_rules import (
    RULES,
    HidePath,
    RisingCurve,
    Worth,
    fit_worths,
)
from skfilterrank.thresholds._risks import read_risks

MEASURES = ("ndcg_f@3", "any_forbidden@3", "forbidden@5", "ap", "false_reject_rate", "ndcg_f")


def discounts(n):
    return 1 / np.log2(np.arange(2, n + 2))


def judged_rows(seed=0, n_queries=30):
    """Lists of 1 to 14 rows in any order, one row hidden and one unjudged."""
    rng = np.random.default_rng(seed)
    g = rng.permutation(np.repeat(np.arange(n_queries), rng.integers(1, 15, n_queries)))
    z, f = rng.normal(size=(2, len(g)))
    good = rng.binomial(2, 1 / (1 + np.exp(-z)))
    y = np.where(rng.random(len(g)) < 1 / (1 + np.exp(1 - 2 * f)), -1.0, good)
    scores = z + rng.normal(size=len(g))
    scores[3], y[5] = -np.inf, np.nan
    return y, scores, f, g


@pytest.mark.parametrize("most", [None, 4])
@pytest.mark.parametrize("rule", RULES)
def test_paths_go_from_nothing_to_everything(rule, most):
    y, scores, f, g = judged_rows()
    worth, harm = Worth.fit(y, scores, f).of(scores, f)
    if rule == "harm":
        worth, harm = scores, f
    index = RankedLists(y, scores, groups=g).index
    nothing = HidePath(rule, scores, worth, harm, index, most=most).at(np.inf)
    assert np.isneginf(nothing).all()
    last = -np.inf if rule == "harm" else 0.0
    everything = HidePath(rule, scores, worth, harm, index, most=most).at(last) > -np.inf
    n_there = np.bincount(g, scores > -np.inf)
    expected = n_there if most is None else np.minimum(n_there, most)
    assert (np.bincount(g, everything) == expected).all()


@pytest.mark.slow
@pytest.mark.parametrize("most", [None, 5])
@pytest.mark.parametrize("rule", RULES)
def test_values_along_a_path_are_those_of_the_measures(rule, most):
    y, scores, f, g = judged_rows()
    worth, harm = Worth.fit(y, scores, f).of(scores, f)
    if rule == "harm":
        worth, harm = scores, f
    lists = RankedLists(y, scores, groups=g)
    path = HidePath(rule, scores, worth, harm, lists.index, most=most)
    ordered = path.lists_of(lists)
    measures = [parse_measure(name) for name in MEASURES]
    for level in np.quantile(path.keys(), [0.2, 0.5, 0.8]):
        expected = evaluate(y, path.at(level), list(MEASURES), groups=g).per_query
        for name, parsed in zip(MEASURES, measures):
            own = path.values(ordered, parsed).at(level)
            np.testing.assert_allclose(own, np.nan_to_num(expected[name]), rtol=0, atol=1e-12)


@pytest.mark.parametrize("most", [None, 5])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("risk", ["any_forbidden@3", "forbidden@5", "false_reject_rate"])
def test_risks_along_a_path_are_those_of_the_measures(risk, rule, most):
    y, scores, f, g = judged_rows()
    worth, harm = Worth.fit(y, scores, f).of(scores, f)
    if rule == "harm":
        worth, harm = scores, f
    lists = RankedLists(y, scores, groups=g)
    path = HidePath(rule, scores, worth, harm, lists.index, most=most)
    (read,) = read_risks({risk: 0.1})
    ordered = path.lists_of(lists)
    steps = read.steps(ordered, y, path.keys(), most=most)
    for level in np.quantile(path.keys(), [0.3, 0.7]):
        expected = evaluate(y, path.at(level), risk, groups=g).per_query.to_numpy()
        found = steps.at(level)
        np.testing.assert_allclose(found, expected.ravel()[steps.counted], rtol=0, atol=1e-12)


def frontier(rule, worth, harm, k=5):
    """Expected gain and expected harm of the shown, by known probabilities, along a path."""
    n_queries, n = worth.shape
    index = RankedLists(
        np.zeros(n_queries * n), worth.ravel(), groups=np.repeat(np.arange(n_queries), n)
    ).index
    keys = -harm if rule == "harm" else worth / harm
    levels = np.quantile(keys, np.linspace(0, 1, 100))
    points = []
    for level in levels:
        path = HidePath(rule, worth.ravel(), worth.ravel(), harm.ravel(), index, most=k)
        shown = path.at(level).reshape(worth.shape)
        order = np.argsort(-shown, axis=1, kind="stable")[:, :k]
        there = np.take_along_axis(shown, order, axis=1) > -np.inf
        gain = (np.take_along_axis(worth, order, axis=1) * discounts(k) * there).sum(axis=1).mean()
        cost = (np.take_along_axis(harm, order, axis=1) * there).sum(axis=1).mean()
        points.append((gain, cost))
    return np.array(points)


@pytest.fixture(scope="module")
def known():
    rng = np.random.default_rng(0)
    z, w = rng.normal(size=(2, 40, 12))
    return 1 / (1 + np.exp(1.6 - 1.6 * z)), 1 / (1 + np.exp(3 - 1.8 * w))


def test_ratio_gains_more_than_harm(known):
    gains = {}
    for rule in ("ratio", "harm"):
        points = frontier(rule, *known)
        order = np.argsort(points[:, 1], kind="stable")
        gains[rule] = np.interp([0.05, 0.1, 0.2, 0.4], points[order, 1], points[order, 0])
    assert (gains["ratio"] > 1.005 * gains["harm"]).all()


def test_curves_rise_everywhere_and_stay_above_0():
    rng = np.random.default_rng(0)
    x = np.sort(rng.normal(size=3000))
    curve = RisingCurve.fit(x, (rng.random(3000) < 1 / (1 + np.exp(3 - 2 * x))).astype(float), 1e-9)
    values = curve(np.linspace(-6, 6, 2001))
    assert (np.diff(values) > 0).all()
    assert values[0] > 0
    np.testing.assert_allclose(curve(np.array([0.0, 1.0])), [0.047, 0.27], atol=0.05)


def test_a_curve_without_forbidden_rows_at_low_scores_does_not_claim_0():
    # One value more, the mean 0.5, counts in each stretch: (0 * 50 + 0.5) / 51.
    curve = RisingCurve.fit(np.arange(100.0), np.repeat([0.0, 1.0], 50), 1e-9)
    assert curve.y.tolist() == pytest.approx([0.5 / 51, 50.5 / 51])
    assert curve.x.tolist() == [24.5, 74.5]


def test_curves_of_parts_are_those_of_the_rows_alone():
    y, scores, f, _ = judged_rows()
    part = np.arange(len(y)) % 3 > 0
    (found,) = fit_worths(y, scores, f, [part])
    alone = Worth.fit(y[part], scores[part], f[part])
    for one, two in zip(found, alone):
        np.testing.assert_array_equal(one.x, two.x)
        np.testing.assert_array_equal(one.y, two.y)
