"""Certificates of thresholds."""

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta, binom, binomtest

from certificates import certified, copy_of, own_loss, promise_at
from skfilterrank.cli import main
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import DataWarning, FitWarning, InputError
from skfilterrank.metrics import any_forbidden_at_k
from skfilterrank.thresholds import (
    CertifiedThreshold,
    TunedThreshold,
    by_machines,
    load_threshold,
    risk_certificate,
)
from skfilterrank.thresholds._risks import BinomialBound

# Lists drawn at random often hold nothing that a risk could be broken by.
pytestmark = pytest.mark.filterwarnings("ignore:The risk .* is 0 on all calibration queries")


def test_a_certificate_cannot_be_changed():
    found = certified(np.ones(60), np.arange(60), {"any_forbidden": 0.1}, groups=np.arange(60))
    with pytest.raises(FrozenInstanceError):
        found.threshold = 0.5
    with pytest.raises(FrozenInstanceError):
        found.risks["any_forbidden"].max_risk = 0.5


@pytest.mark.filterwarnings("ignore:.* are exact copies of others")
def test_rounding_does_not_lift_the_upper_bound_over_the_level():
    # The smallest level that 45 queries without a failure allow, to the last digit.
    n = 45
    low, level = 0.01, 0.99
    while low < (middle := (low + level) / 2) < level:
        if BinomialBound(n, middle, 0.9).rules_out(np.zeros(n)):
            level = middle
        else:
            low = middle
    assert level < BinomialBound(n, level, 0.9).upper(np.zeros(n)) < level + 1e-12
    found = promise_at(
        np.tile([1, -1], n),
        np.tile([0.9, 0.1], n),
        {"any_forbidden": level},
        groups=np.repeat(np.arange(n), 2),
        confidence_level=0.9,
    )
    assert found.observed == 0
    assert found.upper_bound == level


def _could_be_shown(y, scores, groups, *, k, above):
    """Row numbers of documents among the first k places of judged queries, by hand."""
    rows = []
    for query in np.unique(groups):
        own = np.flatnonzero(groups == query)
        if np.isnan(y[own]).all():
            continue
        for row in own[np.argsort(-scores[own], kind="stable")]:
            n_above = np.count_nonzero(scores[own] > scores[row])
            if scores[row] > above and n_above < k:
                rows.append(row)
    return rows


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* left out of")
def test_unjudged_documents_that_could_change_a_rate_are_listed(tmp_path):
    _, y, groups, scores = make_rank_and_filter(100, random_state=0)
    y = y.astype(float)
    y[::4] = np.nan
    scores = np.round(scores, 1)
    groups = np.char.add("q", (100 + groups).astype(str))
    given = {"groups": groups, "risks": {"any_forbidden@3": 0.2}}
    message = "documents that a risk depends on are unjudged"
    with pytest.warns(DataWarning, match=message):
        chosen = certified(y, scores, **given)
    shown = _could_be_shown(y, scores, groups, k=3, above=chosen.lower)
    rows = [row for row in shown if np.isnan(y[row])]
    assert 0 < len(rows) < np.count_nonzero(np.isnan(y))
    # Documents that are never shown are not counted.
    numbers = f"{len(rows)} of the {len(shown)} documents"
    with pytest.warns(DataWarning, match=rf"{numbers} .*query '{groups[rows[0]]}' row {rows[0]}"):
        certified(y, scores, **given)
    with pytest.warns(DataWarning, match=message):
        fixed = risk_certificate(y, scores, np.nextafter(chosen.lower, 1), **given)
    # Behind the first places, and below the lowest certified threshold, nothing need be judged.
    whole = y.copy()
    whole[rows] = 0
    assert certified(whole, scores, **given).facts["n_unjudged"] == 0
    with pytest.warns(DataWarning, match=message):
        rejected = certified(whole, scores, {"false_reject_rate": 0.2}, groups=groups, max_shown=3)
    judged = pd.Series(whole).notna().groupby(groups).transform("any")
    assert rejected.facts["n_unjudged"] == (np.isnan(whole) & judged).sum()
    empty = certified(y, scores, {"empty_list_rate": 0.2}, groups=groups)
    assert empty.facts["n_unjudged"] == 0
    n_unjudged = len(rows)
    model = CertifiedThreshold({"any_forbidden@3": 0.2})
    with pytest.warns(DataWarning, match=message):
        model.fit(scores, y, groups=groups)
    model.save(tmp_path / "filter.json")
    kept = load_threshold(tmp_path / "filter.json").certificate_
    loaded = pickle.loads(pickle.dumps(model)).certificate_
    for certificate in (chosen, fixed, model.certificate_, kept, loaded):
        assert certificate.facts["n_unjudged"] == n_unjudged
        assert f"counted as not forbidden: {n_unjudged} documents" in str(certificate)
    for certificate in (chosen, fixed, model.certificate_, loaded):
        assert certificate.to_judge["row"].tolist() == rows
        assert certificate.to_judge["query"].tolist() == groups[rows].tolist()


NO = -np.inf


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(n_queries=600, n_features=8, random_state=0)


class TestFixedThreshold:
    def test_binomial_bounds_are_those_of_scipy(self, data):
        given = {"risks": {"any_forbidden@3": 0.05}, "confidence_level": 0.9}
        found = risk_certificate(data.y, data.bayes_scores, 0.3, groups=data.groups, **given)
        shown = np.where(data.bayes_scores >= 0.3, data.bayes_scores, NO)
        losses = any_forbidden_at_k.per_query(data.y, shown, groups=data.groups, k=3)
        interval = binomtest(int(losses.sum()), len(losses)).proportion_ci(0.8)
        risk = found.risks["any_forbidden@3"]
        assert risk.observed == losses.mean()
        assert (risk.lower_bound, risk.upper_bound) == pytest.approx((interval.low, interval.high))

    @pytest.mark.parametrize(
        ("threshold", "verdict", "words"),
        [(5.0, "kept", "is at most 0.1"), (NO, "broken", "is above 0.1"), (0.22, "open", "may be")],
    )
    def test_verdicts(self, data, threshold, verdict, words):
        given = {"risks": {"any_forbidden@3": 0.1}, "confidence_level": 0.9}
        found = risk_certificate(data.y, data.bayes_scores, threshold, groups=data.groups, **given)
        assert found.risks["any_forbidden@3"].verdict == verdict
        assert words in str(found)
        assert not found.is_chosen

    def test_filtered_scores_need_no_threshold(self, data):
        params = {"groups": data.groups, "risks": {"any_forbidden": 0.1, "false_reject_rate": 0.5}}
        kept = np.where(data.bayes_scores >= 0.3, data.bayes_scores, NO)
        one = risk_certificate(data.y, kept, NO, confidence_level=0.9, **params)
        two = risk_certificate(data.y, data.bayes_scores, 0.3, confidence_level=0.9, **params)
        assert one.to_frame().equals(two.to_frame())

    @pytest.mark.parametrize("threshold", [None, "0.3", np.nan, True])
    def test_bad_threshold(self, threshold):
        with pytest.raises(ValueError, match="threshold must be a number"):
            risk_certificate([1], [1], threshold, groups=[0], risks={"any_forbidden": 0.05})

    def test_no_query_counts(self):
        with pytest.raises(ValueError, match="no query counts for the risk 'false_reject_rate'"):
            risk_certificate([-1, -1], [1, 2], 0, groups=[1, 2], risks={"false_reject_rate": 0.05})


@pytest.fixture(scope="module")
def judged():
    return make_rank_and_filter(400, documents_per_query=8, random_state=0)


class TestLabelsOfMachines:
    """A certificate states how many of its labels machines gave, wherever it is shown."""

    def check(self, certificate, n_machine):
        labels = "label" if n_machine == 1 else "labels"
        assert f"Machines gave {n_machine} {labels} of these judgments" in str(certificate)
        assert "for labels of machines" in repr(certificate)
        assert (certificate.to_frame()["n_machine"] == n_machine).all()

    @pytest.mark.slow
    def test_a_count_is_stated_and_saved(self, judged):
        model = CertifiedThreshold({"any_forbidden@3": 0.4})
        by_people = model.fit(judged.bayes_scores, judged.y, groups=judged.groups).certificate_
        assert "achine" not in str(by_people) + repr(by_people)
        model.certificate_ = by_people.with_conditions(by_machines(7))
        self.check(model.certificate_, 7)
        self.check(copy_of(model).certificate_, 7)

    @pytest.mark.slow
    def test_command(self, judged, tmp_path, capsys):
        qrels, run, saved = (str(tmp_path / name) for name in ("qrels", "run", "filter.json"))
        with open(qrels, "w") as judgments, open(run, "w") as lists:
            rows = zip(judged.groups, judged.y, judged.bayes_scores)
            for row, (query, label, score) in enumerate(rows):
                judge = "predicted" if row < 30 else "0"
                judgments.write(f"{query} {judge} d{row} {label}\n")
                lists.write(f"{query} Q0 d{row} 1 {float(score)} x\n")
        options = ["--unjudged-label", "none", "--predicted", "use", "--save", saved]
        options += ["--k", "3", "--risk", "any_forbidden=0.3"]
        assert main(["threshold", qrels, run, *options]) == 0
        shown = capsys.readouterr().out
        assert "machine labels  " in shown
        assert "Machines gave 30" in shown
        assert load_threshold(saved).certificate_.facts["n_machine"] == 30


@own_loss
def wrong(y_true, y_score, *, pool):
    return float((y_true < 0).any() or (len(y_true) == 0 and (pool > 0).any()))


class TestOwnLosses:
    @pytest.mark.filterwarnings("ignore:the best certified threshold hides every document")
    @pytest.mark.filterwarnings("ignore:No threshold but")
    def test_the_end_that_the_data_choose_takes_half_of_the_error(self):
        """30 documents that must be hidden above 20 that must be shown: all are wrong in between.

        The test begins where nothing is shown, which 20 of 200 queries lose by, with an error of
        0.05; at the other end 30 do.
        """
        kind = np.repeat([-1.0, 1.0, 0.0], [30, 20, 150])
        scores = -np.arange(200.0)
        params = {"groups": np.arange(200), "confidence_level": 0.9}
        risk = certified(kind, scores, {wrong: 0.3}, **params).risks["own_loss"]
        n_wrong = round(risk.observed * 200)
        assert risk.upper_bound == pytest.approx(beta.ppf(0.95, n_wrong + 1, 200 - n_wrong))
        # From +inf down until 48 of 200 are wrong, the most that 0.3 is ruled out by.
        assert binom.cdf(48, 200, 0.3) < 0.05 < binom.cdf(49, 200, 0.3)
        assert risk.lower == scores[28]

    @pytest.mark.parametrize(
        ("loss", "message"),
        [
            (
                lambda y_true, y_score: float(len(y_true)),
                r"value_range=.*, but has a loss of",
            ),
            (lambda y_true, y_score: 0.0 if len(y_true) else np.nan, "is NaN for a query at some"),
        ],
    )
    def test_that_are_no_losses(self, data, loss, message):
        risks = {own_loss(loss, zero_or_one=False): 0.05}
        with pytest.raises(InputError, match=message):
            certified(data.y, data.bayes_scores, risks, groups=data.groups)


def test_a_rate_that_cannot_fail_is_warned_of(data):
    # Somebody forgot gains: no label is below 0.
    grades = data.y + 1
    params = {"groups": data.groups, "risks": {"any_forbidden@3": 0.1}, "measure": "ndcg_f@3"}
    with pytest.warns(FitWarning, match="'any_forbidden@3' is 0 on all .* map them by gains="):
        certified(grades, data.bayes_scores, **params)
    one = certified(grades, data.bayes_scores, gains=lambda label: label - 1.0, **params)
    assert one.threshold == certified(data.y, data.bayes_scores, **params).threshold


class TestSeveral:
    def test_of_one_direction_none_costs_the_other(self, data):
        params = {"groups": data.groups, "measure": "ndcg_f@3"}
        risks = {"any_forbidden@3": 0.2, "forbidden@3": 0.1}
        alone = {
            risk: certified(
                data.y, data.bayes_scores, {risk: level}, confidence_level=0.9, **params
            )
            for risk, level in risks.items()
        }
        both = certified(data.y, data.bayes_scores, risks, confidence_level=0.9, **params)
        assert both.lower == max(one.lower for one in alone.values())
        assert both.upper == np.inf
        assert list(both.risks) == list(risks)

    def test_of_two_directions_each_gets_half_of_the_error(self, data):
        # Lists of each risk end at the same place.
        params = {"groups": data.groups, "measure": "ndcg_f@3", "max_shown": 3}
        risks = {"any_forbidden@3": 0.2, "false_reject_rate": 0.6}
        both = certified(data.y, data.bayes_scores, risks, confidence_level=0.9, **params)
        for risk, level in risks.items():
            alone = certified(
                data.y, data.bayes_scores, {risk: level}, confidence_level=0.95, **params
            )
            (alone,) = alone.risks.values()
            assert (both.risks[risk].lower, both.risks[risk].upper) == (
                alone.lower,
                alone.upper,
            )
        assert both.lower < both.threshold <= both.upper
        assert "0.2, and the share of a query's good documents" in str(both)
        assert both.to_frame()["max_risk"].tolist() == [0.2, 0.6]
        assert both.to_frame()["verdict"].tolist() == ["kept", "kept"]

    def test_the_best_value_between_the_limits_is_chosen(self, data):
        risks = {"any_forbidden@3": 0.12, "false_reject_rate": 0.6}
        params = {"groups": data.groups, "measure": "ndcg_f@3"}
        both = certified(data.y, data.bayes_scores, risks, confidence_level=0.9, **params)
        curve = TunedThreshold("ndcg_f@3").fit(data.bayes_scores, data.y, data.groups)
        curve = curve.threshold_curve_
        inside = (curve.thresholds > both.lower) & (curve.thresholds <= both.upper)
        assert both.value == pytest.approx(curve.values[inside].max())

    def test_a_contradiction_says_which_bind(self, data):
        risks = {"any_forbidden@3": 0.05, "forbidden@3": 0.3, "false_reject_rate": 0.2}
        message = (
            "no threshold keeps all risks: any_forbidden@3 at most 0.05 needs one above .*, "
            "false_reject_rate at most 0.2 one of at most"
        )
        with pytest.raises(ValueError, match=message):
            certified(data.y, data.bayes_scores, risks, groups=data.groups)
