"""QueryRanker: parameters of fit, its score, and what it says of values that cannot be used."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import sklearn
from catboost import CatBoostRanker
from lightgbm import LGBMRanker
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import StackingClassifier, StackingRegressor, VotingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from xgboost import XGBRanker

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import InputError
from skfilterrank.metrics import make_ranking_scorer
from skfilterrank.ranking import (
    LambdaRankRanker,
    OrdinalRanker,
    QueryRanker,
    RankAndFilter,
    make_ranker,
)
from small_methods import make
from thinned import thinned

# Methods whose estimators are of other libraries.
METHODS_OF_OTHERS = ["listnet", "random_forest", "ranknet", "logistic", "lambdamart"]


def test_query_ranker_refuses_what_it_cannot_fit(rows):
    with pytest.raises(ValueError, match="requires y"):
        QueryRanker(LogisticRegression()).fit(rows.X, None)
    with pytest.raises(AttributeError, match="no fitted estimator"):
        _ = make_ranker("lambdamart").feature_importances_
    infinite = rows.X.copy()
    infinite[2, 4] = np.inf
    with pytest.raises(ValueError, match="infinity in column 4"):
        make_ranker("logistic").fit(infinite, rows.y)


def test_infinity_is_named_whatever_the_estimator_says(rows):
    # pandas before 3 writes into the array of a table.
    X = pd.DataFrame(rows.X.copy(), columns=list("abcde"))
    X.iloc[4, 1], X.iloc[9, 3] = np.nan, np.inf
    message = r"^X contains infinity in column 3 \('d'\) \(1 value, the first at row 9\): XGBRanker"
    with pytest.raises(ValueError, match=message) as raised:
        make("ranknet").fit(X, rows.y, groups=rows.groups)
    assert "Stack trace" not in str(raised.value)
    assert raised.value.__suppress_context__
    X = rows.X.copy()
    X[2, 2] = 1e39
    with pytest.raises(ValueError, match=r"beyond 3.4e\+38, the largest of float32"):
        make("ranknet").fit(X, rows.y, groups=rows.groups)
    for name in ("random_forest", "logistic"):
        with pytest.raises(ValueError, match=r"infinity in column 4 \("):
            make(name).fit(np.where(np.arange(5) == 4, np.inf, rows.X), rows.y)


class TestFitParameters:
    @pytest.fixture
    def weight(self, rows):
        # One per query, which every estimator takes.
        return np.random.default_rng(0).integers(1, 9, size=150)[rows.groups].astype(float)

    def test_weights_are_those_of_the_estimator(self, rows, weight):
        ranker = QueryRanker(LogisticRegression()).fit(rows.X, rows.y, sample_weight=weight)
        alone = LogisticRegression().fit(rows.X, rows.y > 0, sample_weight=weight)
        np.testing.assert_array_equal(ranker.coef_, alone.coef_[0])

    @pytest.mark.slow
    @pytest.mark.parametrize("name", METHODS_OF_OTHERS)
    def test_weights_follow_their_rows(self, rows, shuffled, weight, name):
        order, X, y, groups = shuffled
        options = {"bootstrap": False, "max_features": 1.0} if name == "random_forest" else {}
        ranker = make(name, **options).fit(rows.X, rows.y, groups=rows.groups, sample_weight=weight)
        mixed = make(name, **options).fit(X, y, groups=groups, sample_weight=weight[order])
        scores = ranker.predict(rows.X)
        np.testing.assert_allclose(mixed.predict(rows.X), scores, rtol=1e-4, atol=1e-4)
        plain = make(name, **options).fit(rows.X, rows.y, groups=rows.groups).predict(rows.X)
        assert not np.allclose(scores, plain, rtol=1e-2, atol=1e-2)

    def test_weights_of_unjudged_rows_are_left_out(self, rows, weight):
        y = rows.y.astype(float)
        y[::5] = np.nan
        judged = ~np.isnan(y)
        with pytest.warns(UserWarning, match="unjudged"):
            ranker = make("ranknet").fit(rows.X, y, groups=rows.groups, sample_weight=weight)
        without = make("ranknet").fit(
            rows.X[judged], y[judged], groups=rows.groups[judged], sample_weight=weight[judged]
        )
        np.testing.assert_array_equal(ranker.predict(rows.X), without.predict(rows.X))

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["logistic", "lambdamart"])
    def test_through_rank_and_filter(self, rows, weight, name):
        model = RankAndFilter(make(name), threshold=None, measure="ndcg_f@3")
        model.fit(rows.X, rows.y, groups=rows.groups, sample_weight=weight)
        alone = make(name).fit(rows.X, rows.y, groups=rows.groups, sample_weight=weight)
        np.testing.assert_array_equal(model.predict(rows.X), alone.predict(rows.X))
        tuned = RankAndFilter(make(name), measure="ndcg_f@3", cv=3)
        tuned.fit(rows.X, rows.y, groups=rows.groups, sample_weight=weight)
        assert np.isfinite(tuned.threshold_)

    def test_routing(self, rows, weight):
        plain = QueryRanker(LogisticRegression()).fit(rows.X, rows.y, sample_weight=weight)
        with sklearn.config_context(enable_metadata_routing=True):
            asking = QueryRanker(LogisticRegression().set_fit_request(sample_weight=True))
            params = {"groups": rows.groups, "sample_weight": weight}
            routed = clone(asking).fit(rows.X, rows.y, **params)
            model = RankAndFilter(asking, threshold=None, measure="ndcg_f@3").fit(
                rows.X, rows.y, **params
            )
            search = GridSearchCV(
                asking,
                {"estimator__C": [1.0]},
                scoring=make_ranking_scorer("ndcg_f@3"),
                cv=GroupKFold(3),
                error_score="raise",
            ).fit(rows.X, rows.y, **params)
            with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="sample_weight"):
                clone(plain).fit(rows.X, rows.y, **params)
        for found in (routed, model, search):
            np.testing.assert_array_equal(found.predict(rows.X), plain.predict(rows.X))

    def test_steps_of_a_pipeline(self, rows, weight):
        model = make_ranker("logistic").fit(rows.X, rows.y, scale__sample_weight=weight)
        mean = np.average(rows.X, axis=0, weights=weight)
        np.testing.assert_allclose(model.estimator_["scale"].scaler_.mean_, mean)

    def test_bad_ones(self, rows, weight):
        with pytest.raises(ValueError, match="sample_weight has 5 entries but X has"):
            make_ranker("logistic").fit(rows.X, rows.y, sample_weight=weight[:5])
        with pytest.raises(TypeError, match="weights"):
            make_ranker("logistic").fit(rows.X, rows.y, weights=weight)
        with pytest.raises(ValueError, match="XGBRanker weights whole queries"):
            make("ranknet").fit(
                rows.X, rows.y, groups=rows.groups, sample_weight=np.arange(len(rows.y))
            )


@pytest.mark.parametrize("name", ["group", "qid", "group_id"])
def test_queries_in_the_form_of_another_library_are_an_error(name):
    X, y, groups, _ = make_rank_and_filter(n_queries=10, random_state=0)
    given = np.bincount(groups) if name == "group" else groups
    remedy = "np.repeat" if name == "group" else f"pass them as groups= instead of {name}="
    for ranker in (QueryRanker(LGBMRanker()), RankAndFilter(Ridge(), cv=2)):
        with pytest.raises(InputError, match=rf"^fit\(\) got {name}, but expects .*{remedy}"):
            ranker.fit(X, y, **{name: given})


@pytest.mark.parametrize(
    "ranker", [QueryRanker(XGBRanker(n_estimators=2)), LambdaRankRanker(n_estimators=2)]
)
def test_a_column_of_query_ids_is_no_feature(ranker):
    X, y, groups, _ = make_rank_and_filter(n_queries=10, random_state=0)
    table = pd.DataFrame(X).add_prefix("f").assign(qid=groups)
    for given in ({}, {"groups": groups}):
        with pytest.raises(InputError, match=r"column 'qid', which would be learned.*set_index"):
            clone(ranker).fit(table, y, **given)
    expected = clone(ranker).fit(table.drop(columns="qid"), y, groups=table["qid"])
    by_index = clone(ranker).fit(table.set_index("qid"), y)
    np.testing.assert_array_equal(
        by_index.predict(table.drop(columns="qid")), expected.predict(table.drop(columns="qid"))
    )


def test_categorical_features_of_catboost():
    X, y, groups, _ = make_rank_and_filter(n_queries=20, random_state=0)
    table = pd.DataFrame(X).add_prefix("f").assign(f0=np.where(X[:, 0] > 0, "up", "down"))
    bare = CatBoostRanker(iterations=3, verbose=False, thread_count=1, allow_writing_files=False)
    fitted = QueryRanker(bare, gains={-1: 0, 1: 1, 2: 2}).fit(
        table, y, groups=groups, cat_features=["f0"]
    )
    bare.fit(table, np.maximum(y, 0), group_id=groups, cat_features=["f0"])
    np.testing.assert_array_equal(fitted.predict(table), bare.predict(table))


@pytest.mark.slow
@pytest.mark.parametrize(
    "stack",
    [
        StackingRegressor([("a", Ridge()), ("b", Ridge(alpha=9.0))]),
        StackingClassifier([("a", LogisticRegression())]),
        VotingRegressor([("a", Ridge())]),
    ],
)
def test_stacks_rank(stack):
    X, y, groups, _ = make_rank_and_filter(n_queries=40, random_state=0)
    fitted = RankAndFilter(stack, cv=2).fit(X, y, groups=groups)
    assert fitted.score(X, y, groups=groups) > 0.5
    if isinstance(stack, StackingClassifier):
        assert OrdinalRanker(stack).fit(X, y).predict(X).shape == y.shape


@pytest.mark.parametrize("inner", [QueryRanker(Ridge()), LGBMRanker()])
def test_stacks_of_rankers_are_an_error(inner):
    X, y, groups, _ = make_rank_and_filter(n_queries=10, random_state=0)
    for stack in (StackingRegressor([("a", inner)]), VotingRegressor([("a", inner)])):
        with pytest.raises(InputError, match=f"cannot pass query ids to {type(inner).__name__}: "):
            RankAndFilter(stack, cv=2).fit(X, y, groups=groups)


@pytest.mark.parametrize("name", ["eval_group", "eval_qid"])
def test_queries_of_held_out_sets_in_another_form_are_told(name):
    X, y = np.arange(8.0).reshape(-1, 1), [0, 1] * 4
    ranker = QueryRanker(LGBMRanker(verbose=-1))
    with pytest.raises(InputError, match=rf"^fit\(\) got {name}, but expects .* as eval_groups="):
        ranker.fit(X, y, groups=[1, 1, 2, 2] * 2, eval_set=[(X, y)], **{name: [[8]]})


class Uncloned(CatBoostRanker):
    """A ranker that copies its lists, as CatBoost 1.2.10 does and 1.2.8 does not."""

    def get_params(self, **deep):
        return {**super().get_params(**deep), "cat_features": ["site"]}


@pytest.mark.parametrize("around", [QueryRanker, partial(RankAndFilter, cv=2)])
def test_an_estimator_that_cannot_be_cloned_says_what_to_do(around):
    ranker = Uncloned(cat_features=["site"], verbose=0, allow_writing_files=False)
    X = pd.DataFrame({"age": np.arange(8.0), "site": list("abababab")})
    message = "cannot clone Uncloned: .*cat_features.* must be a tuple"
    with pytest.raises(InputError, match=message):
        around(ranker).fit(X, [0, 1] * 4, groups=np.arange(8) // 2)


def test_a_parameter_of_catboost_that_is_none_is_named():
    ranker = CatBoostRanker(verbose=0).set_params(depth=None)
    message = "cannot clone CatBoostRanker: 'depth'. Instead of None, give the parameter its"
    with pytest.raises(InputError, match=message):
        QueryRanker(ranker).fit(np.eye(8), [0, 1] * 4, groups=np.arange(8) // 2)


LIGHT, CAT = {"verbose": -1}, {"verbose": 0, "allow_writing_files": False, "iterations": 4}


@pytest.mark.slow
@pytest.mark.parametrize(
    "inner", [LGBMRanker(**LIGHT), XGBRanker(n_estimators=4), CatBoostRanker(**CAT), Ridge()]
)
@pytest.mark.parametrize("around", thinned([QueryRanker, partial(RankAndFilter, cv=2)], parts=2))
def test_numbered_columns_in_another_order_are_told(inner, around):
    X, y, groups, _ = make_rank_and_filter(
        n_queries=40, n_features=4, n_informative=2, random_state=0
    )
    X = pd.DataFrame(X)
    ranker = around(inner).fit(X, y, groups=groups)
    with pytest.raises(InputError, match=r"which are \[0, 1, 2, 3\]; got \[3, 2, 1, 0\]"):
        ranker.predict(X[[3, 2, 1, 0]])
    with pytest.raises(ValueError, match=r"X has 3 features, but .* is expecting 4 features"):
        ranker.predict(X[[0, 1, 2]])
    np.testing.assert_array_equal(
        ranker.predict(X), clone(ranker).fit(X, y, groups=groups).predict(X)
    )


def test_a_bare_ranker_of_numbered_columns_is_not_scored_on_others():
    X, y, groups, _ = make_rank_and_filter(
        n_queries=40, n_features=4, n_informative=2, random_state=0
    )
    X = pd.DataFrame(X)
    ranker = LGBMRanker(**LIGHT).fit(X, np.maximum(y, 0), group=np.bincount(groups))
    scorer = make_ranking_scorer("ap")
    assert scorer(ranker, X, np.maximum(y, 0), groups=groups) > 0
    with pytest.raises(InputError, match=r"which are \['0', '1', '2', '3'\]; got \['3', '2'"):
        scorer(ranker, X[[3, 2, 1, 0]], np.maximum(y, 0), groups=groups)


@pytest.mark.filterwarnings("ignore:.* has no order to learn")
@pytest.mark.parametrize("around", [lambda model: model, QueryRanker])
def test_missing_numbers_that_are_filled_in_are_not_blamed(rows, around):
    X = np.where(np.arange(5) == 2, np.nan, rows.X)
    # A ColumnTransformer does not say that it takes NaN.
    fill = ColumnTransformer([("fill", SimpleImputer(keep_empty_features=True), list(range(5)))])
    for C, y, message in ((1.0, np.ones(len(X)), "one class"), (-1.0, rows.y, "'C' parameter")):
        model = make_pipeline(fill, around(LogisticRegression(C=C)))
        with pytest.raises(ValueError, match=message):
            RankAndFilter(model, 0.0).fit(X, y, groups=rows.groups)
