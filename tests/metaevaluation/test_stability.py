"""Error rates of decisions made on samples of queries."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import TENTHS
from skfilterrank._base.system_pairs import Pairs, pair_blocks, seeds_of
from skfilterrank.comparison import SystemScores
from skfilterrank.metaevaluation import stability_curve
from skfilterrank.metaevaluation._stability import draw_samples


def loop_rates(tenths, size, n_resamples, hundredths, random_state):
    """The definition in whole numbers, with the same samples."""
    samples = draw_samples(len(tenths[0]), size, n_resamples, seeds_of(random_state))
    wrong = tied = total = 0
    for one, other in itertools.combinations(tenths, 2):
        ahead = behind = 0
        for sample in samples:
            difference = sum(a - b for a, b, drawn in zip(one, other, sample) if drawn)
            # |difference| / (10 size) <= hundredths / 100
            if 10 * abs(difference) <= hundredths * size:
                tied += 1
            elif difference > 0:
                ahead += 1
            else:
                behind += 1
        wrong += min(ahead, behind)
        total += n_resamples
    return wrong / total, tied / total


@pytest.mark.slow
@given(TENTHS, st.sampled_from([0, 1, 5, 10]), st.integers(0, 99))
def test_equals_loops_over_pairs_and_samples(tenths, hundredths, seed):
    params = {"n_resamples": 15, "random_state": seed}
    curve = stability_curve(np.divide(tenths, 10), fuzziness=hundredths / 100, **params)
    assert curve.n_queries.tolist() == list(range(2, len(tenths[0]) + 1))
    for size, error, ties in zip(curve.n_queries, curve.error_rate, curve.tie_rate):
        expected = loop_rates(tenths, size, 15, hundredths, seed)
        assert (error, ties) == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
@given(TENTHS, st.integers(0, 99))
def test_relative_fuzziness_equals_loops(tenths, seed):
    params = {"n_resamples": 15, "random_state": seed}
    curve = stability_curve(np.divide(tenths, 10), fuzziness=0.5, relative=True, **params)
    for size, error, ties in zip(curve.n_queries, curve.error_rate, curve.tie_rate):
        samples = draw_samples(len(tenths[0]), size, 15, seeds_of(seed))
        sums = np.array(tenths) @ samples.T.astype(int)
        first, second = np.triu_indices(len(tenths), 1)
        # A tie if the smaller is at least half of the greater, in whole numbers.
        low = np.minimum(sums[first], sums[second])
        high = np.maximum(sums[first], sums[second])
        decided = 2 * low < high
        ahead = (decided & (sums[first] > sums[second])).sum(axis=1)
        behind = (decided & (sums[first] < sums[second])).sum(axis=1)
        assert error == pytest.approx(np.minimum(ahead, behind).sum() / sums[first].size)
        assert ties == pytest.approx(1 - decided.mean(), abs=1e-12)


def test_by_hand():
    # Of three queries the first system wins one by 0.9 and loses two by 0.1. All single queries:
    # ahead once, behind twice, so that min / total is 1/3; any two with the first: ahead.
    scores = [[0.9, 0.5, 0.5], [0.0, 0.6, 0.6]]
    curve = stability_curve(scores, sizes=[1, 2, 3], n_resamples=30_000, random_state=0)
    np.testing.assert_allclose(curve.error_rate, [1 / 3, 1 / 3, 0], atol=0.01)
    np.testing.assert_array_equal(curve.tie_rate, 0)


def both(curve):
    return np.column_stack([curve.error_rate, curve.tie_rate])


def test_samples_have_their_size_and_repeat():
    seeds = seeds_of(0)
    drawn = draw_samples(12, 5, 50, seeds)
    assert drawn.sum(axis=1).tolist() == [5] * 50
    # Every query about as often as every other: 50 * 5 / 12 is 21.
    assert 8 < drawn.sum(axis=0).min() <= drawn.sum(axis=0).max() < 34
    np.testing.assert_array_equal(drawn, draw_samples(12, 5, 50, seeds))
    assert len(np.unique(drawn, axis=0)) > 40


def test_a_size_does_not_depend_on_the_other_sizes(values):
    whole = stability_curve(values, random_state=5)
    some = stability_curve(values, sizes=[4, 11], random_state=5)
    np.testing.assert_array_equal(both(some), both(whole)[[2, 9]])
    assert stability_curve(values, sizes=4, random_state=5).n_queries.tolist() == [4]
    state = np.random.RandomState(5)
    np.testing.assert_array_equal(both(stability_curve(values, random_state=state)), both(whole))
    assert (both(stability_curve(values, random_state=6)) != both(whole)).any()


def test_order_and_names_of_systems_do_not_matter(values):
    whole = both(stability_curve(values, random_state=0))
    turned = SystemScores(values[::-1], systems=list("gfedcba"))
    np.testing.assert_allclose(both(stability_curve(turned, random_state=0)), whole, atol=1e-12)
    lower = SystemScores(values, greater_is_better=False)
    np.testing.assert_array_equal(both(stability_curve(lower, random_state=0)), whole)


def test_a_difference_of_the_fuzziness_is_a_tie():
    # 0.31 - 0.3 is 0.010000000000000009 and 0.3 + 0.01 - 0.3 is 0.010000000000000009 or so.
    scores = np.array([[0.31] * 6, [0.3] * 6])
    assert stability_curve(scores, sizes=[1, 3, 6], random_state=0).tie_rate.tolist() == [1, 1, 1]
    assert stability_curve(
        np.add(scores, [[1e-6], [0]]), sizes=[3], random_state=0
    ).tie_rate.tolist() == [0]


@pytest.mark.parametrize("fuzziness", [0, 0.01])
@pytest.mark.parametrize("relative", [False, True])
def test_all_ties(fuzziness, relative):
    scores = np.tile(np.random.RandomState(0).uniform(size=9) / 3, (4, 1))
    curve = stability_curve(scores, fuzziness=fuzziness, relative=relative, random_state=0)
    np.testing.assert_array_equal(curve.error_rate, 0)
    np.testing.assert_array_equal(curve.tie_rate, 1)
    zeros = stability_curve(
        np.zeros((3, 4)), fuzziness=fuzziness, relative=relative, random_state=0
    )
    np.testing.assert_array_equal(both(zeros), [[0, 1]] * 3)


def test_constant_differences_never_err():
    scores = np.add(np.random.RandomState(0).uniform(size=9), [[0], [0.02], [0.5]])
    curve = stability_curve(scores, random_state=0)
    np.testing.assert_array_equal(both(curve), 0)


def test_many_columns_come_in_blocks(monkeypatch, values):
    whole = both(stability_curve(values, random_state=0))
    monkeypatch.setattr("skfilterrank._base.system_pairs.BLOCK_BYTES", 9600)
    assert len(list(pair_blocks(Pairs.all(7), 600))) > 6
    np.testing.assert_array_equal(both(stability_curve(values, random_state=0)), whole)


def test_result_is_a_table(values):
    curve = stability_curve(SystemScores(values, measure="ndcg_f@20"), random_state=0)
    frame = curve.to_frame()
    assert frame.index.name == "n_queries"
    assert list(frame.columns) == ["error_rate", "tie_rate"]
    text = str(curve)
    assert "Stability of ndcg_f@20 of 21 pairs of 7 systems for 19 sizes, 200 samples" in text
    assert "to_frame()" not in text
    long = stability_curve(
        np.random.RandomState(0).uniform(size=(3, 40)), n_resamples=2, random_state=0
    )
    lines = str(long).splitlines()
    assert lines[-1] == "... and 19 more rows, see to_frame()"
    shown = [int(line.split()[0]) for line in lines[3:-1]]
    # From the first to the last.
    assert (shown[0], shown[-1], len(shown)) == (2, 40, 20)
    assert max(np.diff(shown)) <= 3
    assert "1 pair of 2 systems" in str(stability_curve(values[:2], random_state=0))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"sizes": [2, 21]}, "sizes must be a whole number from 1 to 20, got 21"),
        ({"sizes": 0}, "sizes must be"),
        ({"sizes": []}, "sizes is empty"),
        ({"sizes": [2.5]}, "sizes must be"),
        ({"n_resamples": 0}, "n_resamples must be a whole number from 1 up"),
        ({"fuzziness": -0.1}, "fuzziness must be a finite number from 0"),
        ({"fuzziness": np.nan}, "fuzziness must be"),
        ({"fuzziness": "1%"}, "fuzziness must be"),
    ],
)
def test_bad_parameters(values, params, message):
    with pytest.raises(ValueError, match=message):
        stability_curve(values, **params, random_state=0)


def test_missing_values():
    with pytest.raises(ValueError, match="missing"):
        stability_curve([[0.1, 0.2], [0.3, np.nan]], random_state=0)
