"""Exact intervals of rates by query, against coverage that is added up sample by sample."""

from itertools import combinations, product
from math import comb

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, multinomial

from skfilterrank.exceptions import InputError
from skfilterrank.judgments import RankedPool, draw_sample, estimate
from skfilterrank.judgments._estimates import ExactRates

N, DRAWN = 14, 6
DIFFERENT = np.arange(2 * N).reshape(2, N)
IS_JUDGED = np.arange(N) < DRAWN


def rates_of(both, first, second, neither, *, new=False, part=1.0):
    """Make judged queries; so many have the value 1 in both runs, in one, and in none."""
    kinds = np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], [both, first, second, neither], axis=0)
    return ExactRates(kinds.T > 0, DIFFERENT, IS_JUDGED, part, new)


def test_intervals_of_these_queries_hold_in_at_least_95_percent_of_all_samples():
    ends = [rates_of(hits, 0, 0, DRAWN - hits).of_runs(0.95) for hits in range(DRAWN + 1)]
    shares = []
    for n_bad in range(N + 1):
        held = [low[0] <= n_bad / N <= high[0] for low, high in ends]
        ways = [comb(n_bad, hits) * comb(N - n_bad, DRAWN - hits) for hits in range(DRAWN + 1)]
        shares.append(np.dot(held, ways) / comb(N, DRAWN))
        # Equal-tailed: each side is wrong in 2.5 % at most.
        too_low = [high[0] < n_bad / N for _, high in ends]
        assert np.dot(too_low, ways) / comb(N, DRAWN) <= 0.025
    assert min(shares) >= 0.95
    # The widest that samples allow: one more at either end would be as possible.
    low, high = ends[0]
    assert low[0] == 0
    assert high[0] * N == max(k for k in range(N) if comb(N - k, DRAWN) > 0.025 * comb(N, DRAWN))


def test_an_interval_holds_the_rate_of_the_sample():
    """Numbers of all queries that are as possible may all lie on one side of the sample's rate."""
    n, drawn, confidence = 5, 4, 0.1
    judged = np.arange(n) < drawn
    lists, sides = np.arange(n)[np.newaxis], set()
    for hits in range(drawn + 1):
        kinds = (np.arange(drawn) < hits)[np.newaxis]
        low, high = ExactRates(kinds, lists, judged, 0.5, False).of_runs(confidence)
        # Every sample of every set of queries of value 1, counted.
        samples = {
            n_bad: [sum(each < n_bad for each in some) for some in combinations(range(n), drawn)]
            for n_bad in range(n + 1)
        }
        error = (1 - confidence) / 2
        possible = [
            n_bad / n
            for n_bad, found in samples.items()
            if np.mean(np.array(found) >= hits) > error and np.mean(np.array(found) <= hits) > error
        ]
        rate = hits / drawn
        ends = min([rate, *possible]) / 2, max([rate, *possible]) / 2
        assert (low[0], high[0]) == pytest.approx(ends, abs=1e-12)
        sides |= {(min(possible) > rate) - (max(possible) < rate)}
    # Both sides occur here.
    assert sides == {-1, 0, 1}


@pytest.mark.slow
def test_differences_hold_in_at_least_95_percent_of_all_samples():
    kinds = [
        (first, second)
        for first, second in product(range(DRAWN + 1), repeat=2)
        if first + second <= DRAWN
    ]
    found = {kind: rates_of(0, *kind, DRAWN - sum(kind)).of_pairs([0], [1], 0.95) for kind in kinds}
    for first, second in product(range(N + 1), repeat=2):
        rest = N - first - second
        if rest < 0:
            continue
        lost = 0.0
        for kind, (low, high, p_value) in found.items():
            share = comb(first, kind[0]) * comb(second, kind[1]) * comb(rest, DRAWN - sum(kind))
            share /= comb(N, DRAWN)
            difference = (first - second) / N
            lost += share * (not low[0] - 1e-12 <= difference <= high[0] + 1e-12)
            assert (low[0] > 0 or high[0] < 0) or p_value[0] > 0.05
        assert lost <= 0.05


@pytest.mark.parametrize("hits", [0, 1, 5, 6])
def test_new_queries_have_the_intervals_of_clopper_and_pearson(hits):
    low, high = rates_of(hits, 0, 0, DRAWN - hits, new=True).of_runs(0.9)
    expected = binomtest(hits, DRAWN).proportion_ci(0.9, method="exact")
    np.testing.assert_allclose([low[0], high[0]], expected, atol=1e-9)


def test_queries_without_a_list_count_as_good_ones():
    low, high = rates_of(2, 0, 0, 4, new=True, part=0.5).of_runs(0.9)
    expected = binomtest(2, 2 * DRAWN).proportion_ci(0.9, method="exact")
    np.testing.assert_allclose([low[0], high[0]], expected, atol=1e-9)
    plain, half = (rates_of(2, 1, 0, 3, part=part) for part in (1.0, 0.5))
    for whole, part in zip(plain.of_runs(0.9), half.of_runs(0.9)):
        np.testing.assert_allclose(part, whole / 2)
    for whole, part in zip(plain.of_pairs([0], [1], 0.9)[:2], half.of_pairs([0], [1], 0.9)[:2]):
        np.testing.assert_allclose(part, whole / 2)


def test_p_values_of_new_queries_are_those_of_the_sign_test():
    for first, second in ((5, 0), (5, 1), (3, 3), (0, 0)):
        rates = rates_of(0, first, second, DRAWN - first - second, new=True)
        low, high, p_value = rates.of_pairs([0], [1], 0.95)
        expected = binomtest(first, first + second).pvalue if first + second else 1.0
        assert p_value[0] == pytest.approx(min(expected / 0.8, 1.0))
        # An interval without 0 and a small p value are the same.
        assert (low[0] > 0) == (p_value[0] <= 0.05)
        level = 1 - p_value[0]
        if level > 0:
            for confidence, is_out in ((level - 1e-6, True), (level + 1e-6, False)):
                assert (rates.of_pairs([0], [1], confidence)[0][0] > 0) == is_out
        turned = rates.of_pairs([1], [0], 0.95)
        np.testing.assert_allclose([turned[0][0], turned[1][0]], [-high[0], -low[0]], atol=1e-12)


@pytest.mark.slow
def test_differences_of_new_queries_hold():
    for chances in ((0.1, 0.1, 0.8), (0.4, 0.1, 0.5), (0.9, 0.05, 0.05)):
        lost = 0.0
        for first, second in product(range(DRAWN + 1), repeat=2):
            rest = DRAWN - first - second
            if rest < 0:
                continue
            low, high, _ = rates_of(0, first, second, rest, new=True).of_pairs([0], [1], 0.95)
            share = multinomial.pmf([first, second, rest], DRAWN, chances)
            lost += share * (not low[0] <= chances[0] - chances[1] <= high[0])
        assert lost <= 0.05


def test_what_is_known_leaves_no_doubt():
    values = np.array([[1, 1, 0, 0], [0, 1, 0, 0]]) > 0
    lists = np.array([[1, 2, 3, 4], [5, 2, 3, 4]])
    every = ExactRates(values, lists, np.full(4, True), 1.0, False)
    np.testing.assert_allclose(every.of_runs(0.95), [[0.5, 0.25]] * 2)
    np.testing.assert_allclose(np.ravel(every.of_pairs([0, 0], [1, 0], 0.95)[:2]), [0.25, 0] * 2)
    assert every.of_pairs([0, 0], [1, 0], 0.95)[2].tolist() == [0, 1]
    # The lists differ in one query, which is judged: the difference is known.
    part = ExactRates(values[:, :3], lists, np.arange(4) < 3, 1.0, False)
    low, high, _ = part.of_pairs([0], [1], 0.95)
    assert (low[0], high[0]) == (0.25, 0.25)
    assert part.of_runs(0.95)[1][0] == 0.75


@pytest.fixture(scope="module")
def harm():
    """Make 60 queries; each of three runs has a forbidden document in six of its own."""
    shape = 3, 60, 2
    run, query, place = (each.ravel() for each in np.indices(shape))
    table = pd.DataFrame(
        {
            "qid": [f"q{number:02}" for number in query],
            "docno": [f"r{number}-{other}" for number, other in zip(run, place)],
            "score": -place,
            "label": np.where((place == 1) & (query % 10 == run), 0, 1),
        }
    )
    runs = {f"r{number}": table[run == number] for number in range(3)}
    return runs | {"again": runs["r0"]}, table


def judged(harm, n, machine=None, measure="any_forbidden@2", seed=0, **params):
    runs, table = harm
    given = {"measures": measure, "unit": "query", "gains": {0: -1, 1: 1}}
    given |= {"runs": runs, "pool": table[["qid", "docno"]]}
    sample = draw_sample(None, **given, n_total=n, random_state=seed)
    sample["label"] = sample[["qid", "docno"]].merge(table)["label"]
    return estimate(sample, **given, machine_qrels=machine, **params)


@pytest.mark.slow
def test_rates_by_query_are_exact_and_say_so(harm):
    alone = judged(harm, 12)
    frame = alone.to_frame()
    hits = frame["value"] * 12
    np.testing.assert_allclose(hits, np.rint(hits))
    assert (frame["high"] > frame["low"]).all()
    assert ((frame["low"] <= 0.1) & (frame["high"] >= 0.1)).all()
    assert frame["shown_to_cover"].all()
    assert "any_forbidden@2 are exact, by people's labels alone" in alone.made_from
    # Few bad queries: a machine does not change them, however wrong it is.
    table = harm[1]
    for label in (table["label"], 1 - table["label"], 1):
        beside = judged(harm, 12, table[["qid", "docno"]].assign(label=label))
        pd.testing.assert_frame_equal(beside.to_frame(), frame)
        pd.testing.assert_frame_equal(beside.compare().to_frame(), alone.compare().to_frame())
    pairs = alone.compare().to_frame().set_index(["first", "second"])
    assert pairs.loc[("r0", "again"), ["difference", "low", "high"]].tolist() == [0, 0, 0]
    assert (pairs["low"] <= pairs["difference"]).all()
    assert pairs["shown_to_cover"].all()
    ranks = alone.order()
    assert ranks["low"].tolist() == [1] * 4
    assert ranks["high"].tolist() == [4] * 4
    new = judged(harm, 12, target="new queries").to_frame()
    assert (new["high"] > frame["high"]).all()


@pytest.mark.slow
def test_many_bad_queries_use_the_machine(harm):
    runs, table = harm
    bad = table.assign(label=(table["qid"].str[1:].astype(int) % 2).to_numpy())
    found = judged((runs, bad), 50, bad[["qid", "docno", "label"]])
    assert found.results["any_forbidden@2"].rates is None
    assert not found.to_frame()["shown_to_cover"].any()
    np.testing.assert_allclose(found.to_frame()["value"], 0.5)
    few = judged((runs, bad), 30, bad[["qid", "docno", "label"]])
    assert few.results["any_forbidden@2"].rates is not None


@pytest.mark.slow
def test_known_rates_are_in_known_order(harm):
    runs, table = harm
    worse = table["label"].mask(table["docno"].str.startswith("r2"), 0)
    found = judged((runs, table.assign(label=worse)), 60)
    assert found.order().loc["r2"].tolist() == [4, 4, 4, 1.0]
    assert found.order().loc["r0", ["low", "high"]].tolist() == [1, 3]
    assert judged((runs, table.assign(label=worse)), 40).order().loc["r2", "low"] == 4


def test_other_values_by_query_are_not_shown_to_cover(harm):
    found = judged(harm, 12, measure=["forbidden@2", "any_forbidden@2"])
    marks = found.to_frame()["shown_to_cover"].groupby("measure").all()
    assert marks.to_dict() == {"forbidden@2": False, "any_forbidden@2": True}
    assert "Intervals of forbidden@2 are not shown to cover" in found.made_from


def test_a_ranked_pool_has_no_lists_to_evaluate(harm):
    runs, table = harm
    pool = RankedPool.read(None, runs, pool=table)
    sample = table[["qid", "docno", "label"]].assign(inclusion_probability=1.0)
    with pytest.raises(InputError, match="pass runs, machine_qrels and pool"):
        estimate(sample, pool, "any_forbidden@2", unit="query", gains={0: -1, 1: 1})
