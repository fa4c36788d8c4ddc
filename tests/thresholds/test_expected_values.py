"""Expected value of every prefix, against all outcomes."""

import time
from itertools import product

import numpy as np
import pytest
from scipy.special import ndtri

from skfilterrank._lists.lists import ListBlock
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.prefixes import Ranking
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.thresholds._expected_values import (
    ExpectedSteps,
    _weights_of_gains,
    best_prefix_of_steps,
    check_has_prefix_values,
    expected_steps,
    hull_slopes,
    known_steps,
    path_keys,
    uniform,
)

INF = np.inf
GAINS = np.array([-1.0, 2.0])
P = np.array([0.9, 0.6, 0.35, 0.7, 0.5])
# Two tied, one hidden.
SCORES = np.array([5.0, 4, 4, 3, -INF])
INDEX = GroupIndex.from_groups([0] * 5)


def expected_values(parsed, gains, chances, scores, index):
    """Expected value of nothing of each list, and of the prefix that ends with each row's tie."""
    steps = expected_steps(parsed, gains, chances, scores, index)
    ranking = Ranking(scores, index)
    sums = ranking.running_sums((steps.rises - steps.falls)[ranking.order])
    sums = np.repeat(sums[ranking.ties + ranking.n_tied - 1], ranking.n_tied)
    return steps.start, ranking.by_row(sums) + steps.start[index.codes()]


def by_enumeration(parsed):
    """Expected value of nothing and of each prefix."""
    levels = [INF, 5, 4, 4, 3]
    total = np.zeros(5)
    for outcome in product([0, 1], repeat=4):
        outcome = np.array(outcome)
        chance = np.where(outcome, P[:4], 1 - P[:4]).prod()
        for place, level in enumerate(levels):
            shown = np.where(SCORES[:4] >= level, SCORES[:4], -INF)
            total[place] += chance * parsed.utility(GAINS[outcome], shown, groups=[0] * 4)
    return total[0], total[1:]


@pytest.mark.filterwarnings("ignore::skfilterrank.exceptions.DataWarning")
@pytest.mark.parametrize("measure", ["dcg@2", "rbp(persistence=0.5)@3", "P@2"])
def test_sums_are_exact(measure):
    parsed = parse_measure(measure)
    assert _weights_of_gains(parsed, GAINS) is not None
    start, values = expected_values(parsed, GAINS, P[None], SCORES, INDEX)
    nothing, exact = by_enumeration(parsed)
    assert start == pytest.approx([nothing])
    np.testing.assert_allclose(values[:4], exact)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skfilterrank.exceptions.DataWarning")
@pytest.mark.parametrize("measure", ["f(beta=2)", "f@3", "ap", "ndcg_min", "err(max_grade=4)"])
def test_others_are_means_over_draws(measure):
    parsed = parse_measure(measure)
    assert _weights_of_gains(parsed, GAINS) is None
    start, values = expected_values(parsed, GAINS, P[None], SCORES, INDEX)
    nothing, exact = by_enumeration(parsed)
    assert start == pytest.approx([nothing], abs=0.03)
    np.testing.assert_allclose(values[:4], exact, atol=0.03)
    again = expected_values(parsed, GAINS, P[None], SCORES, INDEX)[1]
    np.testing.assert_array_equal(values, again)


def test_ndcg_f_up_to_what_nothing_is_worth():
    parsed = parse_measure("ndcg_f@3")
    _, values = expected_values(parsed, GAINS, P[None], SCORES, INDEX)
    nothing, exact = by_enumeration(parsed)
    np.testing.assert_allclose(values[:4], exact - nothing, atol=0.03)


def test_f_at_expected_numbers_by_hand():
    p, scores = np.array([0.8, 0.5, 0.2]), np.array([3.0, 2, 1])
    index = GroupIndex.from_groups([0] * 3)
    steps = expected_steps(parse_measure("f"), [0.0, 1.0], p[None], scores, index, plug_in=True)
    values = np.cumsum(steps.rises - steps.falls)
    np.testing.assert_allclose(values, [1.6 / 2.5, 2.6 / 3.5, 3.0 / 4.5])


def test_lower_is_better_is_negated():
    parsed = parse_measure("forbidden")
    start, values = expected_values(parsed, GAINS, P[None], SCORES, INDEX)
    assert start[0] == 0
    assert values[0] == pytest.approx(-0.1, abs=0.01)


def test_lists_without_rows_and_of_one():
    index = GroupIndex.from_groups([0, 1, 1])
    scores, p = np.array([1.0, -INF, -INF]), np.full(3, 0.25)
    for measure in ("f", "dcg", "ndcg_f", "ap"):
        steps = expected_steps(parse_measure(measure), [0.0, 1.0], p[None], scores, index)
        assert steps.rises[0] > 0
        assert steps.rises[1:].tolist() == steps.falls[1:].tolist() == [0, 0]


@pytest.mark.parametrize("measure", ["bpref", "infAP"])
def test_measures_without_values_of_prefixes_are_named(measure):
    with pytest.raises(ValueError, match=r"measure='\w+' is defined by which documents"):
        check_has_prefix_values(parse_measure(measure), "ExpectedThreshold")


def test_known_steps_are_changes_of_the_measure():
    gains = np.array([1.0, 0, 1, np.nan, 1])
    steps = known_steps(parse_measure("f"), gains, SCORES, INDEX)
    # Two relevant documents of three are listed: F = 2 f / (n + 3).
    value = np.array([2 / 4, 4 / 6, 4 / 7])
    np.testing.assert_allclose(steps[0], value[0])
    np.testing.assert_allclose(steps[1:3], (value[1] - value[0]) / 2)
    np.testing.assert_allclose(steps[3], value[2] - value[1])
    assert steps[4] == 0


def test_hull_by_hand():
    # Slopes 2, 1, 3: the last two are joined to (1 + 3) / 2, and then all.
    slopes = hull_slopes(np.array([2.0, 1, 3, 5, 1]), np.ones(5), np.array([3, 2]))
    assert slopes.tolist() == [2, 2, 2, 5, 1]
    largest = np.finfo(float).max
    found = hull_slopes(np.array([1.0, 0, -1, 0]), np.array([0.0, 0, 0, 0]), np.array([3, 1]))
    assert found.tolist() == [largest, largest, -largest, largest]
    found = hull_slopes(np.array([-1.0, 3, 0, -1]), np.array([0.0, 1, 0, 2]), np.array([2, 2]))
    assert found.tolist() == [2, 2, largest, -0.5]


@pytest.mark.slow
def test_keys_tell_the_best_prefix_at_every_factor():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 12, 150)
    scores = np.round(rng.normal(size=150), 1)
    scores[rng.random(150) < 0.1] = -INF
    rises, falls = rng.random(150), rng.random(150)
    index = GroupIndex.from_groups(groups)
    ranking = Ranking(scores, index)
    keys = path_keys(ExpectedSteps(ranking, np.zeros(12), rises, falls))
    for factor in (0.1, 0.7, 1.0, 1.9, 6.0):
        for query in range(12):
            own = (groups == query) & (scores > -INF)
            worth = (rises - factor * falls)[own]
            levels = np.append(np.unique(scores[own])[::-1], INF)
            best = max(worth[scores[own] >= level].sum() for level in levels)
            shown = keys[own] >= factor
            assert worth[shown].sum() == pytest.approx(best, abs=1e-9)
            assert not shown.any() or scores[own][shown].min() > scores[own][~shown].max(
                initial=-INF
            )


def test_best_prefix_takes_the_longest_of_equal_ones():
    parsed = parse_measure("recall")
    scores, index = np.array([3.0, 2, 1]), GroupIndex.from_groups([0] * 3)
    steps = expected_steps(parsed, [0.0, 1.0], np.array([[0.5, 0.0, 0.0]]), scores, index)
    assert best_prefix_of_steps(steps).all()


@pytest.mark.parametrize("name", ["rr", "f"])
def test_long_lists_take_no_pass_for_each_prefix(name, monkeypatch):
    passes, relisted = [], ListBlock.relisted
    monkeypatch.setattr(
        ListBlock, "relisted", lambda block, *args: passes.append(1) or relisted(block, *args)
    )
    # Two lists: with ties, and a short one, which is as exact as alone.
    scores = np.append(np.round(np.linspace(30, 0, 600)[:130], 1), [3.0, 2.0, 1.0])
    index = GroupIndex.from_groups(np.repeat([0, 1], [130, 3]))
    chances = 1 / (2.0 + np.append(np.arange(130) / 20, [0, 1, 2]))[None]
    parsed = parse_measure(name)
    _, values = expected_values(parsed, [0.0, 1.0], chances, scores, index)
    assert not passes
    alone = GroupIndex.from_groups([0] * 3)
    _, short = expected_values(parsed, [0.0, 1.0], chances[:, 130:], scores[130:], alone)
    np.testing.assert_allclose(values[130:], short)
    monkeypatch.setattr("skfilterrank.thresholds._expected_values._MOST_TIED", 1000)
    _, exact = expected_values(parsed, [0.0, 1.0], chances, scores, index)
    np.testing.assert_allclose(values, exact, atol=0.03)


@pytest.mark.slow
def test_the_first_long_list_takes_no_seconds():
    begin = time.process_time()
    drawn = uniform(20_000, 0.125)
    assert time.process_time() - begin < 2
    np.testing.assert_array_equal(drawn[:, :50], uniform(50, 0.125))
    normal = ndtri(drawn[:, 0])
    order = np.random.RandomState(7).permutation(np.sort(normal))
    mixed = np.sqrt(0.125) * np.sort(normal) + np.sqrt(0.875) * order
    np.testing.assert_array_equal(drawn[np.argsort(mixed, kind="stable"), 7], np.sort(drawn[:, 0]))
