"""RankAndFilter with a CertifiedThreshold: what is calibrated, and whether it holds exactly."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, GroupShuffleSplit

from certificates import only, promise_at, risks_at
from dealt import dealt_splits
from given_scores import GivenScores
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import FitWarning
from skfilterrank.metrics import (
    make_ranking_scorer,
)
from skfilterrank.metrics._filtering import qwa_score
from skfilterrank.ranking import (
    CalibratedRanker,
    FilterOnly,
    LambdaRankRanker,
    OrdinalRanker,
    QueryRanker,
    RankAndFilter,
    make_ranker,
)
from skfilterrank.thresholds import (
    UNSEEN,
    CertifiedThreshold,
)

# Lists drawn at random often hold nothing that a risk could be broken by.
pytestmark = pytest.mark.filterwarnings("ignore:The risk .* is 0 on all calibration queries")

NO = -np.inf
STEPS = ("forbidden", "any_forbidden", "false_reject_rate")


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(n_queries=600, n_features=8, random_state=0)


def fit(data, estimator=None, threshold=None, **params):
    given = {"risks": {"any_forbidden@3": 0.15}, "confidence_level": 0.9} | (threshold or {})
    model = RankAndFilter(
        LogisticRegression() if estimator is None else estimator,
        CertifiedThreshold(**given),
        **{"measure": "ndcg_f@3"} | params,
    )
    return model.fit(data.X, data.y, groups=data.groups)


def test_rows_to_judge_are_numbered_as_they_were_given():
    """Of 60 queries 18 are calibrated on; the first document of each query is unjudged."""
    groups, scores = np.repeat(np.arange(60), 2), np.tile([2.0, 1.0], 60)
    y = np.tile([np.nan, 1.0], 60)
    ((_, held_out),) = dealt_splits(0.3, scores, y, groups)
    model = RankAndFilter(GivenScores(), CertifiedThreshold({"any_forbidden": 0.5}))
    with warnings.catch_warnings(action="ignore"):
        model.fit(scores, y, groups=groups)
    expected = held_out[np.isnan(y[held_out])]
    assert model.certificate_.to_judge["row"].tolist() == expected.tolist()
    assert model.certificate_.to_judge["query"].tolist() == groups[expected].tolist()


class TestRankAndFilter:
    @pytest.mark.slow
    @pytest.mark.parametrize("risk", STEPS)
    def test_calibrates_the_model_it_keeps_on_one_split(self, data, risk):
        model = fit(data, threshold={"risks": risks_at(risk, 0.15, None)})
        ((train, held_out),) = dealt_splits(0.3, data.X, data.y, data.groups)
        inner = LogisticRegression().fit(data.X[train], data.y[train] > 0)
        np.testing.assert_allclose(model.estimator_.coef_, inner.coef_)
        scores = inner.predict_proba(data.X[held_out])[:, 1]
        expected = promise_at(
            data.y[held_out],
            scores,
            risks_at(risk, 0.15, None),
            groups=data.groups[held_out],
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
        assert len(model.cv_results_["n_queries"]) == n_splits
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
        assert UNSEEN.sentence in certificate.text
        assert UNSEEN.sentence not in expected.text
        text = certificate.text.replace(f" {UNSEEN.sentence}", "")
        assert vars(certificate) == vars(expected) | {
            "assumes_unseen": True,
            "text": certificate.text,
        }
        assert text == expected.text
        assert model.estimator_ is inner

    def test_a_split_through_queries_is_not_exact(self, data):
        rows = np.arange(len(data.y))
        with pytest.warns(UserWarning, match="cv splits queries"):
            model = fit(data, cv=[(rows[::2], rows[1::2])])
        assert not model.certificate_.facts["exact"]

    def test_elsewhere_refit_is_as_before(self, data):
        one = RankAndFilter(Ridge(), cv=0.3).fit(data.X, data.y, groups=data.groups)
        two = RankAndFilter(Ridge(), cv=0.3, refit=True).fit(data.X, data.y, groups=data.groups)
        np.testing.assert_array_equal(one.estimator_.coef_, two.estimator_.coef_)
        assert not hasattr(one, "certificate_")

    @pytest.mark.slow
    def test_certificate_goes_with_another_threshold(self, data):
        model = fit(data)
        model.set_params(threshold="tune").fit(data.X, data.y, groups=data.groups)
        assert not hasattr(model, "certificate_")

    @pytest.mark.slow
    @pytest.mark.parametrize("risk", STEPS)
    def test_any_measure_chooses_among_the_certified(self, data, risk):
        model = fit(data, threshold={"risks": {risk: 0.15}}, cv=0.5, measure="qwa")
        certificate = only(model.certificate_)
        scores = model.estimator_.predict_proba(data.X)[:, 1]
        ((_, held_out),) = dealt_splits(0.5, data.X, data.y, data.groups)
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

    @pytest.mark.parametrize("estimator", [LogisticRegression(), make_ranker("logistic")], ids=repr)
    def test_no_promise_about_queries_without_queries(self, data, estimator):
        model = RankAndFilter(
            estimator,
            CertifiedThreshold({"any_forbidden@3": 0.1}, confidence_level=0.9),
            measure="ndcg_f@3",
            cv=0.5,
        )
        for y in (data.y, pd.Series(data.y), list(data.y)):
            with pytest.raises(
                ValueError,
                match="groups is missing: CertifiedThreshold certifies risks over queries",
            ):
                model.fit(data.X, y)
        y = pd.Series(data.y, index=pd.Index(data.groups, name="qid"))
        assert model.fit(data.X, y).certificate_.risks["any_forbidden@3"].n_queries == 300

    def test_pure_filtering_where_each_row_is_a_query(self, data):
        model = RankAndFilter(
            LogisticRegression(), CertifiedThreshold({"any_forbidden": 0.1}, confidence_level=0.9)
        ).fit(data.X, data.y, groups=np.arange(len(data.y)))
        kept = model.predict(data.X) > NO
        assert model.certificate_.risks["any_forbidden"].n_queries == math.ceil(0.3 * len(data.y))
        # Each row is a query: the share of all rows that are shown and forbidden.
        assert 0.02 < (kept & (data.y < 0)).mean() < 0.1

    @pytest.mark.slow
    def test_in_a_grid_search_with_metadata_routing(self, data):
        with sklearn.config_context(enable_metadata_routing=True):
            search = GridSearchCV(
                RankAndFilter(
                    LogisticRegression(),
                    CertifiedThreshold({"any_forbidden@3": 0.05}, confidence_level=0.9),
                    measure="ndcg_f@3",
                ),
                {"threshold__risks": [{"any_forbidden@3": level} for level in (0.1, 0.3)]},
                scoring=make_ranking_scorer("ndcg_f@3"),
                cv=GroupKFold(2),
            ).fit(data.X, data.y, groups=data.groups)
        assert search.best_params_ == {"threshold__risks": {"any_forbidden@3": 0.3}}
        assert search.best_estimator_.certificate_.facts["exact"]

    def test_bad_input(self, data):
        with pytest.raises(ValueError, match=r"risks must name .* got 'ndcg'"):
            fit(data, threshold={"risks": {"ndcg": 0.1}})
        with pytest.raises(ValueError, match="refit=False keeps the model of the only split"):
            fit(data, refit=False, cv=3)
        message = "needs at least 230 calibration queries .*got 180"
        with pytest.raises(ValueError, match=message) as caught:
            fit(data, threshold={"risks": {"any_forbidden@3": 0.01}})
        assert caught.value.__notes__ == ["cv=None gives 180 queries to calibrate on."]
        with pytest.raises(ValueError, match="got 1: even") as caught:
            fit(data, cv=1 / 600)
        assert caught.value.__notes__ == [f"cv={1 / 600!r} gives 1 query to calibrate on."]

    def test_no_warning_in_ordinary_use(self, data):
        with warnings.catch_warnings(action="error"):
            fit(data)


@pytest.fixture(scope="module")
def eights():
    return make_rank_and_filter(400, documents_per_query=8, random_state=0)


class TestQueriesThatTheEstimatorWasFittedOn:
    def certifying(self, ranker):
        return RankAndFilter(ranker, CertifiedThreshold({"any_forbidden": 0.6}), cv="prefit")

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("ranker", "frozen"),
        [
            (QueryRanker(Ridge()), True),
            (LambdaRankRanker(n_estimators=2), True),
            (LambdaRankRanker(n_estimators=2), False),
            (OrdinalRanker(), False),
            (CalibratedRanker(Ridge()), False),
            (FilterOnly(RankAndFilter(Ridge(), None)), False),
        ],
    )
    def test_are_told(self, eights, ranker, frozen):
        half = eights.groups < 200
        ranker = ranker.fit(
            eights.X[half], np.maximum(eights.y, 0)[half], groups=eights.groups[half]
        )
        model = self.certifying(FrozenEstimator(ranker) if frozen else ranker)
        with pytest.warns(FitWarning, match=r"200 of 400 calibration queries .* was fitted on"):
            model.fit(pd.DataFrame(eights.X), eights.y, groups=1000 + eights.groups)
        assert not model.certificate_.facts["exact"]

    def test_others_of_the_same_ids_are_not(self, eights):
        half = eights.groups < 200
        ranker = QueryRanker(Ridge()).fit(
            eights.X[half], eights.y[half], groups=eights.groups[half]
        )
        model = self.certifying(ranker)
        model.fit(eights.X[~half], eights.y[~half], groups=eights.groups[~half] - 200)
        assert model.certificate_.facts["exact"]


def test_two_models_have_a_certificate_and_measured_folds(data):
    safe = CertifiedThreshold({"any_forbidden@3": 0.2}, confidence_level=0.9)
    model = RankAndFilter(
        Ridge(), safe, filter_estimator=LogisticRegression(), measure="ndcg_f@3", cv=0.5
    ).fit(data.X, data.y, groups=data.groups)
    (n_queries,) = model.cv_results_["n_queries"]
    # A part of the 300 held-out queries teaches the curves.
    assert n_queries == model.certificate_.risks["any_forbidden@3"].n_queries < 300
    assert model.cv_results_["test_score"] == pytest.approx(model.best_score_, abs=1e-12)
