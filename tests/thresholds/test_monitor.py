"""Monitors: an alarm and an interval that hold at any time, and states that are resumed."""

import itertools
import math
import warnings
from datetime import date
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from certificates import own_loss
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import DataWarning, InputError
from skfilterrank.ranking import RankAndFilter
from skfilterrank.thresholds import CertifiedThreshold, RiskMonitor, TunedThreshold, load_threshold
from skfilterrank.thresholds._watched import BETS


def stream(rng, n, rate):
    """One document a query, forbidden at a rate."""
    return np.where(rng.random(n) < rate, -1.0, 1.0), np.ones(n), np.arange(n)


def watch(monitor, y_true, y_score, groups, **params):
    return monitor.update(y_true, y_score, groups=groups, **params)


def sum_of_labels(y_true, y_score):
    return float(y_true.sum())


loss_of_label = own_loss(sum_of_labels, zero_or_one=False)


def test_the_capital_is_that_of_bets_that_start_at_each_query():
    losses = [0, 1, 0, 0.5, 0, 1, 1, 1 / 3]
    capital = [0.0] * len(BETS)
    highest = 1.0
    for loss in losses:
        for i, bet in enumerate(BETS):
            capital[i] = (capital[i] + 1) * (1 + bet / 0.1 * (loss - 0.1))
        highest = max(highest, sum(capital) / len(capital))

    monitor = RiskMonitor({loss_of_label: 0.1}, confidence_level=1 - 1e-9)
    watch(monitor, losses[:3], np.ones(3), np.arange(3))
    status = watch(monitor, losses[3:], np.ones(5), 3 + np.arange(5))
    rate = status.rates.iloc[0]
    assert rate["evidence"] == pytest.approx(highest)
    assert rate["observed"] == pytest.approx(np.mean(losses))
    assert rate["n_queries"] == 8


def restarting(losses, level, n_wanted):
    """Number of the first query at which the Shiryaev-Roberts statistic is high enough, or None."""
    statistic = [0.0] * 24
    for number, loss in enumerate(losses, 1):
        for i in range(24):
            bet = 0.01 * 98 ** (i / 23)
            statistic[i] = (statistic[i] + 1) * (1 + bet * (loss / level - 1))
        if sum(statistic) / 24 >= n_wanted:
            return number
    return None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("n_wanted", [20, 500])
def test_the_alarm_on_average_is_that_of_shiryaev_and_roberts(seed, n_wanted):
    rng = np.random.default_rng(seed)
    losses = np.concatenate([rng.binomial(3, 0.03, 150), rng.binomial(3, 0.2, 60)]) / 3
    found = after(losses, queries_per_false_alarm=n_wanted)["alarm_at"]
    assert found == restarting(losses.tolist(), 0.1, n_wanted)


def test_the_statistic_of_each_path_is_the_number_of_queries_on_average():
    """At exactly the level, so that a stop at N is after N queries or more on average."""
    mean, level = 0.0, 0.1
    for path in itertools.product([0.0, 1.0], repeat=7):
        watched = RiskMonitor({"any_forbidden": level}, queries_per_false_alarm=9)._watched[0]
        watched = watched.after(np.array(path), np.inf)
        chance = level ** sum(path) * (1 - level) ** (7 - sum(path))
        mean += chance * np.exp(watched.log_capital).mean()
    assert mean == pytest.approx(7, abs=1e-9)


FIVE = [1.0, 0.0, 1.0, 1 / 3, 1.0]


def after(losses, **params):
    """The only rate of a monitor after some losses."""
    monitor = RiskMonitor({loss_of_label: 0.1}, **params)
    return watch(monitor, losses, np.ones(len(losses)), np.arange(len(losses))).rates.iloc[0]


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_the_interval_after_one_query_by_hand(alpha):
    """A loss of 1 multiplies the capital at a level by 1 + bet * (1 / level - 1), which is linear
    in the bet, so that the mean bet tells the level at which it is 2 / alpha."""
    bet = sum(0.01 * 98 ** (i / 23) for i in range(24)) / 24
    level = bet / (2 / alpha - 1 + bet)
    bad, good = after([1.0], confidence_level=1 - alpha), after([0.0], confidence_level=1 - alpha)
    assert (bad["lower"], bad["upper"]) == (pytest.approx(level), 1.0)
    assert (good["lower"], good["upper"]) == (0.0, pytest.approx(1 - level))


@pytest.mark.parametrize("alpha", [0.05, 0.4])
def test_the_interval_after_five_queries_by_enumeration(alpha):
    """At its ends one of the two mixtures of bets has won 2 / alpha."""

    def capital(losses, level):
        bets = [0.01 * 98 ** (i / 23) for i in range(24)]
        return sum(math.prod(1 + b * (x / level - 1) for x in losses) for b in bets) / 24

    rate = after(FIVE, confidence_level=1 - alpha)
    assert capital(FIVE, rate["lower"]) == pytest.approx(2 / alpha)
    rest = [1 - loss for loss in FIVE]
    assert capital(rest, 1 - rate["upper"]) == pytest.approx(2 / alpha)
    assert 0 < rate["lower"] < np.mean(FIVE) < rate["upper"] < 1


@pytest.mark.slow
@given(cuts=st.lists(st.integers(1, 199), max_size=5, unique=True))
def test_batches_do_not_matter(cuts):
    y_true, y_score, _ = stream(np.random.default_rng(1), 200, 0.2)
    whole = RiskMonitor({"forbidden": 0.1}, queries_per_false_alarm=300)
    watch(whole, y_true, y_score, np.arange(200))
    parts = RiskMonitor({"forbidden": 0.1}, queries_per_false_alarm=300)
    for rows in np.split(np.arange(200), sorted(cuts)):
        watch(parts, y_true[rows], y_score[rows], rows)
    pd.testing.assert_frame_equal(whole.status.rates, parts.status.rates)


def test_queries_count_in_the_order_in_which_they_come():
    y_true = np.concatenate([np.ones(100), -np.ones(30)])
    ids = np.array([f"{i:03}" for i in range(130)])
    forward = RiskMonitor({"any_forbidden": 0.1})
    watch(forward, y_true, np.ones(130), ids)
    # Ids that would sort the forbidden ones first.
    backward = RiskMonitor({"any_forbidden": 0.1})
    watch(backward, y_true, np.ones(130), ids[::-1])
    assert forward.status.rates.equals(backward.status.rates)
    assert forward.status.rates["alarm_at"].iloc[0] > 100


def test_thresholds_and_filtered_scores_are_the_same():
    rng = np.random.default_rng(0)
    y_true, y_score, groups = stream(rng, 100, 0.3)
    y_score = rng.random(100)
    one, two = (RiskMonitor({"any_forbidden": 0.1}) for _ in range(2))
    watch(one, y_true, y_score, groups, threshold=0.5)
    watch(two, y_true, np.where(y_score >= 0.5, y_score, -np.inf), groups)
    assert one.status.rates.equals(two.status.rates)
    assert 0 < one.status.rates["observed"].iloc[0] < 0.3


def test_several_rates_share_the_chance_of_a_false_alarm():
    rng = np.random.default_rng(0)
    risks = {"any_forbidden": 0.1, "false_reject_rate": 0.5}
    monitor = RiskMonitor(risks, confidence_level=0.9, queries_per_false_alarm=500)
    alone = RiskMonitor({"any_forbidden": 0.1}, confidence_level=0.95, queries_per_false_alarm=1000)
    rows = stream(rng, 300, 0.25)
    status = watch(monitor, *rows)
    assert status.rates.loc["any_forbidden"].equals(watch(alone, *rows).rates.loc["any_forbidden"])
    assert str(status).count("\n") == 1
    alarm_at = int(status.rates["alarm_at"].iloc[0])
    alarm = f"Alarm after {alarm_at} queries: the share of queries with a forbidden document"
    assert alarm in str(status)
    assert "No alarm: the share of a query's good documents" in str(status)
    assert status.alarm


def test_after_an_alarm_it_can_begin_anew():
    monitor = RiskMonitor({"any_forbidden": 0.1}, queries_per_false_alarm=100)
    status = watch(monitor, -np.ones(20), np.ones(20), np.arange(20))
    assert "Judge the newest queries, fit a CertifiedThreshold" in status.advice
    assert status.advice in str(status)
    monitor.reset()
    new = RiskMonitor({"any_forbidden": 0.1}, queries_per_false_alarm=100)
    pd.testing.assert_frame_equal(monitor.status.rates, new.status.rates)
    with pytest.raises(ValueError, match="counted already: '0'"):
        watch(monitor, [1], [1], [0])
    rows = np.tile([1.0, 1.0, -1.0], 5), np.ones(15), 20 + np.arange(15)
    assert watch(monitor, *rows).rates.equals(watch(new, *rows).rates)


def test_before_the_first_query():
    status = RiskMonitor({"any_forbidden": 0.1}).status
    assert not status.alarm
    rate = status.rates.iloc[0]
    assert (rate["lower"], rate["upper"], rate["n_queries"]) == (0, 1, 0)
    assert math.isnan(rate["observed"])
    text = "No alarm: no query has been counted yet; the share of queries with a forbidden document"
    assert str(status).startswith(text)
    answered = RiskMonitor({"forbidden@3": 0.1}, among="answered").status
    said = "yet; among answered queries, the forbidden share of the shown top 3 may be at most 0.1."
    assert said in str(answered)
    assert "nan" not in str(status)
    assert "after 0 queries" in repr(status)


def test_a_query_that_was_not_judged_may_come_again_when_it_is():
    monitor = RiskMonitor({"any_forbidden": 0.05})
    with pytest.warns(DataWarning, match=r"1 of 2 queries is left out of any_forbidden: no doc"):
        watch(monitor, [np.nan, 1], [1, 2], ["a", "b"])
    # Of two queries that show something one was judged, and of two that show nothing one counts.
    with pytest.warns(DataWarning, match="1 of 2 queries is left out"):
        rates = watch(monitor, [np.nan, np.nan], [-np.inf] * 2, ["d", "e"]).rates
    assert rates[["n_queries", "n_left_out"]].to_numpy().tolist() == [[2, 2]]
    assert "Left out without labels: 2 queries." in str(monitor.status)
    with pytest.warns(DataWarning, match=r"1 of 2 queries is left out"):
        rates = watch(monitor, [1, np.nan], [1, 2], ["a", "c"]).rates
    assert rates["n_queries"].tolist() == [3]
    with pytest.raises(ValueError, match=r"counted already: 'a'\. Pass"):
        watch(monitor, [np.nan, 1], [1, 2], ["a", "c"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([1, 2], [1.0, 2.0]),
        ([1, 2], ["1", "2"]),
        ([True, False], np.array(["False", "True"])),
        ([date(2024, 1, 31)], np.array(["2024-01-31"], dtype="datetime64[ns]")),
        ([date(2024, 1, 31)], ["2024-01-31"]),
        (pd.to_datetime(["2024-01-31 12:00:01"]), ["2024-01-31 12:00:01"]),
        (pd.to_datetime(["2024-01-31 12:00+01:00"]), pd.to_datetime(["2024-01-31 11:00Z"])),
        (np.array(["20000-01-31"], dtype="datetime64[s]"), ["20000-01-31"]),
        (pd.to_timedelta([1], unit="s"), np.array([1000], dtype="timedelta64[ms]")),
    ],
)
def test_equal_ids_of_other_types_are_counted_once(one, other):
    for first, second in ((one, other), (other, one)):
        monitor = RiskMonitor({"any_forbidden": 0.05})
        n = len(first)
        watch(monitor, np.ones(n), np.ones(n), first)
        with pytest.raises(ValueError, match="counted already"):
            watch(monitor, np.ones(n), np.ones(n), second)


def test_a_warning_that_is_an_error_counts_nothing():
    monitor = RiskMonitor({"any_forbidden": 0.05})
    rows = ([1, np.nan], [2, 3], ["a", "a"])
    with (
        warnings.catch_warnings(action="error", category=DataWarning),
        pytest.raises(DataWarning, match="unjudged"),
    ):
        watch(monitor, *rows)
    with pytest.warns(DataWarning, match="unjudged"):
        assert watch(monitor, *rows).rates["n_queries"].tolist() == [1]


def test_a_rate_that_looks_at_no_label_needs_none():
    scores, queries = [1, 2, -np.inf, -np.inf], ["a", "a", "b", "c"]
    monitor = RiskMonitor({"empty_list_rate": 0.5})
    rate = watch(monitor, [np.nan] * 4, scores, queries).rates.iloc[0]
    assert (rate["observed"], rate["n_queries"]) == (2 / 3, 3)
    with pytest.raises(ValueError, match="counted already: 'a', 'b', 'c'"):
        watch(monitor, [np.nan] * 4, scores, queries)
    # With one that does, both count a query that shows nothing.
    both = RiskMonitor({"empty_list_rate": 0.5, "any_forbidden": 0.5})
    assert watch(both, [1, 1, np.nan, 1], scores, queries).rates["n_queries"].tolist() == [3, 3]


def test_nothing_is_counted_when_an_update_fails():
    monitor = RiskMonitor({"any_forbidden": 0.1, "forbidden@3": 0.1})
    with pytest.raises(ValueError, match="y_score has 3 entries"):
        monitor.update([1, -1], [1, 2, 3], groups=["a", "b"])
    with pytest.raises(ValueError, match="y_true is empty"):
        monitor.update([], [], groups=[])
    with pytest.raises(ValueError, match="threshold must be a number or None"):
        monitor.update([1], [1], groups=["a"], threshold="x")
    assert monitor.status.rates["n_queries"].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"risks": {"ndcg": 0.1}}, "risks must name"),
        ({"risks": {"any_forbidden": 0}}, "must be a number between 0 and 1"),
        ({"risks": "any_forbidden"}, "risks must be a dict"),
        ({"confidence_level": 1}, "confidence_level must be a number between 0 and 1"),
        ({"gains": 3}, "gains must be None"),
        ({"queries_per_false_alarm": 0}, "queries_per_false_alarm must be a whole number"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        RiskMonitor(**({"risks": {"any_forbidden": 0.1}} | params))


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(n_queries=200, random_state=0)


@pytest.fixture(scope="module")
def safe(data):
    risks = {"any_forbidden@3": 0.2, "false_reject_rate": 0.7}
    safe = CertifiedThreshold(risks, gains={-1: -1, 0: 0, 1: 1, 2: 2})
    return safe.fit(data.bayes_scores, data.y, groups=data.groups)


class TestOfAThreshold:
    def test_has_its_risks_and_gains(self, data, safe):
        monitor = RiskMonitor(safe, confidence_level=0.99)
        assert monitor.levels == {"any_forbidden@3": 0.2, "false_reject_rate": 0.7}
        assert monitor.gains == safe.gains
        shown = safe.predict(data.bayes_scores, data.groups)
        rates = monitor.update(data.y, shown, groups=data.groups).rates
        for name, risk in safe.certificate_.risks.items():
            assert rates.loc[name, "observed"] == pytest.approx(risk.observed)

    def test_watches_this_threshold_alone(self, data, safe, tmp_path):
        monitor = RiskMonitor(safe)
        safe.save(tmp_path / "threshold.json")
        monitor.save(tmp_path / "monitor.json")
        loaded = RiskMonitor.load(tmp_path / "monitor.json")
        for each in (monitor, loaded):
            assert each.watches(safe)
            assert each.watches(load_threshold(tmp_path / "threshold.json"))
        other = clone(safe).set_params(confidence_level=0.9)
        assert not loaded.watches(other.fit(data.bayes_scores, data.y, groups=data.groups))
        assert not RiskMonitor({"any_forbidden": 0.1}).watches(safe)

    def test_takes_a_model_with_one(self, data):
        model = RankAndFilter(LogisticRegression(), CertifiedThreshold({"any_forbidden": 0.4}))
        with pytest.raises(NotFittedError):
            RiskMonitor(model)
        model.fit(data.X, data.y, groups=data.groups)
        monitor = RiskMonitor(model)
        assert monitor.levels == {"any_forbidden": 0.4}
        assert monitor.watches(model)
        assert monitor.watches(model.filter_)

    def test_bad_thresholds(self, data, safe):
        tuned = TunedThreshold().fit(data.bayes_scores, data.y, groups=data.groups)
        with pytest.raises(InputError, match="got TunedThreshold, which has none"):
            RiskMonitor(tuned)
        with pytest.raises(InputError, match="risks must be a dict of risks with their levels"):
            RiskMonitor(3)
        with pytest.raises(InputError, match="must be a fitted CertifiedThreshold, or a Rank"):
            RiskMonitor(LogisticRegression().fit([[0], [1]], [0, 1]))
        with pytest.raises(InputError, match=r"gains must be that of the threshold, \{-1: -1"):
            RiskMonitor(safe, gains={-1: 0, 0: 0, 1: 1, 2: 2})
        with pytest.raises(NotFittedError, match=r"CertifiedThreshold is not fitted\. Call fit"):
            RiskMonitor(clone(safe))


class TestFiles:
    def monitor(self):
        monitor = RiskMonitor(
            {"any_forbidden@2": 0.1, "false_reject_rate": 0.3},
            gains={"bad": -1, "good": 1, np.int64(3): 2},
            confidence_level=0.99,
            queries_per_false_alarm=40,
        )
        monitor.update(["bad", "good"] * 9, np.arange(18), groups=np.arange(18) // 3, threshold=2)
        return monitor

    def test_resumed_as_if_never_stopped(self, tmp_path):
        whole = self.monitor()
        self.monitor().save(tmp_path / "monitor.json")
        resumed = RiskMonitor.load(tmp_path / "monitor.json")
        assert resumed.status.rates.equals(whole.status.rates)
        assert str(resumed.status) == str(whole.status)
        for monitor in (whole, resumed):
            monitor.update(["bad"] * 50, np.ones(50), groups=10 + np.arange(50))
            with pytest.raises(ValueError, match="counted already: '0', '10'"):
                monitor.update(["good"] * 2, np.ones(2), groups=[0, 10])
        assert resumed.status.rates.equals(whole.status.rates)
        assert resumed.status.alarm

    def test_a_file_that_another_process_wrote_is_not_written_over(self, tmp_path):
        path = tmp_path / "monitor.json"
        self.monitor().save(path)
        one, other = RiskMonitor.load(path), RiskMonitor.load(path)
        one.update(["bad"], [9], groups=["new"])
        one.save(path)
        text = path.read_text()
        with pytest.raises(ValueError, match="has changed since this monitor was loaded"):
            other.save(path)
        assert path.read_text() == text
        one.save(path)
        other.save(tmp_path / "other.json")

    def test_functions_cannot_be_saved(self, tmp_path):
        path = tmp_path / "monitor.json"
        with pytest.raises(ValueError, match="gains of monitor is a function"):
            RiskMonitor({"forbidden": 0.05}, gains=abs).save(path)
        assert not path.exists()


class TestAmongAnsweredQueries:
    """Queries that are shown nothing count neither for nor against the threshold."""

    RISKS: ClassVar = {"any_forbidden": 0.2, "empty_list_rate": 0.9}
    LABELS = np.where(np.arange(60) % 4 == 0, -1, 1)
    SHOWN = np.arange(60) % 3 > 0
    SCORES = np.where(SHOWN, 1.0, -np.inf)

    def test_counts_the_losses_of_answered_queries(self):
        monitor = RiskMonitor(self.RISKS, among="answered")
        rates = monitor.update(self.LABELS, self.SCORES, groups=np.arange(60)).rates
        alone = RiskMonitor({"any_forbidden": 0.2}, confidence_level=0.975)
        shown = self.SHOWN
        expected = alone.update(
            self.LABELS[shown], self.SCORES[shown], groups=np.flatnonzero(shown)
        )
        columns = ["n_queries", "observed", "lower", "upper", "evidence"]
        for column in columns:
            assert rates.loc["any_forbidden", column] == pytest.approx(
                expected.rates.loc["any_forbidden", column]
            )
        assert rates.loc["empty_list_rate", "n_queries"] == 60
        assert "the share of answered queries with" in str(monitor.status)

    def test_is_that_of_the_threshold_and_of_its_file(self, tmp_path):
        _, y, groups, scores = make_rank_and_filter(400, random_state=0)
        safe = CertifiedThreshold({"any_forbidden@3": 0.3}, among="answered")
        monitor = RiskMonitor(safe.fit(scores, y, groups=groups))
        assert monitor.among == "answered"
        monitor.save(tmp_path / "monitor.json")
        assert RiskMonitor.load(tmp_path / "monitor.json").among == "answered"
        with pytest.raises(InputError, match="among must be that of the threshold, 'answered'"):
            RiskMonitor(safe, among="all")

    @pytest.mark.slow
    @pytest.mark.parametrize("order", [1, -1])
    def test_one_risk_among_the_answered_is_enough(self, order):
        _, y, groups, scores = make_rank_and_filter(400, random_state=0)
        risks = [("any_forbidden@3", 0.4), ("empty_list_rate", 0.6)][::order]
        safe = CertifiedThreshold(dict(risks), among="answered").fit(scores, y, groups=groups)
        assert safe.certificate_.among == RiskMonitor(safe).among == "answered"


@pytest.mark.slow
class TestOfFit:
    """Parameters that were set after the fit are not those of the certificate."""

    @pytest.mark.parametrize(
        ("changed", "facts"),
        [
            ({"among": "answered"}, {"among": "all"}),
            ({"gains": {-1: 1.0, 0: -1.0, 1: 1.0}}, {"gains": None}),
            ({"confidence_level": 0.5}, {"confidence_level": 0.9}),
            ({"risks": {"any_forbidden": 0.9}}, {"levels": {"any_forbidden@3": 0.5}}),
        ],
    )
    @pytest.mark.parametrize("is_loaded", [False, True])
    def test_the_facts_are_those_of_the_fit(self, changed, facts, is_loaded, tmp_path):
        _, y, groups, scores = make_rank_and_filter(100, random_state=0)
        safe = CertifiedThreshold({"any_forbidden@3": 0.5}, confidence_level=0.9)
        safe.fit(scores, y, groups=groups).set_params(**changed)
        if is_loaded:
            safe.save(tmp_path / "safe.json")
            safe = load_threshold(tmp_path / "safe.json")
        monitor = RiskMonitor(safe)
        assert {name: getattr(monitor, name) for name in facts} == facts
        for name in facts.keys() & {"among", "gains"}:
            if changed[name] is not None:
                with pytest.raises(InputError, match=f"{name} must be th.* of the threshold"):
                    RiskMonitor(safe, **changed)


@pytest.mark.parametrize("name", ["y_score", "groups", "clusters"])
def test_rows_in_another_order(name):
    monitor, y = RiskMonitor({"any_forbidden": 0.1}), pd.Series([1, -1])
    given = {"y_score": [1, 2], "groups": [3, 4], "clusters": [5, 6]}
    given[name] = pd.Series(given[name])[::-1]
    with pytest.raises(InputError, match=f"{name} and y_true have the same index in another"):
        monitor.update(y, **given)


class TestClusters:
    def test_the_loss_of_a_cluster_is_the_mean_of_its_queries(self):
        rng = np.random.default_rng(0)
        losses, user = rng.integers(0, 2, 60), rng.integers(0, 15, 60)
        places = list(dict.fromkeys(user.tolist()))
        means = [losses[user == each].mean() for each in places]
        monitor = RiskMonitor({loss_of_label: 0.1})
        column = pd.Series(user, name="user")
        status = monitor.update(losses, np.ones(60), groups=np.arange(60), clusters=column)
        alone = RiskMonitor({loss_of_label: 0.1})
        expected = watch(alone, means, np.ones(len(means)), places)
        pd.testing.assert_frame_equal(status.rates, expected.rates, rtol=1e-12)
        assert f"on {len(means)} users" in str(status)
        assert "Each user counts once, with the mean of its queries." in str(status)
        assert f"after {len(means)} users" in repr(status)

    @pytest.mark.parametrize("among", ["all", "answered"])
    def test_of_a_certificate_that_counts_them(self, data, among):
        """On the calibration queries it sees what the certificate saw."""
        users = pd.Series(data.groups // 3, name="user")
        safe = CertifiedThreshold({"any_forbidden@3": 0.5}, among=among)
        safe.fit(data.bayes_scores, data.y, groups=data.groups, clusters=users)
        monitor = RiskMonitor(safe, queries_per_false_alarm=500)
        with pytest.raises(InputError, match="clusters is missing: this monitor counts each user"):
            monitor.update(data.y, data.bayes_scores, groups=data.groups)
        given = {"groups": data.groups, "clusters": users.rename("team")}
        with pytest.raises(InputError, match=r"clusters must be the user .* got a column 'team'"):
            monitor.update(data.y, data.bayes_scores, **given)
        given = {"groups": data.groups, "clusters": users.to_numpy()}
        status = monitor.update(data.y, data.bayes_scores, **given)
        rate, risk = status.rates.iloc[0], safe.certificate_.risks["any_forbidden@3"]
        assert rate["observed"] == pytest.approx(risk.observed)
        assert rate["n_queries"] == risk.n_queries
        assert "500 users or more come before an alarm on average" in str(status)

    def test_among_answered_queries_by_hand(self):
        """Users with 1 of 2, 2 of 2 and 0 of 1 answered queries."""
        labels, shown = [-1, 1, -1, 1, 1], [1, -np.inf, 1, 1, -np.inf]
        monitor = RiskMonitor({"any_forbidden": 0.2}, among="answered", confidence_level=0.5)
        given = {"groups": range(5), "clusters": [0, 0, 1, 1, 2]}
        rate = monitor.update(labels, shown, **given).rates.iloc[0]
        own, share = [0.5, 0.5], [0.5, 1.0]
        assert (rate["n_queries"], rate["observed"]) == (2, pytest.approx(1 / 1.5))

        def capital(losses, level):
            growth = [
                np.prod([1 + b * (x / level - a) for x, a in zip(losses, share)]) for b in BETS
            ]
            return np.mean(growth)

        assert capital(own, rate["lower"]) == pytest.approx(2 / 0.5)
        rest = [a - x for x, a in zip(own, share)]
        assert capital(rest, 1 - rate["upper"]) == pytest.approx(2 / 0.5)
        paths = np.zeros(len(BETS))
        for x, a in zip(own, share):
            paths = (paths + 1) * (1 + BETS * (x / 0.2 - a))
        assert np.exp(monitor._watched[0].log_capital) == pytest.approx(paths)

    def test_the_file_keeps_clusters_and_shares(self, tmp_path):
        labels, shown = [-1, 1, -1, 1, 1], [1, -np.inf, 1, 1, -np.inf]
        monitor = RiskMonitor({"any_forbidden": 0.2}, among="answered")
        users = pd.Series([0, 0, 1, 1, 2], name="user")
        monitor.update(labels, shown, groups=range(5), clusters=users)
        monitor.save(tmp_path / "monitor.json")
        loaded = RiskMonitor.load(tmp_path / "monitor.json")
        for each in (monitor, loaded):
            with pytest.raises(
                InputError, match="clusters has users that were counted already: '1"
            ):
                each.update([1], [1], groups=[9], clusters=[1.0])
            with pytest.raises(InputError, match="clusters is missing"):
                each.update([1], [1], groups=[9])
            each.update([-1, 1], [1, -np.inf], groups=[9, 10], clusters=["x", "x"])
        pd.testing.assert_frame_equal(loaded.status.rates, monitor.status.rates)
        assert str(loaded.status) == str(monitor.status)

    @pytest.mark.filterwarnings("ignore:.* left out of")
    @pytest.mark.parametrize("clusters", [["1", "2", "10"], ["01", "2", "010"], [1, 2, 10]])
    def test_a_monitor_remembers_the_clusters_that_it_counted(self, clusters):
        """A cluster without a judged document was not counted, and may come again."""
        first, second, third = clusters
        monitor = RiskMonitor({"any_forbidden": 0.5})
        monitor.update([1, np.nan, 1], [0.9] * 3, groups=[1, 2, 3], clusters=clusters)
        monitor.update([1], [0.9], groups=[4], clusters=[second])
        for number, counted in ((5, first), (6, third)):
            told = f"counted already: '{counted}'. Each cluster counts once"
            with pytest.raises(InputError, match=told):
                monitor.update([1], [0.9], groups=[number], clusters=[counted])
        assert monitor.status.rates["n_queries"].tolist() == [3]

    def test_queries_and_clusters_are_not_mixed(self):
        monitor = RiskMonitor({"any_forbidden": 0.2})
        monitor.update([1], [1], groups=[0])
        with pytest.raises(InputError, match="clusters is given, but this monitor has counted"):
            monitor.update([1], [1], groups=[1], clusters=["a"])
        with pytest.raises(InputError, match="several clusters for query 1"):
            RiskMonitor({"any_forbidden": 0.2}).update(
                [1, 1], [1, 1], groups=[1, 1], clusters=[2, 3]
            )


class TestDocumentsThatTheThresholdHides:
    """A monitor of a threshold applies it, before or after `predict`."""

    @pytest.fixture
    def fresh(self, safe, tmp_path):
        def make(is_loaded=False):
            monitor = RiskMonitor(safe)
            if not is_loaded:
                return monitor
            monitor.save(tmp_path / "monitor.json")
            return RiskMonitor.load(tmp_path / "monitor.json")

        return make

    @pytest.mark.parametrize("is_loaded", [False, True])
    def test_raw_scores_are_those_of_predict(self, data, safe, fresh, is_loaded):
        shown = safe.predict(data.bayes_scores, data.groups)
        n_shown = np.bincount(data.groups, shown > -np.inf)
        # Some are hidden by the threshold, and some by the cap.
        at_threshold = np.bincount(data.groups, data.bayes_scores >= safe.threshold_)
        assert (n_shown < at_threshold).any()
        assert (at_threshold < np.bincount(data.groups)).any()
        found = [
            fresh(is_loaded).update(data.y, scores, groups=data.groups, **given).rates
            for scores, given in (
                (data.bayes_scores, {}),
                (shown, {}),
                (data.bayes_scores, {"threshold": safe.threshold_}),
                (shown, {"threshold": -np.inf}),
            )
        ]
        for name, risk in safe.certificate_.risks.items():
            assert found[0].loc[name, "observed"] == pytest.approx(risk.observed)
        for rates in found[1:]:
            pd.testing.assert_frame_equal(rates, found[0])

    def test_a_document_at_the_threshold_is_shown(self, safe, fresh):
        rates = fresh().update([-1], [safe.threshold_], groups=["new"]).rates
        assert rates.loc["any_forbidden@3", "observed"] == 1

    def test_what_is_shown_against_the_threshold_is_refused(self, data, safe, fresh):
        monitor, level = fresh(), safe.threshold_
        scores = [level + 1, level - 1, level - 2]
        with pytest.raises(InputError, match=r"y_score has 2 documents as shown that .* row 1:"):
            monitor.update([1, 1, 1], scores, groups=[0, 1, 2], threshold=-np.inf)
        with pytest.raises(InputError, match=r"or come after 3 of the same query\. Leave"):
            monitor.update(np.ones(4), [level] * 4, groups=[0] * 4, threshold=-np.inf)
        for other in (level - 1, level + 1):
            with pytest.raises(InputError, match="threshold must be that of the monitored thresh"):
                monitor.update([1], [level], groups=[0], threshold=other)
        assert monitor.status.rates["n_queries"].tolist() == [0, 0]

    @pytest.mark.slow
    def test_one_that_hides_by_more_than_a_score_is_not_applied(self, data):
        threshold = CertifiedThreshold({"any_forbidden@3": 0.5}, rule="harm")
        rows, both = (
            {"groups": data.groups},
            np.column_stack([data.bayes_scores, -data.bayes_scores]),
        )
        with warnings.catch_warnings(action="ignore"):
            threshold.fit(both, data.y, **rows)
        monitor = RiskMonitor(threshold)
        with pytest.raises(InputError, match="threshold is missing: this monitor cannot apply"):
            monitor.update(data.y, data.bayes_scores, **rows)
        shown = threshold.predict(both, **rows)
        alone = RiskMonitor({"any_forbidden@3": 0.5})
        expected = alone.update(data.y, shown, groups=data.groups).rates
        assert monitor.update(data.y, shown, **rows, threshold=-np.inf).rates.equals(expected)
