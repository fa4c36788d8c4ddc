"""Bets on losses by people less a multiple of a machine's."""

import math

import numpy as np
import pytest

from skfilterrank.thresholds import _control_variates
from skfilterrank.thresholds._control_variates import (
    ControlledBound,
    ControlledLosses,
    planned_powers,
)
from skfilterrank.thresholds._machine_labels import pays
from skfilterrank.thresholds._risk_steps import Steps


def draws(n_draws, n, rate, sensitivity, specificity, n_others=9, seed=0):
    """Losses of 0, 1/2 or 1 with a mean of `rate`, and differences of a machine's."""
    rng = np.random.default_rng(seed)
    is_bad = rng.random((n_draws, n)) < rate * 4 / 3
    losses = np.where(is_bad, np.where(rng.random(is_bad.shape) < 0.5, 1.0, 0.5), 0.0)
    flagged = rng.random(is_bad.shape) < np.where(is_bad, sensitivity, 1 - specificity)
    share = rate * 4 / 3 * sensitivity + (1 - rate * 4 / 3) * (1 - specificity)
    others = rng.binomial(n_others, share, is_bad.shape) / n_others
    return losses, 0.75 * (flagged - others)


def ruled_out_by_hand(losses, differences, level, confidence):
    """Play the bets one after the other, from sums over the units before each."""
    goal, n = -math.log(1 - confidence), len(losses)
    capitals, adjusted, centred = [0.5, 0.5], [], []
    most = 1.0
    for unit in range(n):
        before = differences[:unit]
        square = sum(d * d for d in before)
        weight = 0.0
        if square > 1e-12:
            together = sum(c * d for c, d in zip(centred, before))
            weight = min(max(together / (square + 5 * square / unit), 0.0), 1.0)
        mean_before = (sum(losses[:unit]) + 20 * level) / (unit + 20)
        centred.append(losses[unit] - mean_before)
        squares = 0.0
        for number, each in enumerate(adjusted):
            mean = (sum(adjusted[:number]) + 20 * level) / (number + 20)
            squares += (each - mean) ** 2
        variance = (squares + 20 * level * (1 - level)) / (unit + 20)
        adjusted.append(losses[unit] - weight * differences[unit])
        for place, share in enumerate((1.0, 0.5)):
            bet = min(math.sqrt(2 * goal / (n * share * variance)), 1 / (1 + weight - level))
            capitals[place] *= max(1 + bet * (level - adjusted[-1]), 0.0)
        most = max(most, sum(capitals))
    return sum(adjusted) <= level * n and most >= 1 / (1 - confidence)


def test_bets_by_hand():
    losses, differences = draws(12, 40, 0.04, 0.8, 0.9)
    found = ControlledBound(40, 0.15, 0.8).rules_out(losses, differences)
    by_hand = [ruled_out_by_hand(*pair, 0.15, 0.8) for pair in zip(losses, differences)]
    assert found.tolist() == by_hand
    assert 0 < sum(by_hand) < 12


def test_tests_of_many_rows_are_those_of_the_mean_of_the_capitals():
    losses, differences = draws(200, 100, 0.12, 0.8, 0.9)
    bound = ControlledBound(100, 0.2, 0.9)
    adjusted, *stakes = bound._stakes(losses, differences)
    capitals = np.exp(bound._log_paths(adjusted, *stakes, 0.2))
    expected = (capitals.mean(axis=0).max(axis=-1) >= 10) & (adjusted.mean(axis=-1) <= 0.2)
    assert bound.rules_out(losses, differences).tolist() == expected.tolist()
    # One bet alone would decide otherwise for some rows.
    assert (capitals.max(axis=(0, -1)) / 2 >= 10).sum() < expected.sum() < 200


def test_bets_depend_on_units_before_alone():
    (losses,), (differences,) = draws(1, 60, 0.1, 0.8, 0.9)
    bound = ControlledBound(60, 0.1, 0.9)
    _, weights, bets = bound._stakes(losses, differences)
    other = losses.copy(), differences.copy()
    other[0][30:], other[1][30:] = 1.0, -0.5
    _, other_weights, other_bets = bound._stakes(*other)
    np.testing.assert_allclose(other_weights[:31], weights[:31], atol=1e-12)
    np.testing.assert_allclose(other_bets[:, :31], bets[:, :31], atol=1e-12)
    assert not np.allclose(other_weights[31:], weights[31:])


@pytest.mark.slow
@pytest.mark.parametrize("machine", [(0.95, 0.97), (0.95, 0.6), (0.3, 0.7), (0.05, 0.8)], ids=str)
def test_level_is_kept_with_any_machine(machine):
    losses, differences = draws(2000, 100, 0.2, *machine)
    broken = ControlledBound(100, 0.2, 0.9).rules_out(losses, differences).mean()
    assert broken <= 0.1 + 2 * math.sqrt(0.1 * 0.9 / 2000)


@pytest.mark.slow
def test_a_good_machine_pays():
    losses, differences = draws(500, 200, 0.06, 0.95, 0.98)
    bound = ControlledBound(200, 0.1, 0.9)
    beside, alone = (
        bound.rules_out(losses, each).mean() for each in (differences, 0.0 * differences)
    )
    assert beside > alone + 0.1


def test_upper_bound_is_the_smallest_level_that_the_capital_rules_out():
    (losses,), (differences,) = draws(1, 150, 0.05, 0.9, 0.95)
    bound = ControlledBound(150, 0.1, 0.9)
    upper = bound.upper(losses, differences)
    adjusted, *stakes = bound._stakes(losses, differences)
    paths = bound._log_paths(adjusted, *stakes, upper)
    assert np.exp(paths).mean(axis=0).max() == pytest.approx(10)
    assert bound.estimate(losses, differences) < upper < 0.2
    assert bound.estimate(losses, differences) == pytest.approx(adjusted.mean())
    assert bound.upper(np.ones(150), differences) == 1.0


def test_upper_bound_among_answered_units():
    (losses,), _ = draws(1, 200, 0.05, 0.9, 0.95)
    answered = np.repeat([1.0, 0.0], 100)
    mixed = np.where(answered > 0, losses, 0.1)
    bound = ControlledBound(200, 0.1, 0.9)
    assert bound.estimate(mixed, np.zeros(200), answered) == pytest.approx(losses[:100].mean())
    assert bound.upper(mixed, np.zeros(200), answered) > losses[:100].mean()


def steps_by_chance(rng, n, upward=False):
    """Steps at levels of tenths, of losses that need not be monotone."""
    queries, scores = np.repeat(np.arange(n), 3), rng.integers(0, 10, 3 * n) / 10
    order = np.argsort(scores if upward else -scores, kind="stable")
    losses = rng.integers(0, 4, 3 * n) / 3
    return Steps(np.zeros(n), scores[order], queries[order], losses, np.arange(n), upward, False)


@pytest.mark.parametrize("upward", [False, True])
@pytest.mark.parametrize("n_machine", [25, 17])
def test_walk_by_hand(upward, n_machine, monkeypatch):
    rng = np.random.default_rng(0)
    people, machine = (steps_by_chance(rng, n, upward) for n in (10, n_machine))
    of_people = np.sort(rng.permutation(n_machine)[:10])
    pool = ControlledLosses(people, machine, of_people)

    class Recorder:
        seen = []  # noqa: RUF012

        def rules_out(self, losses, differences):
            self.seen += zip(*map(np.atleast_2d, (losses.copy(), differences.copy())))
            return np.ones(losses.shape[:-1], dtype=bool)

    # Two thresholds at a time.
    monkeypatch.setattr(_control_variates, "_CELLS", 20)
    recorder = Recorder()
    recorder.seen.clear()
    failed, n_tried = pool.walk(recorder, np.inf)
    levels = np.unique(np.append(people.scores, machine.scores))
    assert failed is None
    assert n_tried == len(levels) == len(recorder.seen) - 1
    levels = levels if upward else levels[::-1]
    blocks = [np.flatnonzero(pool._unit == unit) for unit in range(10)]
    assert sorted(np.concatenate(blocks)) == list(range(n_machine))
    for level, (losses, differences) in zip(levels, recorder.seen[1:]):
        threshold = np.nextafter(level, np.inf) if upward else level
        by_people, by_machine = people.at(threshold), machine.at(threshold)
        np.testing.assert_allclose(losses, by_people[pool._order])
        for place, unit in enumerate(pool._order):
            others = np.setdiff1d(blocks[unit], of_people)
            expected = 0.0
            if len(others):
                expected = by_machine[of_people[unit]] - by_machine[others].mean()
            assert differences[place] == pytest.approx(expected)
    at = pool.at(threshold)
    # Sums of changes are rounded.
    np.testing.assert_allclose(at, recorder.seen[-1], atol=1e-12)


@pytest.mark.parametrize("n_together", [1, 2, 3, 100])
def test_walk_stops_at_the_first_threshold_that_fails(n_together, monkeypatch):
    monkeypatch.setattr(_control_variates, "_CELLS", 10 * n_together)
    rng = np.random.default_rng(1)
    pool = ControlledLosses(steps_by_chance(rng, 10), steps_by_chance(rng, 25), np.arange(0, 20, 2))

    class Third:
        n = 0

        def rules_out(self, losses, differences):
            self.n += len(np.atleast_2d(losses))
            return np.arange(self.n - len(np.atleast_2d(losses)), self.n) < 3

    assert pool.walk(Third(), np.inf) == (0.7, 3)

    class Never:
        def rules_out(self, losses, differences):
            return np.zeros(losses.shape[:-1], dtype=bool)

    assert pool.walk(Never(), 0.95) == (0.95, 0)


def test_steps_from_the_other_end():
    rng = np.random.default_rng(2)
    for upward in (False, True):
        steps = steps_by_chance(rng, 8, upward)
        turned = steps.in_direction(not upward)
        assert turned.is_upward is not upward
        assert (np.diff(turned.scores) * (-1 if upward else 1) >= 0).all()
        for threshold in (-np.inf, 0.0, 0.25, 0.3, 0.9, 0.95, np.inf):
            assert turned.at(threshold).tolist() == steps.at(threshold).tolist()
        assert steps.in_direction(upward) is steps


def test_units_that_do_not_count_lose_the_level():
    steps = steps_by_chance(np.random.default_rng(3), 4)
    every = steps.of_all(6, np.array([0, 2, 3, 5]), 0.2)
    found = every.at(0.35)
    assert found[[1, 4]].tolist() == [0.2, 0.2]
    assert found[[0, 2, 3, 5]].tolist() == steps.at(0.35).tolist()


@pytest.mark.slow
def test_planned_powers():
    alone, beside = planned_powers(200, 2000, 0.1, 0.9, (0.06, 0.95, 0.98), False)
    assert beside > alone + 0.1
    alone, beside = planned_powers(200, 2000, 0.1, 0.9, (0.06, 0.95, 0.98), True)
    assert alone == pytest.approx(0.778, abs=0.05)
    none = planned_powers(200, 201, 0.1, 0.9, (0.06, 0.95, 0.98), True)
    assert 0 < none[1] < beside
    assert planned_powers(200, 200, 0.1, 0.9, (0.06, 0.95, 0.98), True) == (none[0], 0.0)


@pytest.mark.slow
def test_bets_take_part_where_they_are_planned_to_have_more_power():
    assert not pays(50, 500, 0.1, 0.9, False)
    assert pays(200, 2000, 0.1, 0.9, False)
    assert not pays(200, 200, 0.1, 0.9, False)
