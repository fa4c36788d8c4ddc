"""Promises among answered queries, promises over clusters, and the share that is answered."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from certificates import certified, judged_rows, rates, real_thresholds
from profiles import times
from skfilterrank._lists.lists import RankedLists
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import DataWarning, InputError
from skfilterrank.thresholds import CertifiedThreshold, risk_certificate
from skfilterrank.thresholds._risk_steps import Units, last_of_start, start_at
from skfilterrank.thresholds._risks import BettingBound, BinomialBound, answers_needed, read_risks

pytestmark = [
    pytest.mark.filterwarnings("ignore:The risk .* is 0 on all calibration queries"),
    pytest.mark.filterwarnings("ignore:queries without a judged document"),
]
RISKS = ("any_forbidden", "forbidden", "false_reject_rate")


@pytest.fixture(scope="module")
def many():
    """Labels, queries and scores of 500 queries."""
    _, y, groups, scores = make_rank_and_filter(500, random_state=3)
    return y, groups, scores


def is_answered(scores, groups, threshold):
    """Mark the queries that show something, in the order of their ids, by hand."""
    shown = (scores >= threshold) & (scores > -np.inf)
    return np.array([shown[groups == query].any() for query in np.unique(groups)])


def counts(risk, y, groups):
    """Mark the queries that count for a risk, by hand."""
    is_good = ~np.isnan(y) & ((y > 0) | (risk != "false_reject_rate"))
    return np.array([is_good[groups == query].any() for query in np.unique(groups)])


@pytest.mark.slow
@times(2)
@given(rows=judged_rows(), risk=st.sampled_from(RISKS), per_cluster=st.sampled_from([None, 2, 3]))
def test_losses_of_units_at_every_threshold(rows, risk, per_cluster):
    y, scores, groups = rows
    (read,) = read_risks({risk: 0.3}, "answered")
    lists = RankedLists(y, scores, groups=groups)
    raw = read.steps(lists)
    n_queries = lists.index.n_queries
    clusters = None if per_cluster is None else np.arange(n_queries)[::-1] // per_cluster
    units = Units.of(lists.index, scores, clusters, None if clusters is None else "user")
    steps = units.of_risk(raw, read)
    counted = counts(risk, y, groups)
    assert raw.n_queries == counted.sum()
    own = np.arange(n_queries)[counted] if clusters is None else clusters[counted]
    _, own = np.unique(own, return_inverse=True)
    for threshold in real_thresholds(scores):
        answered = is_answered(scores, groups, threshold)[counted]
        losses = np.where(answered, rates(risk, y, scores, groups, threshold, None), 0.3)
        expected = np.bincount(own, losses) / np.bincount(own) if len(own) else losses
        np.testing.assert_allclose(steps.at(threshold), expected, atol=1e-12)
        np.testing.assert_allclose(
            units.answered(raw.counted, threshold),
            np.bincount(own, answered) / np.bincount(own) if len(own) else answered,
        )
        if not steps.is_upward:
            later = start_at(steps, threshold)
            np.testing.assert_allclose(later.start, steps.at(threshold))
            np.testing.assert_allclose(later.at(-1.0), steps.at(min(-1.0, threshold)))


class TestBounds:
    """Tests among answered queries."""

    def test_the_binomial_test_is_that_of_the_answered(self):
        bound = BinomialBound(60, 0.2, 0.9, answered=True)
        for n_answered in range(61):
            for n_bad in range(0, n_answered + 1, 3):
                losses = np.full(60, 0.2)
                losses[:n_answered] = 0
                losses[:n_bad] = 1
                p = binom.cdf(n_bad, n_answered, 0.2)
                assert bound.rules_out(losses) == (p <= 0.1)
        assert answers_needed(bound) == 11  # 0.8 ** 11 is 0.086

    @pytest.mark.parametrize("kind", [BinomialBound, BettingBound])
    def test_a_larger_loss_never_helps(self, kind):
        """The walk looks at the largest losses of many thresholds at once."""
        rng = np.random.default_rng(0)
        bound = kind(40, 0.3, 0.9, answered=True)
        n_lost = 0
        for _ in range(300):
            low = rng.choice([0, 0.3, 1], 40, p=[0.6, 0.3, 0.1])
            high = np.maximum(low, rng.choice([0, 0.3, 1], 40, p=[0.8, 0.1, 0.1]))
            assert bound.rules_out(low) or not bound.rules_out(high)
            n_lost += bound.rules_out(low) and not bound.rules_out(high)
        assert n_lost

    @pytest.mark.parametrize("share", [1.0, 0.3, 0.1])
    def test_bets_among_answers_seldom_err(self, share):
        rng = np.random.default_rng(1)
        bound = BettingBound(200, 0.2, 0.9, answered=True)
        wrong = 0
        for _ in range(400):
            losses = np.where(rng.random(200) < share, rng.beta(0.4, 1.6, 200), 0.2)
            wrong += bound.rules_out(losses)
        assert wrong <= binom.ppf(0.999, 400, 0.1)

    def test_bets_are_neither_won_nor_lost_without_an_answer(self):
        bound = BettingBound(50, 0.2, 0.9, answered=True)
        assert bound._log_capital(np.full(50, 0.2), 0.2) == pytest.approx(0, abs=1e-12)
        few = np.where(np.arange(50) < 30, 0.0, 0.2)
        assert 0 < bound._log_capital(few, 0.2) < bound._log_capital(np.zeros(50), 0.2)

    @pytest.mark.parametrize(("n_units", "n_first"), [(100, 11), (1000, 45), (60, 59)])
    def test_a_fixed_threshold_lies_between_the_ends_of_a_start(self, n_units, n_first):
        n_last = last_of_start(n_units, n_first, 0.02)
        # For some share of answers both ends err with at most half of the probability.
        shares = np.linspace(0, 1, 20001)
        too_low = binom.cdf(n_first - 1, n_units, shares)
        too_high = binom.sf(n_last - 1, n_units, shares)
        assert np.any((too_low <= 0.01) & (too_high <= 0.01))
        nearer = binom.sf(n_last - 2, n_units, shares)
        assert not np.any((too_low <= 0.01 - 1e-4) & (nearer <= 0.01 - 1e-4))


class TestAnswered:
    """CertifiedThreshold among answered queries."""

    def test_the_limit_is_where_the_first_test_fails(self, many):
        """An independent walk, threshold by threshold."""
        y, groups, scores = many
        found = certified(
            y, scores, {"any_forbidden@3": 0.2}, groups=groups, among="answered",
            confidence_level=0.9,
        )  # fmt: skip
        (risk,) = found.risks.values()
        best = np.sort([scores[groups == q].max() for q in np.unique(groups)])[::-1]
        alpha = 0.1 * 0.9
        least = next(n for n in range(1, 500) if 0.8**n <= alpha)
        n_first = max(least, min(2 * least, 500 // 8))
        assert risk.upper == best[last_of_start(500, n_first, 0.1 * 0.1) - 1]
        fails_at = []
        for query in np.unique(groups):
            own = np.flatnonzero(groups == query)
            first = own[np.argsort(-scores[own])][:3]
            fails_at.append(scores[first][y[first] < 0].max(initial=-np.inf))
        for threshold in np.unique(scores[scores <= best[n_first - 1]])[::-1]:
            n_bad, n_answered = np.sum(fails_at >= threshold), np.sum(best >= threshold)
            if binom.cdf(n_bad, n_answered, 0.2) > alpha:
                assert risk.lower == threshold
                break
        assert risk.lower < found.threshold <= risk.upper
        answered = is_answered(scores, groups, found.threshold)
        losses = rates("any_forbidden", y, scores, groups, found.threshold, 3)
        assert risk.observed == pytest.approx(losses[answered].mean())
        assert risk.n_queries == answered.sum()
        assert found.facts["share_answered"] == pytest.approx(answered.mean())
        assert risk.among == "answered"

    def test_it_hides_more_than_the_promise_over_all_queries(self, many):
        y, groups, scores = many
        given = {"groups": groups, "confidence_level": 0.9}
        of_all, answered = (
            certified(y, scores, {"any_forbidden@3": 0.15}, among=among, **given)
            for among in ("all", "answered")
        )
        assert of_all.threshold < answered.threshold
        assert of_all.facts["share_answered"] > answered.facts["share_answered"]
        assert "the share of answered queries with a forbidden document" in str(answered)
        assert "answered calibration queries it is" in str(answered)
        share = f", {100 * answered.facts['share_answered']:.1f} % answered>"
        assert repr(answered).endswith(share)
        assert "answered" not in str(of_all)

    def test_empty_lists_are_counted_over_all_queries(self, many):
        y, groups, scores = many
        risks = {"forbidden@3": 0.15, "empty_list_rate": 0.5}
        found = certified(y, scores, risks, groups=groups, among="answered")
        assert [each.among for each in found.risks.values()] == ["answered", "all"]
        empty = found.risks["empty_list_rate"]
        assert empty.observed == pytest.approx(1 - found.facts["share_answered"])
        assert "among answered queries, the forbidden share of the shown top 3 is" in str(found)
        answered = 100 * found.facts["share_answered"]
        assert f"shown for {answered:.1f} % of the queries" in str(found)
        names = ["share_answered", "share_answered_lower", "share_answered_upper"]
        assert found.to_frame()[names].iloc[0].tolist() == [found.facts[each] for each in names]

    def test_the_number_that_is_asked_for_is_enough(self):
        """If all queries are shown something good; one query less is not enough."""
        for risk in ("any_forbidden@3", "forbidden@3"):
            model = CertifiedThreshold({risk: 0.1}, among="answered", confidence_level=0.9)
            with pytest.raises(InputError, match="that can be shown something") as error:
                model.fit(np.arange(12), np.ones(12), groups=np.arange(12))
            asked = int(re.search(r"at least (\d+) calibration queries", str(error.value))[1])
            model.fit(np.arange(asked), np.ones(asked), groups=np.arange(asked))
            with pytest.raises(InputError, match=r"only 0 of 60 queries can be .* Give more"):
                model.fit(np.full(60, -np.inf), np.ones(60), groups=np.arange(60))
            less = np.arange(asked - 1)
            with pytest.raises(InputError, match=rf"only {asked - 1} of {asked - 1} queries can"):
                model.fit(less, less + 1, groups=less)

    @pytest.mark.parametrize(
        ("params", "level", "message"),
        [
            ({"among": "shown"}, 0.2, "among must be one of 'all', 'answered'"),
            ({}, 0.001, "at most 0.001 and .* needs at least"),
            (
                {"confidence_level": 0.99},
                0.0096,
                "certified at no threshold: only .* of 500 queries can be shown something, and",
            ),
            ({}, 0.02, "among answered queries is certified at no threshold: it is .* where the"),
        ],
    )
    def test_errors(self, many, params, level, message):
        y, groups, scores = many
        model = CertifiedThreshold({"any_forbidden@3": level}, **{"among": "answered"} | params)
        with pytest.raises(InputError, match=message):
            model.fit(scores, y, groups=groups)


class TestClusters:
    """Certificates whose unit is a cluster of queries."""

    def test_copies_of_queries_count_once(self, many):
        """Bets on means of equal losses are those on one of each."""
        y, groups, scores = many
        first = groups < 200
        y, groups, scores = y[first], groups[first], scores[first]
        given = {"confidence_level": 0.9}
        risks = {"forbidden@3": 0.2}
        one = CertifiedThreshold(risks, **given).fit(scores, y, groups=groups)
        users = pd.Series(np.tile(groups, 5), name="user")
        copies = np.repeat(np.arange(5), len(y)) * 1000 + users
        five = CertifiedThreshold(risks, **given).fit(
            np.tile(scores, 5), np.tile(y, 5), groups=copies, clusters=users
        )
        with pytest.warns(DataWarning, match="of 1,000 queries are exact copies of others"):
            apart = CertifiedThreshold(risks, **given).fit(
                np.tile(scores, 5), np.tile(y, 5), groups=copies
            )
        names = ("lower", "observed", "upper_bound", "n_queries")
        expected, found = (vars(m.certificate_.risks["forbidden@3"]) for m in (one, five))
        for name in names:
            assert found[name] == pytest.approx(expected[name]), name
        assert apart.certificate_.lower < five.certificate_.lower
        certificate = five.certificate_
        assert (
            certificate.facts["n_queries"],
            certificate.facts["n_units"],
            certificate.facts["unit"],
        ) == (1000, 200, "user")
        text = str(certificate)
        assert "at most 0.2 on new users" in text
        assert "on 200 calibration users it is" in text
        assert "Each user counts once, with the mean of its queries (200 users)" in text

    def test_a_cluster_counts_once_whatever_its_size(self):
        # Ten users: one of 91 bad queries, the others of one good query.
        user = np.append(np.zeros(91, dtype=int), np.arange(1, 10))
        y = np.where(user == 0, -1, 1)
        found = risk_certificate(
            y, np.ones(100), 0.5, groups=np.arange(100), risks={"any_forbidden": 0.3},
            clusters=user,
        )  # fmt: skip
        (risk,) = found.risks.values()
        assert risk.observed == pytest.approx(0.1)
        assert risk.n_queries == 10
        assert found.facts["unit"] == "cluster"

    def test_a_cluster_without_an_answer_does_not_count(self):
        user = np.repeat(np.arange(40), 2)
        scores = np.where(user < 30, 1.0, 0.0)
        scores[1:60:2] = 0.0  # one query of each of the first 30 users is answered
        y = np.where((user < 3) & (np.arange(80) % 2 == 0), -1, 1)
        found = risk_certificate(
            y, scores, 0.5, groups=np.arange(80), risks={"any_forbidden": 0.3}, clusters=user,
            among="answered",
        )  # fmt: skip
        (risk,) = found.risks.values()
        assert risk.observed == pytest.approx(0.1)
        assert risk.n_queries == 30
        assert found.facts["share_answered"] == pytest.approx(30 / 80)
        assert risk.lower_bound < 0.1 < risk.upper_bound

    def test_too_few_clusters_are_named(self, many):
        y, groups, scores = many
        users = pd.Series(groups // 50, name="tenant")
        with pytest.raises(InputError, match=r"29 calibration tenants \(tenants with .* got 10"):
            CertifiedThreshold({"any_forbidden@3": 0.1}).fit(
                scores, y, groups=groups, clusters=users
            )


class TestShareAnswered:
    """The share of queries that are shown something, and its interval."""

    def test_a_fixed_threshold(self, many):
        y, groups, scores = many
        found = risk_certificate(y, scores, 0.5, groups=groups, risks={"any_forbidden@3": 0.5})
        share = is_answered(scores, groups, 0.5).mean()
        assert found.facts["share_answered"] == pytest.approx(share)
        width = np.sqrt(np.log(40) / 1000)
        assert found.facts["share_answered_lower"] == pytest.approx(share - width)
        assert found.facts["share_answered_upper"] == pytest.approx(min(1, share + width))
        assert f"Something is shown for {100 * share:.1f} % of the queries (" in str(found)
        shown = np.mean(scores >= 0.5)
        assert found.facts["share_hidden"] == pytest.approx(1 - shown)

    @pytest.mark.slow
    @pytest.mark.parametrize("size", [1, 4])
    def test_the_band_holds_at_all_thresholds(self, size):
        rng, n, misses = np.random.default_rng(0), 60, 0
        levels = np.linspace(0, 1, 101)
        for _ in range(80):
            answer_at = np.repeat(rng.random(n), size)
            if size > 1:  # partly equal
                answer_at = np.where(rng.random(n * size) < 0.5, answer_at, rng.random(n * size))
            units = Units(answer_at, np.repeat(np.arange(n), size), None if size == 1 else "user")
            bands = [units.share_answered(level, 0.8) for level in levels]
            misses += any(not low <= 1 - at <= high for at, (_, low, high) in zip(levels, bands))
        assert misses <= binom.ppf(0.999, 80, 0.2)
        assert misses > 0 or size > 1
