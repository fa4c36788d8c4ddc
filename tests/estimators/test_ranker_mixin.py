"""One surface for every ranker: fit, predict and score with `groups`, of others' rankers too."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from all_estimators import CASES, rows
from ranker_checks import check_grid_search
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import FitWarning, InputError, UnjudgedWarning
from skfilterrank.metrics import forbidden_at_k, make_ranking_scorer, ndcg_0_score, ndcg_f_score
from skfilterrank.ranking import (
    LOSSES,
    METHODS,
    CalibratedRanker,
    CoordinateAscentRanker,
    FilterOnly,
    LambdaRankRanker,
    QueryRanker,
    QueryScaler,
    RankAndFilter,
    RankerMixin,
    make_ranker,
)
from skfilterrank.thresholds import BaseThreshold, CertifiedThreshold, FixedThreshold
from thinned import thinned

MADE = {
    **{f"make_ranker({name!r})": make_ranker(name) for name in (*LOSSES, *METHODS)},
    "make_ranker(learner='linear')": make_ranker("ordinal", learner="linear"),
    "make_ranker(features=...)": make_ranker("ordinal", features=StandardScaler()),
}
for ranker in MADE.values():
    params = ranker.get_params()
    ranker.set_params(**{name: 3 for name in params if name.endswith("n_estimators")})
    ranker.set_params(**{name: 0 for name in params if name.endswith("random_state")})


class FirstFeature(RankerMixin, BaseEstimator):
    """Somebody else's ranker: the order of one feature, which `fit` may turn."""

    needs_groups = True

    def __init__(self, *, sign=1.0, measure="ndcg_f", gains=None):
        self.sign = sign
        self.measure = measure
        self.gains = gains

    def fit(self, X, y, groups=None):
        """Learn nothing but the number of features."""
        if np.isnan(np.asarray(y, dtype=float)).any():
            raise ValueError("not a number")
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X, groups=None):
        """Score by the first feature."""
        return self.sign * np.asarray(X)[:, 0]


class Counting(FirstFeature):
    """One that takes unjudged rows, and counts them."""

    def fit(self, X, y, groups=None):
        self.n_rows_, self.n_unjudged_ = len(y), int(np.isnan(y).sum())
        return self


class CountingAsTold(Counting):
    takes_unjudged = True


@pytest.mark.parametrize(("kind", "expected"), [(Counting, (3, 0)), (CountingAsTold, (4, 1))])
def test_unjudged_rows_go_to_rankers_that_say_so(kind, expected):
    filtered = FilterOnly(kind())
    with warnings.catch_warnings(action="ignore", category=UnjudgedWarning):
        filtered.fit(np.eye(4), np.array([1.0, 0.0, np.nan, 1.0]), groups=np.zeros(4))
    inside = filtered.estimator_
    assert (inside.n_rows_, inside.n_unjudged_) == expected


OURS = {
    name: case.estimator
    for name, case in CASES.items()
    if isinstance(case.estimator, RankerMixin)
    # Thresholds take scores; tests of their own look at them.
    and not isinstance(case.estimator, BaseThreshold)
}
OTHERS = {"FirstFeature": FirstFeature()}
RANKERS = OURS | MADE | OTHERS


def each_of(rankers, *, is_known=lambda ranker: False):
    """A case for each; what is of one kind as another, or known, is looked at at night."""
    seen, cases = set(), []
    for name, ranker in rankers.items():
        kind = type(ranker), type(getattr(ranker, "estimator", None))
        again = name in MADE and (kind in seen or is_known(ranker))
        cases.append(pytest.param(ranker, id=name, marks=[pytest.mark.nightly] if again else []))
        seen.add(kind)
    return pytest.mark.parametrize("ranker", cases)


every_ranker = each_of(RANKERS)
# Those that learn something from rows without queries.
ROW_RANKERS = {
    name: ranker
    for name, ranker in RANKERS.items()
    if not ranker.needs_groups
    and not isinstance(getattr(ranker, "threshold", None), CertifiedThreshold)
}

pytestmark = pytest.mark.filterwarnings("ignore:.*rows are unjudged")


@pytest.fixture(scope="module")
def data():
    """All rows judged; gains -1 (forbidden), 1 and 2."""
    (X, _), queries = rows(14, 0)
    y = np.random.default_rng(0).permuted(np.repeat([-1.0, 1.0, 2.0], len(X) // 3))
    return X, y + 0.0, queries["groups"]


def test_rankers_have_the_surface():
    assert len({type(ranker) for ranker in OURS.values()}) == 9


@pytest.mark.slow
@every_ranker
def test_signatures(ranker):
    assert isinstance(ranker, RankerMixin)
    for method, names in (("fit", "Xy"), ("predict", "X"), ("score", "Xy")):
        signature = inspect.signature(getattr(ranker, method))
        assert list(signature.parameters)[: len(names) + 1] == [*names, "groups"]
        assert signature.parameters["groups"].default is None
        assert ranker.get_metadata_routing().consumes(method, ["groups"]) == {"groups"}
        if not isinstance(ranker, FirstFeature):
            assert signature.return_annotation is not inspect.Signature.empty
            documented = inspect.getdoc(getattr(ranker, method))
            assert all(f"\n{name} : " in documented for name in (*names, "groups"))


@pytest.mark.slow
@each_of(dict(thinned(RANKERS.items(), turn=1, parts=2)))
def test_score_is_the_measure_of_what_predict_returns(data, ranker):
    X, y, groups = data
    fitted = clone(ranker).fit(X, y, groups=groups)
    scores = fitted._without_filtered(fitted.predict(X, groups=groups))
    expected = fitted._score_measure().utility(y, scores, groups=groups)
    assert fitted.score(X, y, groups=groups) == expected


def test_scores_below_the_threshold_that_was_learned_are_filtered_first(data):
    X, y, groups = data
    trees = {"n_estimators": 3, "min_child_samples": 2, "n_jobs": 1}
    for ranker in (
        LambdaRankRanker(**trees, gamma=1.0),
        CoordinateAscentRanker(filter=True, max_iter=1, measure="ndcg_f", random_state=0),
    ):
        fitted = ranker.fit(X, y, groups=groups)
        scores = fitted.predict(X)
        shown = np.where(scores >= 0, scores, -np.inf)
        expected = ndcg_f_score(y, shown, groups=groups)
        assert fitted.score(X, y, groups=groups) == expected
        assert make_ranking_scorer("ndcg_f")(fitted, X, y, groups=groups) == expected


@pytest.mark.slow
@each_of(dict(thinned(RANKERS.items(), parts=2)))
def test_measure_is_a_name_or_a_function_and_no_scorer(data, ranker):
    X, y, groups = data
    if "measure" not in ranker.get_params():
        pytest.skip("FilterOnly has the measure of the estimator inside")
    ranker = clone(ranker).set_params(measure=ndcg_0_score)
    if getattr(ranker, "threshold", None) in ("per_query", "expected"):
        ranker.set_params(threshold="tune")
    fitted = ranker.fit(X, y, groups=groups)
    scores = fitted.predict(X, groups=groups)
    k = ranker.get_params().get("k") if isinstance(ranker, RankAndFilter) else None
    expected = ndcg_0_score(y, fitted._without_filtered(scores), groups=groups, k=k)
    assert fitted.score(X, y, groups=groups) == expected
    scorers = make_ranking_scorer("ndcg"), make_scorer(ndcg_0_score)
    # Both where they differ most, else one: each is a fit.
    for scorer in scorers if isinstance(ranker, QueryRanker) else scorers[:1]:
        with pytest.raises(InputError, match=r"is a scorer, but|is not a measure"):
            clone(ranker).set_params(measure=scorer).fit(X, y, groups=groups).score(X, y, groups)


def test_lower_is_better_is_negated(data):
    X, y, groups = data
    fitted = QueryRanker(Ridge(), measure="forbidden@3").fit(X, y, groups=groups)
    expected = -forbidden_at_k(y, fitted.predict(X), groups=groups, k=3)
    assert fitted.score(X, y, groups=groups) == expected < 0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*(was given no|without) query ids")
@each_of(ROW_RANKERS)
def test_fitted_without_queries_each_row_is_one(data, ranker):
    X, y, _ = data
    fitted = clone(ranker).fit(X, y)
    assert not fitted.fitted_with_groups_
    assert fitted.score(X, y) == fitted.score(X, y, groups=np.arange(len(y)))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"y": [1.0, 2.0]}, r"^y has 2 labels but there are 4 rows\.$"),
        ({"y": None}, "^y must hold one label per row, got None"),
        ({"y": list("abab")}, "^y holds labels that are not numbers"),
        ({"groups": None}, "^groups is missing: .* or give y as a pandas Series .* such as RFECV"),
        ({"groups": [0, 0, 1]}, "^groups has 3 entries but there are 4 rows"),
    ],
)
def test_errors_of_score_name_its_arguments(changed, message):
    rows = {"y": [1.0, 0.0, 1.0, 0.0], "groups": [0, 0, 1, 1]}
    for estimator, X in (
        (QueryRanker(Ridge()), np.arange(4.0)[:, None]),
        (FixedThreshold(1.0, measure="ndcg_f"), np.arange(4.0)),
    ):
        fitted = estimator.fit(X, **rows)
        with pytest.raises(InputError, match=message):
            fitted.score(X, **rows | changed)


# tests/whole_package/test_estimator_contract.py searches over a case of each class of ours.
@each_of(MADE | OTHERS, is_known=lambda ranker: type(ranker) in map(type, OURS.values()))
def test_grid_search_needs_no_scoring(data, ranker):
    check_grid_search(ranker, *data)


class TestSomebodyElsesRanker:
    def test_in_the_estimators_of_this_package(self, data):
        X, y, groups = data
        alone = FirstFeature().fit(X, y, groups=groups)
        with_unjudged = np.where(np.arange(len(y)) % 4 == 0, np.nan, y)
        for around in (
            RankAndFilter(FirstFeature(), threshold=None, measure="ndcg_f@3", cv=2),
            QueryRanker(FirstFeature()),
            QueryRanker(make_pipeline("passthrough", FirstFeature())),
        ):
            fitted = around.fit(X, with_unjudged, groups=groups)
            np.testing.assert_array_equal(fitted.predict(X), alone.predict(X))
        tuned = RankAndFilter(FirstFeature(), measure="ndcg_f@3", cv=2).fit(
            X, with_unjudged, groups=groups
        )
        assert tuned.best_score_ == pytest.approx(tuned.threshold_curve_.best_value)
        calibrated = CalibratedRanker(FirstFeature(), cv=2).fit(X, with_unjudged, groups=groups)
        assert (np.argsort(calibrated.predict(X)) == np.argsort(alone.predict(X))).all()
        baseline = FilterOnly(FirstFeature(measure="ndcg@2"), random_state=0)
        baseline.fit(X, with_unjudged, groups=groups)
        assert baseline.n_unjudged_ == np.isnan(with_unjudged).sum()
        assert baseline.measure == "ndcg@2"

    def test_what_it_declares_is_obeyed(self, data):
        X, y, groups = data
        for around in (RankAndFilter, CalibratedRanker, QueryRanker):
            assert around(FirstFeature()).needs_groups
            with pytest.raises(InputError, match="FirstFeature needs queries"):
                around(FirstFeature()).fit(X, y)
        assert not QueryRanker(FirstFeature()).has_fixed_scale

        class Gains(FirstFeature):
            ranking_target = "binary"
            has_fixed_scale = True

            def fit(self, X, y, groups=None):
                self.seen_ = set(np.unique(y))
                return super().fit(X, y, groups)

        model = RankAndFilter(Gains(), threshold=None).fit(X, y, groups=groups)
        assert model.estimator_.seen_ == {0, 1}
        assert QueryRanker(Gains()).has_fixed_scale

    def test_in_a_search(self, data):
        X, y, groups = data
        y = pd.Series(-X[:, 0], index=pd.Index(groups, name="qid"))
        search = GridSearchCV(FirstFeature(), {"sign": [1.0, -1.0]}, cv=GroupKFold(2))
        assert search.fit(X, y, groups=groups).best_params_ == {"sign": -1.0}

    def test_what_is_missing_is_said(self):
        class Nothing(RankerMixin, BaseEstimator):
            pass

        with pytest.raises(NotImplementedError, match="Nothing has no fit"):
            Nothing().fit([[1.0]], [1])
        with pytest.raises(NotImplementedError, match="Nothing has no predict"):
            Nothing().predict([[1.0]])


def test_queries_reach_the_prediction_of_what_is_inside(data):
    X, y, groups = data
    scaled = make_pipeline(QueryScaler(), LogisticRegression())
    expected = QueryRanker(scaled).fit(X, y, groups=groups).predict(X, groups=groups)
    for around in (QueryRanker, lambda inner: RankAndFilter(inner, threshold=None)):
        fitted = around(QueryRanker(scaled)).fit(X, y, groups=groups)
        np.testing.assert_array_equal(fitted.predict(X, groups=groups), expected)


def test_the_empty_list_has_a_score(data):
    X, y, groups = data
    hides_all = RankAndFilter(
        LogisticRegression(), np.inf, measure="ndcg_f@3", gains={-1: -2, 1: 1, 2: 2}
    )
    empty = hides_all.fit(X, y, groups=groups)
    expected = ndcg_f_score(np.where(y < 0, -2.0, y), np.full(len(y), -np.inf), groups=groups, k=3)
    assert empty.score(X, y, groups=groups) == expected
    model = FilterOnly(
        RankAndFilter(LogisticRegression(), measure="ndcg_f@3", cv=2), random_state=0
    )
    assert model.fit(X, y, groups=groups)._score_measure().text == "ndcg_f@3"


def test_a_score_that_cannot_tell_rankers_apart_is_warned_of():
    X, y, *_ = make_rank_and_filter(n_queries=30, random_state=0)
    ranker = QueryRanker(Ridge()).fit(X, y)
    with pytest.warns(FitWarning, match=r"QueryRanker\.score was given no query ids"):
        ranker.score(X, y)
    search = GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1e9, 1.0]}, cv=2)
    with pytest.warns(FitWarning, match="index level 'qid'"):
        search.fit(X, y)
