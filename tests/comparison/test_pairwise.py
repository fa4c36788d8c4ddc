"""Comparisons told system by system and pair by pair."""

import numpy as np
import pytest
from scipy import stats

from skfilterrank.comparison import SystemScores, compare_systems
from skfilterrank.metaevaluation import conflicts

rng = np.random.default_rng(0)
VALUES = rng.uniform(size=(4, 25)) + np.array([[0.2], [0.9], [0.0], [0.5]])
NAMES = ["b", "d", "a", "c"]


def compared(values=VALUES, greater_is_better=True, **params):
    scores = SystemScores(values, systems=NAMES, greater_is_better=greater_is_better)
    return compare_systems(scores, **params)


def test_systems():
    comparison = compared()
    found = comparison.systems()
    assert list(found.index) == ["d", "c", "b", "a"]
    assert found.index.name == "system"
    for name, values in zip(NAMES, VALUES):
        low, high = stats.t.interval(0.95, 24, values.mean(), stats.sem(values))
        row = found.loc[name]
        assert [row["mean"], row["low"], row["high"]] == pytest.approx([values.mean(), low, high])
    matrix = comparison.matrix("p_adjusted").to_numpy() <= 0.05
    differences = comparison.matrix("difference").to_numpy()
    for place, name in enumerate(NAMES):
        beaten = (matrix[place] & (differences[place] > 0)).sum()
        beaten_by = (matrix[place] & (differences[place] < 0)).sum()
        assert (found["n_wins"][name], found["n_losses"][name]) == (beaten, beaten_by)
    assert found["n_wins"].sum() > 0


def test_pairs_are_turned_to_the_better_mean():
    comparison = compared()
    found = comparison.pairs()
    order = ["d", "c", "b", "a"]
    expected = [(x, y) for place, x in enumerate(order) for y in order[place + 1 :]]
    assert list(zip(found["first"], found["second"])) == expected
    assert (found["difference"] > 0).all()
    assert (found["low"] < found["difference"]).all()
    assert (found["difference"] < found["high"]).all()
    for what in ("difference", "effect_size", "low", "high", "p_value", "p_adjusted"):
        matrix = comparison.matrix(what)
        np.testing.assert_array_equal(
            found[what], [matrix.loc[pair["first"], pair["second"]] for _, pair in found.iterrows()]
        )
    assert (found["significant"] == (found["p_adjusted"] <= 0.05)).all()


# "b" is ahead on nine queries of ten, "d" on average by far; the others tie with them nowhere.
CONTRADICTED = np.array([[1.0] * 9 + [0], [0.0] * 9 + [90], [-1.0] * 9 + [-2], [-3.0] * 10])


@pytest.mark.slow
@pytest.mark.parametrize("greater_is_better", [True, False])
@pytest.mark.parametrize("baseline", [None, "b", "d"])
def test_the_test_says_who_is_better_not_the_mean(greater_is_better, baseline):
    sign = 1 if greater_is_better else -1
    comparison = compared(
        sign * CONTRADICTED,
        greater_is_better=greater_is_better,
        test="sign",
        correction=None,
        baseline=baseline,
    )
    found = comparison.pairs()
    (row,) = found[found[["first", "second"]].isin(["b", "d"]).all(axis=1)].itertuples()
    assert (row.first, row.second, row.significant) == ("b", "d", True)
    # By the mean "d" is ahead by 90 / 10 - 9 / 10; by signs "b" by (9 - 1) / 10.
    assert sign * row.difference == pytest.approx(-8.1)
    assert sign * row.effect_size == pytest.approx(0.8)
    assert row.low < row.effect_size < row.high
    systems = comparison.systems()
    significant = found[found["significant"]]
    assert systems["n_wins"].to_dict() == dict.fromkeys(NAMES, 0) | dict(
        significant["first"].value_counts()
    )
    assert systems["n_losses"].sum() == len(significant)


@pytest.mark.parametrize("greater_is_better", [True, False])
def test_contradictions_of_means_are_counted(greater_is_better):
    values = CONTRADICTED if greater_is_better else -CONTRADICTED
    params = {"greater_is_better": greater_is_better, "correction": None}
    assert compared(values, test="sign", **params).contradiction_text() == (
        "of 1 pair the system with the worse mean is significantly better, because "
        "the test uses the "
        "net share of queries, not means"
    )
    assert compared(values, test="sign", **params).contradiction_text(0.001) == ""
    assert compared(values, test="t", **params).contradiction_text() == ""


def test_few_pairs_are_those_that_differ():
    # "d", "c" and "b" are alike, "a" is far below them.
    values = np.array([[5.0], [5.2], [0.0], [5.1]]) + rng.uniform(size=(4, 25))
    comparison = compared(values)
    every = comparison.pairs()
    assert every["significant"].sum() >= 3
    few = comparison.pairs(most=3)
    assert few["first"].tolist() == ["d", "c", "b"]
    first = every[every["significant"]].drop_duplicates("first")
    assert few.equals(first)
    assert comparison.pairs(most=99).equals(every)
    with pytest.raises(ValueError, match="most must be a whole number from 1 up"):
        comparison.pairs(most=0)


def test_pairs_without_an_effect_are_turned_to_the_better_mean():
    # One query each, or all equal: signs say nothing.
    values = [[0, 1, 5], [0, 3, 2], [0, 3, 2], [9, 9, 9]]
    found = compared(values, test="sign").pairs()
    pairs = list(zip(found["first"], found["second"]))
    assert pairs == [("c", "b"), ("c", "d"), ("c", "a"), ("b", "d"), ("b", "a"), ("d", "a")]
    assert found["effect_size"][3:].tolist() == [0, 0, 0]
    assert found["difference"][3:].round(3).tolist() == [0.333, 0.333, 0]


def test_intervals_end_where_the_measure_does():
    values = np.array([[0.0, 0.0, 0.1], [1.0, 1.0, 0.4], [0.4, 0.5, 0.6], [0, 0, 0]])
    plain = compare_systems(SystemScores(values, measure="mine")).systems()
    for measure, factor, least, greatest in (
        ("ap", 1, 0, 1),
        ("precision@5", 1, 0, 1),
        ("recall_error", 10, 0, np.inf),
        ("ap", 10, -np.inf, np.inf),  # no average precision
        ("ndcg", 1, -np.inf, np.inf),  # below 0 with negative gains
    ):
        scores = SystemScores(factor * values, measure=measure, greater_is_better=True)
        found = compare_systems(scores).systems()
        expected = (factor * plain[["low", "high"]]).clip(least, greatest)
        np.testing.assert_allclose(found[["low", "high"]], expected)
    assert plain["low"].min() < 0 < 1 < plain["high"].max()


@pytest.mark.parametrize(("beyond", "is_cut"), [(0.0, True), (1e-12, True), (1e-7, False)])
def test_a_range_holds_but_for_rounding(beyond, is_cut):
    # Values of average precision, but for what is beyond 0 and 1; t intervals reach further.
    for values in ([[0.0 - beyond, 1.0], [0.5, 0.25]], [[0.0, 1.0 + beyond], [0.5, 0.25]]):
        found = compare_systems(SystemScores(values, measure="ap")).systems()
        assert (found["low"].iloc[0] == 0) == is_cut
        assert (found["high"].iloc[0] == 1) == is_cut


def test_pairs_without_negative_zeros_are_numbered():
    found = compared(np.ones((4, 5))).pairs()
    for column in ("difference", "low", "high", "effect_size"):
        assert not np.signbit(found[column]).any()
    assert found.index.tolist() == list(range(6))
    assert "index" not in found


def test_lower_is_better():
    found = compared(greater_is_better=False).systems()
    assert list(found.index) == ["a", "b", "c", "d"]
    mirrored = compared(-VALUES).systems()
    assert found["n_wins"].to_dict() == mirrored["n_wins"].to_dict()
    pairs = compared(greater_is_better=False).pairs()
    assert (pairs["difference"] < 0).all()
    assert pairs["first"].iloc[0] == "a"


def test_a_baseline():
    comparison = compared(baseline="b")
    pairs = comparison.pairs()
    assert list(zip(pairs["first"], pairs["second"])) == [("d", "b"), ("c", "b"), ("b", "a")]
    found = comparison.systems()
    assert (found["n_wins"] + found["n_losses"]).drop("b").max() <= 1


def test_conflicts_of_comparisons_that_are_made():
    scores = [SystemScores(each, systems=NAMES) for each in (VALUES, VALUES[[1, 0, 2, 3]])]
    expected = conflicts(*scores)
    found = conflicts(*(compare_systems(each, correction=None) for each in scores))
    assert list(found.outcome) == list(expected.outcome)
    assert found.counts["opposite"] > 0
    with pytest.raises(ValueError, match="the same pairs of systems in the same order"):
        conflicts(compared(), compared(baseline="b"))
