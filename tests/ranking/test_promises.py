"""Several promises at once, as functions, in expectation, and of a fixed threshold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, norm

from profiles import times
from skfilterrank._core.lists import RankedLists
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import FitWarning
from skfilterrank.metrics import any_forbidden_at_k, empty_list_rate, evaluate, forbidden_at_k
from skfilterrank.ranking import RankAndFilter, risk_certificate, risk_threshold
from skfilterrank.ranking._filtering.promises import read_promises

NO = -np.inf


def any_bad(y_true, shown, groups):
    return np.bincount(groups, shown & (y_true < 0)) > 0


def any_bad_as_number(y_true, shown, groups):
    return (np.bincount(groups, shown & (y_true < 0)) > 0).astype(float)


def rejected(y_true, shown, groups):
    n_good = np.bincount(groups, y_true > 0)
    n_rejected = np.bincount(groups, (y_true > 0) & ~shown)
    return np.where(n_good > 0, n_rejected / np.maximum(n_good, 1), np.nan)


def nothing_good(y_true, shown, groups):
    return np.bincount(groups, shown & (y_true > 0)) == 0


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(n_queries=600, n_features=8, random_state=0)


@st.composite
def judged_rows(draw):
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=6))
    groups = draw(st.permutations([query for query, n in enumerate(sizes) for _ in range(n)]))
    n = len(groups)
    label = st.sampled_from([-2.0, -1.0, 0.0, 1.0, 2.0])
    score = st.sampled_from([NO, -1.0, 0.0, 0.5, 0.5, 1.5, 3.0])
    y_true = draw(st.lists(label, min_size=n, max_size=n))
    y_score = draw(st.lists(score, min_size=n, max_size=n))
    return np.array(y_true), np.array(y_score), np.array(groups)


def thresholds_of(y_score):
    distinct = np.unique(y_score[np.isfinite(y_score)])
    return np.concatenate([[NO], distinct, distinct + 0.1, [np.inf]])


class TestMeasure:
    @given(rows=judged_rows(), k=st.sampled_from([None, 1, 2]))
    def test_any_forbidden_is_whether_any_order_shows_one(self, rows, k):
        y_true, y_score, groups = rows
        found = any_forbidden_at_k(y_true, y_score, groups=groups, k=k, average=None)
        worst = forbidden_at_k(y_true, y_score, groups=groups, k=k, ties="worst", average=None)
        np.testing.assert_array_equal(found, worst > 0)
        best = any_forbidden_at_k(y_true, y_score, groups=groups, k=k, ties="best", average=None)
        assert np.all(best <= found)

    def test_by_hand(self):
        y_true, groups = [1, -1, 1, -1, 1, 1], list("aabbcc")
        y_score = [2, 1, 1, 2, 1, 1]
        values = evaluate(y_true, y_score, ["any_forbidden@1", "any_forbidden"], groups=groups)
        assert values["any_forbidden@1"].tolist() == [0, 1, 0]
        assert values["any_forbidden"].tolist() == [1, 1, 0]


class TestSteps:
    @times(2)
    @given(
        rows=judged_rows(),
        k=st.sampled_from([None, 1, 2]),
        loss=st.sampled_from([any_bad, rejected, nothing_good]),
    )
    def test_functions_are_called_as_if_at_every_threshold(self, rows, k, loss):
        y_true, y_score, groups = rows
        (promise,) = read_promises(loss, 0.1, k)
        lists = RankedLists(y_true, y_score, groups=groups)
        steps = promise.steps(lists, y_true)
        codes = np.unique(groups, return_inverse=True)[1]
        # Of tied documents the worst are shown first.
        order = np.lexsort((np.nan_to_num(y_true), -y_score, codes))
        place = np.empty(len(order), dtype=int)
        place[order] = np.arange(len(order)) - np.searchsorted(codes[order], codes[order])
        for threshold in thresholds_of(y_score):
            shown = (y_score >= threshold) & (y_score > NO)
            if k is not None:
                shown &= place < k
            expected = loss(y_true, shown, codes)
            expected = expected[~np.isnan(np.asarray(expected, dtype=float))]
            np.testing.assert_array_equal(steps.at(threshold), expected)

    @given(rows=judged_rows())
    def test_any_measure_between_0_and_1_can_be_promised(self, rows):
        y_true, y_score, groups = rows
        (promise,) = read_promises("empty_list_rate", 0.1, None)
        steps = promise.steps(RankedLists(y_true, y_score, groups=groups), y_true)
        for threshold in thresholds_of(y_score):
            kept = np.where(y_score >= threshold, y_score, NO)
            expected = empty_list_rate(y_true, kept, groups=groups, average=None)
            np.testing.assert_array_equal(steps.at(threshold), expected)

    @given(rows=judged_rows(), risk=st.sampled_from(["forbidden", "false_reject_rate"]))
    def test_never_falling_is_the_largest_loss_so_far(self, rows, risk):
        y_true, y_score, groups = rows
        (promise,) = read_promises(risk, 0.1, None)
        steps = promise.steps(RankedLists(y_true, y_score, groups=groups), None)
        safe_first = np.unique(thresholds_of(y_score))
        if not steps.is_upward:
            safe_first = safe_first[::-1]
        largest = np.zeros(steps.n_queries)
        for threshold in safe_first:
            largest = np.maximum(largest, steps.at(threshold))
            np.testing.assert_array_equal(steps.never_falling().at(threshold), largest)


class TestFunctions:
    def test_are_as_good_as_names(self, data):
        params = {"groups": data.groups, "max_risk": 0.1}
        pairs = [("any_forbidden", any_bad), ("false_reject_rate", rejected)]
        for name, loss in pairs:
            one = risk_threshold(data.y, data.bayes_scores, risk=name, **params)
            two = risk_threshold(data.y, data.bayes_scores, risk=loss, **params)
            assert one.threshold == two.threshold
            (one,), (two,) = one.promises.values(), two.promises.values()
            assert two.risk == loss.__name__
            for field in ("lower", "upper", "observed", "upper_bound", "n_queries"):
                assert getattr(one, field) == getattr(two, field)

    def test_numbers_get_the_bound_for_numbers(self, data):
        params = {"groups": data.groups, "max_risk": 0.1}
        one = risk_threshold(data.y, data.bayes_scores, risk=any_bad, **params)
        two = risk_threshold(data.y, data.bayes_scores, risk=any_bad_as_number, **params)
        # The binomial test knows more.
        assert one.lower < two.lower

    @pytest.mark.filterwarnings("ignore:No threshold but")
    def test_the_end_that_the_data_choose_takes_half_of_the_error(self):
        def wrong(y_true, shown, groups):
            return np.where(y_true < 0, shown, (y_true > 0) & ~shown)

        # One document a query, the bad ones the higher scores: in the middle both kinds are wrong,
        # and at either end one kind, by chance the one or the other.
        rng = np.random.default_rng(0)
        n, reps, share, level = 200, 200, 0.295, 0.3
        n_broken = 0
        for _ in range(reps):
            kind = rng.choice([-1.0, 1.0, 0.0], p=[share, share, 1 - 2 * share], size=n)
            scores = rng.normal(size=n) + (kind < 0)
            params = {"groups": np.arange(n), "max_risk": level}
            try:
                promise = risk_threshold(kind, scores, risk=wrong, **params).promises["wrong"]
            except ValueError:
                continue
            at = np.linspace(-6, 6, 600)
            at = at[(at > promise.lower) & (at <= promise.upper)]
            n_broken += bool((share * (norm.sf(at - 1) + norm.cdf(at)) > level).any())
        assert binom.sf(n_broken - 1, reps, 0.1) > 0.01
        with pytest.raises(ValueError, match=r"'wrong' is lower .* no end is the safe one"):
            risk_threshold(kind, scores, risk=wrong, guarantee="expectation", **params)

    def test_of_a_ranker_get_the_labels(self, data):
        labels = np.where(data.y < 0, "bad", "good")

        def any_bad_word(y_true, shown, groups):
            return np.bincount(groups, shown & (y_true == "bad")) > 0

        params = {"k": 3, "threshold": "risk", "max_risk": 0.1, "gains": {"bad": -1, "good": 1}}
        one = RankAndFilter("passthrough", risk=any_bad_word, **params)
        two = RankAndFilter("passthrough", risk="any_forbidden", **params)
        for model in (one, two):
            model.fit(data.bayes_scores, labels, groups=data.groups)
        assert one.threshold_ == two.threshold_

    @pytest.mark.parametrize(
        ("loss", "message"),
        [
            (lambda y, s, g: np.bincount(g, s), "must lie between 0 and 1, got 2"),
            (lambda y, s, g: np.zeros(3), r"one number for each query.*shape \(600,\).*\(3,\)"),
            (lambda y, s, g: ["a"] * 600, "must return one number for each query"),
            (
                lambda y, s, g: np.full(g[-1] + 1, s.mean()),
                "another loss when other queries are left out",
            ),
            (
                lambda y, s, g: np.bincount(g, s) / max(1, np.bincount(g, s).max()),
                "another loss when other queries are left out",
            ),
            (
                lambda y, s, g: np.bincount(g, s) > np.bincount(g, s).mean(),
                "another loss when other queries are left out",
            ),
            (
                lambda y, s, g: np.roll(np.bincount(g, s & (y < 0)) > 0, 1),
                "another loss when other queries are left out",
            ),
            (
                lambda y, s, g: np.where(np.bincount(g, s) > 1, 0.0, np.nan),
                "is NaN for a query at some thresholds",
            ),
        ],
    )
    def test_bad_functions(self, data, loss, message):
        with pytest.raises(ValueError, match=message):
            risk_threshold(data.y, data.bayes_scores, groups=data.groups, risk=loss)

    def test_looks_at_others_in_long_lists_alone(self, data):
        def share_of_most(y_true, shown, groups):
            n_bad = np.bincount(groups, shown & (y_true < 0))
            return n_bad / max(1, n_bad.max())

        with pytest.raises(ValueError, match="another loss when other queries are left out"):
            risk_threshold(
                data.y, data.bayes_scores, groups=data.groups, risk=share_of_most, max_risk=0.2, k=3
            )

    def test_an_error_inside_says_what_it_was_called_with(self, data):
        def broken(y_true, shown, groups):
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError) as caught:
            risk_threshold(data.y, data.bayes_scores, groups=data.groups, risk=broken)
        assert "risk broken, called with the labels" in caught.value.__notes__[0]

    def test_a_function_cannot_spoil_the_rows(self, data):
        def spoils(y_true, shown, groups):
            values = any_bad(y_true, shown, groups)
            y_true[:], groups[:], shown[:] = 0, 0, False
            return values

        params = {"groups": data.groups, "max_risk": 0.1}
        one = risk_threshold(data.y, data.bayes_scores, risk=spoils, **params)
        two = risk_threshold(data.y, data.bayes_scores, risk=any_bad, **params)
        assert one.threshold == two.threshold


def test_a_rate_that_cannot_fail_is_warned_of(data):
    # Somebody forgot gains: no label is below 0.
    grades = data.y + 1
    params = {"groups": data.groups, "risk": "any_forbidden", "max_risk": 0.1, "k": 3}
    with pytest.warns(FitWarning, match="'any_forbidden' is 0 on all .* give gains"):
        risk_threshold(grades, data.bayes_scores, **params)
    one = risk_threshold(grades, data.bayes_scores, **params, gains=lambda label: label - 1.0)
    assert one.threshold == risk_threshold(data.y, data.bayes_scores, **params).threshold


class TestSeveral:
    def test_of_one_direction_none_costs_the_other(self, data):
        params = {"groups": data.groups, "k": 3}
        alone = {
            risk: risk_threshold(data.y, data.bayes_scores, risk=risk, max_risk=level, **params)
            for risk, level in {"any_forbidden": 0.2, "forbidden": 0.1}.items()
        }
        both = risk_threshold(
            data.y, data.bayes_scores, risk={"any_forbidden": 0.2, "forbidden": 0.1}, **params
        )
        assert both.lower == max(one.lower for one in alone.values())
        assert both.upper == np.inf
        assert list(both.promises) == ["any_forbidden", "forbidden"]

    def test_of_two_directions_each_gets_half_of_the_error(self, data):
        params = {"groups": data.groups, "k": 3}
        both = risk_threshold(
            data.y,
            data.bayes_scores,
            risk={"any_forbidden": 0.2, "false_reject_rate": 0.6},
            confidence=0.9,
            **params,
        )
        for risk, level in {"any_forbidden": 0.2, "false_reject_rate": 0.6}.items():
            alone = risk_threshold(
                data.y, data.bayes_scores, risk=risk, max_risk=level, confidence=0.95, **params
            )
            (alone,) = alone.promises.values()
            assert (both.promises[risk].lower, both.promises[risk].upper) == (
                alone.lower,
                alone.upper,
            )
        assert both.lower < both.threshold <= both.upper
        assert "0.2, and the share of a query's good documents" in str(both)
        assert both.to_frame()["max_risk"].tolist() == [0.2, 0.6]
        assert both.to_frame()["verdict"].tolist() == ["kept", "kept"]

    def test_the_best_value_between_the_limits_is_chosen(self, data):
        params = {"groups": data.groups, "k": 3}
        risk = {"any_forbidden": 0.12, "false_reject_rate": 0.6}
        both = risk_threshold(data.y, data.bayes_scores, risk=risk, **params)
        curve = RankAndFilter("passthrough", k=3).fit(data.bayes_scores, data.y, data.groups)
        curve = curve.threshold_curve_
        inside = (curve.thresholds > both.lower) & (curve.thresholds <= both.upper)
        assert both.value == pytest.approx(curve.values[inside].max())

    def test_a_contradiction_says_which_bind(self, data):
        risk = {"any_forbidden": 0.05, "forbidden": 0.3, "false_reject_rate": 0.2}
        message = (
            "no threshold keeps all promises: any_forbidden at most 0.05 needs one above .*, "
            "false_reject_rate at most 0.2 one of at most"
        )
        with pytest.raises(ValueError, match=message):
            risk_threshold(data.y, data.bayes_scores, groups=data.groups, risk=risk, k=3)

    @pytest.mark.parametrize(
        ("risk", "message"),
        [
            ({}, "risk is an empty dict"),
            ({"any_forbidden": 2}, r"risk\['any_forbidden'\] must be a number between 0 and 1"),
            ({"any_forbidden": None}, r"risk\['any_forbidden'\] must be a number"),
            ({"ndcg": 0.1}, "risk must be one of .*'empty_list_rate'.* got 'ndcg'"),
            ({"false_reject_rate@3": 0.1}, "false_reject_rate.*cut-off"),
        ],
    )
    def test_bad_input(self, data, risk, message):
        with pytest.raises(ValueError, match=message):
            risk_threshold(data.y, data.bayes_scores, groups=data.groups, risk=risk, k=3)
        with pytest.raises(ValueError, match=message):
            RankAndFilter("passthrough", threshold="risk", risk=risk, k=3).fit(
                data.bayes_scores, data.y, groups=data.groups
            )

    def test_hold_together(self, data):
        # Queries drawn from a finite population, of which the true rates are known.
        risk, confidence, n, times = {any_bad: 0.2, rejected: 0.4}, 0.8, 120, 100
        y_true, y_score = data.y.astype(float), data.bayes_scores
        rng = np.random.default_rng(0)
        by_query = np.split(np.arange(len(y_true)), np.flatnonzero(np.diff(data.groups)) + 1)
        wrong = n_chosen = 0
        for _ in range(times):
            drawn = [by_query[query] for query in rng.integers(0, len(by_query), size=n)]
            rows, groups = np.concatenate(drawn), np.repeat(np.arange(n), [len(d) for d in drawn])
            try:
                found = risk_threshold(
                    y_true[rows], y_score[rows], groups=groups, risk=risk, confidence=confidence
                )
            except ValueError:
                continue
            n_chosen += 1
            true = [
                np.nanmean(loss(y_true, y_score >= found.threshold, data.groups)) for loss in risk
            ]
            wrong += true[0] > 0.2 or true[1] > 0.4
        assert n_chosen > 50
        assert wrong <= binom.ppf(0.999, times, 1 - confidence)


class TestInExpectation:
    @pytest.mark.parametrize("risk", ["any_forbidden", "forbidden", "false_reject_rate"])
    def test_is_where_one_more_query_may_lose_everything(self, data, risk):
        found = risk_threshold(
            data.y,
            data.bayes_scores,
            groups=data.groups,
            risk=risk,
            max_risk=0.1,
            guarantee="expectation",
            k=3,
        )
        (promise,) = read_promises(risk, 0.1, 3)
        steps = promise.steps(RankedLists(data.y, data.bayes_scores, groups=data.groups), None)
        n = steps.n_queries
        scores = np.unique(data.bayes_scores)
        order = scores if steps.is_upward else scores[::-1]
        largest = np.zeros(n)
        limit = None
        for score in order:
            at = np.nextafter(score, np.inf) if steps.is_upward else score
            largest = np.maximum(largest, steps.at(at))
            if largest.sum() + 1 > 0.1 * (n + 1):
                limit = score
                break
        assert (found.upper if steps.is_upward else found.lower) == limit
        assert found.confidence is None
        assert str(found).startswith("In expectation, ")

    def test_the_mean_rate_is_at_most_the_level(self, data):
        level, n, times = 0.15, 60, 300
        y_true, y_score = data.y.astype(float), data.bayes_scores
        rng = np.random.default_rng(0)
        by_query = np.split(np.arange(len(y_true)), np.flatnonzero(np.diff(data.groups)) + 1)
        true = []
        for _ in range(times):
            drawn = [by_query[query] for query in rng.integers(0, len(by_query), size=n)]
            rows, groups = np.concatenate(drawn), np.repeat(np.arange(n), [len(d) for d in drawn])
            found = risk_threshold(
                y_true[rows],
                y_score[rows],
                groups=groups,
                risk="any_forbidden",
                max_risk=level,
                guarantee="expectation",
            )
            true.append(any_bad(y_true, y_score >= found.threshold, data.groups).mean())
        assert np.mean(true) <= level + 2 * np.std(true) / np.sqrt(times)
        # And is no more careful than it must be.
        assert np.mean(np.array(true) > level) > 0.15

    @pytest.mark.filterwarnings("ignore:.*is 0 on all calibration queries")
    def test_takes_fewer_queries(self, data):
        params = {"groups": np.arange(20), "risk": "any_forbidden", "max_risk": 0.05}
        risk_threshold(np.ones(20), np.arange(20), guarantee="expectation", **params)
        with pytest.raises(ValueError, match=r"in expectation needs at least 19 .* got 18"):
            risk_threshold(
                np.ones(18),
                np.arange(18),
                guarantee="expectation",
                **params | {"groups": np.arange(18)},
            )
        with pytest.raises(ValueError, match=r"needs at least 45 .* got 20"):
            risk_threshold(np.ones(20), np.arange(20), **params)

    def test_unknown_guarantee(self, data):
        with pytest.raises(ValueError, match="guarantee must be one of 'confidence', 'expect"):
            risk_threshold(
                data.y, data.y, groups=data.groups, risk="any_forbidden", guarantee="sure"
            )


class TestFixedThreshold:
    def test_binomial_bounds_are_those_of_scipy(self, data):
        found = risk_certificate(
            data.y, data.bayes_scores, 0.3, groups=data.groups, risk="any_forbidden", k=3
        )
        losses = any_forbidden_at_k(
            data.y,
            np.where(data.bayes_scores >= 0.3, data.bayes_scores, NO),
            groups=data.groups,
            k=3,
            average=None,
        )
        interval = binomtest(int(losses.sum()), len(losses)).proportion_ci(0.8)
        promise = found.promises["any_forbidden"]
        assert promise.observed == losses.mean()
        assert (promise.lower_bound, promise.upper_bound) == pytest.approx(
            (interval.low, interval.high)
        )

    @pytest.mark.parametrize(
        ("threshold", "verdict", "words"),
        [(5.0, "kept", "is at most 0.1"), (NO, "broken", "is above 0.1"), (0.22, "open", "may be")],
    )
    def test_verdicts(self, data, threshold, verdict, words):
        found = risk_certificate(
            data.y,
            data.bayes_scores,
            threshold,
            groups=data.groups,
            risk="any_forbidden",
            max_risk=0.1,
            k=3,
        )
        assert found.promises["any_forbidden"].verdict == verdict
        assert words in str(found)
        assert not found.is_chosen

    def test_filtered_scores_need_no_threshold(self, data):
        params = {"groups": data.groups, "risk": {"any_forbidden": 0.1, "false_reject_rate": 0.5}}
        kept = np.where(data.bayes_scores >= 0.3, data.bayes_scores, NO)
        one = risk_certificate(data.y, kept, NO, **params)
        two = risk_certificate(data.y, data.bayes_scores, 0.3, **params)
        assert one.to_frame().equals(two.to_frame())

    @pytest.mark.parametrize("threshold", [None, "0.3", np.nan, True])
    def test_bad_threshold(self, data, threshold):
        with pytest.raises(ValueError, match="threshold must be a number"):
            risk_certificate(
                data.y, data.bayes_scores, threshold, groups=data.groups, risk="any_forbidden"
            )

    def test_no_query_counts(self):
        with pytest.raises(ValueError, match="no query counts for risk='false_reject_rate'"):
            risk_certificate([-1, -1], [1, 2], 0, groups=[1, 2], risk="false_reject_rate")
