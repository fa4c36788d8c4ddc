"""Pairs of systems on which two measures draw different conclusions."""

import itertools

import numpy as np
import pytest
import scipy.stats

from skfilterrank.comparison import SystemScores, compare_systems
from skfilterrank.exceptions import InputError
from skfilterrank.metaevaluation import conflicts

# Eight queries: where differences have no spread, eight equal signs are significant.
NOISE = np.tile([0.0, 0.1], 4)
# a, b, c, d by the first measure: a < b < c = d; by the second: a < b, b > c, c < d, the rest near.
FIRST = SystemScores(
    [NOISE, 1 + NOISE[::-1], 2 + NOISE, 2 + NOISE[::-1]], systems=list("abcd"), measure="one"
)
SECOND = SystemScores(
    [NOISE, 5 + NOISE[::-1], NOISE[::-1], 5 + NOISE], systems=list("abcd"), measure="two"
)


def test_every_outcome():
    found = conflicts(FIRST, SECOND)
    table = {
        (row.first, row.second): row.outcome for row in found.to_frame().itertuples(index=False)
    }
    assert table == {
        ("a", "b"): "agree",
        ("a", "c"): "only first",
        ("a", "d"): "agree",
        ("b", "c"): "opposite",
        ("b", "d"): "only first",
        ("c", "d"): "only second",
    }
    assert found.counts == {
        "agree": 2,
        "opposite": 1,
        "only first": 2,
        "only second": 1,
        "neither": 0,
    }
    assert found.n_pairs == 6
    assert found.n_disagreements == 1 + 2 + 1
    assert found.share == 4 / 6


def by_loop(first, second, alpha):
    """Disagreements counted pair by pair with scipy's paired t test."""
    count = 0
    for i, j in itertools.combinations(range(len(first)), 2):
        tests = [scipy.stats.ttest_rel(values[i], values[j]) for values in (first, second)]
        signs = [np.sign(t.statistic) * (t.pvalue <= alpha) for t in tests]
        count += signs[0] != signs[1]
    return count


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.3])
def test_pair_by_pair(alpha):
    rng = np.random.default_rng(3)
    first = rng.normal(size=(8, 20)) + 0.2 * np.arange(8)[:, None]
    second = 0.3 * first + rng.normal(size=(8, 20)) - 0.1 * np.arange(8)[:, None]
    found = conflicts(first, second, alpha=alpha)
    assert found.n_disagreements == by_loop(first, second, alpha) > 0


def test_order_of_systems_and_queries_of_the_second():
    first = SystemScores(FIRST.values, systems=FIRST.systems, queries=list("12345678"))
    second = SystemScores(SECOND.values, systems=SECOND.systems, queries=first.queries)
    mixed = second.select(systems=list("dbac"), queries=list("41328765"))
    for test in ("t", "sign"):
        expected, found = (conflicts(first, s, test=test) for s in (second, mixed))
        assert found.outcome.tolist() == expected.outcome.tolist()
        np.testing.assert_allclose(found.second.p_value, expected.second.p_value)
    assert found.second.scores.systems == first.systems


def test_lower_is_better():
    errors = SystemScores(
        -SECOND.values, systems=SECOND.systems, measure="error", greater_is_better=False
    )
    assert conflicts(FIRST, errors).outcome.tolist() == conflicts(FIRST, SECOND).outcome.tolist()
    wrong = SystemScores(-SECOND.values, systems=SECOND.systems)
    assert conflicts(FIRST, wrong).counts["opposite"] == 2


def test_each_measure_has_its_own_default_test():
    shares = SystemScores(np.tile([[0.0], [1.0]], 8), is_preference=True)
    found = conflicts(np.array([np.zeros(8), [1] * 7 + [-1]]), shares)
    assert (found.first.test, found.second.test) == ("t", "sign")
    assert (found.first.correction, found.second.correction) == (None, None)


def test_correction_and_params_go_to_both():
    found = conflicts(FIRST, SECOND, correction="holm", test="randomization", n_resamples=200)
    for comparison in (found.first, found.second):
        assert (comparison.correction, comparison.test) == ("holm", "randomization")


def test_table():
    found = conflicts(FIRST, SECOND)
    frame = found.to_frame()
    assert frame["outcome"].tolist() == (
        ["opposite"] + ["only first"] * 2 + ["only second"] + ["agree"] * 2
    )
    text = str(found)
    assert text.startswith(
        "one and two disagree on 4 of 6 pairs (66.7 %) at alpha = 0.05, p values not corrected"
    )
    assert "<0.0001" in text
    corrected = str(conflicts(FIRST, SECOND, correction="holm"))
    assert "Holm's correction for 6 pairs" in corrected
    assert "agree: 2; opposite: 1; only first: 2; only second: 1; neither: 0" in text
    assert "disagree on 4" in repr(found)


def test_bad_input():
    with pytest.raises(ValueError, match="same systems"):
        conflicts(FIRST, SECOND.select(systems=["a", "b"]))
    with pytest.raises(ValueError, match="same queries"):
        conflicts(FIRST, SECOND.select(queries=[0, 1, 2]))
    with pytest.raises(ValueError, match=r"^first must .*at least 2 queries"):
        conflicts(FIRST.select(queries=[0]), SECOND.select(queries=[0]))
    with pytest.raises(ValueError, match="alpha"):
        conflicts(FIRST, SECOND, alpha=1.0)
    tested = compare_systems(FIRST), compare_systems(SECOND)
    for params in ({"correction": "holm"}, {"test": "sign"}):
        with pytest.raises(InputError, match=f"^{next(iter(params))}: two results of compare_sys"):
            conflicts(*tested, **params)
    with pytest.raises(InputError, match="alpha must be"):
        conflicts(*tested, alpha=0)
