"""Scorers in every tool of scikit-learn that scores, with queries carried in either way.

How the query ids reach the scorer, by tool. "Series": `y` is a Series with an index level "qid" and
metadata routing is off. "Routing": plain arrays, `enable_metadata_routing=True`.

===========================  ===================================  ==============================
tool                         Series                               Routing
===========================  ===================================  ==============================
GridSearchCV                 fit(X, y, groups=qid) [1]_           fit(X, y, groups=qid)
cross_validate               groups=qid                           params={"groups": qid}
nested (search in the two)   groups=qid, params={"groups": qid}   params={"groups": qid}
learning_curve               groups=qid                           params={"groups": qid}
RFECV                        not possible [4]_                    fit(X, y, groups=qid)
SequentialFeatureSelector    fit(X, y) [5]_                       fit(X, y, groups=qid)
LearningCurveDisplay         groups=qid                           not possible [3]_
permutation_test_score       groups=qid [2]_                      params={"groups": qid} [2]_
permutation_importance       y alone                              not possible [3]_
scorer(estimator, X, y)      y alone                              scorer(..., groups=qid)
===========================  ===================================  ==============================

.. [1] In this column `groups` is for the splitter, such as GroupKFold, alone: the scorer reads `y`.
.. [2] In the first column labels are shuffled within queries, in the second over all rows.
.. [3] It hands no metadata on. A Series as `y`, or a DataFrame with an index level "qid" as `X`,
   works with routing on, too.
.. [4] It makes an array of `y`.
.. [5] With `cv` as a list of (train, test), since its `fit` takes no `groups`.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRanker, LGBMRegressor
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import BaggingRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LearningCurveDisplay,
    TunedThresholdClassifierCV,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfilterrank.exceptions import DataWarning, InputError
from skfilterrank.metrics import (
    forbidden_at_k,
    make_ranking_scorer,
    ndcg_f_score,
    ndcg_score,
    register_measure,
    ul_normalized_score,
)
from skfilterrank.metrics._scorer import RankingScorer
from skfilterrank.ranking import QueryRanker, RankAndFilter
from skfilterrank.thresholds import FixedThreshold
from thinned import thinned

# Every measure is given gains below 0 here.
pytestmark = pytest.mark.filterwarnings("ignore:.*some gains are below 0")

N_QUERIES = 24
CV = GroupKFold(3)
SCORER = make_ranking_scorer("ndcg_f@3")
WAYS = ["series", "routing"]


def make_rows():
    """Features, labels -1, 1 and 2, and the query of each row; queries are mixed up."""
    rng = np.random.default_rng(3)
    qid = rng.permutation(np.repeat([f"q{number}" for number in range(N_QUERIES)], 5))
    y = rng.choice([-1, 1, 2], len(qid))
    X = rng.normal(size=(len(qid), 3))
    X[:, 0] += y
    return X, y, qid


X, Y, QID = make_rows()
WORDS = {-1: "spam offer now", 1: "perhaps so", 2: "because the source says"}
TEXTS = [f"{WORDS[label]} {number % 7}" for number, label in enumerate(Y)]

# What each container needs in front of the estimator.
CONTAINERS = {
    "array": (X, StandardScaler()),
    "DataFrame": (pd.DataFrame(X, columns=["a", "b", "c"]), StandardScaler()),
    "sparse matrix": (sparse.csr_matrix(X), StandardScaler(with_mean=False)),
    "sparse array": (sparse.csr_array(X), StandardScaler(with_mean=False)),
    "list of texts": (TEXTS, TfidfVectorizer()),
}

ESTIMATORS = {
    "LogisticRegression": LogisticRegression(),
    "LGBMRegressor": LGBMRegressor(n_estimators=5, min_child_samples=5, n_jobs=1, verbose=-1),
    "RankAndFilter": RankAndFilter(LogisticRegression(), measure="ndcg_f@3", cv=0.3),
    "RankAndFilter in a Pipeline": make_pipeline(StandardScaler(), RankAndFilter(Ridge(), cv=0.3)),
    "Pipeline in RankAndFilter": RankAndFilter(make_pipeline(StandardScaler(), Ridge()), cv=0.3),
}


def series(y=Y, qid=QID):
    """Labels that carry their queries."""
    docno = np.arange(len(y))
    index = pd.MultiIndex.from_arrays([docno, qid], names=["docno", "qid"])
    return pd.Series(y, index=index, name="label")


def take(data, rows):
    """Rows of any container."""
    if isinstance(data, list):
        return [data[row] for row in rows]
    return data.iloc[rows] if hasattr(data, "iloc") else data[rows]


def document_score(estimator, data):
    """What the scorer should rank by, the long way round."""
    if hasattr(estimator, "predict_proba"):
        return estimator.predict_proba(data)[:, estimator.classes_ > 0].sum(axis=1)
    return estimator.predict(data)


KNOWN = {}


def by_hand(estimator, data=X, measure=ndcg_f_score, k=3):
    """One value per fold: a loop that fits, predicts and measures, once for all tests."""
    key = (repr(estimator), id(data), measure, k)
    if key not in KNOWN:
        KNOWN[key] = _by_hand(estimator, data, measure, k)
    return KNOWN[key]


def _by_hand(estimator, data, measure, k):
    values = []
    for train, test in CV.split(X, Y, QID):
        fitted = clone(estimator).fit(take(data, train), series(Y[train], QID[train]))
        scores = document_score(fitted, take(data, test))
        values.append(measure(Y[test], scores, groups=QID[test], k=k))
    return values


@pytest.fixture(params=WAYS)
def way(request):
    """Each of the two ways, with scikit-learn set up for it."""
    with config_context(enable_metadata_routing=request.param == "routing"):
        yield request.param


def labels(way):
    """What is given as y."""
    return series() if way == "series" else Y


def keywords(way, *, nested=False):
    """How functions such as cross_validate get the queries."""
    if way == "routing":
        return {"params": {"groups": QID}}
    return {"groups": QID, "params": {"groups": QID}} if nested else {"groups": QID}


def of_splits(search, candidate=0):
    """Test scores of a candidate, fold by fold."""
    return [search.cv_results_[f"split{fold}_test_score"][candidate] for fold in range(3)]


class TestTools:
    """Two processes in each, so that scorers travel."""

    @pytest.mark.slow
    def test_grid_search(self, way):
        search = GridSearchCV(Ridge(), {"alpha": [0.1, 1e4]}, scoring=SCORER, cv=CV, n_jobs=2)
        search.fit(X, labels(way), groups=QID)
        for candidate, alpha in enumerate([0.1, 1e4]):
            expected = by_hand(Ridge(alpha=alpha))
            np.testing.assert_allclose(of_splits(search, candidate), expected)
        assert search.best_score_ == pytest.approx(search.cv_results_["mean_test_score"].max())
        # The search's own score is that of its best estimator.
        expected = ndcg_f_score(Y, search.best_estimator_.predict(X), groups=QID, k=3)
        if way == "series":
            assert search.score(X, series()) == pytest.approx(expected)
        else:
            assert search.score(X, Y, groups=QID) == pytest.approx(expected)

    def test_cross_validate(self, way):
        result = cross_validate(
            Ridge(), X, labels(way), scoring=SCORER, cv=CV, return_train_score=True, **keywords(way)
        )
        np.testing.assert_allclose(result["test_score"], by_hand(Ridge()))
        assert np.isfinite(result["train_score"]).all()

    @pytest.mark.slow
    def test_nested(self, way):
        inner = GridSearchCV(Ridge(), {"alpha": [1.0]}, scoring=SCORER, cv=GroupKFold(2))
        result = cross_validate(
            inner,
            X,
            labels(way),
            scoring=SCORER,
            cv=CV,
            error_score="raise",
            **keywords(way, nested=True),
        )
        np.testing.assert_allclose(result["test_score"], by_hand(Ridge()))

    @pytest.mark.slow
    def test_learning_curve(self, way):
        _, train_scores, test_scores = learning_curve(
            Ridge(), X, labels(way), train_sizes=[0.5, 1.0], scoring=SCORER, cv=CV, **keywords(way)
        )
        assert train_scores.shape == (2, 3)
        assert np.isfinite(train_scores).all()
        np.testing.assert_allclose(test_scores[1], by_hand(Ridge()))

    def test_rfecv(self, way):
        selector = RFECV(Ridge(), cv=CV, scoring=SCORER)
        if way == "series":
            with pytest.raises(ValueError, match="make an array of y, such as RFECV; with"):
                selector.fit(X, labels(way), groups=QID)
        else:
            selector.fit(X, Y, groups=QID)
            scores = [selector.cv_results_[f"split{fold}_test_score"][-1] for fold in range(3)]
            np.testing.assert_allclose(scores, by_hand(Ridge()))

    @pytest.mark.slow
    def test_sequential_feature_selector(self, way):
        how = {"n_features_to_select": 1, "scoring": SCORER}
        if way == "series":
            splits = list(CV.split(X, Y, QID))
            selector = SequentialFeatureSelector(Ridge(), cv=splits, **how).fit(X, labels(way))
        else:
            selector = SequentialFeatureSelector(Ridge(), cv=CV, **how).fit(X, Y, groups=QID)
        # Only the first feature tells anything.
        assert selector.get_support().tolist() == [True, False, False]

    @pytest.mark.slow
    def test_bagged_rankers(self, way):
        ranker = QueryRanker(LGBMRanker(n_estimators=3, min_child_samples=5, n_jobs=1, verbose=-1))
        bagging = BaggingRegressor(ranker, n_estimators=2, random_state=0)
        around = RankAndFilter(bagging, cv=2)
        if way == "series":
            for each in (bagging, around):
                with pytest.raises(ValueError, match="such as RFECV and BaggingRegressor"):
                    each.fit(X, labels(way))
        else:
            assert np.isfinite(bagging.fit(X, Y, groups=QID).predict(X)).all()
            assert around.fit(X, Y, groups=QID).score(X, Y, groups=QID) > 0

    @pytest.mark.slow
    def test_displays_of_curves(self):
        import matplotlib as mpl

        mpl.use("Agg")
        how = {"groups": QID, "cv": CV, "train_sizes": [0.5, 1.0]}
        for scorer, name in (
            (SCORER, "Ndcg f@3"),
            (make_ranking_scorer("forbidden@3"), "Negative forbidden@3"),
        ):
            curve = LearningCurveDisplay.from_estimator(Ridge(), X, series(), scoring=scorer, **how)
            assert name in curve.ax_.get_ylabel()

    @pytest.mark.slow
    def test_permutation_test_score(self, way):
        score, by_chance, _ = permutation_test_score(
            Ridge(), X, labels(way), scoring=SCORER, cv=CV, n_permutations=3, **keywords(way)
        )
        assert score == pytest.approx(np.mean(by_hand(Ridge())))
        assert score > by_chance.max()
        assert np.ptp(by_chance) > 0

    @pytest.mark.slow
    @pytest.mark.parametrize("routing", [False, True])
    @pytest.mark.parametrize("carrier", ["y", "X"])
    def test_permutation_importance(self, routing, carrier):
        frame = pd.DataFrame(X, columns=["a", "b", "c"])
        y = series() if carrier == "y" else Y
        if carrier == "X":
            frame.index = pd.Index(QID, name="qid")
        model = Ridge().fit(frame, Y)
        with config_context(enable_metadata_routing=routing):
            result = permutation_importance(
                model, frame, y, scoring=SCORER, n_repeats=3, random_state=0
            )
        # Only the first feature tells anything.
        assert result.importances_mean.argmax() == 0
        assert result.importances_mean[0] > 0.05
        assert result.importances.shape == (3, 3)


@pytest.mark.slow
@pytest.mark.parametrize("container", CONTAINERS)
def test_containers(way, container):
    """A search takes them in one way, and cross-validation in the other."""
    data, transformer = CONTAINERS[container]
    how = {"scoring": SCORER, "cv": CV, "error_score": "raise"}
    estimator = make_pipeline(transformer, Ridge())
    if way == "routing":
        search = GridSearchCV(estimator, {}, refit=False, **how)
        found = of_splits(search.fit(data, labels(way), groups=QID))
    else:
        found = cross_val_score(estimator, data, labels(way), **how, **keywords(way))
    np.testing.assert_allclose(found, by_hand(estimator, data))


@pytest.mark.slow
@pytest.mark.parametrize("model", thinned(ESTIMATORS))
def test_estimators(way, model):
    estimator = ESTIMATORS[model]
    found = cross_validate(
        estimator, X, labels(way), scoring=SCORER, cv=CV, error_score="raise", **keywords(way)
    )
    np.testing.assert_allclose(found["test_score"], by_hand(estimator))


@pytest.mark.slow
def test_scikit_learns_own_scorer(way):
    scorer = make_scorer(ndcg_f_score, k=3)
    if way == "routing":
        scorer = scorer.set_score_request(groups=True)
    search = GridSearchCV(ESTIMATORS["RankAndFilter"], {}, scoring=scorer, cv=CV)
    search.fit(X, labels(way), groups=QID)
    np.testing.assert_allclose(of_splits(search), by_hand(ESTIMATORS["RankAndFilter"]))


@pytest.mark.slow
def test_labels_that_are_words(way):
    words = {-1: "Bad", 1: "PotentiallyUseful", 2: "Good"}
    named = np.array([words[label] for label in Y])
    scorer = make_ranking_scorer("ndcg_f@3", gains={word: gain for gain, word in words.items()})
    y = series(named) if way == "series" else named
    found = cross_val_score(
        LogisticRegression(), X, y, scoring=scorer, cv=CV, error_score="raise", **keywords(way)
    )
    np.testing.assert_allclose(found, by_hand(LogisticRegression()), atol=0.02)
    model = LogisticRegression().fit(X, named)
    good = model.predict_proba(X)[:, model.classes_ != "Bad"].sum(axis=1)
    assert scorer(model, X, series(named)) == pytest.approx(ndcg_f_score(Y, good, groups=QID, k=3))


class TestMissingQueries:
    """An error or NaN, never a number."""

    tools = (
        # Without params scikit-learn 1.6 stumbles.
        lambda **how: cross_validate(Ridge(), X, Y, scoring=SCORER, cv=KFold(3), params={}, **how),
        lambda **how: cross_val_score(Ridge(), X, Y, scoring=SCORER, cv=KFold(3), params={}, **how),
        lambda **how: GridSearchCV(Ridge(), {}, scoring=SCORER, cv=KFold(3), **how).fit(X, Y),
        lambda **how: learning_curve(Ridge(), X, Y, scoring=SCORER, cv=KFold(3), **how),
    )

    @pytest.mark.parametrize("tool", tools)
    def test_raised(self, way, tool):
        with pytest.raises(ValueError, match=r"groups is missing: pass groups="):
            tool(error_score="raise")

    def test_nan_by_default(self, way):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            scores = cross_val_score(Ridge(), X, Y, scoring=SCORER, cv=KFold(3), params={})
            both = {"f": SCORER, "r2": "r2"}
            result = cross_validate(Ridge(), X, Y, scoring=both, cv=KFold(3), params={})
        assert np.isnan(scores).all()
        assert np.isnan(result["test_f"]).all()
        assert np.isfinite(result["test_r2"]).all()
        assert any("groups is missing" in str(warning.message) for warning in caught)

    def test_groups_for_the_splitter_alone(self):
        # Without routing, groups= does not reach the scorer: y must carry them.
        with pytest.raises(ValueError, match="groups is missing"):
            cross_val_score(Ridge(), X, Y, groups=QID, cv=CV, scoring=SCORER, error_score="raise")


class TestTwoLabels:
    """Labels of relevance and harm, whose gain is -harm where that is above 0."""

    GAINS = np.where(Y < 0, -2.0, Y)
    TABLE = pd.DataFrame(
        {"harm": np.where(Y < 0, 2.0, 0.0), "relevance": np.maximum(Y, 0)},
        index=pd.Index(QID, name="qid"),
    )
    MODEL = RankAndFilter(
        Ridge(), filter_estimator=LogisticRegression(), measure="ndcg_f@3", cv=GroupKFold(2)
    )

    def test_by_hand(self):
        y = pd.DataFrame(
            [[2, 0], [np.nan, 5], [1, 0], [1, np.nan]], index=pd.Index([0, 0, 1, 1], name="qid")
        )
        scores = np.array([[4.0], [3.0], [2.0], [1.0]])
        shows_all = FixedThreshold(None).fit()
        dcg = make_ranking_scorer("dcg@2")
        expected = (2 - 5 / np.log2(3) + 1) / 2
        assert dcg(shows_all, scores, y) == pytest.approx(expected)
        assert dcg(shows_all, scores, y.to_numpy(), groups=[0, 0, 1, 1]) == dcg(
            shows_all, scores, y
        )
        several = make_ranking_scorer(["dcg@1", "forbidden@2"], gains={1: 1, 2: 3})
        # One of four places holds a forbidden document.
        assert several(shows_all, scores, y) == {"dcg@1": 2.0, "neg_forbidden@2": -0.25}

    @pytest.mark.filterwarnings("ignore::skfilterrank.exceptions.FitWarning")
    def test_in_cross_validation(self):
        cv = GroupKFold(2)
        values = cross_val_score(self.MODEL, X, self.TABLE, groups=QID, cv=cv, scoring=SCORER)
        for value, (train, test) in zip(values, cv.split(X, groups=QID), strict=True):
            model = clone(self.MODEL).fit(X[train], self.TABLE.iloc[train])
            kept = model.predict(X[test], groups=QID[test])
            expected = ndcg_f_score(self.GAINS[test], kept, groups=QID[test], k=3)
            assert value == pytest.approx(expected)
            assert model.score(X[test], self.TABLE.iloc[test]) == pytest.approx(expected)


class TestMaking:
    model = Ridge().fit(X, Y)

    def test_name_function_and_parameter_say_the_same(self):
        expected = ndcg_f_score(Y, self.model.predict(X), groups=QID, k=3)
        for scorer in (
            make_ranking_scorer("ndcg_f@3"),
            make_ranking_scorer("ndcg_f", k=3),
            make_ranking_scorer("ndcg_f@3", k=3),
            make_ranking_scorer(ndcg_f_score, k=np.int64(3)),
        ):
            assert isinstance(scorer, RankingScorer)
            assert scorer(self.model, X, series()) == expected
            assert scorer(self.model, X, Y, groups=QID) == expected
            assert scorer(self.model, pd.DataFrame(X, index=series().index), Y) == expected
            assert repr(scorer) == "make_ranking_scorer('ndcg_f@3')"

    def test_parameters_of_the_measure(self):
        scorer = make_ranking_scorer("ndcg@2", gains="exp2", ties="worst", undefined="drop")
        scores = self.model.predict(X).round()
        expected = ndcg_score(
            Y, scores, groups=QID, k=2, gains="exp2", ties="worst", undefined="drop"
        )

        class Rounded(Ridge):
            def predict(self, X):
                return super().predict(X).round()

        assert scorer(Rounded().fit(X, Y), X, series()) == expected
        for part in ("'ndcg@2'", "gains='exp2'", "ties='worst'", "undefined='drop'"):
            assert part in repr(scorer)

    def test_weights_of_queries(self):
        """By hand: of two queries, the first has its good document first, the second last."""
        X = np.array([[2.0], [1.0], [2.0], [1.0]])
        model, y = Ridge().fit(X, X.ravel()), [1, 0, 0, 1]
        how = {"groups": ["a", "a", "b", "b"]}
        for scorer, expected in (
            (make_ranking_scorer("rr"), (1 + 3 / 2) / 4),
            (make_ranking_scorer(["rr", "ap"]), {"rr": (1 + 3 / 2) / 4, "ap": (1 + 3 / 2) / 4}),
        ):
            assert scorer(model, X, y, **how, query_weight={"a": 1, "b": 3}) == expected
        fixed = make_ranking_scorer("rr", query_weight={"a": 1, "b": 3})
        assert fixed(model, X, y, **how) == (1 + 3 / 2) / 4

    def test_lower_is_better(self):
        value = forbidden_at_k(Y, self.model.predict(X), groups=QID, k=3)
        assert value > 0
        assert make_ranking_scorer("forbidden@3")(self.model, X, series()) == -value

    @pytest.mark.parametrize(
        ("args", "params", "message"),
        [
            (("ndcg_g",), {}, "'ndcg_g' is not a measure: did you mean 'ndcg_f'"),
            ((None,), {}, "None is not a measure"),
            ((0.5,), {}, r"0.5 is not a measure, but of the type float\. skfilterrank"),
            (("ndcg_f@",), {}, "cut-off in 'ndcg_f@' must be a positive whole number"),
            (("ndcg_f@2.5",), {}, "cut-off in 'ndcg_f@2.5' must be"),
            (("qwa@3",), {}, "'qwa' has no cut-off, got 'qwa@3'"),
            (("false_reject_rate@3",), {}, r"rank_filter_report\(rankings=\) has that"),
            (("ndcg_f",), {"k": 0}, "k must be None"),
            (("ndcg_f@3",), {"k": 5}, "k=5 contradicts the cut-off of 'ndcg_f@3'"),
            (("ndcg_f@3",), {"depth": 5}, "'ndcg_f' has no parameter depth: it takes gains, k, "),
            (("ndcg_f@3",), {"average": None}, "'ndcg_f' has no parameter average"),
            ((np.mean,), {}, "is not one of skfilterrank's measures.*make_scorer.*y_true.index"),
            *[
                (("ndcg_f@3",), {name: "no"}, f"{name} must be")
                for name in ("ties", "gains", "unjudged", "undefined")
            ],
        ],
    )
    def test_errors(self, args, params, message):
        with pytest.raises(ValueError, match=message):
            make_ranking_scorer(*args, **params)

    def test_it_is_a_scorer_to_scikit_learn(self):
        assert get_scorer(SCORER) is SCORER
        with config_context(enable_metadata_routing=True):
            request = SCORER.get_metadata_routing().score.requests
        assert request == {"groups": True, "query_weight": True}


def test_a_parameter_may_be_called_measure():
    y_true = pd.Series([1.0, 0.0, 2.0, 1.0], index=pd.Index(list("aabb"), name="qid"))
    X = np.array([[0.3], [0.7], [0.1], [0.2]])
    model = Ridge().fit(X, [0.3, 0.7, 0.1, 0.2])
    scorer = make_ranking_scorer(ul_normalized_score, measure="ap", k=2)
    expected = ul_normalized_score(y_true, model.predict(X), measure="ap", k=2)
    assert scorer(model, X, y_true) == expected
    assert make_ranking_scorer("ul_normalized(measure=ap)@2")(model, X, y_true) == expected
    with pytest.raises(ValueError, match=r"measure='dcg' contradicts 'ul_normalized\(measure=ap\)"):
        make_ranking_scorer("ul_normalized(measure=ap)", measure="dcg")


@pytest.mark.parametrize("measure", ["ndcg_f@3", ["ndcg_f@3", "ap"]])
def test_what_tunes_the_threshold_of_classes_says_what_to_use(measure):
    scorer = make_ranking_scorer(measure)
    tuned = TunedThresholdClassifierCV(LogisticRegression(), scoring=scorer, cv=2)
    with pytest.raises(AttributeError, match=r"make_ranking_scorer\(.*use RankAndFilter\(classif"):
        tuned.fit(np.arange(8.0).reshape(-1, 1), [0, 1] * 4)
    assert not hasattr(scorer, "_score_func")


def test_a_function_of_your_own_in_a_search(measure_table):
    """What the error advises for functions of a user runs as it says."""

    def of_all_rows(y_true, y_score):
        return ndcg_f_score(y_true, y_score, groups=y_true.index, k=3)

    def of_one_query(y_true, y_score):
        return float(y_true[0] > 0)

    with pytest.raises(InputError, match=r"register_measure.*make_scorer.*groups=y_true\.index"):
        make_ranking_scorer(of_all_rows)
    rng = np.random.default_rng(0)
    X, queries = rng.normal(size=(60, 3)), np.repeat(np.arange(20), 3)
    y = pd.Series(np.sign(X[:, 0] + rng.normal(size=60)), index=queries)

    def found(scoring, y):
        search = GridSearchCV(
            Ridge(), {"alpha": [0.1, 1e4]}, scoring=scoring, cv=GroupKFold(4), error_score="raise"
        )
        return search.fit(X, y, groups=queries).cv_results_["mean_test_score"]

    own = make_ranking_scorer(register_measure("own_of_one_query", of_one_query))
    for scoring, name in ((make_scorer(of_all_rows), "ndcg_f@3"), (own, "own_of_one_query")):
        # The library's own scorers know the index by its name.
        named = y.rename_axis("qid")
        for each in (y, named) if name == "ndcg_f@3" else (named,):
            np.testing.assert_allclose(
                found(scoring, each), found(make_ranking_scorer(name), named)
            )


def test_gains_of_the_model_that_the_scorer_lacks_are_told():
    grades, gains = series(np.maximum(Y, 0)), {0: -4, 1: 1, 2: 2}
    model = RankAndFilter(Ridge(), gains=gains).fit(X, grades)
    with pytest.warns(DataWarning, match="no gains, .* 'ndcg_f@3', .* RankAndFilter forbids .* 0"):
        make_ranking_scorer(["ndcg_f@3", "ap"])(model, X, grades)
    with warnings.catch_warnings(action="error"):
        make_ranking_scorer("ap")(model, X, grades)
        # Labels below 0 are forbidden as they are, and nothing has the label 0.
        for labels in (grades.where(Y > -1, -1).where(Y < 2, 0), grades.clip(lower=1)):
            make_ranking_scorer("ndcg_f")(model, X, labels)
        scorer = make_ranking_scorer("ndcg_f", gains=gains)
        assert scorer(model, X, grades) == model.score(X, grades)
