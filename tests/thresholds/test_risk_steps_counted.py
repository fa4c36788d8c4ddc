"""Queries that count for a risk where not all of them are judged."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import DataWarning
from skfilterrank.metrics import any_forbidden_at_k, forbidden_at_k
from skfilterrank.thresholds import (
    CertifiedThreshold,
    RiskMonitor,
    load_threshold,
    risk_certificate,
)
from skfilterrank.thresholds._risk_steps import DrawnSoFar

NO, NAN = -np.inf, np.nan


@pytest.mark.filterwarnings("ignore:queries without a judged")
@pytest.mark.parametrize(
    ("y_true", "y_score", "groups", "risk", "observed"),
    [
        ([1, NAN, NAN, 1], [0.9, 0.1, 0.2, 0.8], ["a", "e1", "e2", "b"], "empty_list_rate", 1 / 2),
        ([-1, NAN, NAN], [0.9, 0.1, 0.2], ["a", "e1", "e2"], "any_forbidden@3", 1 / 3),
        ([-1, NAN, NAN], [0.9, 0.1, 0.2], ["a", "e1", "e2"], "forbidden@3", 1 / 3),
    ],
)
def test_a_query_that_shows_nothing_counts(y_true, y_score, groups, risk, observed):
    certificate = risk_certificate(y_true, y_score, 0.5, groups=groups, risks={risk: 0.6})
    bound = certificate.risks[risk]
    assert bound.observed == pytest.approx(observed)
    assert (bound.n_queries, bound.n_left_out) == (len(y_true), 0)
    for scores, threshold in ((y_score, 0.5), (np.where(np.less(y_score, 0.5), NO, y_score), None)):
        rates = RiskMonitor({risk: 0.6}).update(y_true, scores, groups=groups, threshold=threshold)
        assert rates.rates.loc[risk, "observed"] == pytest.approx(observed)
        assert rates.rates.loc[risk, "n_queries"] == len(y_true)
    if risk.startswith("any"):
        hidden = np.where(np.less(y_score, 0.5), NO, y_score)
        assert any_forbidden_at_k(y_true, hidden, groups=groups, k=3) == pytest.approx(observed)


def test_queries_that_show_something_unjudged_are_left_out_and_told_of(tmp_path):
    # Two of three queries that show something are judged; of three that show nothing, two count.
    y_true = [-1, 1, NAN, NAN, NAN, NAN]
    y_score = [0.9, 0.8, 0.7, 0.1, 0.2, 0.3]
    given = {"groups": np.arange(6), "risks": {"any_forbidden": 0.6, "empty_list_rate": 0.6}}
    with pytest.warns(
        DataWarning, match=r"2 of 6 queries are left out of any_forbidden: no .*\(of"
    ):
        found = risk_certificate(y_true, y_score, 0.5, **given)
    harm, empty = found.risks.values()
    assert (harm.n_queries, harm.n_left_out, harm.observed) == (4, 2, 1 / 4)
    assert (empty.n_queries, empty.n_left_out, empty.observed) == (6, 0, 1 / 2)
    assert found.facts["n_left_out"] == 2
    assert "2 of 6 queries are left out" in str(found)
    with pytest.warns(DataWarning, match="1 of 6 queries is left out"):
        # Those that show nothing are not among the answered ones.
        found = risk_certificate(y_true, y_score, 0.5, among="answered", **given)
    assert [each.n_left_out for each in found.risks.values()] == [1, 0]


def test_levels_below_all_labels_are_not_certified(tmp_path):
    # An old threshold showed 0.5 and more, and all of that is judged.
    rng = np.random.default_rng(0)
    groups, y_score = np.repeat(np.arange(100), 2), rng.random(200)
    y_true = np.where(y_score >= 0.5, 1.0, NAN)
    model = CertifiedThreshold({"any_forbidden": 0.1})
    with pytest.warns(match="is 0 on all calibration queries"):
        model.fit(y_score, y_true, groups=groups)
    (risk,) = model.certificate_.risks.values()
    assert risk.lower == y_score[y_score < 0.5].max()
    assert risk.lower < model.threshold_ <= y_score[y_score >= 0.5].min()
    assert (risk.n_queries, risk.n_left_out) == (100, 0)
    # One query was forgotten: it is left out, and hardly any of those that show nothing.
    forgotten = int(groups[y_score.argmax()])
    y_true[groups == forgotten] = NAN
    with pytest.warns() as caught:
        model.fit(y_score, y_true, groups=groups)
    assert any("left out of any_forbidden" in str(each.message) for each in caught)
    (risk,) = model.certificate_.risks.values()
    assert 1 <= risk.n_left_out <= 2
    assert risk.n_queries == 100 - risk.n_left_out
    model.save(tmp_path / "t.json")
    assert load_threshold(tmp_path / "t.json").certificate_.facts["n_left_out"] == risk.n_left_out


@pytest.mark.parametrize("n_parts", [1, 3, 40])
def test_a_stream_counts_the_same_however_it_is_divided(n_parts):
    rng = np.random.default_rng(0)
    shown = rng.random(200) < 0.3
    judged = np.where(shown, rng.random(200) < 0.4, rng.random(200) < 0.05)
    _, whole = DrawnSoFar().after(judged, shown, np.arange(200))
    so_far, drawn = DrawnSoFar(), []
    for part in np.array_split(np.arange(200), n_parts):
        so_far, counted = so_far.after(judged[part], shown[part], np.arange(len(part)))
        drawn.append(counted.drawn)
    np.testing.assert_array_equal(np.concatenate(drawn), whole.drawn)
    # The same share of both counts.
    share = judged[shown].mean()
    assert whole.drawn[~shown].mean() == pytest.approx(share, abs=0.05)
    assert whole.drawn[shown].tolist() == judged[shown].tolist()


def certify(y_true, scores, groups, **given):
    CertifiedThreshold({"any_forbidden": 0.5}).fit(scores, y_true, groups=groups, **given)


def certify_fixed(y_true, scores, groups, **given):
    risk_certificate(y_true, scores, 0.0, groups=groups, risks={"any_forbidden": 0.5}, **given)


@pytest.mark.parametrize("make", [certify, certify_fixed])
class TestQueriesUnlikeOthers:
    def rows(self):
        rng = np.random.default_rng(0)
        groups = np.repeat(np.arange(300), 2)
        scores = rng.random(600)
        return np.where(rng.random(600) < 0.1, -1.0, 1.0), scores, groups

    def test_judged_queries_of_high_scores_are_no_random_draw(self, make):
        y_true, scores, groups = self.rows()
        best = np.maximum.reduceat(scores, np.arange(0, 600, 2))
        by_score = np.where((best < np.median(best))[groups], NAN, y_true)
        # One query of low scores is judged, so that levels with labels reach down to it.
        by_score[groups == best.argmin()] = 1
        with pytest.warns(DataWarning, match=r"no such draw, by the best .*p <0\.0001\)"):
            make(by_score, scores, groups)
        at_random = np.where(np.random.default_rng(1).random(300)[groups] < 0.5, NAN, y_true)
        with pytest.warns(DataWarning, match="left out") as caught:
            make(at_random, scores, groups)
        assert not any("no such draw" in str(each.message) for each in caught)

    @pytest.mark.filterwarnings("error")
    def test_copies(self, make):
        y_true, scores, groups = self.rows()

        def copied(n_copies):
            more = groups < n_copies
            return (
                np.append(y_true, y_true[more]),
                np.append(scores, scores[more]),
                np.append(groups, 1000 + groups[more]),
            )

        make(*copied(6))
        y, s, g = copied(9)
        with pytest.warns(DataWarning, match=r"9 of 309 queries are exact copies of others"):
            make(y, s, g)
        # One cluster counts once.
        make(y, s, g, clusters=np.where(g >= 1000, g - 1000, g))
        # Coarse scores make lists equal by chance.
        make(y_true, np.round(scores, 1), groups)
        make(y, np.round(s, 1), g)


def draw(rng, n_queries):
    """Labels, scores and queries; scores of a query are alike, and forbidden ones are lower."""
    groups = np.repeat(np.arange(n_queries), 4)
    scores = rng.normal(size=n_queries)[groups] + rng.normal(size=len(groups))
    is_bad = rng.random(len(groups)) < 1 / (1 + np.exp(1.2 * scores + 1))
    return np.where(is_bad, -1.0, 1.0), scores, groups


@pytest.mark.nightly
@pytest.mark.parametrize("share", [1, 0.3])
@pytest.mark.parametrize("old", [0.1, 1.2])
@pytest.mark.parametrize("risk", ["any_forbidden@3", "forbidden@3"])
def test_certificates_hold_with_labels_only_where_an_old_threshold_showed(risk, old, share):
    """At the lowest certified level the risk is above its level in at most a tenth of 200 draws."""
    rng, n_broken, n_tight = np.random.default_rng(0), 0, 0
    y, scores, groups = draw(rng, 20_000)
    measure = any_forbidden_at_k if risk.startswith("any") else forbidden_at_k
    level = {"any_forbidden@3": 0.15, "forbidden@3": 0.08}[risk]
    model = CertifiedThreshold({risk: level}, confidence_level=0.9)
    for _ in range(200):
        y_true, y_score, ids = draw(rng, 400)
        is_seen = (y_score >= old) & (rng.random(400) < share)[ids]
        with warnings.catch_warnings(action="ignore"):
            model.fit(y_score, np.where(is_seen, y_true, NAN), groups=ids)
        lowest = np.nextafter(model.certificate_.lower, np.inf)
        shown = np.where(scores >= lowest, scores, NO)
        n_broken += measure(y, shown, groups=groups, k=3, ties="worst") > level
        n_tight += lowest > old
    # Three standard errors above a tenth.
    assert n_broken <= 20 + 3 * np.sqrt(18)


@pytest.mark.nightly
@pytest.mark.parametrize("share", [1, 0.3])
def test_an_intact_filter_raises_no_alarm_where_people_judge_what_is_shown(share):
    rng, n_alarms, observed = np.random.default_rng(0), 0, []
    for _ in range(20):
        y_true, y_score, ids = draw(rng, 1000)
        is_seen = (y_score >= 1.2) & (rng.random(1000) < share)[ids]
        monitor = RiskMonitor({"any_forbidden@3": 0.05})
        with warnings.catch_warnings(action="ignore"):
            status = monitor.update(
                np.where(is_seen, y_true, NAN), y_score, groups=ids, threshold=1.2
            )
        n_alarms += status.alarm
        observed.append(status.rates["observed"].item())
    assert n_alarms <= 1
    y, scores, groups = draw(rng, 20_000)
    true = any_forbidden_at_k(y, np.where(scores >= 1.2, scores, NO), groups=groups, k=3)
    assert np.mean(observed) == pytest.approx(true, rel=0.15)


@pytest.mark.filterwarnings("ignore:.*are unjudged", "ignore:.* left out of")
def test_documents_to_judge_have_the_ids_that_were_given():
    _, y, groups, scores = make_rank_and_filter(120, random_state=0)
    y = np.where(np.arange(len(y)) % 7 == 0, np.nan, y)
    threshold = CertifiedThreshold({"any_forbidden@3": 0.7}, confidence_level=0.5)
    given = {"risks": {"any_forbidden@3": 0.7}}
    for make in (
        lambda ids: clone(threshold).fit(scores, y, groups=ids).certificate_,
        lambda ids: risk_certificate(y, scores, 0.3, groups=ids, **given),
    ):
        by_int, by_text = make(groups).to_judge, make(groups.astype(str)).to_judge
        assert by_text["query"].tolist() == by_int["query"].astype(str).tolist()
        assert by_text["query"].tolist() == groups[by_text["row"]].astype(str).tolist()
        assert by_text["row"].tolist() == by_int["row"].tolist()
