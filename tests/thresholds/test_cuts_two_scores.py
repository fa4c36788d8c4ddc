"""Rules of two scores: paths and calibrated curves."""

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.metrics import roc_auc_score

from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.metrics import evaluate
from skfilterrank.thresholds._cuts import RULES, Caps, RisingCurve, Worth, fit_worths, leads
from skfilterrank.thresholds._judged_scores import JudgedScores
from skfilterrank.thresholds._risks import read_risks

MEASURES = ("ndcg_f@3", "any_forbidden@3", "forbidden@5", "ap", "false_reject_rate", "ndcg_f")


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


def path_of(rule, y, scores, f, groups):
    """A cut with its curves, judged lists in the order of shown rows, and the keys of rows."""
    cut, lists = RULES[rule](), RankedLists(y, scores, groups=groups)
    cut.worth = Worth.fit(y, scores, f, lists.index)
    clusters = np.arange(lists.index.n_queries)
    judged = JudgedScores(lists, clusters, f[:, np.newaxis], ["filter_score"])
    found = cut.capped(cut.served_keys(scores, judged.more, lists.index), lists.index, Caps())
    return cut, judged, found


def test_out_of_fold_curves_do_not_see_the_query():
    y, scores, f, g = judged_rows()

    def learned(labels):
        lists = RankedLists(labels, scores, groups=g)
        judged = JudgedScores(lists, np.arange(30), f[:, np.newaxis], ["filter_score"])
        return np.array(RULES["ratio"]().learned_keys(judged, None))

    before, after = learned(y), learned(np.where(g == 17, -1.0, y))
    np.testing.assert_array_equal(before[:, g == 17], after[:, g == 17])
    assert (before[:, g != 17] != after[:, g != 17]).any(axis=1).all()


@pytest.mark.parametrize("most", [None, 4])
@pytest.mark.parametrize("rule", RULES)
def test_paths_go_from_nothing_to_everything(rule, most):
    y, scores, f, g = judged_rows()
    cut, judged, found = path_of(rule, y, scores, f, g)
    assert np.isneginf(cut.shown(found, np.inf, judged.index, Caps(None, most))).all()
    last = -np.inf if rule == "harm" else 0.0
    everything = cut.shown(found, last, judged.index, Caps(None, most)) > -np.inf
    n_there = np.bincount(g, scores > -np.inf)
    expected = n_there if most is None else np.minimum(n_there, most)
    assert (np.bincount(g, everything) == expected).all()


@pytest.mark.slow
@pytest.mark.parametrize("most", [None, 5])
@pytest.mark.parametrize("rule", RULES)
def test_values_along_a_path_are_those_of_the_measures(rule, most):
    y, scores, f, g = judged_rows()
    cut, judged, found = path_of(rule, y, scores, f, g)
    caps, measures = Caps(None, most), [parse_measure(name) for name in MEASURES]
    for level in np.quantile(found.keys, [0.2, 0.5, 0.8], method="lower"):
        shown = cut.shown(found, level, judged.index, caps)
        expected = evaluate(y, shown, list(MEASURES), groups=g).per_query
        for name, parsed in zip(MEASURES, measures):
            own = parsed.measure.sign * cut.entries(judged, found, parsed, caps).at(level)
            np.testing.assert_allclose(own, np.nan_to_num(expected[name]), rtol=0, atol=1e-12)


@pytest.mark.parametrize("most", [None, 5])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("risk", ["any_forbidden@3", "forbidden@5", "false_reject_rate"])
def test_risks_along_a_path_are_those_of_the_measures(risk, rule, most):
    y, scores, f, g = judged_rows()
    cut, judged, found = path_of(rule, y, scores, f, g)
    (read,) = read_risks({risk: 0.1})
    steps = read.steps(cut.lists_of(judged, found), found.keys, most=most)
    for level in np.quantile(found.keys, [0.3, 0.7], method="lower"):
        shown = cut.shown(found, level, judged.index, Caps(None, most))
        expected = evaluate(y, shown, risk, groups=g).per_query.to_numpy()
        at = steps.at(level)
        np.testing.assert_allclose(at, expected.ravel()[steps.counted], rtol=0, atol=1e-12)


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
    y, scores, f, g = judged_rows()
    part = g % 3 > 0
    (found,) = fit_worths(y, scores, f, GroupIndex.from_groups(g), [part])
    alone = Worth.fit(y[part], scores[part], f[part], GroupIndex.from_groups(g[part]))
    for one, two in zip(found[:3], alone[:3]):
        np.testing.assert_array_equal(one.x, two.x)
        np.testing.assert_array_equal(one.y, two.y)
    np.testing.assert_array_equal(found.weights, alone.weights)
    assert found.direction == alone.direction


def test_leads_are_over_the_mean_of_the_documents_that_were_retrieved():
    index = GroupIndex.from_groups([7, 7, 7, 2, 2, 5])
    scores = np.array([4.0, -np.inf, 1.0, -3e307, 3e307, -np.inf])
    expected = [1.5, 0.0, -1.5, -3e307, 3e307, 0.0]
    np.testing.assert_allclose(leads(scores, index), expected)
    huge = leads(np.array([-1.7e308, 1.7e308]), GroupIndex.from_groups([1, 1]))
    assert np.isfinite(huge).all()


def raised(by, seed=0, n_queries=800):
    """Scores that say nothing of harm but for what is added to those of forbidden documents."""
    rng = np.random.default_rng(seed)
    g = np.repeat(np.arange(n_queries), 10)
    is_bad = rng.random(len(g)) < 0.15
    scores = rng.normal(size=len(g)) + by * is_bad
    return np.where(is_bad, -1.0, 1.0), scores, is_bad + rng.normal(size=len(g)), g


@pytest.mark.parametrize("by", [-1.0, 1.0])
def test_documents_that_look_too_relevant_or_too_irrelevant_are_likelier_forbidden(by):
    y, scores, f, g = raised(by)
    index = GroupIndex.from_groups(g)
    worth = Worth.fit(y, scores, f, index)
    assert worth.direction == by
    new_y, new_scores, new_f, _ = raised(by, seed=1)
    _, harm = worth.of(new_scores, new_f, index)
    # Log odds of normal scores with unit variances are a sum of both scores.
    expected = expit(logit(0.15) + new_f - 0.5 + by * new_scores - 0.5)
    assert np.abs(harm - expected).mean() < 0.03 < np.abs(worth.harm(new_f) - expected).mean()
    assert roc_auc_score(new_y < 0, harm) > roc_auc_score(new_y < 0, new_f) + 0.05


def test_levels_of_whole_lists_say_nothing_of_harm():
    y, scores, f, g = raised(1.0)
    index = GroupIndex.from_groups(g)
    worth = Worth.fit(y, scores, f, index)
    higher = worth.of(scores + 7.0 * (g % 5), f, index)[1]
    np.testing.assert_allclose(higher, worth.of(scores, f, index)[1], rtol=1e-9)


def test_without_forbidden_rows_only_the_filter_score_counts():
    y, scores, f, g = raised(1.0)
    worth = Worth.fit(np.abs(y), scores, f, GroupIndex.from_groups(g))
    assert worth.weights.tolist() == [1.0, 0.0, 0.0]
