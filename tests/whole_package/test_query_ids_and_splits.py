"""Query ids and the groups that rows are split by are two things."""

import copy
import warnings
from itertools import cycle, product

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRanker
from sklearn import config_context
from sklearn.base import clone
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    cross_val_score,
    cross_validate,
    train_test_split,
)
from sklearn.pipeline import make_pipeline

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
from skfilterrank.thresholds import TunedThreshold
from thinned import thinned
from versions import OLD_SKLEARN

X, Y, QID, _ = make_rank_and_filter(n_queries=45, documents_per_query=8, random_state=0)
SEGMENT = QID % 2
BY_QID = pd.Series(Y, index=pd.Index(QID, name="qid"))
SCORER = make_ranking_scorer("ndcg_f@5")
TREES = {"n_estimators": 2, "n_jobs": 1}
# Quick to fit: lambdarank makes a table of a million values each time.
LIGHTGBM = LGBMRanker(objective="rank_xendcg", verbose=-1, **TREES)

RANKERS = {
    "QueryRanker(LGBMRanker)": QueryRanker(LIGHTGBM),
    "RankAndFilter(Ridge)": RankAndFilter(Ridge(), cv=2),
    "LambdaRankRanker": LambdaRankRanker(**TREES),
    "CalibratedRanker(QueryRanker)": CalibratedRanker(QueryRanker(Ridge()), cv=2),
    "QueryRanker(Pipeline)": QueryRanker(make_pipeline(QueryScaler(), LambdaRankRanker(**TREES))),
}
pytestmark = pytest.mark.filterwarnings("ignore:y has no NaN, so there is nothing to complete")


def some_rankers(turn):
    """Some rankers by day, and others in another test."""
    rankers = [pytest.param(ranker, id=name) for name, ranker in RANKERS.items()]
    return pytest.mark.parametrize("ranker", thinned(rankers, turn=turn))


def by_hand(ranker):
    """Fitted and scored by query, split by segment."""
    values = []
    for train, test in LeaveOneGroupOut().split(X, Y, SEGMENT):
        fitted = clone(ranker).fit(X[train], Y[train], groups=QID[train])
        scores = fitted.predict(X[test], groups=QID[test])
        values.append(ndcg_f_score(Y[test], scores, groups=QID[test], k=5))
    return values


@pytest.mark.slow
@some_rankers(0)
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
@some_rankers(1)
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


# Each ranker in one way.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("ranker", "wrap", "routing"),
    [
        pytest.param(ranker, wrap, routing, id=f"{name}-{wrap}-{routing}")
        for (name, ranker), (wrap, routing) in thinned(
            zip(RANKERS.items(), cycle(product(["alone", "Pipeline"], [True, False]))),
            turn=1,
            parts=2,
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
@some_rankers(2)
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


CUT = "queries are split: the model was fitted on other rows of many of these queries"
SHUFFLED = KFold(3, shuffle=True, random_state=0)
TRAIN, TEST = train_test_split(np.arange(len(Y)), random_state=0)


def times_told(call, *args, **kwargs):
    """How often a call warns of queries that are split."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*args, **kwargs)
    told = [each for each in caught if str(each.message).startswith(CUT)]
    assert {each.category for each in told} <= {DataWarning}
    return len(told)


class TestCutQueries:
    """Rankers know the sizes of the queries that they were fitted on."""

    # All ways around some ranker, and by day some of them.
    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("ranker", "wrap", "routing", "scoring"),
        [
            pytest.param(ranker, *way, id="-".join(map(str, [name, *way])))
            for (name, ranker), way in zip(
                cycle(RANKERS.items()),
                thinned(product(["search", "alone", "Pipeline"], [False, True], [None, SCORER])),
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
            assert times_told(cross_val_score, ranker, X, y, **data, **how) == 3

    @pytest.mark.slow
    @some_rankers(0)
    def test_train_test_split(self, ranker):
        fitted = clone(ranker).fit(X[TRAIN], Y[TRAIN], groups=QID[TRAIN])
        # Models inside do not say it again.
        assert times_told(fitted.score, X[TEST], Y[TEST], groups=QID[TEST]) == 1
        assert times_told(fitted.predict, X[TEST], groups=QID[TEST]) == 1
        assert times_told(SCORER, fitted, X[TEST], BY_QID.iloc[TEST]) == 1
        # Later lists: whole, of one query, of queries of other names.
        for rows, names in ((slice(None), QID), (QID == 3, QID), (TEST, QID + 1000)):
            rows = np.arange(len(Y))[rows]
            assert times_told(fitted.predict, X[rows], groups=names[rows]) == 0
        assert times_told(fitted.predict, X[QID == 3][:4], groups=[3] * 4) == 0

    @pytest.mark.slow
    @some_rankers(1)
    def test_whole_queries_are_split(self, ranker):
        how = {"cv": GroupKFold(2), "scoring": SCORER, "return_train_score": True}
        assert times_told(cross_validate, ranker, X, BY_QID, groups=QID, **how) == 0
        how = {"cv": GroupShuffleSplit(2, random_state=0)}
        assert times_told(cross_val_score, ranker, X, BY_QID, groups=QID, **how) == 0

    def test_rows_of_sorted_queries_are_cut_without_groups(self):
        # Folds of 53 rows end within queries of 8.
        rows = slice(0, 265)
        ranker = QueryRanker(Ridge())
        assert times_told(cross_validate, ranker, X[rows], BY_QID.iloc[rows], cv=5) > 0

    def test_a_threshold_knows_its_queries(self):
        scores = X[:, 0]
        cut = TunedThreshold("ndcg_f@3").fit(scores[TRAIN], Y[TRAIN], groups=QID[TRAIN])
        assert times_told(cut.predict, scores[TEST], groups=QID[TEST]) == 1
        assert times_told(cut.score, scores[TEST], Y[TEST], groups=QID[TEST]) == 1
        assert times_told(cut.predict, scores, groups=QID) == 0

    def test_permutation_importance_of_a_part_of_the_rows(self):
        ranker, how = QueryRanker(Ridge()).fit(X, BY_QID), {"n_repeats": 1, "scoring": SCORER}
        for share, told in ((0.4, True), (1.0, False)):
            how |= {"max_samples": share, "random_state": 0}
            assert (times_told(permutation_importance, ranker, X, BY_QID, **how) > 0) == told


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
