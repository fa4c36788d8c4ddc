"""Risks with their levels, bounds of a mean loss, and the queries that they need."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest
from sklearn.base import clone

from all_thresholds import PLAIN, THRESHOLDS
from certificates import certified, copy_of
from skfilterrank._lists.measure import MEASURES
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import DataWarning, FitWarning, InputError
from skfilterrank.metrics import any_forbidden_at_k, register_measure
from skfilterrank.thresholds import (
    CertifiedThreshold,
    RiskMonitor,
    _risks,
    load_threshold,
    queries_needed,
    risk_certificate,
)
from skfilterrank.thresholds._risks import (
    BettingBound,
    BinomialBound,
    least_count,
    power_of_binomial_test,
)

INF = np.inf


RISKS = {
    "one rate": {"risks": {"any_forbidden@2": 0.4}},
    "a share": {"risks": {"forbidden@2": 0.4}},
    "good ones": {"risks": {"false_reject_rate": 0.9, "any_forbidden@2": 0.6}},
    "own cut-offs": {"risks": {"any_forbidden@1": 0.4, "forbidden@3": 0.5}, "measure": "ndcg_f@5"},
}


@pytest.fixture(scope="module")
def tied():
    """Rows of 150 queries of 6 documents, whose scores are whole numbers from 0 to 4."""
    rng = np.random.default_rng(0)
    y = rng.choice([-1.0, 0.0, 1.0, 2.0], 900, p=[0.3, 0.3, 0.2, 0.2])
    scores = np.clip(np.round(y + 1.5 + rng.normal(0, 1, 900)), 0, 4)
    return pd.DataFrame({"label": y, "score": scores, "qid": np.repeat(np.arange(150), 6)})


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(400, documents_per_query=8, random_state=0)


def orders_of(rows):
    """The rows with the best labels first, and with the forbidden ones first."""
    yield rows.sort_values("label", ascending=False, kind="stable")
    yield rows.sort_values("label", kind="stable")


def columns(rows):
    return {"groups": rows["qid"].to_numpy()}


def summary(certificate):
    return certificate.threshold, certificate.to_frame().fillna(-1).to_dict()


def certificates(rows, risk):
    """Collect the certificates of each way to calibrate on these rows."""
    y, scores = rows["label"].to_numpy(), rows["score"].to_numpy()
    risk = {"measure": "ndcg_f@2", "confidence_level": 0.9} | risk
    capped = CertifiedThreshold(**risk | {"max_shown": 2})
    for model in (CertifiedThreshold(**risk), capped):
        yield model.fit(scores, y, **columns(rows)).certificate_
    fixed = {name: risk[name] for name in ("risks", "confidence_level")}
    yield risk_certificate(y, scores, 1.5, **columns(rows), **fixed)


@pytest.mark.slow
@pytest.mark.parametrize("risk", RISKS.values(), ids=RISKS)
def test_the_order_of_calibration_rows_promises_nothing_more(tied, risk):
    expected = [summary(each) for each in certificates(tied, risk)]
    for rows in orders_of(tied):
        found = [summary(each) for each in certificates(rows, risk)]
        assert found == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "parameters"),
    [("tuned", {}), ("first_k", {}), ("expected", {}), ("tuned", {"min_shown": 2, "max_shown": 3})],
    ids=str,
)
def test_the_order_of_rows_does_not_change_what_fit_finds(tied, name, parameters):
    model = clone(PLAIN[name]).set_params(measure="ndcg_f@2", **parameters)
    found = []
    for rows in (tied, *orders_of(tied)):
        fitted = clone(model).fit(rows["score"], rows["label"], **columns(rows))
        places = fitted.rank(tied["score"], **columns(tied))
        found.append([fitted.best_score_, fitted.held_out_.loc["threshold", "value"], *places])
    for each in found[1:]:
        np.testing.assert_allclose(each, found[0], rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tuned", "per_query", "certified"])
def test_documents_of_equal_score_are_shown_together(tied, name):
    model = clone(THRESHOLDS[name])
    if name == "certified":
        model.set_params(risks={"any_forbidden": 0.4})
    model.fit(tied["score"], tied["label"], **columns(tied))
    shown = model.predict(tied["score"], **columns(tied)) > -INF
    assert 0 < shown.mean() < 1
    assert pd.Series(shown).groupby([tied["qid"], tied["score"]]).nunique().eq(1).all()


def test_ties_by_hand():
    # Two of three documents of one score are shown: the forbidden one and one good one, at worst.
    y, scores, groups = [1, -1, 1, 1], [0.5, 0.5, 0.5, 0.2], [0] * 4
    for risk, share in {"any_forbidden@2": 1.0, "forbidden@2": 0.5}.items():
        found = risk_certificate(y, scores, 0.4, groups=groups, risks={risk: 0.05})
        (risk,) = found.risks.values()
        assert risk.observed == share
    monitor = RiskMonitor({"forbidden@2": 0.05})
    assert monitor.update(y, scores, groups=groups).rates["observed"].tolist() == [0.5]
    # Two of three good ones are rejected then, where one is shown behind the forbidden one.
    risks = {"any_forbidden@2": 0.99, "false_reject_rate": 0.9}
    groups, y, scores = np.repeat(np.arange(50), 4), np.tile(y, 50), np.tile(scores, 50)
    y[:100] = 1
    with pytest.warns(FitWarning, match="No threshold but"):
        found = certified(y, scores, risks, groups=groups)
    assert found.risks["false_reject_rate"].observed == pytest.approx((1 / 2 + 2 / 3) / 2)


@pytest.fixture(scope="module")
def model(data):
    risk = {"risks": {"any_forbidden@3": 0.3}, "measure": "ndcg_f@3"}
    return CertifiedThreshold(**risk).fit(data.bayes_scores, data.y, groups=data.groups)


class TestNoMoreIsShownThanCovered:
    def test_every_way_to_serve(self, model, data, tmp_path):
        path = tmp_path / "filter.json"
        model.save(path)
        given = {"groups": data.groups}
        for each in (model, load_threshold(path)):
            places = each.rank(data.bayes_scores, **given)
            assert np.bincount(data.groups, places > 0).max() == 3
            assert ((each.predict(data.bayes_scores, **given) > -INF) == (places > 0)).all()
            margins = each.decision_function(data.bayes_scores, **given)
            assert ((margins >= 0) == (places > 0)).all()
        above = data.bayes_scores >= model.threshold_
        assert np.bincount(data.groups, above).max() > 3
        # The rate of all that is shown is that of the certificate.
        shown = model.predict(data.bayes_scores, **given) > -INF
        rate = (np.bincount(data.groups, shown & (data.y < 0)) > 0).mean()
        assert rate == model.certificate_.risks["any_forbidden@3"].observed

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("parameters", "most"),
        [
            ({"max_shown": 2}, 2),
            ({"max_shown": 5}, 3),
            ({"risks": {"any_forbidden@2": 0.3, "forbidden@4": 0.3}}, 2),
            ({"risks": {"any_forbidden@5": 0.3, "false_reject_rate": 0.9}}, 5),
            ({"risks": {"false_reject_rate": 0.5}}, None),
            # The measure's cut-off says which threshold is best, and hides nothing.
            ({"risks": {"any_forbidden": 0.3}, "measure": "ndcg_f@4"}, None),
        ],
        ids=str,
    )
    def test_the_smallest_cutoff_counts(self, model, data, parameters, most):
        other = clone(model).set_params(**parameters)
        other.fit(data.bayes_scores, data.y, groups=data.groups)
        for each in (other, copy_of(other)):
            places = each.rank(data.bayes_scores, groups=data.groups)
            assert each.certificate_.facts["max_shown"] == most
            assert places.max() == (8 if most is None else most)

    def test_what_stands_behind_counts_as_filtered(self, data):
        risks = {"any_forbidden@2": 0.5, "false_reject_rate": 0.9}
        model = CertifiedThreshold(risks, confidence_level=0.9)
        model.fit(data.bayes_scores, data.y, groups=data.groups)
        hidden = np.isneginf(model.predict(data.bayes_scores, groups=data.groups))
        good = data.y > 0
        n_good = np.bincount(data.groups, good)
        rate = np.bincount(data.groups, good & hidden)[n_good > 0] / n_good[n_good > 0]
        risk = model.certificate_.risks["false_reject_rate"]
        assert risk.observed == pytest.approx(rate.mean())
        model.set_params(risks={"any_forbidden@1": 0.5, "false_reject_rate": 0.1})
        with pytest.raises(InputError, match=r"it is 0\.8.*those after the first 1 of a"):
            model.fit(data.bayes_scores, data.y, groups=data.groups)

    def test_a_fixed_threshold(self, data):
        given = {"groups": data.groups, "risks": {"any_forbidden@3": 0.05}}
        more = risk_certificate(data.y, data.bayes_scores, 0.2, confidence_level=0.9, **given)
        assert more.facts["max_shown"] == 3
        assert "covers the first 3 documents alone" in str(more)
        fewer = risk_certificate(data.y, data.bayes_scores, 5.0, confidence_level=0.9, **given)
        assert fewer.facts["max_shown"] == 3
        assert "covers lists that show at most 3 documents" in str(fewer)


def test_lists_of_other_sizes_end_a_promise():
    tens = make_rank_and_filter(100, documents_per_query=10, random_state=0)
    model = CertifiedThreshold({"any_forbidden": 0.4}, confidence_level=0.9)
    model.fit(tens.bayes_scores, tens.y, groups=tens.groups)
    short = np.repeat(np.arange(100), 2)
    with pytest.warns(DataWarning, match=r"need not hold for such lists: (?!.*ExpectedThreshold)"):
        model.predict(tens.bayes_scores[:200], groups=short)


# Lists drawn at random often hold nothing that a risk could be broken by.
pytestmark = pytest.mark.filterwarnings("ignore:The risk .* is 0 on all calibration queries")


class TestBinomialBound:
    @pytest.mark.slow
    @pytest.mark.parametrize("n", [1, 45])
    @pytest.mark.parametrize("level", [0.02, 0.3, 0.9])
    @pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
    def test_is_the_exact_test_of_scipy(self, n, level, confidence):
        bound = BinomialBound(n, level, confidence)
        for n_bad in {0, 1, n // 4, n // 2, n - 1, n}:
            losses = np.arange(n) < n_bad
            p_value = binomtest(n_bad, n, level, alternative="less").pvalue
            assert bound.rules_out(losses) == (p_value <= 1 - confidence)
            # A two-sided interval leaves out half the error on each side.
            interval = binomtest(n_bad, n).proportion_ci(2 * confidence - 1) if n_bad < n else None
            upper = interval.high if interval else 1.0
            if confidence > 0.5:
                assert bound.upper(losses) == pytest.approx(upper)
            assert bound.rules_out(losses) == (bound.upper(losses) <= level)


class TestBettingBound:
    def capital(self, losses, level, confidence):
        """The highest capital on the way, bet by bet and loss by loss."""
        n = len(losses)
        capitals, highest = [1 / 3, 1 / 3, 1 / 3], 1.0
        for i in range(n):
            for j, share in enumerate((1, 1 / 2, 1 / 4)):
                bet = math.sqrt(
                    2 * math.log(1 / (1 - confidence)) / (n * level * (1 - level) * share)
                )
                capitals[j] *= 1 + min(bet, 1 / (1 - level)) * (level - losses[i])
            highest = max(highest, sum(capitals))
        return highest

    @pytest.mark.slow
    @pytest.mark.parametrize("level", [0.05, 0.2, 0.7])
    @pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
    def test_is_the_highest_capital(self, level, confidence):
        rng = np.random.default_rng(0)
        outcomes = set()
        for n in (5, 30, 200):
            bound = BettingBound(n, level, confidence)
            for share in (0, 0.2, 0.5, 1):
                losses = rng.binomial(3, level * share, size=n) / 3
                expected = self.capital(losses, level, confidence)
                assert np.exp(bound._log_capital(losses, level)) == pytest.approx(expected)
                wins = expected >= 1 / (1 - confidence) - 1e-9
                assert bound.rules_out(losses) == (wins and losses.mean() <= level)
                outcomes.add(bound.rules_out(losses))
        assert outcomes == {True, False}

    @given(
        losses=st.lists(st.floats(0, 1), min_size=1, max_size=60),
        level=st.sampled_from([0.05, 0.3, 0.8]),
        seed=st.integers(0, 10),
    )
    def test_larger_losses_never_make_more_capital(self, losses, level, seed):
        # What allows to test a stretch of thresholds at once.
        losses = np.array(losses)
        rng = np.random.default_rng(seed)
        larger = losses + (1 - losses) * rng.uniform(size=len(losses)) * rng.integers(0, 2)
        bound = BettingBound(len(losses), level, 0.9)
        slack = 1e-9
        assert bound._log_capital(larger, level) <= bound._log_capital(losses, level) + slack
        assert bound.upper(larger) >= bound.upper(losses) - slack

    @pytest.mark.parametrize("n", [60, 500])
    def test_upper_is_the_smallest_level_ruled_out(self, n):
        losses = np.random.default_rng(1).binomial(3, 0.05, size=n) / 3
        bound = BettingBound(n, 0.1, 0.9)
        upper = bound.upper(losses)
        goal = math.log(10)
        assert losses.mean() < upper < 1
        assert (
            bound._log_capital(losses, upper + 1e-6)
            >= goal
            > bound._log_capital(losses, upper - 1e-6)
        )
        assert bound.rules_out(losses) == (upper <= 0.1)
        assert bound.upper(np.ones(n)) == 1.0

    def test_capital_that_is_lost_again_does_not_count(self):
        # The first losses of the order are 0 and win, the others are 1.
        bound = BettingBound(100, 0.1, 0.9)
        losses = np.ones(100)
        losses[:60] = 0
        assert bound._log_capital(losses, 0.1) >= math.log(10)
        assert not bound.rules_out(losses)
        assert bound.upper(losses) == losses.mean() == 0.4

    def test_a_mean_at_the_level_is_ruled_out_where_the_losses_come_last(self):
        # 20 losses of 0 come first in the order, then 20 of 1.
        bound = BettingBound(40, 0.5, 0.9)
        losses = np.ones(40)
        losses[:20] = 0
        assert bound.rules_out(losses)
        losses[20:22] = [0.5, 1.0]
        assert bound.rules_out(losses)
        losses[19] = 0.51
        assert not bound.rules_out(losses)

    def test_one_query_that_shows_no_failure(self):
        # It may win all: 1 + bet * level is 1 / (1 - level), as for a bet of 1 / (1 - level).
        # Level 0.03 allows bets of sqrt(2 log(10) / (0.03 * 0.97)) = 12.6 and above.
        assert BettingBound(1, 0.03, 0.9).upper(np.zeros(1)) == pytest.approx(0.9)

    def test_losing_all_is_no_error(self):
        for level in np.arange(1, 100) / 100:
            bound = BettingBound(2, level, 0.9)
            assert not bound.rules_out(np.ones(2)), level
            assert bound.upper(np.ones(2)) == 1, level
            assert bound._log_capital(np.ones(2), level) == 0, level

    @pytest.mark.parametrize("level", [0.05, 0.3])
    @pytest.mark.parametrize("confidence", [0.8, 0.95])
    def test_the_least_number_of_queries_is_found(self, level, confidence):
        def fits_with(n):
            return BettingBound(n, level, confidence).rules_out(np.zeros(n))

        needed = least_count(fits_with)
        fits = [fits_with(n) for n in range(2 * needed)]
        assert fits.index(True) == needed
        assert all(fits[needed:])


@pytest.mark.parametrize("make", [BinomialBound, BettingBound])
@pytest.mark.parametrize("answered", [False, True])
def test_rows_of_losses_are_tested_as_each_alone(make, answered):
    rng = np.random.default_rng(0)
    losses = (rng.random((60, 80)) < np.linspace(0, 0.3, 60)[:, np.newaxis]).astype(np.float64)
    if answered:
        losses[rng.random(losses.shape) < 0.5] = 0.2
    bound = make(80, 0.2, 0.9, answered=answered)
    each = [bool(bound.rules_out(row)) for row in losses]
    assert bound.rules_out(losses).tolist() == each
    assert 0 < sum(each) < 60
    nobody = np.full((2, 80), 0.2)
    assert not answered or bound.rules_out(nobody).tolist() == [False, False]


def test_bets_are_tested_by_their_mean():
    rng = np.random.default_rng(1)
    bound = BettingBound(80, 0.2, 0.9)
    losses = (rng.random((300, 80)) < 0.12).astype(np.float64)
    capitals = np.exp(bound._log_paths(losses, 0.2))
    expected = (capitals.mean(axis=0).max(axis=-1) >= 10) & (losses.mean(axis=-1) <= 0.2)
    assert bound.rules_out(losses).tolist() == expected.tolist()
    assert (capitals.max(axis=(0, -1)) / 3 >= 10).sum() < expected.sum() < 300


def test_the_binomial_test_reaches_the_power():
    n = queries_needed(0.1, 0.06, confidence_level=0.9)
    allowed = np.flatnonzero(binom.cdf(np.arange(n + 1), n, 0.1) <= 0.1).max()
    assert binom.cdf(allowed, n, 0.06) >= 0.8


@pytest.mark.parametrize("expected", [0.06, 0.084])  # above 1,000 queries
def test_fewer_queries_do_not(expected):
    n = queries_needed(0.1, expected, confidence_level=0.9, power=0.7)
    assert (n > 1000) == (expected > 0.06)
    powers = power_of_binomial_test(np.arange(1, n + 1), 0.1, 0.9, expected)
    assert np.flatnonzero(powers >= 0.7).tolist() == [n - 1]


@pytest.mark.nightly
def test_bets_reach_the_power():
    n = queries_needed(0.2, 0.12, confidence_level=0.9, is_binary=False)
    bound, rng = BettingBound(n, 0.2, 0.9), np.random.default_rng(1)
    found = [bound.rules_out((rng.random(n) < 0.12) * 1.0) for _ in range(1000)]
    assert np.mean(found) == pytest.approx(0.8, abs=0.06)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"expected_risk": 0.1}, "expected_risk must be at least 0 and below"),
        ({"expected_risk": 0.09}, "more than 2,000 queries are needed"),
        ({"is_binary": "no"}, "is_binary must be True or False"),
    ],
)
def test_numbers_that_cannot_be_planned(given, message, monkeypatch):
    monkeypatch.setattr(_risks, "_MOST", 2000)
    with pytest.raises(InputError, match=message):
        queries_needed(**{"max_risk": 0.1, "expected_risk": 0.05} | given)


@pytest.fixture
def registered():
    before = set(MEASURES)
    facts = {"value_range": (0, 1), "greater_is_better": False}
    yield lambda function, **more: register_measure("bad_one", function, **facts | more)
    for name in set(MEASURES) - before:
        del MEASURES[name]


def any_bad_of_one(y_true, y_score, k=None):
    return float((y_true[:k] < 0).any())


def any_bad_of_block(block, k):
    return any_forbidden_at_k.kernel(block, k)


class TestDeclaredLosses:
    """What is declared on a measure decides the test of its risk, and not its name."""

    rng = np.random.default_rng(0)
    rows = rng.choice([-1, 1, 1, 1, 1], 300), rng.random(300)
    given = {"groups": np.repeat(np.arange(100), 3)}  # noqa: RUF012

    def bound(self, risk):
        found = risk_certificate(*self.rows, 0.5, risks={risk: 0.4}, **self.given)
        return found.to_frame().reset_index(drop=True)

    @pytest.mark.parametrize("function", [any_bad_of_one, any_bad_of_block])
    def test_another_name_gets_the_same_test(self, registered, function):
        registered(function, zero_or_one=True, reads="shown")
        pd.testing.assert_frame_equal(self.bound("any_forbidden@2"), self.bound("bad_one@2"))

    def test_undeclared_losses_get_bets(self, registered):
        registered(any_bad_of_one)
        exact, bets = self.bound("any_forbidden@2"), self.bound("bad_one@2")
        assert exact["observed"][0] == bets["observed"][0]
        assert exact["upper_bound"][0] < bets["upper_bound"][0]

    def test_declared_losses_must_be_0_or_1(self, registered):
        registered(lambda y_true, y_score: float(np.any(y_true < 0)) / 2, zero_or_one=True)
        with pytest.raises(InputError, match="bad_one is registered with zero_or_one=True"):
            self.bound("bad_one")
