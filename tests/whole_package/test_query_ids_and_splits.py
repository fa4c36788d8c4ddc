"""Query ids and the groups that rows are split by are two things."""

import copy
import warnings
from itertools import cycle, product

import joblib
import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier, LGBMRanker, LGBMRegressor
from sklearn import config_context
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    HalvingGridSearchCV,
    KFold,
    LeaveOneGroupOut,
    cross_val_score,
    cross_validate,
    learning_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfilterrank._lists.cut_queries import _fitted_on
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import DataWarning, InputError
from skfilterrank.metrics import make_ranking_scorer, ndcg_f_score
from skfilterrank.ranking import (
    CalibratedRanker,
    LambdaRankRanker,
    QueryRanker,
    QueryScaler,
    RankAndFilter,
)
from versions import OLD_SKLEARN

X, Y, QID, _ = make_rank_and_filter(n_queries=45, documents_per_query=8, random_state=0)
SEGMENT = QID % 2
BY_QID = pd.Series(Y, index=pd.Index(QID, name="qid"))
SCORER = make_ranking_scorer("ndcg_f@5")
TREES = {"n_estimators": 2, "n_jobs": 1}

RANKERS = {
    "QueryRanker(LGBMRanker)": QueryRanker(LGBMRanker(verbose=-1, **TREES)),
    "RankAndFilter(Ridge)": RankAndFilter(Ridge(), cv=2),
    "LambdaRankRanker": LambdaRankRanker(**TREES),
    "CalibratedRanker(QueryRanker)": CalibratedRanker(QueryRanker(Ridge()), cv=2),
    "QueryRanker(Pipeline)": QueryRanker(make_pipeline(QueryScaler(), LambdaRankRanker(**TREES))),
}
pytestmark = pytest.mark.filterwarnings("ignore:y has no NaN, so there is nothing to complete")
every_ranker = pytest.mark.parametrize("ranker", RANKERS.values(), ids=RANKERS)


def by_hand(ranker):
    """Fitted and scored by query, split by segment."""
    values = []
    for train, test in LeaveOneGroupOut().split(X, Y, SEGMENT):
        fitted = clone(ranker).fit(X[train], Y[train], groups=QID[train])
        scores = fitted.predict(X[test], groups=QID[test])
        values.append(ndcg_f_score(Y[test], scores, groups=QID[test], k=5))
    return values


@pytest.mark.slow
@every_ranker
def test_split_by_segment_and_score_by_query(ranker):
    expected = by_hand(ranker)
    how = {"cv": LeaveOneGroupOut(), "error_score": "raise"}
    series = cross_val_score(ranker, X, BY_QID, groups=SEGMENT, scoring=SCORER, **how)
    np.testing.assert_allclose(series, expected)
    with config_context(enable_metadata_routing=True):
        asking = clone(ranker).set_fit_request(groups="qid").set_score_request(groups="qid")
        scorer = copy.copy(SCORER).set_score_request(groups="qid")
        params = {"groups": SEGMENT, "qid": QID}
        routed = cross_val_score(asking, X, Y, params=params, scoring=scorer, **how)
        np.testing.assert_allclose(routed, expected)
        search = GridSearchCV(asking, {}, scoring=scorer, refit=False, **how).fit(X, Y, **params)
        np.testing.assert_allclose(search.best_score_, np.mean(expected))
        own = cross_val_score(asking.set_params(measure="ndcg_f@5"), X, Y, params=params, **how)
    if not isinstance(ranker, RankAndFilter):  # which is tuned for another measure then
        np.testing.assert_allclose(own, expected)


@pytest.mark.slow
@every_ranker
def test_segments_for_queries_are_an_error(ranker):
    with pytest.raises(InputError, match="groups and the index level 'qid' of y name diff"):
        clone(ranker).fit(X, BY_QID, groups=SEGMENT)
    fitted = clone(ranker).fit(X, BY_QID, groups=QID.astype(str))
    with pytest.raises(InputError, match=r"set_score_request\(groups='qid'\)"):
        fitted.score(X, BY_QID, groups=SEGMENT)
    with (
        config_context(enable_metadata_routing=True),
        pytest.raises(InputError, match=r"set_fit_request\(groups='qid'\)"),
    ):
        cross_val_score(
            ranker,
            X,
            BY_QID,
            params={"groups": SEGMENT},
            cv=LeaveOneGroupOut(),
            error_score="raise",
        )


@pytest.mark.slow
def test_what_a_scorer_asks_for():
    scorer = make_ranking_scorer("ndcg_f@5")
    assert scorer.get_metadata_routing().score.requests == {"groups": True, "query_weight": True}
    with pytest.raises(InputError, match="set_score_request is for scikit-learn's metadata rou"):
        scorer.set_score_request(groups="qid")
    with config_context(enable_metadata_routing=True):
        assert scorer.set_score_request(groups="qid") is scorer
        assert clone(scorer, safe=False).get_metadata_routing().score.requests == {
            "groups": "qid",
            "query_weight": True,
        }
        with pytest.raises(ValueError, match="valid identifier"):
            scorer.set_score_request(groups="query id")
        scorer.set_score_request(groups=False)
        ridge = Ridge().fit(X, Y)
        how = {"scoring": scorer, "error_score": "raise", "params": {}}
        expected = cross_val_score(Ridge(), X, BY_QID, **how)
        with config_context(enable_metadata_routing=False):
            plain = cross_val_score(Ridge(), X, BY_QID, scoring=make_ranking_scorer("ndcg_f@5"))
        np.testing.assert_array_equal(expected, plain)
        plain = make_ranking_scorer("ndcg_f@5")
        assert scorer(ridge, X, BY_QID) == plain(ridge, X, Y, groups=QID)


# All ways around some ranker, and each ranker in one way.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("ranker", "wrap", "routing"),
    [
        pytest.param(ranker, wrap, routing, id=f"{name}-{wrap}-{routing}")
        for (name, ranker), (wrap, routing) in zip(
            RANKERS.items(), cycle(product(["alone", "Pipeline"], [True, False]))
        )
    ],
)
def test_what_is_none_was_not_passed(ranker, wrap, routing):
    """scikit-learn's Pipeline and searches hand on weights that nobody gave."""
    model = ranker if wrap == "alone" else make_pipeline("passthrough", ranker)
    how = {"cv": GroupKFold(2), "error_score": "raise"}
    nothing = {"groups": None, "query_weight": None} if routing or wrap == "alone" else {}
    with config_context(enable_metadata_routing=routing):
        fitted = clone(model).fit(X, BY_QID)
        expected = fitted.score(X, BY_QID)
        assert fitted.score(X, BY_QID, sample_weight=None, **nothing) == expected
        for scoring in (None, SCORER):
            search = GridSearchCV(model, {}, scoring=scoring, **how).fit(X, BY_QID, groups=QID)
            again = search.score(X, BY_QID)
            if scoring is None:
                assert again == expected
            if routing and not (scoring is None and OLD_SKLEARN):
                params = {"groups": QID, "query_weight": None}
                values = cross_val_score(model, X, Y, params=params, scoring=scoring, **how)
                np.testing.assert_allclose(values.mean(), search.best_score_, rtol=1e-12)
                whole = GridSearchCV(model, {}, scoring=scoring, **how).fit(X, Y, groups=QID)
                assert whole.score(X, Y, groups=QID) == again


@pytest.mark.slow
@every_ranker
def test_weights_of_rows(ranker):
    """Where all rows of a query have one, they are those of queries."""
    weight = np.random.default_rng(0).integers(1, 9, 45)[QID]
    fitted = clone(ranker).fit(X, Y, groups=QID)
    expected = fitted.score(X, Y, groups=QID, query_weight=weight)
    assert expected != fitted.score(X, Y, groups=QID)
    assert fitted.score(X, Y, groups=QID, sample_weight=weight) == expected
    model = make_pipeline("passthrough", clone(ranker)).fit(X, BY_QID)
    assert model.score(X, BY_QID, sample_weight=weight) == pytest.approx(expected, rel=1e-12)
    with pytest.raises(InputError, match="query_weight and sample_weight are both given"):
        fitted.score(X, Y, groups=QID, query_weight=weight, sample_weight=weight)
    with pytest.raises(InputError, match="has weights 0 and 1 for rows of query"):
        fitted.score(X, Y, groups=QID, sample_weight=np.arange(len(Y)) % 2)
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline("passthrough", clone(ranker)).fit(X, Y, groups=QID)
        with pytest.raises(ValueError, match="sample_weight"):  # which nobody asked for
            pipeline.score(X, Y, groups=QID, sample_weight=weight)
        asking = make_pipeline("passthrough", clone(ranker).set_score_request(sample_weight=True))
        asking.fit(X, Y, groups=QID)
        assert asking.score(X, Y, groups=QID, sample_weight=weight) == pytest.approx(expected)


CUT = "cv splits queries: some have rows on both sides of a split"
SHUFFLED = KFold(3, shuffle=True, random_state=0)


class TestCutQueries:
    """A query with rows on both sides of a split is warned of, once."""

    # All ways around some ranker, and each ranker in two of them.
    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("ranker", "wrap", "routing", "scoring"),
        [
            pytest.param(ranker, *way, id="-".join(map(str, [name, *way])))
            for (name, ranker), way in zip(
                cycle(RANKERS.items()),
                product(["search", "alone", "Pipeline"], [False, True], [None, SCORER]),
            )
        ],
    )
    def test_rows_are_split(self, ranker, wrap, routing, scoring):
        if wrap != "alone" and OLD_SKLEARN and routing and scoring is None:
            pytest.skip("scikit-learn 1.6 hands nothing to the score of a Pipeline or a search")
        if wrap == "Pipeline":
            ranker = make_pipeline("passthrough", ranker)
        how = {"cv": SHUFFLED, "scoring": scoring, "error_score": "raise"}
        with config_context(enable_metadata_routing=routing):
            data = {"params": {"groups": QID}} if routing else {}
            y = Y if routing else BY_QID
            if wrap == "search":
                ranker = GridSearchCV(ranker, {}, scoring=scoring, cv=GroupKFold(2))
                data.setdefault("params", {"groups": QID})
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("default")
                cross_val_score(ranker, X, y, **data, **how)
        # Cut queries are shorter lists, too, of which thresholds tell.
        others = ("of the lists have other sizes", "filtering is not shown to pay")
        told = [each for each in caught if not any(text in str(each.message) for text in others)]
        # scikit-learn 1.6 has something to say of LightGBM 4.3.
        told = [each for each in told if each.category is not FutureWarning]
        assert [str(each.message)[: len(CUT)] for each in told] == [CUT]
        assert told[0].category is DataWarning

    @pytest.mark.slow
    @every_ranker
    def test_whole_queries_are_split(self, ranker):
        how = {"cv": GroupKFold(2), "scoring": SCORER, "return_train_score": True}
        result = cross_validate(ranker, X, BY_QID, groups=QID, return_estimator=True, **how)
        assert np.isfinite(result["train_score"]).all()
        learning_curve(
            ranker, X, BY_QID, groups=QID, cv=GroupKFold(3), scoring=SCORER, train_sizes=[0.47]
        )

    @pytest.mark.slow
    @every_ranker
    def test_ids_that_number_other_queries_alike_are_no_cut(self, ranker):
        fitted = clone(ranker).fit(X, Y, groups=QID)
        rows = np.delete(np.arange(len(Y)), [3, 40])
        fitted.score(X[rows], Y[rows], groups=QID[rows])
        search = GridSearchCV(ranker, {}, cv=GroupKFold(2)).fit(X, BY_QID, groups=QID)
        search.score(X[rows], BY_QID.iloc[rows])
        assert search.best_estimator_ not in _fitted_on


DRAWN = "rows are drawn instead of queries"
ORDER = np.random.default_rng(0).permutation(len(Y))


def halving(model, X, y, **how):
    """Search by halving over rows, of which later rounds get more."""
    how = {"min_resources": 90, "factor": 2, "cv": GroupKFold(3)} | how
    HalvingGridSearchCV(model, {}, **how).fit(X, y, groups=y.index)


def importance(model, X, y, **how):
    """Permute the features of a part of the rows."""
    permutation_importance(model.fit(X, y), X, y, n_repeats=2, random_state=0, **how)


# What draws rows, what draws queries, and its arguments.
DRAWS = {
    "HalvingGridSearchCV": (halving, {}, {"min_resources": len(Y)}),
    "permutation_importance": (importance, {"max_samples": 0.4}, {}),
    "learning_curve": (
        lambda model, X, y, **how: learning_curve(
            model, X, y, groups=y.index, cv=GroupKFold(3), **how
        ),
        {"train_sizes": [0.4]},
        {"train_sizes": [1.0]},
    ),
    "one split of rows": (
        lambda model, X, y, **how: cross_val_score(model, X, y, **how),
        {"cv": [(np.arange(0, 150), np.arange(150, 180))]},
        {"cv": [(np.flatnonzero(QID[ORDER] < 30), np.flatnonzero(QID[ORDER] >= 30))]},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draw", "name"),
    [
        *((draw, "Ridge") for draw in DRAWS),
        *zip(DRAWS, cycle(["LambdaRankRanker", "RankAndFilter(Ridge)"])),
    ],
)
def test_drawn_rows_are_warned_of_once(draw, name):
    function, rows, queries = DRAWS[draw]
    model, y = (RANKERS | {"Ridge": Ridge()})[name], BY_QID.iloc[ORDER]
    for how, expected in ((rows, 1), (queries, 0)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            function(clone(model), X[ORDER], y, scoring=SCORER, **how)
        told = [str(each.message) for each in caught]
        told = [text for text in told if text.startswith((DRAWN, CUT))]
        assert len(told) == expected
        assert all(text.startswith(CUT if "cv" in how else DRAWN) for text in told)


OTHERS = {
    "Ridge": Ridge(),
    "LGBMRegressor": LGBMRegressor(verbose=-1, **TREES),
    "Pipeline": make_pipeline(StandardScaler(), LGBMClassifier(verbose=-1, **TREES)),
}
every_other = pytest.mark.parametrize("estimator", OTHERS.values(), ids=OTHERS)


class TestCutQueriesOfOthers:
    """Estimators of other libraries say nothing of the rows that they are fitted on."""

    @pytest.mark.slow
    @pytest.mark.parametrize("scoring", [SCORER, make_ranking_scorer(["ndcg_f@5", "ap"])])
    @every_other
    def test_rows_are_split(self, estimator, scoring):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            cross_validate(estimator, X, BY_QID, cv=SHUFFLED, scoring=scoring)
        told = [each for each in caught if each.category is not FutureWarning]
        assert [str(each.message)[: len(CUT)] for each in told] == [CUT]
        with pytest.warns(DataWarning, match=CUT):  # and the next one again
            GridSearchCV(estimator, {}, cv=SHUFFLED, scoring=SCORER).fit(X, BY_QID)

    @pytest.mark.slow
    @every_other
    def test_whole_queries_are_split(self, estimator):
        how = {"cv": GroupKFold(3), "groups": QID, "scoring": SCORER}
        cross_validate(estimator, X, BY_QID, return_train_score=True, **how)
        learning_curve(estimator, X, BY_QID, train_sizes=[0.47], **how)
        how["cv"] = GroupShuffleSplit(2, random_state=0)
        cross_val_score(estimator, X, BY_QID, **how)
        search = GridSearchCV(estimator, {}, cv=GroupKFold(2), scoring=SCORER)
        cross_val_score(search, X, BY_QID, params={"groups": QID}, **how)

    def test_cross_validations_of_other_data_are_others(self):
        """Also where they run within one call."""
        rows = np.delete(np.arange(len(Y)), [3, 40])
        how = {"cv": GroupKFold(3), "scoring": SCORER}
        calls = [
            joblib.delayed(cross_val_score)(Ridge(), X[r], BY_QID.iloc[r], groups=QID[r], **how)
            for r in (rows, slice(None))
        ]
        joblib.Parallel()(calls)
        for call, args, kwargs in calls:
            call(*args, **kwargs)


def test_a_fold_leaves_nothing_in_its_estimators():
    ranker = QueryRanker(Ridge())
    how = {"cv": GroupKFold(3), "scoring": SCORER, "return_estimator": True}
    fitted = cross_validate(ranker, X, BY_QID, groups=QID, **how)["estimator"][0]
    plain = clone(ranker).fit(X, BY_QID)
    assert vars(fitted).keys() == vars(plain).keys()
    assert vars(fitted.estimator_).keys() == vars(plain.estimator_).keys()


@pytest.mark.parametrize("kind", [str, float])
def test_ids_of_two_types_in_another_order(kind):
    rows, index = pd.DataFrame(X), pd.Index(QID, name="qid")
    same = pd.Series(Y, index=pd.Index([kind(each) for each in QID], name="qid"))
    model = RankAndFilter(Ridge(), cv=2)
    model.fit(rows.set_axis(index), same)
    for changed in ({"y": same[::-1]}, {"y": BY_QID, "groups": same.index[::-1]}):
        with pytest.raises(InputError, match="name different queries in"):
            model.fit(rows.set_axis(index), **changed)
