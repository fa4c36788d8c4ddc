"""Thresholds with a guarantee: bounds, what is tested and in which order, and that it holds."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from sklearn.base import clone

from certificates import (
    counted_and_limit,
    judged_rows,
    numbered,
    promise_at,
    rates,
    real_thresholds,
    risks_at,
)
from profiles import times
from skfilterrank._lists.lists import RankedLists
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import DataWarning, FitWarning, InputError
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.thresholds import CertifiedThreshold, ThresholdCurve, threshold_curve
from skfilterrank.thresholds._certify import _best_certified, certify, make_tests
from skfilterrank.thresholds._risk_steps import Units
from skfilterrank.thresholds._risks import BettingBound, BinomialBound, read_risks

# Lists drawn at random often hold nothing that a risk could be broken by.
pytestmark = [
    pytest.mark.filterwarnings("ignore:The risk .* is 0 on all calibration queries"),
    pytest.mark.filterwarnings("ignore:queries without a judged document"),
]

NO = -np.inf

STEPS = ("forbidden", "any_forbidden", "false_reject_rate")


def bound_for(risk, k, *args):
    """The exact bound where losses can only be 0 or 1, and else that of bets."""
    is_binary = risk == "any_forbidden" or (risk == "forbidden" and k == 1)
    return (BinomialBound if is_binary else BettingBound)(*args)


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(n_queries=600, n_features=8, random_state=0)


def by_brute_force(risk, y_true, y_score, groups, k, level, confidence):
    """Certified thresholds of `real_thresholds`, and the best value at one of them."""
    thresholds, counts = real_thresholds(y_score), None
    numbers = numbered(groups, y_score, y_true)
    if risk != "false_reject_rate":
        counts, limit = counted_and_limit(y_true, y_score, numbers, k)
        thresholds = thresholds[::-1]
        thresholds = thresholds[(thresholds > limit) | (limit == NO)]
    certified = []
    for threshold in thresholds:
        losses = rates(risk, y_true, y_score, numbers, threshold, k, counts)
        if not bound_for(risk, k, len(losses), level, confidence).rules_out(losses):
            break
        certified.append(threshold)
    values = [
        ndcg_f_score(y_true, np.where(y_score >= t, y_score, NO), groups=groups, k=k)
        for t in certified
    ]
    return certified, max(values, default=None)


@pytest.mark.filterwarnings("ignore:No threshold but:UserWarning")
@pytest.mark.parametrize("risk", STEPS)
class TestRiskThreshold:
    @pytest.mark.slow
    @pytest.mark.filterwarnings(
        "ignore:no label has a gain above 0",
        "ignore:.*a risk depends on are unjudged",
        "ignore:.* left out of",
    )
    @times(1 / 2)  # of each risk
    @given(
        rows=judged_rows(),
        k=st.sampled_from([None, 1, 3]),
        level=st.sampled_from([0.25, 0.4, 0.6, 0.8]),
    )
    @pytest.mark.filterwarnings("ignore:the best certified threshold hides every document")
    def test_equal_to_testing_every_threshold(self, risk, rows, k, level):
        y_true, y_score, groups = rows
        expected = by_brute_force(risk, y_true, y_score, groups, k, level, 0.5)
        measure = "ndcg_f" if k is None else f"ndcg_f@{k}"
        params = {"groups": groups, "risks": risks_at(risk, level, k), "measure": measure}
        if not expected[0]:
            with pytest.raises(ValueError, match=r"needs at least|cannot be kept"):
                promise_at(y_true, y_score, confidence_level=0.5, **params)
            return
        found = promise_at(y_true, y_score, confidence_level=0.5, **params)
        thresholds = real_thresholds(y_score)
        is_certified = (
            thresholds <= found.limit
            if risk == "false_reject_rate"
            else thresholds > found.limit
            if found.limit > NO
            else thresholds >= NO
        )
        np.testing.assert_array_equal(thresholds[is_certified], np.sort(expected[0]))
        assert found.value == pytest.approx(expected[1], abs=1e-9)
        kept = np.where(y_score >= found.threshold, y_score, NO)
        assert ndcg_f_score(y_true, kept, groups=groups, k=k) == pytest.approx(found.value)
        numbers = numbered(groups, y_score, y_true)
        counts, _ = counted_and_limit(y_true, y_score, numbers, k)
        losses = rates(risk, y_true, y_score, numbers, found.threshold, k, counts)
        assert found.observed == pytest.approx(losses.mean())
        assert found.n_queries == len(losses)
        assert found.observed - 1e-12 <= found.upper_bound <= level
        assert type(found.threshold) is type(found.limit) is type(found.value) is float

    @pytest.mark.slow
    def test_large_samples_test_every_threshold_too(self, risk, data):
        # Long stretches pass at once here, and the rate is not monotone.
        y_score = data.bayes_scores.round(3)
        found = promise_at(
            data.y,
            y_score,
            risks_at(risk, 0.12, 3),
            groups=data.groups,
            measure="ndcg_f@3",
            confidence_level=0.9,
        )
        bound = bound_for(risk, 3, found.n_queries, 0.12, 0.9)
        upward = risk == "false_reject_rate"
        y_true = data.y.astype(float)
        numbers = numbered(data.groups, y_score, y_true)
        distinct = np.unique(y_score)
        near = distinct[np.abs(distinct - found.limit) < 0.015]
        certified = near <= found.limit if upward else near > found.limit
        passes = [
            bound.rules_out(rates(risk, y_true, y_score, numbers, threshold, 3))
            for threshold in near
        ]
        # The first that fails, from the safest on, ends what is certified.
        order = slice(None) if upward else slice(None, None, -1)
        assert passes[order].index(False) == np.count_nonzero(certified)
        assert 0 < certified.sum() < len(near)

    @pytest.mark.slow
    @pytest.mark.parametrize("dtype", [np.float32, np.int16])
    def test_types_of_scores(self, risk, data, dtype):
        y_score = (1000 * data.bayes_scores).round()
        params = {"groups": data.groups, "risks": risks_at(risk, 0.1, 3), "measure": "ndcg_f@3"}
        one = promise_at(data.y, y_score, confidence_level=0.9, **params)
        two = promise_at(data.y, y_score.astype(dtype), confidence_level=0.9, **params)
        np.testing.assert_array_equal(
            y_score >= one.threshold, y_score.astype(dtype) >= two.threshold
        )
        assert (one.limit, one.observed) == (two.limit, two.observed)

    def test_without_need_it_is_the_tuned_threshold(self, risk, data):
        params = {"groups": data.groups, "measure": "ndcg_f@3"}
        found = promise_at(data.y, data.bayes_scores, risks_at(risk, 0.99, 3), **params)
        curve = threshold_curve(data.y, data.bayes_scores, **params)
        assert (found.threshold, found.value) == (curve.best_threshold, curve.best_value)

    @pytest.mark.nightly
    @pytest.mark.filterwarnings("ignore:.* are exact copies of others")
    def test_the_guarantee_holds(self, risk, data):
        # Queries drawn from a finite population, of which the true rates are known.
        level, confidence, n, n_drawn = 0.15, 0.8, 80, 80
        y_true, y_score = data.y.astype(float), data.bayes_scores
        rng = np.random.default_rng(0)
        by_query = np.split(np.arange(len(y_true)), np.flatnonzero(np.diff(data.groups)) + 1)
        wrong = 0
        for _ in range(n_drawn):
            drawn = [by_query[query] for query in rng.integers(0, len(by_query), size=n)]
            rows, groups = np.concatenate(drawn), np.repeat(np.arange(n), [len(d) for d in drawn])
            found = promise_at(
                y_true[rows],
                y_score[rows],
                risks_at(risk, level, 3),
                groups=groups,
                measure="ndcg_f@3",
                confidence_level=confidence,
            )
            true = rates(risk, y_true, y_score, data.groups, found.threshold, 3).mean()
            wrong += true > level
        assert wrong <= binom.ppf(0.999, n_drawn, 1 - confidence)


def test_the_lowest_of_equal_thresholds_is_chosen():
    curve = ThresholdCurve(np.array([np.inf, 3, 2, 1]), np.array([0.1, 0.2, 0.2, 0.1]), 2.0, 0.2)
    threshold, value = _best_certified(curve, np.array([3.0, 2, 1]), -np.inf, np.inf)
    assert (threshold, value) == (1.5, 0.2)


def test_by_hand():
    # Each query shows its good document above its bad one; of 45 queries none may fail.
    n = 45
    y_true, groups = np.tile([1, -1], n), np.repeat(np.arange(n), 2)
    y_score = np.column_stack([np.full(n, 0.9), np.linspace(0.1, 0.5, n)]).ravel()
    found = promise_at(
        y_true, y_score, {"any_forbidden": 0.05}, groups=groups, confidence_level=0.9
    )
    assert found.limit == 0.5
    assert found.threshold == (0.5 + 0.9) / 2
    assert found.value == pytest.approx(1)
    assert (found.observed, found.n_queries) == (0, 45)
    assert found.upper_bound == pytest.approx(1 - 0.1 ** (1 / 45))
    assert found.exact
    assert found.text == (
        "With confidence 0.9, the share of queries with a forbidden document in the shown list is "
        "at most 0.05 on new queries, at threshold 0.7: on 45 calibration queries it is 0.0000, "
        "with an upper bound of 0.0499. The data are 45 queries with 90 labels. Something is shown "
        "for 100.0 % of the queries (81.8 to 100.0 %). 50 % of the documents are hidden. Documents "
        "with a score of 0.7 or more are shown."
    )


def test_thresholds_up_to_the_highest_score_are_certified_without_a_warning():
    # Half of the good documents may be filtered, all may not: the limit is the highest score.
    n = 60
    y_true, y_score = np.ones(n), np.repeat([0.0, 1.0], n // 2)
    params = {"groups": np.arange(n), "risks": {"false_reject_rate": 0.8}}
    found = promise_at(y_true, y_score, confidence_level=0.9, **params)
    assert found.limit == 1.0
    # A bad document above all good ones, which have one score: only -inf keeps the rate.
    scores, labels = np.append(np.zeros(n), 1.0), np.append(y_true, -1)
    with pytest.warns(UserWarning, match="No threshold but -inf"):
        found = promise_at(
            labels, scores, confidence_level=0.9, **params | {"groups": np.arange(n + 1)}
        )
    assert (found.limit, found.threshold) == (0.0, NO)


def test_undefined_values_are_never_the_best():
    lists = RankedLists(np.ones(60), np.arange(60.0), groups=np.arange(60))
    curve = ThresholdCurve(np.array([np.inf, 5.0, 0.0]), np.array([0.1, 0.2, np.nan]), 5.0, 0.2)
    promises = read_risks({"any_forbidden": 0.05})
    steps = [risk.steps(lists) for risk in promises]
    tests = make_tests(promises, steps, Units.of(lists.index, lists.scores), 0.9)
    # Between 0 and 5 the value is that at 5; the least of these thresholds keeps most.
    assert certify(tests, curve, lists.scores) == (0.5, 0.2)


def test_limit_within_a_stretch_of_equal_value():
    # Only the first document of each query is a step of the measure, at k = 1; the limit is at the
    # second ones. Of equally good thresholds the best keeps most.
    n = 60
    y_true = np.tile([1.0, 1, 0], n)
    y_score = np.tile([0.9, 0.5, 0.6], n) + np.repeat(np.linspace(0, 0.001, n), 3)
    groups = np.repeat(np.arange(n), 3)
    found = promise_at(
        y_true,
        y_score,
        {"false_reject_rate": 0.05},
        groups=groups,
        measure="ndcg_f@1",
        confidence_level=0.9,
    )
    assert found.threshold == NO
    assert 0.5 < found.limit < 0.501


@pytest.mark.slow
def test_unjudged_queries_are_left_out():
    _, y, groups, scores = make_rank_and_filter(200, random_state=0)
    more = np.concatenate([y, np.full(50, np.nan)])
    more_groups = np.concatenate([groups, 1000 + np.arange(50)])
    # A score that occurs does not change the order of scores, by which queries are numbered.
    more_scores = np.concatenate([scores, np.full(50, scores.min())])

    for risk in STEPS:
        params = {"risks": risks_at(risk, 0.2, 3), "measure": "ndcg_f@3"}
        one = promise_at(y, scores, groups=groups, confidence_level=0.9, **params)
        with pytest.warns(DataWarning, match=r"50 of 250 queries are left out of"):
            two = promise_at(more, more_scores, groups=more_groups, confidence_level=0.9, **params)
        assert one.n_queries == two.n_queries
        assert one.limit == two.limit


def test_names_of_queries_do_not_matter_to_exact_binomial_bounds(data):
    params = {"risks": risks_at("any_forbidden", 0.1, 3), "measure": "ndcg_f@3"}
    one = promise_at(data.y, data.bayes_scores, groups=data.groups, confidence_level=0.9, **params)
    renamed = np.random.default_rng(0).permutation(600)[data.groups]
    two = promise_at(data.y, data.bayes_scores, groups=renamed, confidence_level=0.9, **params)
    assert (one.limit, one.upper_bound) == (two.limit, two.upper_bound)


class TestTrivial:
    @pytest.mark.filterwarnings("ignore:no label has a gain above 0")
    def test_everything_is_filtered(self):
        y, scores, groups = np.full(60, -1.0), np.arange(60.0), np.arange(60)
        for risk in ("any_forbidden", "forbidden"):
            with pytest.warns(
                UserWarning, match=r"No threshold but \+inf keeps the risk '.*everything"
            ):
                # Four forbidden documents stand above all that may be shown.
                found = promise_at(
                    y, np.minimum(scores, 50), {risk: 0.05}, groups=groups, confidence_level=0.9
                )
            assert found.threshold == np.inf
            assert found.observed == 0

    @pytest.mark.parametrize("n_hidden", [0, 1])
    def test_nothing_is_filtered(self, n_hidden):
        # A bad document at -inf, which is filtered already, is no threshold.
        y = np.repeat([1.0, -1.0], [60, n_hidden])
        scores, groups = np.where(y > 0, 0.0, NO), np.arange(60 + n_hidden) % 60
        with pytest.warns(UserWarning, match="No threshold but -inf keeps.*nothing is hidden"):
            found = promise_at(
                y, scores, {"false_reject_rate": 0.05}, groups=groups, confidence_level=0.9
            )
        assert (found.threshold, found.observed) == (NO, 0)

    @pytest.mark.filterwarnings("ignore:no label has a gain above 0")
    def test_no_warning_of_hiding_everything_without_good_documents(self):
        y, scores, groups = np.full(60, -1.0), np.arange(60.0), np.arange(60)
        found = promise_at(y, scores, {"any_forbidden": 0.5}, groups=groups, confidence_level=0.9)
        assert found.limit < 59
        assert found.threshold == np.inf

    def test_hiding_everything_is_warned_of_where_something_is_good(self):
        rng = np.random.RandomState(0)
        y, groups = np.tile([1.0, -1.0], 60), np.repeat(np.arange(60), 2)
        with pytest.warns(FitWarning, match="hides every document.*Check the sign of the scores"):
            found = promise_at(
                y, -y + rng.rand(120), {"any_forbidden": 0.1}, groups=groups, confidence_level=0.9
            )
        assert found.threshold == np.inf

    def test_scores_that_filter_too_much_themselves(self):
        y, groups = np.ones(60), np.arange(60)
        scores = np.where(groups < 30, NO, 1.0)
        with pytest.raises(
            ValueError, match=r"kept at 0.2: it is 0.5 .* hides only .* score of -inf"
        ):
            promise_at(y, scores, {"false_reject_rate": 0.2}, groups=groups, confidence_level=0.9)

    @pytest.mark.filterwarnings("ignore:no label has a gain above 0")
    def test_nothing_retrieved_shows_nothing_forbidden(self):
        y, scores, groups = np.full(60, -1.0), np.full(60, NO), np.arange(60)
        found = promise_at(y, scores, {"any_forbidden": 0.05}, groups=groups, confidence_level=0.9)
        assert (found.threshold, found.observed) == (NO, 0)


class TestBadInput:
    params = {"groups": np.arange(100), "risks": {"any_forbidden": 0.05}}  # noqa: RUF012

    @pytest.mark.parametrize("level", [0, 1.0, "low"])
    def test_levels(self, level):
        message = (
            rf"risks\['any_forbidden'\] must be a number between 0 and 1, both excluded, "
            f"got {level!r}"
        )
        with pytest.raises(ValueError, match=message):
            promise_at(np.ones(100), np.arange(100.0), {"any_forbidden": level})

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"confidence_level": 90}, "confidence_level must be a number between 0 and 1.* 90"),
            ({"risks": {"forbidding": 0.1}}, "risks must name .*'forbidden', .* got 'forbidding'"),
            ({"risks": {"ndcg": 0.1}}, "risks must name .*'empty_list_rate'.* got 'ndcg'"),
            (
                {"risks": {"precision@3": 0.8}},
                r"got 'precision@3'\. For a precision .* give 'forbidden' at most 0.2 with among=",
            ),
            ({"risks": {"recall": 0.8}}, r"got 'recall'\. For a recall .* 'false_reject_rate' at"),
            ({"risks": {"false_reject_rate@3": 0.1}}, "false_reject_rate.*cut-off"),
            ({"risks": {"any_forbidden@0": 0.1}}, "any_forbidden@0"),
            ({"risks": {None: 0.1}}, "risks must name .* got None"),
            ({"risks": {}}, r"risks must be a dict of risks with their levels.* got \{\}"),
            ({"risks": None}, "risks must be a dict"),
            ({"risks": {"any_forbidden@3": 0.1, "any_forbidden(k=3)": 0.1}}, "any_forbidden"),
            ({"groups": np.arange(99)}, "groups has 99 entries but there are 100 rows"),
            ({"groups": None}, "groups is missing: CertifiedThreshold certifies risks over quer"),
        ],
    )
    def test_parameters(self, wrong, message):
        with pytest.raises(ValueError, match=message):
            promise_at(np.ones(100), np.arange(100.0), **self.params | wrong)

    def test_weights_of_queries(self):
        model = CertifiedThreshold({"any_forbidden": 0.05})
        with pytest.raises(InputError, match="query_weight is not possible with CertifiedThr"):
            model.fit(np.arange(9), np.ones(9), groups=np.arange(9), query_weight=np.ones(9))

    @pytest.mark.parametrize("name", ["scores", "groups", "clusters"])
    def test_rows_in_another_order(self, name):
        y = pd.Series(np.ones(9))
        given = dict.fromkeys(("scores", "groups", "clusters"), np.arange(9))
        given[name] = pd.Series(given[name]).sample(frac=1, random_state=0)
        with pytest.raises(InputError, match=f"{name} and y have the same index in another order"):
            CertifiedThreshold({"any_forbidden": 0.05}).fit(y=y, **given)

    @pytest.mark.parametrize("risk", STEPS)
    def test_too_few_queries(self, risk):
        y, groups = np.ones(44), np.arange(44)
        message = (
            f"the risk '{risk}' at most 0.05 and confidence_level=0.9 needs at least 45 "
            r"calibration queries \(.*\), got 44: even if none of them shows a failure, the risk "
            "may be as high as 0.051.* Give more queries, raise the level or lower confidence_level"
        )
        with pytest.raises(ValueError, match=message):
            promise_at(y, groups, {risk: 0.05}, groups=groups, confidence_level=0.9)

    def test_too_few_queries_for_a_promise_to_answered_ones(self):
        # 59 queries are enough for a risk to all: a part of the error is that of the start.
        y, groups = np.ones(60), np.arange(60)
        rule = {"risks": {"any_forbidden": 0.05}, "among": "answered"}
        message = "needs at least 74 .* got 60: .* the risk may be as high as 0.0504"
        with pytest.raises(ValueError, match=message):
            CertifiedThreshold(**rule).fit(y, y, groups=groups)
        y, groups = np.ones(61), np.arange(61)
        with pytest.raises(ValueError, match="only 61 of 61 queries can be shown something"):
            CertifiedThreshold(**rule).fit(y, y, groups=groups)

    def test_too_few_queries_for_several_promises(self):
        y, groups = np.ones(60), np.arange(60)
        risks = {"any_forbidden": 0.05, "empty_list_rate": 0.9}
        message = "confidence_level=0.95 over 2 tests together needs at least 72 .* got 60"
        with pytest.raises(ValueError, match=message):
            CertifiedThreshold(risks).fit(y, y, groups=groups)

    @pytest.mark.filterwarnings("ignore::skfilterrank.exceptions.FitWarning")
    def test_a_promise_of_nothing_is_called_empty(self):
        y, groups = -np.ones(60), np.arange(60)
        cut = CertifiedThreshold({"any_forbidden": 0.3}).fit(-y, y, groups=groups)
        assert "Nothing is shown for any of these queries" in str(cut.certificate_)
        y[:30] = 1
        cut.fit(y, y, groups=groups)
        assert "Something is shown for 50.0 % of the queries" in str(cut.certificate_)

    @pytest.mark.filterwarnings("ignore:no label has a gain above 0")
    def test_no_query_has_a_good_document(self):
        with pytest.raises(
            ValueError,
            match=r"45 calibration queries \(judged queries, but none where no document .*got 0",
        ):
            promise_at(
                -np.ones(9),
                np.arange(9),
                {"false_reject_rate": 0.05},
                groups=np.arange(9),
                confidence_level=0.9,
            )


@pytest.mark.parametrize("measure", ["forbidden@3", "search_length", "false_reject_rate"])
@pytest.mark.parametrize("risk", ["any_forbidden", "false_reject_rate"])
def test_where_lower_is_better_the_lowest_certified_value_is_chosen(measure, risk):
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(60), 5)
    y_true = rng.choice([-1.0, 1.0, 2.0, 0.0], 300)
    y_score = np.round(y_true + rng.normal(size=300), 1)
    found = promise_at(
        y_true,
        y_score,
        {risk: 0.8},
        groups=groups,
        measure=measure,
        confidence_level=0.9,
    )
    curve = threshold_curve(y_true, y_score, groups=groups, measure=measure)
    is_upward = risk == "false_reject_rate"
    limit = found.limit
    certified = curve.thresholds <= limit if is_upward else curve.thresholds > limit
    values = curve.values[certified]
    if is_upward:
        # The limit itself keeps what the next threshold of the curve keeps.
        values = np.append(values, curve.value_at(limit))
    assert found.value == pytest.approx(values.min())


def test_a_promise_holds_of_what_the_cap_leaves(data):
    model = CertifiedThreshold({"any_forbidden@3": 0.3}, max_shown=1)
    model.fit(data.bayes_scores, data.y, groups=data.groups)
    best = pd.Series(data.bayes_scores).groupby(data.groups).transform("max")
    shown = (data.bayes_scores == best) & (data.bayes_scores >= model.threshold_)
    forbidden = np.bincount(data.groups, shown & (data.y < 0)) > 0
    observed = model.certificate_.risks["any_forbidden@3"].observed
    assert observed == pytest.approx(forbidden.mean())
    free = clone(model).set_params(max_shown=None)
    free.fit(data.bayes_scores, data.y, groups=data.groups)
    assert model.threshold_ < free.threshold_  # the cap alone removes many failures
    assert not hasattr(model, "held_out_")
    assert model.certificate_.facts["max_shown"] == 1
