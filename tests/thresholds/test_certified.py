"""Thresholds with a guarantee: bounds, what is tested and in which order, and that it holds."""

import math
import pickle
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, GroupShuffleSplit

from profiles import times
from scikit_learn_checks import assert_passes_checks
from skfilterrank._core.lists import RankedLists
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import FitWarning
from skfilterrank.metrics import (
    false_reject_rate,
    forbidden_at_k,
    make_ranking_scorer,
    ndcg_f_score,
    qwa_score,
)
from skfilterrank.ranking import RankAndFilter, make_logistic
from skfilterrank.thresholds import (
    CertifiedThreshold,
    RiskCertificate,
    ThresholdCurve,
    threshold_curve,
)
from skfilterrank.thresholds._bounds import BettingBound, BinomialBound
from skfilterrank.thresholds._certify import certify

# Lists drawn at random often hold nothing that a promise could be broken by.
pytestmark = pytest.mark.filterwarnings("ignore:risk=.* is 0 on all calibration queries")


NO = -np.inf


STEPS = ("forbidden", "any_forbidden", "false_reject_rate")


BOUNDS = {
    "any_forbidden": BinomialBound,
    "forbidden": BettingBound,
    "false_reject_rate": BettingBound,
}


def only(certificate):
    """The only promise of a certificate, and the threshold."""
    (promise,) = certificate.promises.values()
    fields = {name: value for name, value in vars(promise).items() if name != "lower_bound"}
    fields["limit"] = promise.upper if promise.risk == "false_reject_rate" else promise.lower
    names = ("threshold", "value", "confidence", "exact", "assumes_unseen")
    own = {name: getattr(certificate, name) for name in names}
    return SimpleNamespace(**fields, **own, text=str(certificate))


def promise_at(*args, **params):
    return only(certified(*args, confidence_level=0.9, **params))


def rates(risk, y_true, y_score, groups, threshold, k):
    """Rate of each query that counts when documents below a threshold are filtered."""
    kept = np.where(y_score >= threshold, y_score, NO)
    params = {"groups": groups, "average": None}
    if risk == "false_reject_rate":
        values = false_reject_rate(y_true, kept, undefined="drop", **params)
        return values[~np.isnan(values)]
    judged = np.array([(~np.isnan(y_true[groups == q])).any() for q in np.unique(groups)])
    values = forbidden_at_k(y_true, kept, k=k, ties="worst", **params)[judged]
    return (values > 0).astype(float) if risk == "any_forbidden" else values


def real_thresholds(y_score):
    """Every distinct score, and numbers between, below and above them, ascending."""
    distinct = np.unique(y_score[np.isfinite(y_score)])
    between = distinct[:-1] / 2 + distinct[1:] / 2
    return np.unique(np.concatenate([[NO, -2e3, 2e3, np.inf], distinct, between]))


@st.composite
def judged_rows(draw):
    """Labels, scores and queries with ties, filtered and unjudged rows."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=8))
    groups = draw(st.permutations([query for query, n in enumerate(sizes) for _ in range(n)]))
    n = len(groups)
    label = st.sampled_from([-10.0, -1.0, 0.0, 1.0, 1.0, 2.0, np.nan])
    score = st.sampled_from([NO, -1.0, 0.0, 0.25, 0.5, 0.5, 1.5, 2.0, 3.0])
    y_true = draw(st.lists(label, min_size=n, max_size=n))
    y_score = draw(st.lists(score, min_size=n, max_size=n))
    return np.array(y_true), np.array(y_score), np.array(groups)


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(n_queries=600, n_features=8, random_state=0)


def by_brute_force(risk, y_true, y_score, groups, k, level, confidence):
    """Certified thresholds of `real_thresholds`, and the best value at one of them."""
    thresholds = real_thresholds(y_score)
    if risk != "false_reject_rate":
        thresholds = thresholds[::-1]
    certified = []
    for threshold in thresholds:
        losses = rates(risk, y_true, y_score, groups, threshold, k)
        if not BOUNDS[risk](len(losses), level, confidence).rules_out(losses):
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
        "ignore:no label has a gain above 0", "ignore:.*are unjudged although"
    )
    @times(1 / 2)  # of each risk
    @given(
        rows=judged_rows(),
        k=st.sampled_from([None, 1, 3]),
        level=st.sampled_from([0.25, 0.4, 0.6, 0.8]),
    )
    def test_equal_to_testing_every_threshold(self, risk, rows, k, level):
        y_true, y_score, groups = rows
        expected = by_brute_force(risk, y_true, y_score, groups, k, level, 0.5)
        params = {"groups": groups, "risk": risk, "max_risk": level, "confidence": 0.5, "k": k}
        if not expected[0]:
            with pytest.raises(ValueError, match=r"needs at least|cannot be kept"):
                promise_at(y_true, y_score, confidence_level=0.9, **params)
            return
        found = promise_at(y_true, y_score, confidence_level=0.9, **params)
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
        losses = rates(risk, y_true, y_score, groups, found.threshold, k)
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
            {risk: 0.12},
            groups=data.groups,
            measure="ndcg_f@3",
            confidence_level=0.9,
        )
        bound = BOUNDS[risk](found.n_queries, 0.12, 0.9)
        upward = risk == "false_reject_rate"
        y_true = data.y.astype(float)
        distinct = np.unique(y_score)
        near = distinct[np.abs(distinct - found.limit) < 0.03]
        certified = near <= found.limit if upward else near > found.limit
        passes = [
            bound.rules_out(rates(risk, y_true, y_score, data.groups, threshold, 3))
            for threshold in near
        ]
        # The first that fails, from the safest on, ends what is certified.
        order = slice(None) if upward else slice(None, None, -1)
        assert passes[order].index(False) == np.count_nonzero(certified)
        assert 0 < certified.sum() < len(near)

    @pytest.mark.slow
    @pytest.mark.parametrize("level", [0.06, 0.1, 0.2])
    def test_row_order_and_names_in_order(self, risk, data, level):
        params = {"risk": risk, "max_risk": level, "k": 3}
        one = promise_at(
            data.y, data.bayes_scores, groups=data.groups, confidence_level=0.9, **params
        )
        order = np.random.default_rng(0).permutation(len(data.y))
        names = np.array([f"q{query:04}" for query in data.groups])
        two = promise_at(
            data.y[order],
            data.bayes_scores[order],
            groups=names[order],
            confidence_level=0.9,
            **params,
        )
        # The mean of the measure is summed in another order.
        assert one.value == pytest.approx(two.value)
        for name in ("threshold", "limit", "observed", "upper_bound", "n_tried", "n_queries"):
            assert getattr(one, name) == pytest.approx(getattr(two, name), rel=1e-12), name

    @pytest.mark.slow
    @pytest.mark.parametrize("change", [lambda s: 4 * s - 1, np.exp, np.arctan])
    def test_monotone_rescaling(self, risk, data, change):
        params = {"groups": data.groups, "risk": risk, "max_risk": 0.1, "k": 3}
        one = promise_at(data.y, data.bayes_scores, confidence_level=0.9, **params)
        moved = change(data.bayes_scores)
        two = promise_at(data.y, moved, confidence_level=0.9, **params)
        np.testing.assert_array_equal(data.bayes_scores >= one.threshold, moved >= two.threshold)
        assert change(one.limit) == pytest.approx(two.limit)
        assert (one.observed, one.upper_bound, one.n_tried) == (
            two.observed,
            two.upper_bound,
            two.n_tried,
        )

    @pytest.mark.slow
    @pytest.mark.parametrize("dtype", [np.float32, np.int16, np.int64])
    def test_types_of_scores(self, risk, data, dtype):
        y_score = (1000 * data.bayes_scores).round()
        params = {"groups": data.groups, "risk": risk, "max_risk": 0.1, "k": 3}
        one = promise_at(data.y, y_score, confidence_level=0.9, **params)
        two = promise_at(data.y, y_score.astype(dtype), confidence_level=0.9, **params)
        np.testing.assert_array_equal(
            y_score >= one.threshold, y_score.astype(dtype) >= two.threshold
        )
        assert (one.limit, one.observed) == (two.limit, two.observed)

    def test_without_need_it_is_the_tuned_threshold(self, risk, data):
        params = {"groups": data.groups, "k": 3}
        found = promise_at(data.y, data.bayes_scores, {risk: 0.99}, confidence_level=0.9, **params)
        curve = threshold_curve(data.y, data.bayes_scores, **params)
        assert (found.threshold, found.value) == (curve.best_threshold, curve.best_value)

    @pytest.mark.slow
    def test_stricter_is_never_better(self, risk, data):
        values, limits = [], []
        for level in (0.05, 0.1, 0.2, 0.4):
            found = promise_at(
                data.y,
                data.bayes_scores,
                {risk: level},
                groups=data.groups,
                measure="ndcg_f@3",
                confidence_level=0.9,
            )
            values.append(found.value)
            limits.append(found.limit)
        assert np.all(np.diff(values) >= 0)
        assert np.all(np.diff(limits) * (1 if risk == "false_reject_rate" else -1) >= 0)

    @pytest.mark.nightly
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
                {risk: level},
                groups=groups,
                measure="ndcg_f@3",
                confidence_level=confidence,
            )
            true = rates(risk, y_true, y_score, data.groups, found.threshold, 3).mean()
            wrong += true > level
        assert wrong <= binom.ppf(0.999, n_drawn, 1 - confidence)


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
    assert (found.observed, found.n_queries, found.n_tried) == (0, 45, 1)
    assert found.upper_bound == pytest.approx(1 - 0.1 ** (1 / 45))
    assert found.exact
    assert found.text == (
        "With confidence 0.9, the share of queries with a forbidden document in the shown list is "
        "at most 0.05 on new queries, at threshold 0.7: on 45 calibration queries it is 0.0000, "
        "with an upper bound of 0.0499."
    )


def test_the_limit_itself_is_not_certified():
    # At 0.5 every query but one shows a second good document, and that one a bad one.
    n = 45
    y_true, groups = np.ones(2 * n), np.repeat(np.arange(n), 2)
    y_true[1] = -1
    found = promise_at(
        y_true, np.tile([0.9, 0.5], n), {"any_forbidden": 0.05}, groups=groups, confidence_level=0.9
    )
    assert (found.limit, found.threshold) == (0.5, (0.5 + 0.9) / 2)
    assert (found.n_tried, found.observed) == (1, 0)


def test_thresholds_up_to_the_highest_score_are_certified_without_a_warning():
    # Half of the good documents may be filtered, all may not: the limit is the highest score.
    n = 60
    y_true, y_score = np.ones(n), np.repeat([0.0, 1.0], n // 2)
    params = {"groups": np.arange(n), "risk": "false_reject_rate", "max_risk": 0.8}
    found = promise_at(y_true, y_score, confidence_level=0.9, **params)
    assert (found.limit, found.n_tried) == (1.0, 2)
    # A bad document above all good ones, which have one score: only -inf keeps the rate.
    scores, labels = np.append(np.zeros(n), 1.0), np.append(y_true, -1)
    with pytest.warns(UserWarning, match="No threshold but -inf"):
        found = promise_at(
            labels, scores, confidence_level=0.9, **params | {"groups": np.arange(n + 1)}
        )
    assert (found.limit, found.threshold) == (0.0, NO)


@pytest.mark.parametrize(("label", "risk"), [(1, "any_forbidden"), (-1, "any_forbidden")])
def test_where_all_pass_there_is_no_limit(label, risk):
    # One forbidden document of 60, in a query that nobody sees as a failure at level 0.2.
    y_true = np.ones(60)
    y_true[30] = label
    found = promise_at(
        y_true, np.arange(60.0), {risk: 0.2}, groups=np.arange(60), confidence_level=0.9
    )
    assert found.limit == NO
    assert found.n_tried == (0 if label > 0 else 1)


def test_undefined_values_are_never_the_best():
    lists = RankedLists(np.ones(60), np.arange(60.0), groups=np.arange(60))
    curve = ThresholdCurve(np.array([0.0, 5.0, np.inf]), np.array([np.nan, 0.2, 0.1]), 5.0, 0.2)
    found = certify(curve, lists, risk="any_forbidden", max_risk=0.05, confidence=0.9, k=None)
    # Between 0 and 5 the value is that at 5; the least of these thresholds keeps most.
    assert (found.value, found.threshold) == (0.2, 0.5)


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
    more_scores = np.concatenate([scores, np.full(50, 0.001)])

    def bad_share(y_true, shown, groups):
        return np.bincount(groups, shown & (y_true < 0)) / np.bincount(groups)

    for risk in (*STEPS, bad_share):
        params = {"risk": risk, "max_risk": 0.2, "k": 3}
        one = promise_at(y, scores, groups=groups, confidence_level=0.9, **params)
        two = promise_at(more, more_scores, groups=more_groups, confidence_level=0.9, **params)
        assert one.n_queries == two.n_queries
        assert one.limit == two.limit


def test_names_of_queries_do_not_matter_to_exact_binomial_bounds(data):
    params = {"risk": "any_forbidden", "max_risk": 0.1, "k": 3}
    one = promise_at(data.y, data.bayes_scores, groups=data.groups, confidence_level=0.9, **params)
    renamed = np.random.default_rng(0).permutation(600)[data.groups]
    two = promise_at(data.y, data.bayes_scores, groups=renamed, confidence_level=0.9, **params)
    assert (one.limit, one.upper_bound) == (two.limit, two.upper_bound)


def test_gains_and_series(data):
    labels = pd.Series(
        np.where(data.y < 0, "bad", "good"),
        index=pd.MultiIndex.from_arrays([data.groups, range(len(data.y))], names=["qid", "docno"]),
    )
    one = promise_at(
        labels,
        data.bayes_scores,
        {"any_forbidden": 0.1},
        gains={"good": 1, "bad": -1},
        confidence_level=0.9,
    )
    two = promise_at(
        np.where(data.y < 0, -1, 1),
        data.bayes_scores,
        {"any_forbidden": 0.1},
        groups=data.groups,
        confidence_level=0.9,
    )
    assert vars(one) == vars(two)


class TestTrivial:
    @pytest.mark.filterwarnings("ignore:no label has a gain above 0")
    def test_everything_is_filtered(self):
        y, scores, groups = np.full(60, -1.0), np.arange(60.0), np.arange(60)
        for risk in ("any_forbidden", "forbidden"):
            with pytest.warns(
                UserWarning, match=r"No threshold but \+inf keeps risk='.*everything"
            ):
                # Four forbidden documents stand above all that may be shown.
                found = promise_at(
                    y, np.minimum(scores, 50), {risk: 0.05}, groups=groups, confidence_level=0.9
                )
            assert found.threshold == np.inf
            assert found.observed == 0

    def test_nothing_is_filtered(self):
        y, scores, groups = np.ones(60), np.zeros(60), np.arange(60)
        with pytest.warns(UserWarning, match="No threshold but -inf keeps.*nothing is filtered"):
            found = promise_at(
                y, scores, {"false_reject_rate": 0.05}, groups=groups, confidence_level=0.9
            )
        assert (found.threshold, found.observed) == (NO, 0)

    def test_the_warning_names_the_line_of_the_call(self):
        with pytest.warns(UserWarning, match="No threshold but -inf") as caught:
            promise_at(
                np.ones(60),
                np.zeros(60),
                {"false_reject_rate": 0.05},
                groups=np.arange(60),
                confidence_level=0.9,
            )
        assert [warning.filename for warning in caught] == [__file__]

    def test_rows_that_are_filtered_already_are_no_threshold(self):
        # As above, and a bad document at -inf.
        y, groups = np.append(np.ones(60), -1.0), np.append(np.arange(60), 0)
        with pytest.warns(UserWarning, match="No threshold but -inf keeps"):
            promise_at(
                y,
                np.append(np.zeros(60), NO),
                {"false_reject_rate": 0.05},
                groups=groups,
                confidence_level=0.9,
            )

    @pytest.mark.filterwarnings("ignore:no label has a gain above 0")
    def test_no_warning_where_filtering_everything_is_best(self):
        y, scores, groups = np.full(60, -1.0), np.arange(60.0), np.arange(60)
        found = promise_at(y, scores, {"any_forbidden": 0.5}, groups=groups, confidence_level=0.9)
        assert found.limit < 59
        assert found.threshold == np.inf

    def test_scores_that_filter_too_much_themselves(self):
        y, groups = np.ones(60), np.arange(60)
        scores = np.where(groups < 30, NO, 1.0)
        with pytest.raises(
            ValueError, match=r"cannot be kept at 0.2: scores of -inf filter 0.5 of"
        ):
            promise_at(y, scores, {"false_reject_rate": 0.2}, groups=groups, confidence_level=0.9)

    @pytest.mark.filterwarnings("ignore:no label has a gain above 0")
    def test_nothing_retrieved_shows_nothing_forbidden(self):
        y, scores, groups = np.full(60, -1.0), np.full(60, NO), np.arange(60)
        found = promise_at(y, scores, {"any_forbidden": 0.05}, groups=groups, confidence_level=0.9)
        assert (found.threshold, found.observed) == (NO, 0)


class TestBadInput:
    params = {"groups": np.arange(100), "risk": "any_forbidden"}  # noqa: RUF012

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"max_risk": 0}, "max_risk must be a number between 0 and 1, both excluded, got 0"),
            ({"max_risk": 1.0}, "max_risk must be"),
            ({"max_risk": np.nan}, "max_risk must be"),
            ({"max_risk": "low"}, "max_risk must be .* got 'low'"),
            ({"max_risk": None}, "max_risk must be"),
            ({"max_risk": True}, "max_risk must be"),
            ({"confidence": 90}, "confidence must be a number between 0 and 1.* got 90"),
            ({"confidence": 0.0}, "confidence must be"),
            ({"risk": "forbidding"}, "risk must be one of 'forbidden', .* got 'forbidding'"),
            ({"risk": None}, "risk must be one of"),
            ({"k": 0}, "k must be None"),
            ({"measure": "rdp"}, "'rdp' is not a measure"),
            ({"measure": "ndcg_f@3", "k": 2}, "k=2 contradicts the cut-off"),
            ({"groups": np.arange(99)}, "groups has 99 entries but there are 100 rows"),
            ({"groups": None}, "groups is missing"),
        ],
    )
    def test_parameters(self, wrong, message):
        with pytest.raises(ValueError, match=message):
            promise_at(np.ones(100), np.arange(100.0), confidence_level=0.9, **self.params | wrong)

    @pytest.mark.parametrize("risk", STEPS)
    def test_too_few_queries(self, risk):
        y, groups = np.ones(44), np.arange(44)
        message = (
            f"risk='{risk}' with max_risk=0.05 and confidence=0.9 needs at least 45 calibration "
            r"queries \(.*\), got 44: even if none of them shows a failure, the rate may be as "
            "high as 0.051.* Give more queries, raise max_risk or lower confidence"
        )
        with pytest.raises(ValueError, match=message):
            promise_at(y, groups, {risk: 0.05}, groups=groups, confidence_level=0.9)

    @pytest.mark.filterwarnings("ignore:no label has a gain above 0")
    def test_no_query_has_a_good_document(self):
        with pytest.raises(
            ValueError, match=r"45 calibration queries \(queries with a good .*got 0"
        ):
            promise_at(
                -np.ones(9),
                np.arange(9),
                {"false_reject_rate": 0.05},
                groups=np.arange(9),
                confidence_level=0.9,
            )


def fit(data, estimator=None, **params):
    model = RankAndFilter(
        LogisticRegression() if estimator is None else estimator,
        **{"k": 3, "threshold": "risk", "risk": "any_forbidden", "max_risk": 0.15} | params,
    )
    return model.fit(data.X, data.y, groups=data.groups)


class TestRankAndFilter:
    @pytest.mark.slow
    @pytest.mark.parametrize("risk", STEPS)
    def test_calibrates_the_model_it_keeps_on_one_split(self, data, risk):
        model = fit(data, risk=risk, show_beyond_k=True)
        split = GroupShuffleSplit(1, test_size=0.3, random_state=0)
        train, held_out = next(split.split(data.X, data.y, data.groups))
        inner = LogisticRegression().fit(data.X[train], data.y[train] > 0)
        np.testing.assert_allclose(model.estimator_.coef_, inner.coef_)
        scores = inner.predict_proba(data.X[held_out])[:, 1]
        expected = promise_at(
            data.y[held_out],
            scores,
            {risk: 0.15},
            groups=data.groups[held_out],
            show_beyond_k=True,
            measure="ndcg_f@3",
            confidence_level=0.9,
        )
        assert vars(only(model.certificate_)) == vars(expected)
        assert expected.exact
        assert model.threshold_ == expected.threshold
        assert model.best_score_ == pytest.approx(expected.value)
        assert len(model.cv_results_["n_queries"]) == 1
        kept = model.predict(data.X) > NO
        np.testing.assert_array_equal(kept, inner.predict_proba(data.X)[:, 1] >= expected.threshold)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("params", "exact", "n_splits", "n_queries"),
        [
            ({"cv": 0.5}, True, 1, 300),
            ({"cv": 0.5, "refit": False}, True, 1, 300),
            ({"cv": GroupShuffleSplit(1, test_size=0.25, random_state=3)}, True, 1, 150),
            ({"cv": 0.5, "refit": True}, False, 1, 300),
            ({"refit": True}, False, 1, 180),
            ({"cv": 5}, False, 5, 600),
            ({"cv": GroupKFold(3)}, False, 3, 600),
        ],
    )
    def test_says_whether_the_guarantee_is_exact(self, data, params, exact, n_splits, n_queries):
        model = fit(data, **params)
        certificate = only(model.certificate_)
        assert certificate.exact is exact
        assert certificate.n_queries == n_queries
        assert len(model.fold_threshold_curves_) == n_splits
        assert ("approximately at most 0.15" in certificate.text) is not exact
        assert not certificate.assumes_unseen
        assert "if the estimator" not in certificate.text
        if not exact:
            all_rows = LogisticRegression().fit(data.X, data.y > 0)
            np.testing.assert_allclose(model.estimator_.coef_, all_rows.coef_)

    def test_prefit(self, data):
        train = data.groups < 300
        inner = LogisticRegression().fit(data.X[train], data.y[train] > 0)
        model = RankAndFilter(
            inner,
            CertifiedThreshold({"any_forbidden@3": 0.15}, confidence_level=0.9),
            measure="ndcg_f@3",
            cv="prefit",
        ).fit(data.X[~train], data.y[~train], groups=data.groups[~train])
        scores = inner.predict_proba(data.X[~train])[:, 1]
        certificate = only(model.certificate_)
        expected = promise_at(
            data.y[~train],
            scores,
            {"any_forbidden@3": 0.15},
            groups=data.groups[~train],
            measure="ndcg_f@3",
            confidence_level=0.9,
        )
        condition = " This holds if the estimator has not seen these queries."
        assert vars(certificate) == vars(expected) | {
            "assumes_unseen": True,
            "text": expected.text + condition,
        }
        assert model.estimator_ is inner

    def test_a_split_through_queries_is_not_exact(self, data):
        rows = np.arange(len(data.y))
        with pytest.warns(UserWarning, match="cv splits queries"):
            model = fit(data, cv=[(rows[::2], rows[1::2])])
        assert not model.certificate_.exact

    def test_elsewhere_refit_is_as_before(self, data):
        one = RankAndFilter(Ridge(), cv=0.3).fit(data.X, data.y, groups=data.groups)
        two = RankAndFilter(Ridge(), cv=0.3, refit=True).fit(data.X, data.y, groups=data.groups)
        np.testing.assert_array_equal(one.estimator_.coef_, two.estimator_.coef_)
        assert not hasattr(one, "certificate_")

    @pytest.mark.slow
    def test_certificate_goes_with_another_threshold(self, data):
        model = fit(data)
        model.set_params(threshold="tune", risk=None).fit(data.X, data.y, groups=data.groups)
        assert not hasattr(model, "certificate_")

    @pytest.mark.slow
    @pytest.mark.parametrize("risk", STEPS)
    def test_any_measure_chooses_among_the_certified(self, data, risk):
        params = {"risk": risk, "cv": 0.5, "measure": "qwa", "k": None}
        model = fit(data, **params)
        certificate = only(model.certificate_)
        scores = model.estimator_.predict_proba(data.X)[:, 1]
        _, held_out = next(
            GroupShuffleSplit(1, test_size=0.5, random_state=0).split(data.X, None, data.groups)
        )
        y, scores, groups = data.y[held_out].astype(float), scores[held_out], data.groups[held_out]
        kept = np.where(scores >= model.threshold_, scores, NO)
        value = qwa_score(y, kept, groups=groups)
        assert certificate.value == pytest.approx(value)
        assert model.best_score_ == pytest.approx(value)
        curve = model.threshold_curve_
        upward = risk == "false_reject_rate"
        certified = curve.thresholds <= certificate.limit
        certified = certified if upward else ~certified
        assert certificate.value == pytest.approx(curve.values[certified].max())
        assert (
            model.threshold_ <= certificate.limit
            if upward
            else (model.threshold_ > certificate.limit)
        )

    @pytest.mark.parametrize("estimator", [LogisticRegression(), make_logistic()], ids=repr)
    def test_no_promise_about_queries_without_queries(self, data, estimator):
        model = RankAndFilter(
            estimator,
            CertifiedThreshold({"any_forbidden@3": 0.1}, confidence_level=0.9),
            measure="ndcg_f@3",
            cv=0.5,
        )
        for y in (data.y, pd.Series(data.y), list(data.y)):
            with pytest.raises(ValueError, match=r"it needs query ids: pass groups=.*named 'qid'"):
                model.fit(data.X, y)
        y = pd.Series(data.y, index=pd.Index(data.groups, name="qid"))
        assert model.fit(data.X, y).certificate_.promises["any_forbidden"].n_queries == 300

    def test_pure_filtering_where_each_row_is_a_query(self, data):
        model = RankAndFilter(
            LogisticRegression(), CertifiedThreshold({"any_forbidden": 0.1}, confidence_level=0.9)
        ).fit(data.X, data.y, groups=np.arange(len(data.y)))
        kept = model.predict(data.X) > NO
        assert model.certificate_.promises["any_forbidden"].n_queries == math.ceil(
            0.3 * len(data.y)
        )
        # Each row is a query: the share of all rows that are shown and forbidden.
        assert 0.02 < (kept & (data.y < 0)).mean() < 0.1

    def test_clone_pickle_and_parameters(self, data):
        model = fit(data, risk="forbidden", confidence=0.8)
        again = pickle.loads(pickle.dumps(model))
        assert vars(only(again.certificate_)) == vars(only(model.certificate_))
        assert isinstance(again.certificate_, RiskCertificate)
        shown = (each.predict(data.X, groups=data.groups) for each in (again, model))
        np.testing.assert_array_equal(*shown)
        params = clone(model).get_params()
        assert (params["risk"], params["max_risk"], params["confidence"]) == (
            "forbidden",
            0.15,
            0.8,
        )
        copy = clone(model).fit(data.X, data.y, groups=data.groups)
        assert vars(only(copy.certificate_)) == vars(only(model.certificate_))

    @pytest.mark.slow
    def test_in_a_grid_search_with_metadata_routing(self, data):
        with sklearn.config_context(enable_metadata_routing=True):
            search = GridSearchCV(
                RankAndFilter(
                    LogisticRegression(),
                    CertifiedThreshold({"any_forbidden@3": 0.05}, confidence_level=0.9),
                    measure="ndcg_f@3",
                ),
                {"max_risk": [0.1, 0.3]},
                scoring=make_ranking_scorer("ndcg_f@3"),
                cv=GroupKFold(2),
            ).fit(data.X, data.y, groups=data.groups)
        assert search.best_params_ == {"max_risk": 0.3}
        assert search.best_estimator_.certificate_.exact

    def test_row_order_does_not_matter(self, data):
        model = fit(data, Ridge(), cv=0.5)
        order = np.random.default_rng(0).permutation(len(data.y))
        other = RankAndFilter(Ridge(), **_without_estimator(model))
        other.fit(data.X[order], data.y[order], groups=data.groups[order])
        assert other.threshold_ == pytest.approx(model.threshold_)

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"risk": None}, "risk must be one of .* got None"),
            ({"risk": "ndcg"}, "risk must be one of .* got 'ndcg'"),
            ({"max_risk": 5}, "max_risk must be a number between 0 and 1"),
            ({"confidence": 1}, "confidence must be a number between 0 and 1"),
            ({"threshold": "tune"}, "risk='any_forbidden' is only kept with threshold='risk', but"),
            ({"threshold": "per_query"}, "only kept with threshold='risk'.* is 'per_query'"),
            ({"threshold": 0.5}, "only kept with threshold='risk'"),
            ({"max_risk": 0.01}, "needs at least 230 calibration queries .*got 180"),
            ({"refit": False, "cv": 3}, "refit=False keeps the model of the only split"),
        ],
    )
    def test_bad_input(self, data, params, message):
        with pytest.raises(ValueError, match=message) as caught:
            fit(data, **params)
        if "230" in message:
            assert caught.value.__notes__ == ["cv=None gives 180 queries to calibrate on."]

    def test_no_warning_in_ordinary_use(self, data):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fit(data)


class RowsAreQueries(RankAndFilter):
    """For scikit-learn's checks, which know no queries."""

    def fit(self, X, y, groups=None):
        rows = np.arange(len(y)) if y is not None and np.ndim(y) else None
        return super().fit(X, y, groups=rows if groups is None else groups)

    def score(self, X, y, groups=None):
        return super().score(X, y, groups=np.arange(len(y)) if groups is None else groups)


@pytest.mark.filterwarnings("ignore:No threshold but:UserWarning")
@pytest.mark.nightly
def test_scikit_learn_checks():
    promise = {"risk": "any_forbidden", "max_risk": 0.9, "confidence": 0.5}
    assert_passes_checks(RowsAreQueries(Ridge(), threshold="risk", **promise))


def _without_estimator(model):
    params = model.get_params(deep=False)
    return {name: value for name, value in params.items() if name != "estimator"}


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
        show_beyond_k=True,
        measure=f"{measure}@{3}",
        confidence_level=0.9,
    )
    curve = threshold_curve(y_true, y_score, groups=groups, measure=measure)
    is_upward = risk == "false_reject_rate"
    limit = found.limit
    certified = curve.thresholds <= limit if is_upward else curve.thresholds > limit
    values = curve.values[certified]
    if is_upward:
        # The limit itself keeps what the next threshold of the curve keeps.
        values = np.append(values, curve.values[np.searchsorted(curve.thresholds, limit)])
    assert found.value == pytest.approx(values.min())


@pytest.mark.slow
@pytest.mark.parametrize("threshold", ["tune", "risk", "per_query"])
def test_nothing_good_is_told(threshold):
    _, y, groups, scores = make_rank_and_filter(200, random_state=0)
    unsafe = np.where(y < 0, -1, 0)
    promise = {"risk": "any_forbidden", "max_risk": 0.2} if threshold == "risk" else {}
    model = TODO_THRESHOLD(threshold, measure="ndcg_f@3", **promise)
    with pytest.warns(FitWarning, match=r"no label has a gain above 0.*gains=\{0: 1, -1: -1\}"):
        model.fit(scores, unsafe, groups=groups)
    with pytest.warns(FitWarning, match=r"no label has a gain above 0.*Check y and gains="):
        model.fit(scores, np.full(len(y), -1), groups=groups)
    model.set_params(gains={0: 1, -1: -1}).fit(scores, unsafe, groups=groups)
    assert np.isfinite(model.predict(scores, groups=groups)).mean() > 0.3
