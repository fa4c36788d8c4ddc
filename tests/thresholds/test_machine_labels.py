"""Certificates by few labels of people and many of a machine."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.base import clone

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import InputError
from skfilterrank.ranking import RankAndFilter, make_ranker
from skfilterrank.thresholds import CertifiedThreshold, load_threshold, queries_needed
from skfilterrank.thresholds._machine_labels import (
    Counts,
    LossPool,
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
    given = 200, 2000, 0.1, 0.9, 0.06
    assert planned_power(*given, 0.9, 0.97) == pytest.approx(0.90, abs=0.02)
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
    assert "sharpened the test" in text
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


@pytest.mark.slow
def test_other_risks_are_tested_by_people_alone(judged):
    scores, y, groups, machine = judged
    safe = CertifiedThreshold({"forbidden@3": 0.2}, confidence_level=0.9)
    safe.fit(scores, y, groups=groups, machine_labels=machine)
    assert not safe.certificate_.promises["forbidden@3"].uses_machine
    assert "which were tested alone" in " ".join(str(safe.certificate_).split())
    is_judged = ~np.isnan(y)
    alone = clone(safe).fit(scores[is_judged], y[is_judged], groups=groups[is_judged])
    assert safe.threshold_ == alone.threshold_


@pytest.mark.nightly
def test_several_risks(judged):
    scores, y, groups, machine = judged
    safe = CertifiedThreshold(RISK | {"false_reject_rate": 0.8}, confidence_level=0.9)
    found = safe.fit(scores, y, groups=groups, machine_labels=machine).certificate_
    uses = {name: each.uses_machine for name, each in found.promises.items()}
    assert uses == {"any_forbidden@3": True, "false_reject_rate": False}
    assert "sharpened the test of any_forbidden@3" in " ".join(str(found).split())


@pytest.mark.parametrize("parameters", [{"among": "answered"}, {"guarantee": "expectation"}])
def test_parameters_that_exclude_machine_labels(judged, parameters):
    scores, y, groups, machine = judged
    safe = CertifiedThreshold(RISK, **parameters)
    with pytest.raises(InputError, match="machine_labels is not possible with"):
        safe.fit(scores, y, groups=groups, machine_labels=machine)


def test_clusters_exclude_machine_labels(judged):
    scores, y, groups, machine = judged
    with pytest.raises(InputError, match="machine_labels is not possible with clusters"):
        CertifiedThreshold(RISK).fit(
            scores, y, groups=groups, machine_labels=machine, clusters=groups // 2
        )


@pytest.mark.slow
def test_labels_that_are_no_random_draw(judged):
    scores, y, groups, machine = judged
    _, every, _, _ = make_rank_and_filter(1000, random_state=0)
    flagged = np.unique(groups[machine < 0])[:300]
    y = np.where(np.isin(groups, flagged), np.nan, every)
    with pytest.raises(InputError, match="no random draw"):
        CertifiedThreshold(RISK).fit(scores, y, groups=groups, machine_labels=machine)


@pytest.mark.slow
@pytest.mark.parametrize("sign", [1, -1])
def test_a_draw_by_score_is_refused(judged, sign):
    scores, _, groups, machine = judged
    best = pd.Series(sign * scores).groupby(groups).max()
    y = np.where(np.isin(groups, best.nlargest(150).index), machine, np.nan)
    with pytest.raises(InputError, match=r"whose best scores .* no random draw"):
        CertifiedThreshold(RISK).fit(scores, y, groups=groups, machine_labels=machine)


def test_bad_machine_labels(judged):
    scores, y, groups, machine = judged
    with pytest.raises(InputError, match="machine_labels has 5 entries but there are"):
        CertifiedThreshold(RISK).fit(scores, y, groups=groups, machine_labels=machine[:5])
    with pytest.raises(InputError, match="with machine_labels it is to hold those of people"):
        CertifiedThreshold(RISK).fit(
            *(scores, y), groups=groups, machine_labels=machine, judged_by=["gpt"] * len(y)
        )
    with pytest.raises(InputError, match="machine_labels holds no label: all are NaN"):
        CertifiedThreshold(RISK).fit(scores, y, groups=groups, machine_labels=machine * np.nan)
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


@pytest.mark.nightly
def test_queries_needed_with_a_machine_are_fewer():
    alone = queries_needed(0.2, 0.12, confidence_level=0.9)
    assert queries_needed(0.2, 0.12, confidence_level=0.9, sensitivity=0.9, specificity=0.97) < (
        0.9 * alone
    )


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
