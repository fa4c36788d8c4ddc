"""Features scaled within each query: values by hand, serving, and life in a Pipeline."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from lightgbm import LGBMRanker
from scipy import sparse
from scipy.stats import rankdata, zscore
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline

from scikit_learn_checks import assert_passes_checks
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import make_ranking_scorer
from skfilterrank.ranking import QueryRanker, QueryScaler, RankAndFilter
from thinned import thinned

METHODS = ("standardize", "min_max", "rank")
NAN = np.nan


class OfOneQuery(QueryScaler):
    """The scaler with all rows of one query, for checks that know no queries."""

    def fit_transform(self, X, y=None):
        return self.fit(X).transform(X)

    def transform(self, X):
        n_rows = len(self._check_features(X, reset=False))
        return super().transform(X, groups=np.zeros(n_rows))


@pytest.mark.slow
@pytest.mark.parametrize("method", thinned(METHODS))
def test_checks_of_scikit_learn(method):
    by_the_others = "A row is scaled by the other rows of its query."
    assert_passes_checks(OfOneQuery(method), {"check_methods_subset_invariance": by_the_others})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "values", "expected"),
    [
        ("standardize", [1, 3, 2, 2], [-np.sqrt(2), np.sqrt(2), 0, 0]),
        ("min_max", [1, 3, 2, 2], [0, 1, 0.5, 0.5]),
        ("rank", [1, 3, 2, 2], [0, 1, 0.5, 0.5]),
        ("rank", [1, 1, 1, 5], [1 / 3, 1 / 3, 1 / 3, 1]),
        # Equal values, of which the mean is none.
        ("standardize", [0.1, 0.1, 0.1], [0, 0, 0]),
        ("min_max", [0.1, 0.1, 0.1], [0, 0, 0]),
        ("rank", [0.1, 0.1, 0.1], [0.5, 0.5, 0.5]),
        # One document.
        ("standardize", [7], [0]),
        ("min_max", [7], [0]),
        ("rank", [7], [0.5]),
        # Missing values stay missing, and the others are scaled without them.
        ("standardize", [1, NAN, 3], [-1, NAN, 1]),
        ("min_max", [1, NAN, 3], [0, NAN, 1]),
        ("rank", [1, NAN, 3], [0, NAN, 1]),
        ("rank", [NAN, 3], [NAN, 0.5]),
        ("standardize", [NAN, NAN], [NAN, NAN]),
        # Whose squares leave the range of float64.
        ("standardize", [1e200, -1e200], [1, -1]),
        ("standardize", [1e-200, -1e-200], [1, -1]),
    ],
)
def test_values_by_hand(method, values, expected):
    X = np.array(values, dtype=float)[:, None]
    others = np.array([[5.0], [9.0]])
    both = np.vstack([others[:1], X, others[1:]])
    groups = ["other", *["mine"] * len(X), "other"]
    scaled = QueryScaler(method).fit_transform(both, groups=groups)[1:-1].ravel()
    np.testing.assert_allclose(scaled, expected, rtol=1e-14)


@pytest.mark.parametrize("method", METHODS)
def test_names_of_queries_and_order_of_rows_change_no_digit(method):
    X, _, groups, _ = make_rank_and_filter(n_queries=60, random_state=0)
    rng = np.random.default_rng(0)
    scaled = QueryScaler(method).fit_transform(X, groups=groups)
    names = rng.permutation(60)[groups]
    np.testing.assert_array_equal(QueryScaler(method).fit_transform(X, groups=names), scaled)
    order = rng.permutation(len(X))
    moved = QueryScaler(method).fit_transform(X[order], groups=groups[order])
    np.testing.assert_array_equal(moved, scaled[order])


@pytest.mark.slow
@given(
    arrays(float, (12, 2), elements=st.integers(-3, 3).map(float) | st.just(NAN)),
    arrays(int, 12, elements=st.integers(0, 3)),
    st.sampled_from(METHODS),
)
def test_each_query_is_scaled_as_if_it_were_alone(X, groups, method):
    scaler = QueryScaler(method).fit(np.zeros((1, 2)))
    together = scaler.transform(X, groups=groups)
    slow = {"standardize": zscore, "min_max": min_max, "rank": shares_below}[method]
    for query in set(groups):
        rows = groups == query
        alone = scaler.transform(X[rows], groups=groups[rows])
        np.testing.assert_array_equal(together[rows], alone)
        for column, scaled in zip(X[rows].T, alone.T):
            known = ~np.isnan(column)
            assert np.isnan(scaled[~known]).all()
            if len(set(column[known])) > 1:
                np.testing.assert_allclose(scaled[known], slow(column[known]), atol=1e-12)


def min_max(values):
    return (values - values.min()) / np.ptp(values)


def shares_below(values):
    return (rankdata(values) - 1) / (len(values) - 1)


def test_names_and_tables():
    X = pd.DataFrame({"bm25": [1.0, 2.0], "age": [3.0, 1.0]}, index=pd.Index([4, 4], name="qid"))
    scaler = QueryScaler("min_max").set_output(transform="pandas")
    scaled = scaler.fit_transform(X)
    pd.testing.assert_frame_equal(scaled, X.assign(bm25=[0.0, 1.0], age=[1.0, 0.0]))
    assert list(scaler.get_feature_names_out()) == ["bm25", "age"]
    with pytest.raises(ValueError, match="feature names"):
        scaler.transform(X[["age", "bm25"]])


def test_what_cannot_be_scaled():
    X = np.ones((2, 2))
    scaler = QueryScaler().fit(X)
    with pytest.raises(ValueError, match=r"groups is missing: .* X as a DataFrame"):
        scaler.transform(X)
    with pytest.raises(ValueError, match="groups has 1 entries"):
        scaler.transform(X, groups=[1])
    with pytest.raises(ValueError, match="infinity in column 1"):
        scaler.transform([[0, np.inf]], groups=[1])
    for kind in (sparse.csr_array, sparse.coo_matrix):
        with pytest.raises(ValueError, match=r"X is sparse, .* pass X.toarray\(\)"):
            QueryScaler().fit(kind(X))
    with pytest.raises(ValueError, match="method must be one of"):
        QueryScaler("zscore").fit(X)


@pytest.fixture(scope="module")
def data():
    """Documents whose features mean something within their query alone, rows shuffled."""
    X, y, groups, _ = make_rank_and_filter(60, documents_per_query=6, random_state=0)
    rng = np.random.default_rng(0)
    X = X * rng.uniform(0.1, 10, 60)[groups, None] + 50 * rng.normal(size=60)[groups, None]
    order = rng.permutation(len(y))
    return X[order], y[order].astype(float), groups[order]


def by_hand(X, groups):
    return QueryScaler().fit(X).transform(X, groups=groups)


def filtering(inner):
    # Features decide how the library itself deals queries, and they differ here.
    return RankAndFilter(inner, measure="ndcg_f@3", cv=GroupKFold(2))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrap", "inner", "routing"),
    [
        (QueryRanker, Ridge(), False),
        (QueryRanker, LGBMRanker(n_estimators=3, verbose=-1, n_jobs=1), True),
        (filtering, Ridge(), True),
        (filtering, LGBMRanker(n_estimators=3, verbose=-1, n_jobs=1), False),
    ],
)
def test_in_a_pipeline_inside(data, wrap, inner, routing):
    X, y, groups = data
    whole = by_hand(X, groups)
    expected = wrap(inner).fit(whole, y, groups=groups)
    with sklearn.config_context(enable_metadata_routing=routing):
        model = wrap(make_pipeline(QueryScaler(), clone(inner))).fit(X, y, groups=groups)
        scores = model.predict(X, groups=groups) if "cv" in model.get_params() else None
    if scores is not None:
        np.testing.assert_array_equal(scores, expected.predict(whole))
    indexed = pd.DataFrame(X, index=pd.Index(groups, name="qid"))
    inside = model.estimator_[-1].predict(whole)
    np.testing.assert_array_equal(inside, expected.estimator_.predict(whole))
    with sklearn.config_context(enable_metadata_routing=routing):
        np.testing.assert_array_equal(model.predict(indexed), expected.predict(whole))


@pytest.mark.slow
def test_held_out_sets_are_scaled_by_their_queries(data):
    X, y, groups = data
    learn = groups < 40
    model = QueryRanker(make_pipeline(QueryScaler(), LGBMRanker(n_estimators=5, verbose=-1)))
    settings = {"eval_groups": [groups[~learn]]}
    model.fit(
        X[learn], y[learn], groups=groups[learn], eval_set=[(X[~learn], y[~learn])], **settings
    )
    plain = QueryRanker(LGBMRanker(n_estimators=5, verbose=-1)).fit(
        by_hand(X[learn], groups[learn]),
        y[learn],
        groups=groups[learn],
        eval_set=[(by_hand(X[~learn], groups[~learn]), y[~learn])],
        **settings,
    )
    assert model.estimator_[-1].evals_result_ == plain.estimator_.evals_result_


@pytest.mark.slow
@pytest.mark.parametrize("way", ["series", "frame", "routing"])
def test_under_a_search(data, way):
    X, y, groups = data
    qid = pd.Index(groups, name="qid")
    pipeline = make_pipeline(QueryScaler(), Ridge())
    grid = {"queryscaler__method": METHODS}
    scorer = make_ranking_scorer("ndcg_f@3")
    routing = way == "routing"
    X_ = pd.DataFrame(X, index=qid) if way == "frame" else X
    y_ = y if routing else pd.Series(y, index=qid)
    with sklearn.config_context(enable_metadata_routing=routing):
        search = GridSearchCV(pipeline, grid, scoring=scorer, cv=GroupKFold(2), error_score="raise")
        search.fit(X_, y_, groups=groups)
    expected = GridSearchCV(Ridge(), {}, scoring=scorer, cv=GroupKFold(2)).fit(
        by_hand(X, groups), pd.Series(y, index=qid), groups=groups
    )
    found = search.cv_results_["mean_test_score"][METHODS.index("standardize")]
    assert found == expected.best_score_
    assert (
        search.best_score_
        > GridSearchCV(Ridge(), {}, scoring=scorer, cv=GroupKFold(2))
        .fit(X, pd.Series(y, index=qid), groups=groups)
        .best_score_
    )
    if way != "series":
        return
    # A search that the filter is put around hands them on, too.
    model = RankAndFilter(GridSearchCV(pipeline, grid, scoring=scorer, cv=GroupKFold(2)), cv=2)
    model.fit(X, y, groups=groups)
    assert np.isfinite(model.decision_function(X, groups=groups)).all()


class Searched(BaseEstimator):
    """A transformer that knows no queries."""

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        return X


def test_steps_that_do_not_ask_get_no_queries(data):
    X, y, groups = data
    model = QueryRanker(make_pipeline(Searched(), "passthrough", QueryScaler(), Ridge()))
    model.fit(X, y, groups=groups)
    frame = pd.DataFrame(X, index=pd.Index(groups, name="qid"))
    expected = QueryRanker(Ridge()).fit(by_hand(X, groups), y, groups=groups)
    np.testing.assert_array_equal(model.predict(frame), expected.predict(by_hand(X, groups)))
