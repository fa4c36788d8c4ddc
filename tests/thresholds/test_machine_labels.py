"""Certificates by few labels of people and many of a machine."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta, binom, hypergeom
from sklearn.base import clone
from sklearn.linear_model import Ridge

from skfilterrank._lists.lists import RankedLists
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import FitWarning, InputError
from skfilterrank.ranking import RankAndFilter, make_ranker
from skfilterrank.thresholds import CertifiedThreshold, load_threshold, queries_needed
from skfilterrank.thresholds._control_variates import planned_powers
from skfilterrank.thresholds._judged_scores import MachineJudged
from skfilterrank.thresholds._machine_labels import LossPool, StratifiedTest, pays
from skfilterrank.thresholds._risks import BettingBound
from skfilterrank.thresholds._stratified_bound import (
    Counts,
    StratifiedBound,
    choose_bound,
    planned_power,
    power_of_people,
)

RISK = {"any_forbidden@3": 0.2}


@pytest.fixture(scope="module")
def judged():
    """1,000 queries, 150 of them judged by people, and labels of a machine of all."""
    _, y, groups, scores = make_rank_and_filter(1000, random_state=0)
    rng = np.random.default_rng(0)
    machine = np.where(rng.random(len(y)) < 0.05, -y, y)
    is_of_people = np.isin(groups, rng.choice(1000, 150, replace=False))
    return scores, np.where(is_of_people, y, np.nan), groups, machine


def exact_probability(bound, n1, unjudged, share, rates):
    """Probability of ruling out by a sum over all outcomes, computed the long way."""
    n0, total = bound.n_people - n1, 0.0
    for flagged in range(unjudged + 1):
        weight = binom.pmf(flagged, unjudged, share)
        for x1 in range(n1 + 1):
            for x0 in range(n0 + 1):
                if bound.rules_out(Counts(n1, x1, x0, n1 + flagged)):
                    total += weight * binom.pmf(x1, n1, rates[0]) * binom.pmf(x0, n0, rates[1])
    return total


@pytest.mark.nightly
@pytest.mark.parametrize("share", [0.1, 0.3, 0.7])
@pytest.mark.parametrize("rate", [0.0, 0.2, 0.3, 0.6, 1.0])
def test_error_is_kept_at_every_share_and_rate(share, rate):
    level, bound = 0.3, StratifiedBound(18, 30, 0.3, 0.8)
    other = (level - share * rate) / (1 - share)
    if not 0 <= other <= 1:
        pytest.skip("no such rates")
    for n1 in (2, 5, 9):
        assert exact_probability(bound, n1, 12, share, (rate, other)) <= 0.2


@pytest.mark.nightly
def test_error_is_used():
    bound = StratifiedBound(30, 60, 0.3, 0.8)
    assert exact_probability(bound, 6, 30, 0.2, (0.9, 0.15)) > 0.03


@pytest.mark.slow
def test_larger_levels_and_fewer_losses_are_easier_to_rule_out():
    bound = StratifiedBound(100, 400, 0.2, 0.9)
    found = [bound.rules_out(Counts(15, x1, 3, 60)) for x1 in range(16)]
    assert found == sorted(found, reverse=True)
    assert found[0]
    assert not found[-1]
    counts = Counts(15, 5, 3, 60)
    assert StratifiedBound(100, 400, bound.upper(counts), 0.9).rules_out(counts)


def test_estimate_weights_strata_by_the_machine():
    counts = Counts(np.int64(10), 5, 9, 40)
    assert StratifiedBound(100, 200, 0.2, 0.9).estimate(counts) == pytest.approx(
        0.2 * 5 / 10 + 0.8 * 9 / 90
    )


@pytest.mark.nightly
def test_machine_takes_part_where_it_adds_power():
    assert choose_bound(50, 1000, 0.1, 0.9) is None
    assert choose_bound(100, 100, 0.1, 0.9) is None
    assert isinstance(choose_bound(200, 2000, 0.2, 0.9), StratifiedBound)
    assert power_of_people(200, 0.1, 0.9, 0.06) == pytest.approx(0.778, abs=0.001)


def test_queries_are_counted_from_the_threshold_on_at_which_they_lose():
    rng = np.random.default_rng(0)
    machine = np.where(rng.uniform(size=40) < 0.3, -np.inf, rng.integers(0, 9, 40) / 10)
    people = np.where(rng.uniform(size=10) < 0.3, -np.inf, rng.integers(0, 9, 10) / 10)
    of_people = rng.permutation(40)[:10]
    thresholds = np.array([np.inf, 0.85, 0.8, 0.4, 0.1, 0.0, -1.0, -np.inf])
    found = LossPool(people, machine, of_people).at(thresholds)
    for place, threshold in enumerate(thresholds):
        loses, is_flagged = (
            [first > -np.inf and first >= threshold for first in each] for each in (people, machine)
        )
        flags = [is_flagged[query] for query in of_people]
        by_hand = (
            sum(flags),
            sum(lost and flag for lost, flag in zip(loses, flags)),
            sum(lost and not flag for lost, flag in zip(loses, flags)),
            sum(is_flagged),
        )
        assert tuple(each[place] for each in found) == by_hand


@pytest.mark.nightly
def test_certificate_names_people_and_machine(judged, tmp_path):
    scores, y, groups, machine = judged
    safe = CertifiedThreshold(RISK, confidence_level=0.9, measure="ndcg_f@3")
    safe.fit(scores, y, groups=groups, machine_labels=machine)
    found = safe.certificate_
    assert found.n_machine_queries == 1000
    assert found.n_queries == found.promises["any_forbidden@3"].n_queries == 150
    assert found.promises["any_forbidden@3"].uses_machine
    text = " ".join(str(found).split())
    assert "A machine judged 1,000 queries, and people 150 of them" in text
    assert "The test uses the machine's labels" in text
    assert "it is estimated with the machine at 0." in text
    assert "a machine judged 1,000 queries, and people 150 of them" in found.to_html()
    assert found.to_frame()["n_machine_queries"].tolist() == [1000]
    safe.save(tmp_path / "safe.json")
    again = load_threshold(tmp_path / "safe.json").certificate_
    assert str(again) == str(found)


@pytest.mark.slow
def test_a_useless_machine_does_not_change_the_queries_of_people(judged):
    scores, y, groups, _ = judged
    safe = CertifiedThreshold(RISK, confidence_level=0.9)
    safe.fit(scores, y, groups=groups, machine_labels=np.ones(len(y)))
    alone = CertifiedThreshold(RISK, confidence_level=0.9)
    is_judged = ~np.isnan(y)
    alone.fit(scores[is_judged], y[is_judged], groups=groups[is_judged])
    assert safe.certificate_.n_labels == alone.certificate_.n_labels
    assert safe.certificate_.lower == pytest.approx(alone.certificate_.lower, abs=0.1)


@pytest.mark.nightly
def test_bets_beside_a_machine(judged):
    scores, y, groups, machine = judged
    safe = CertifiedThreshold({"forbidden@3": 0.15}, confidence_level=0.9)
    found = safe.fit(scores, y, groups=groups, machine_labels=machine).certificate_
    promise = found.promises["forbidden@3"]
    assert promise.uses_machine
    assert promise.n_queries == 150
    assert promise.observed < promise.upper_bound <= 0.15
    assert "The test uses the machine's labels, whose errors cannot break it" in " ".join(
        str(found).split()
    )
    # A machine that says nothing leaves people's labels.
    safe.fit(scores, y, groups=groups, machine_labels=np.ones(len(y)))
    assert safe.certificate_.promises["forbidden@3"].observed == pytest.approx(
        np.mean(_losses_at(safe.threshold_, scores, y, groups)), abs=1e-9
    )


@pytest.mark.nightly
def test_a_good_machine_shows_more(judged):
    scores, _, groups, machine = judged
    _, every, _, _ = make_rank_and_filter(1000, random_state=0)
    lowest = []
    for seed in range(8):
        is_drawn = np.isin(groups, np.random.default_rng(seed).choice(1000, 150, replace=False))
        y = np.where(is_drawn, every, np.nan)
        alone, beside = (
            CertifiedThreshold({"forbidden@3": 0.15}, confidence_level=0.9) for _ in range(2)
        )
        alone.fit(scores[is_drawn], y[is_drawn], groups=groups[is_drawn])
        beside.fit(scores, y, groups=groups, machine_labels=machine)
        lowest.append([each.certificate_.lower for each in (alone, beside)])
    alone, beside = np.mean(lowest, axis=0)
    assert beside < alone - 0.02


def _losses_at(threshold, scores, y, groups):
    """Forbidden share of the first three of each judged query, worst ties first."""
    losses = []
    for query in np.unique(groups[~np.isnan(y)]):
        rows = np.flatnonzero((groups == query) & (scores >= threshold))
        rows = rows[np.lexsort((y[rows], -scores[rows]))][:3]
        losses.append(np.mean(y[rows] < 0) if len(rows) else 0.0)
    return losses


@pytest.mark.slow
def test_too_few_people_are_tested_alone(judged):
    scores, y, groups, machine = judged
    some = np.unique(groups[~np.isnan(y)])[:40]
    y = np.where(np.isin(groups, some), y, np.nan)
    safe = CertifiedThreshold({"forbidden@3": 0.15}, confidence_level=0.9)
    safe.fit(scores, y, groups=groups, machine_labels=machine)
    assert not safe.certificate_.promises["forbidden@3"].uses_machine
    assert "which were tested alone" in " ".join(str(safe.certificate_).split())
    is_judged = ~np.isnan(y)
    alone = clone(safe).fit(scores[is_judged], y[is_judged], groups=groups[is_judged])
    assert safe.threshold_ == alone.threshold_


@pytest.mark.nightly
def test_functions_and_queries_that_do_not_count(judged):
    scores, y, groups, machine = judged

    def hidden_or_bad(y_true, shown, groups):
        n = np.bincount(groups)
        return np.bincount(groups, (y_true < 0) & shown) / n

    risks = {hidden_or_bad: 0.12, "false_reject_rate": 0.2}
    safe = CertifiedThreshold(risks, confidence_level=0.8)
    found = safe.fit(scores, y, groups=groups, machine_labels=machine).certificate_
    assert {each.uses_machine for each in found.promises.values()} == {True}
    rejects = found.promises["false_reject_rate"]
    good = pd.Series(y > 0).groupby(groups).sum()
    hidden = pd.Series((y > 0) & (scores < safe.threshold_)).groupby(groups).sum()
    share = (hidden / good)[good > 0]
    assert rejects.n_queries == len(share)
    assert rejects.observed == pytest.approx(share.mean(), abs=0.1)


@pytest.mark.nightly
def test_clusters_are_tested_beside_a_machine(judged):
    scores, _, groups, machine = judged
    _, every, _, _ = make_rank_and_filter(1000, random_state=0)
    users = pd.Series(groups // 2, name="user")
    is_drawn = np.isin(users, np.random.default_rng(0).choice(500, 150, replace=False))
    y = np.where(is_drawn, every, np.nan)
    safe = CertifiedThreshold({"any_forbidden@3": 0.2}, confidence_level=0.9)
    found = safe.fit(scores, y, groups=groups, machine_labels=machine, clusters=users).certificate_
    promise = found.promises["any_forbidden@3"]
    assert promise.uses_machine
    assert (promise.n_queries, found.n_units, found.n_queries) == (150, 150, 300)
    text = " ".join(str(found).split())
    assert "A machine judged 1,000 queries of 500 users, and people 300 of 150 users" in text


def test_clusters_must_be_judged_as_a_whole(judged):
    scores, y, groups, machine = judged
    with pytest.raises(InputError, match=r"some queries of \d+ clusters and not the others"):
        CertifiedThreshold(RISK).fit(
            scores, y, groups=groups, machine_labels=machine, clusters=groups // 2
        )


@pytest.mark.nightly
@pytest.mark.parametrize("risk", ["any_forbidden@3", "forbidden@3"])
def test_among_answered_queries(risk):
    _, every, groups, scores = make_rank_and_filter(1200, random_state=0)
    rng = np.random.default_rng(0)
    machine = np.where(rng.random(len(every)) < 0.03, -every, every)
    y = np.where(np.isin(groups, rng.choice(1200, 400, replace=False)), every, np.nan)
    level = {"any_forbidden@3": 0.3, "forbidden@3": 0.2}[risk]
    safe = CertifiedThreshold({risk: level}, among="answered", confidence_level=0.9)
    found = safe.fit(scores, y, groups=groups, machine_labels=machine).certificate_
    promise = found.promises[risk]
    assert promise.uses_machine
    best = pd.Series(scores)[~np.isnan(y)].groupby(groups[~np.isnan(y)]).max()
    assert promise.n_queries == (best >= safe.threshold_).sum()
    is_judged = ~np.isnan(y)
    alone = clone(safe).fit(scores[is_judged], y[is_judged], groups=groups[is_judged])
    other = alone.certificate_.promises[risk]
    assert promise.upper == other.upper
    assert promise.lower < promise.upper
    losses = np.array(_losses_at(safe.threshold_, scores, y, groups))
    losses = losses > 0 if risk == "any_forbidden@3" else losses
    assert promise.observed == pytest.approx(losses.sum() / promise.n_queries, abs=0.05)


@pytest.mark.slow
def test_answered_queries_are_counted_at_each_threshold():
    answers = np.array([0.9, 0.7, 0.5, -np.inf, 0.3, 0.8])
    people, machine = np.array([0.5, -np.inf, 0.2]), np.full(6, -np.inf)
    machine[[0, 5]] = 0.6, 0.8
    pool = LossPool(people, machine, np.array([0, 3, 4]), answers)
    thresholds = pool.thresholds(0.9)
    assert thresholds.tolist() == [0.9, 0.8, 0.7, 0.6, 0.5, 0.3, 0.2]
    n_people, n_all = pool.sizes(thresholds)
    assert n_people.tolist() == [1, 1, 1, 1, 1, 2, 2]
    assert n_all.tolist() == [1, 2, 3, 3, 4, 5, 5]
    assert [int(each) for each in pool.sizes(0.7)] == [1, 3]
    test = StratifiedTest(pool, 0.9, 0.5, 0.9)
    failed, n_tried = test.walk()
    for place, threshold in enumerate(thresholds[:n_tried]):
        counts = Counts(*(int(each) for each in pool.at(threshold)))
        bound = StratifiedBound(int(n_people[place]), int(n_all[place]), 0.9, 0.5)
        assert bound.rules_out(counts) == (threshold != failed)


def test_few_answered_queries_get_the_binomial_test():
    answers = np.linspace(1, 0, 60)
    pool = LossPool(np.full(20, -np.inf), np.full(60, -np.inf), np.arange(0, 60, 3), answers)
    test = StratifiedTest(pool, 0.3, 0.8, 1.0, least=12)
    sizes = [
        (bound.n_people, bound.n_machine) for bound in (test._bound(11, 33), test._bound(12, 36))
    ]
    assert sizes == [(11, 11), (12, 36)]


def test_people_who_judged_all_get_the_binomial_test():
    bound = StratifiedBound(40, 40, 0.2, 0.9)
    for losses in range(10):
        found = bound.rules_out(Counts(6, min(losses, 6), max(losses - 6, 0), 6))
        assert found == (binom.cdf(losses, 40, 0.2) <= 0.1)
        upper = bound.upper(Counts(6, min(losses, 6), max(losses - 6, 0), 6))
        assert upper == pytest.approx(beta.ppf(0.9, losses + 1, 40 - losses), abs=2e-4)
    assert bound.estimate(Counts(6, 2, 6, 20)) == 0.2
    assert not StratifiedBound(0, 5, 0.2, 0.9).rules_out(Counts(0, 0, 0, 3))


@pytest.mark.nightly
def test_abstention_is_learned_apart_from_the_machine(judged):
    scores, y, groups, machine = judged
    safe = CertifiedThreshold({"forbidden@3": 0.15}, abstain="best_score", confidence_level=0.9)
    with warnings.catch_warnings(action="ignore", category=FitWarning):
        found = safe.fit(scores, y, groups=groups, machine_labels=machine).certificate_
    assert found.n_queries == 75
    assert found.n_machine_queries == 925


def test_queries_are_left_out_of_the_machine_too():
    groups = np.repeat(np.arange(5), 2)
    lists = RankedLists(np.arange(10.0), np.arange(10.0), groups=groups)
    machine = MachineJudged(lists, np.arange(10.0), np.array([1, 3, 4]), np.array([7, 7, 8, 9, 9]))
    left = machine.without(np.array([1]))
    assert left.lists.gains.tolist() == left.labels.tolist() == [0, 1, 2, 3, 4, 5, 8, 9]
    assert left.of_people.tolist() == [1, 3]
    assert left.clusters.tolist() == [7, 7, 8, 9]
    assert left.lists.index.codes().tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


@pytest.mark.nightly
def test_several_risks(judged):
    scores, y, groups, machine = judged
    safe = CertifiedThreshold(RISK | {"false_reject_rate": 0.8}, confidence_level=0.9)
    found = safe.fit(scores, y, groups=groups, machine_labels=machine).certificate_
    uses = {name: each.uses_machine for name, each in found.promises.items()}
    assert uses == {"any_forbidden@3": True, "false_reject_rate": False}
    assert "The test of any_forbidden@3 uses the machine's labels" in " ".join(str(found).split())


def test_expectation_excludes_machine_labels(judged):
    scores, y, groups, machine = judged
    safe = CertifiedThreshold(RISK, guarantee="expectation")
    with pytest.raises(InputError, match="machine_labels is not possible with guarantee="):
        safe.fit(scores, y, groups=groups, machine_labels=machine)


@pytest.mark.slow
def test_labels_that_are_no_random_draw(judged):
    scores, y, groups, machine = judged
    _, every, _, _ = make_rank_and_filter(1000, random_state=0)
    flagged = np.unique(groups[machine < 0])[:300]
    y = np.where(np.isin(groups, flagged), np.nan, every)
    with pytest.raises(InputError, match="this is not a random sample"):
        CertifiedThreshold(RISK).fit(scores, y, groups=groups, machine_labels=machine)


def draw_with(n_flagged, judged):
    """Labels of 150 queries, of which the machine flags so many; and the flags of all."""
    scores, _, groups, machine = judged
    _, every, _, _ = make_rank_and_filter(1000, random_state=0)
    place = pd.Series(scores).groupby(groups).rank(ascending=False)
    flags = pd.Series((machine < 0) & (place <= 3)).groupby(groups).any().to_numpy()
    rng = np.random.default_rng(2)
    drawn = np.append(
        rng.choice(np.flatnonzero(flags), n_flagged, replace=False),
        rng.choice(np.flatnonzero(~flags), 150 - n_flagged, replace=False),
    )
    return np.where(np.isin(groups, drawn), every, np.nan), flags


@pytest.mark.nightly
@pytest.mark.parametrize("risk", ["any_forbidden@3", "forbidden@3"])
def test_an_unlikely_draw_is_warned_of_and_stated(judged, risk, tmp_path):
    scores, _, groups, machine = judged
    y, flags = draw_with(37, judged)
    tail = hypergeom(1000, flags.sum(), 150).cdf(37)
    assert 1e-4 < 2 * tail < 1e-2
    safe = CertifiedThreshold({risk: 0.2}, confidence_level=0.9)
    found = r"forbidden@3 is 0\.\d+ on the 150 queries that people judged, and 0\.\d+ on all 1,000"
    with pytest.warns(FitWarning, match=rf"{found}: only 0\.\d+ % of random draws"):
        safe.fit(scores, y, groups=groups, machine_labels=machine)
    promise = safe.certificate_.promises[risk]
    if risk == "any_forbidden@3":
        assert promise.machine_rate == flags.mean()
        assert promise.machine_rate_judged == 37 / 150
    assert promise.machine_rate_judged < promise.machine_rate
    stated = f"{risk} is {100 * promise.machine_rate_judged:.3g} % on theirs and "
    stated += f"{100 * promise.machine_rate:.3g} % on all."
    assert stated in " ".join(str(safe.certificate_).split())
    assert stated in safe.certificate_.to_html()
    safe.save(tmp_path / "safe.json")
    again = load_threshold(tmp_path / "safe.json").certificate_.promises[risk]
    assert again.machine_rate_judged == promise.machine_rate_judged


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:people judged:skfilterrank.exceptions.FitWarning")
@pytest.mark.parametrize("n_flagged", [30, 95])
def test_a_draw_by_the_machines_labels_is_refused(judged, n_flagged):
    scores, _, groups, machine = judged
    y, _ = draw_with(n_flagged, judged)
    with pytest.raises(InputError, match=r"on all 1,000: this is not a random sample"):
        CertifiedThreshold(RISK).fit(scores, y, groups=groups, machine_labels=machine)


@pytest.mark.slow
@pytest.mark.parametrize("sign", [1, -1])
def test_a_draw_by_score_is_refused(judged, sign):
    scores, _, groups, machine = judged
    best = pd.Series(sign * scores).groupby(groups).max()
    y = np.where(np.isin(groups, best.nlargest(150).index), machine, np.nan)
    with pytest.raises(InputError, match=r"whose best scores .* not a random sample"):
        CertifiedThreshold(RISK).fit(scores, y, groups=groups, machine_labels=machine)


def test_bad_machine_labels(judged):
    scores, y, groups, machine = judged
    with pytest.raises(InputError, match="machine_labels has 5 entries but there are"):
        CertifiedThreshold(RISK).fit(scores, y, groups=groups, machine_labels=machine[:5])
    with pytest.raises(InputError, match="with machine_labels, y must hold only labels of people"):
        CertifiedThreshold(RISK).fit(
            *(scores, y), groups=groups, machine_labels=machine, judged_by=["gpt"] * len(y)
        )
    with pytest.raises(InputError, match="machine_labels holds no label: all are NaN"):
        CertifiedThreshold(RISK).fit(scores, y, groups=groups, machine_labels=machine * np.nan)
    # Labels of documents that were not retrieved, such as those of a file with other ids.
    others = np.arange(len(y)) % 2 == 0
    found, elsewhere = np.where(others, -np.inf, scores), np.where(others, machine, np.nan)
    with pytest.raises(InputError, match="all are NaN where there is a score"):
        CertifiedThreshold(RISK).fit(found, y, groups=groups, machine_labels=elsewhere)
    turned = pd.Series(machine).iloc[::-1]
    with pytest.raises(InputError, match="machine_labels and y have the same index in another"):
        CertifiedThreshold(RISK).fit(scores, pd.Series(y), groups=groups, machine_labels=turned)
    with pytest.raises(InputError, match="y holds no label by people"):
        CertifiedThreshold(RISK).fit(
            scores, np.full(len(y), np.nan), groups=groups, machine_labels=machine
        )


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::skfilterrank.exceptions.UnjudgedWarning")
def test_rank_and_filter_passes_machine_labels_on():
    X, y, groups, _ = make_rank_and_filter(2000, random_state=0)
    rng = np.random.default_rng(0)
    machine = np.where(rng.random(len(y)) < 0.05, -y, y)
    y = np.where(np.isin(groups, rng.choice(2000, 700, replace=False)), y, np.nan)
    safe = CertifiedThreshold(RISK, confidence_level=0.9)
    model = RankAndFilter(make_ranker("logistic", random_state=0), safe)
    model.fit(X, y, groups=groups, machine_labels=machine)
    assert model.certificate_.n_machine_queries == 600
    assert model.certificate_.promises["any_forbidden@3"].uses_machine
    with pytest.raises(InputError, match="machine_labels is for a CertifiedThreshold"):
        RankAndFilter(make_ranker("logistic")).fit(X, y, groups=groups, machine_labels=machine)


def test_queries_needed_by_people_alone():
    n = queries_needed(0.1, 0.06, confidence_level=0.9)
    allowed = np.flatnonzero(binom.cdf(np.arange(n + 1), n, 0.1) <= 0.1).max()
    assert binom.cdf(allowed, n, 0.06) >= 0.8


def test_queries_needed_by_people_alone_are_the_fewest():
    n = queries_needed(0.1, 0.06, confidence_level=0.9, power=0.7)
    powers = power_of_people(np.arange(1, n + 1), 0.1, 0.9, 0.06)
    assert np.flatnonzero(powers >= 0.7).tolist() == [n - 1]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("sizes", "level", "confidence", "rates"),
    [
        ((150, 5000), 0.1, 0.9, (0.06, 0.9, 0.97)),
        ((150, 6000), 0.1, 0.9, (0.06, 0.9, 0.97)),
        ((120, 1200), 0.2, 0.95, (0.12, 0.8, 0.95)),
    ],
)
def test_planned_power_is_that_of_the_test(sizes, level, confidence, rates):
    bound, rng = StratifiedBound(*sizes, level, confidence), np.random.default_rng(1)
    (n, n_machine), (rate, sensitivity, specificity) = sizes, rates
    share, n_passed = rate * sensitivity + (1 - rate) * (1 - specificity), 0
    for _ in range(400):
        losses = rng.random(n) < rate
        flags = rng.random(n) < np.where(losses, sensitivity, 1 - specificity)
        counts = flags.sum(), (losses & flags).sum(), (losses & ~flags).sum()
        by_machine = counts[0] + rng.binomial(n_machine - n, share)
        n_passed += bound.rules_out(Counts(*map(int, (*counts, by_machine))))
    assert planned_power(*sizes, level, confidence, *rates) == pytest.approx(
        n_passed / 400, abs=0.06
    )


@pytest.mark.nightly
def test_queries_needed_do_not_jump():
    machine = {"confidence_level": 0.9, "sensitivity": 0.9, "specificity": 0.97}
    by_size = [
        queries_needed(0.1, 0.06, **machine, n_machine_queries=n)
        for n in (500, 1000, 2000, 5000, 8000, 20_000)
    ]
    assert np.diff(by_size).max() <= 4
    assert by_size[0] == queries_needed(0.1, 0.06, confidence_level=0.9)
    by_power = [
        queries_needed(0.1, 0.06, **machine, n_machine_queries=5000, power=power)
        for power in (0.6, 0.7, 0.75, 0.8, 0.85, 0.9)
    ]
    assert np.diff(by_power).min() > 0


@pytest.mark.nightly
def test_queries_are_needed_that_fit_tests_beside_the_machine():
    given = {"confidence_level": 0.95, "sensitivity": 1.0, "specificity": 1.0}
    n = queries_needed(0.2, 0.1, **given, n_machine_queries=1000)
    alone = queries_needed(0.2, 0.1, confidence_level=0.95)
    assert n == alone or choose_bound(n, 1000, 0.2, 0.95) is not None


@pytest.mark.slow
def test_queries_needed_for_bets_are_enough_for_the_test_that_fit_chooses():
    """Bets beside the machine would need fewer, but `fit` makes them of more queries alone."""
    rates = 0.04, 0.9, 0.97
    given = dict(zip(("sensitivity", "specificity"), rates[1:]))
    n = queries_needed(0.1, 0.04, confidence_level=0.9, is_binary=False, **given)
    assert planned_powers(n - 10, 20 * (n - 10), 0.1, 0.9, rates, False)[1] >= 0.8
    assert not pays(n - 10, 20 * (n - 10), 0.1, 0.9, False)
    is_beside = pays(n, 20 * n, 0.1, 0.9, False)
    assert planned_powers(n, 20 * n, 0.1, 0.9, rates, False)[is_beside] >= 0.8


@pytest.mark.nightly
def test_more_queries_are_needed_where_fit_tests_beside_a_machine_that_does_not_help():
    rates = 0.06, 0.5, 0.8
    given = {"confidence_level": 0.9, "sensitivity": 0.5, "specificity": 0.8}
    n, alone = queries_needed(0.1, 0.06, **given), queries_needed(0.1, 0.06, confidence_level=0.9)
    assert choose_bound(alone, 20 * alone, 0.1, 0.9) is not None
    assert planned_power(alone, 20 * alone, 0.1, 0.9, *rates) < 0.78
    assert n > alone
    assert planned_power(n, 20 * n, 0.1, 0.9, *rates) == pytest.approx(0.8, abs=0.01)


@pytest.mark.nightly
@pytest.mark.parametrize("machine", [(0.0, 1.0), (0.5, 0.5), (1.0, 0.0)])
def test_a_machine_that_does_not_help_needs_the_number_of_people_alone(machine):
    given = dict(zip(("sensitivity", "specificity"), machine))
    assert queries_needed(0.3, 0.1, **given) == queries_needed(0.3, 0.1)
    with pytest.raises(InputError, match="more than 300 queries are needed"):
        queries_needed(0.01, 0.008, **given, n_machine_queries=300)


@pytest.mark.nightly
def test_queries_needed_with_a_machine_are_fewer():
    alone = queries_needed(0.2, 0.12, confidence_level=0.9)
    assert queries_needed(0.2, 0.12, confidence_level=0.9, sensitivity=0.9, specificity=0.97) < (
        0.9 * alone
    )


@pytest.mark.nightly
def test_queries_needed_for_bets():
    machine = {"sensitivity": 0.9, "specificity": 0.97}
    given = {"confidence_level": 0.9, "is_binary": False}
    alone, beside = (queries_needed(0.2, 0.12, **given, **more) for more in ({}, machine))
    assert beside < 0.8 * alone
    few = queries_needed(0.2, 0.12, **given, **machine, n_machine_queries=400)
    assert beside <= few < alone
    bound, rng = BettingBound(alone, 0.2, 0.9), np.random.default_rng(1)
    found = [bound.rules_out((rng.random(alone) < 0.12) * 1.0) for _ in range(1000)]
    assert np.mean(found) == pytest.approx(0.8, abs=0.06)
    with pytest.raises(InputError, match="is_binary must be True or False"):
        queries_needed(0.2, 0.12, is_binary="no")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"expected_risk": 0.1}, "expected_risk must be at least 0 and below"),
        ({"sensitivity": 0.9}, "give both or none"),
        ({"n_machine_queries": 100}, "n_machine_queries is of a machine"),
        (
            {"sensitivity": 2, "specificity": 1},
            "sensitivity must be a finite number",
        ),
        ({"expected_risk": 0.0999}, "queries are needed"),
    ],
)
def test_bad_parameters_of_queries_needed(given, message):
    with pytest.raises(InputError, match=message):
        queries_needed(**{"max_risk": 0.1, "expected_risk": 0.05} | given)


@pytest.mark.slow
def test_queries_needed_for_bets_without_a_machine_are_for_peoples_labels_alone():
    n = queries_needed(0.2, 0.06, confidence_level=0.9, is_binary=False)
    rates = 0.06, 0.0, 1.0
    # Bets beside a machine that never flags anything need two queries less.
    assert planned_powers(n - 2, 20 * n, 0.2, 0.9, rates, False)[1] >= 0.8
    powers = [planned_powers(each, each, 0.2, 0.9, rates, False)[0] for each in (n - 1, n)]
    assert powers[0] < 0.8 <= powers[1]


def test_errors_of_two_columns_of_machine_labels_name_them():
    harm = np.column_stack([np.ones(9), np.full(9, -1.0)])
    for model in (CertifiedThreshold(RISK), RankAndFilter(Ridge(), CertifiedThreshold(RISK))):
        given = {"groups": np.arange(9), "machine_labels": harm}
        with pytest.raises(InputError, match=r"^machine_labels has the harm -1: give 0"):
            model.fit(np.arange(9.0).reshape(-1, 1), np.ones(9), **given)
