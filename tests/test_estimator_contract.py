"""The one contract of all estimators that learn from rows: queries, labels, columns."""

import copy
import inspect
import re

import joblib
import numpy as np
import pandas as pd
import pytest
from catboost import CatBoostRanker
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted
from xgboost import XGBRanker

from all_estimators import BASES, CASES, DATA, LIGHTGBM, all_estimators, asked, rows
from skfilterrank.exceptions import InputError, SkfilterrankWarning
from skfilterrank.features import TextStatistics
from skfilterrank.judgments import CompletedLabels
from skfilterrank.metrics import make_ranking_scorer
from skfilterrank.ranking import (
    CalibratedRanker,
    FilterAll,
    FilterOnly,
    LinearRankFusion,
    OrdinalRanker,
    QueryRanker,
    RankAndFilter,
    RankFusion,
    make_ranker,
)
from skfilterrank.ranking._methods.shared_features import SharedFeatures

RANKERS = {
    name: case.estimator
    for name, case in CASES.items()
    if case.kind in ("rows", "more rows", "few rows")
}
every_ranker = pytest.mark.parametrize("ranker", RANKERS.values(), ids=RANKERS)
# What looks at nothing takes anything.
all_but_filter_all = pytest.mark.parametrize(
    "ranker", [pytest.param(r, id=n) for n, r in RANKERS.items() if not isinstance(r, FilterAll)]
)

all_that_learn = pytest.mark.parametrize(
    "ranker",
    [
        pytest.param(ranker, id=name)
        for name, ranker in RANKERS.items()
        if not isinstance(ranker, FilterAll | RankFusion)
    ],
)

WHOLE_LISTS = (RankAndFilter, CalibratedRanker, LinearRankFusion)

pytestmark = pytest.mark.filterwarnings("ignore:y has no NaN, so that nothing is left to complete")


@pytest.fixture(scope="module")
def data():
    """All rows judged; gains -1 (forbidden), 1 and 2."""
    (X, _), queries = rows(14, 0)
    y = np.random.default_rng(0).permuted(np.repeat([-1.0, 1.0, 2.0], len(X) // 3))
    return X, y + 0.0, queries["groups"]


@pytest.fixture(scope="module")
def unjudged(data):
    y = data[1].copy()
    y[::5] = np.nan
    return y


def predicted(ranker, X, groups):
    takes = "groups" in inspect.signature(ranker.predict).parameters
    return ranker.predict(X, **({"groups": groups} if takes else {}))


def test_whatever_predicts_is_in_the_contract():
    predicting = {found for found in all_estimators() - BASES if hasattr(found, "predict")}
    assert predicting == {type(ranker) for ranker in RANKERS.values()}


@every_ranker
def test_groups_are_taken_by_name_and_of_any_type(data, ranker):
    X, y, groups = data
    parameter = inspect.signature(ranker.fit).parameters["groups"]
    assert parameter.default is None
    assert list(inspect.signature(ranker.fit).parameters)[:3] == ["X", "y", "groups"]
    assert ranker.get_metadata_routing().consumes("fit", ["groups"]) == {"groups"}
    numbered = predicted(clone(ranker).fit(X, y, groups=groups), X, groups)
    names = np.array([f"query {number:02d}" for number in groups])
    np.testing.assert_array_equal(
        predicted(clone(ranker).fit(X, y, groups=names), X, names), numbered
    )
    in_index = pd.Series(y, index=pd.Index(names, name="qid"))
    np.testing.assert_array_equal(predicted(clone(ranker).fit(X, in_index), X, names), numbered)


@every_ranker
def test_metadata_routing_brings_groups_unasked(data, ranker):
    X, y, groups = data
    with config_context(enable_metadata_routing=True):
        routed = make_pipeline("passthrough", clone(ranker)).fit(X, y, groups=groups)
    np.testing.assert_array_equal(
        predicted(routed[-1], X, groups),
        predicted(clone(ranker).fit(X, y, groups=groups), X, groups),
    )


@all_but_filter_all
def test_masked_features_are_an_error(data, ranker):
    X, y, groups = data
    masked = np.ma.array(X, mask=np.arange(X.size).reshape(X.shape) % 7 == 0)
    with pytest.raises(InputError, match="X is a masked array"):
        clone(ranker).fit(masked, y, groups=groups)
    fitted = clone(ranker).fit(X, y, groups=groups)
    with pytest.raises(InputError, match="X is a masked array"):
        predicted(fitted, masked, groups)


@all_but_filter_all
def test_groups_of_another_length_are_an_error(data, ranker):
    X, y, groups = data
    with pytest.raises(InputError, match=f"groups has {len(y) - 1} entries but there are"):
        clone(ranker).fit(X, y, groups=groups[:-1])


@all_but_filter_all
def test_labels_are_one_number_for_each_row(data, ranker):
    X, y, groups = data
    with pytest.raises(ValueError, match=str(len(y) - 1)):
        clone(ranker).fit(X, y[1:], groups=groups)
    with pytest.raises(ValueError):  # noqa: PT011
        clone(ranker).fit(X, np.where(y > 0, "good", "bad"), groups=groups)


@pytest.mark.parametrize(
    "ranker",
    [
        pytest.param(ranker, id=name)
        for name, ranker in RANKERS.items()
        if not isinstance(ranker, FilterAll | RankFusion | CompletedLabels)
    ],
)
def test_unjudged_rows_are_counted_and_not_learned_from(data, unjudged, ranker):
    X, y, groups = data
    n_unjudged = int(np.isnan(unjudged).sum())
    message = rf"^{n_unjudged} of {len(y)} rows are unjudged \(NaN label\): they are not learned"
    with pytest.warns(UserWarning, match=message) as caught:
        fitted = clone(ranker).fit(X, unjudged, groups=groups)
    ours = [warning for warning in caught if issubclass(warning.category, SkfilterrankWarning)]
    assert [warning.filename for warning in ours] == [__file__]
    assert fitted.n_unjudged_ == n_unjudged
    # Where thresholds are tuned and scores normalised, whole lists count, unjudged rows included.
    if not any(
        isinstance(found, WHOLE_LISTS) for found in (ranker, ranker.get_params().get("estimator"))
    ):
        judged = ~np.isnan(unjudged)
        alone = clone(ranker).fit(X[judged], y[judged], groups=groups[judged])
        np.testing.assert_array_equal(predicted(fitted, X, groups), predicted(alone, X, groups))


@all_that_learn
def test_without_a_judged_row_there_is_nothing_to_learn(data, ranker):
    X, y, groups = data
    with pytest.raises(InputError, match=r"no (judged row|row is judged): expected"):
        clone(ranker).fit(X, np.full_like(y, np.nan), groups=groups)


@pytest.mark.parametrize(
    "ranker",
    [
        pytest.param(ranker, id=name)
        for name, ranker in RANKERS.items()
        if "gains" in ranker.get_params()
    ],
)
def test_gains_say_what_is_forbidden(data, ranker):
    X, y, groups = data
    gain_of = {"bad": -1.0, "good": 1.0, "best": 2.0}
    labels = np.array(list(gain_of))[np.searchsorted([-1.0, 1.0, 2.0], y)]
    named = clone(ranker).set_params(gains=gain_of).fit(X, labels, groups=groups)
    np.testing.assert_array_equal(
        predicted(named, X, groups), predicted(clone(ranker).fit(X, y, groups=groups), X, groups)
    )


@every_ranker
@pytest.mark.parametrize("queries", ["one query", "one document each"])
def test_few_documents_are_ranked_or_an_error_says_what_to_do(data, ranker, queries):
    X, y, _ = data
    groups = np.zeros(len(y), dtype=int) if queries == "one query" else np.arange(len(y))
    try:
        scores = predicted(clone(ranker).fit(X, y, groups=groups), X, groups)
    except InputError as error:
        scores = error
    if isinstance(scores, InputError):
        assert re.search("give more queries|Give groups=", str(scores))
    else:
        assert scores.shape == y.shape
        assert (np.isfinite(scores) | np.isneginf(scores)).all()


@all_but_filter_all
def test_columns_are_remembered_and_checked(data, ranker):
    X, y, groups = data
    frame = pd.DataFrame(X, columns=["a", "b b", "c", "d"])
    fitted = clone(ranker).fit(frame, y, groups=groups)
    assert fitted.n_features_in_ == 4
    assert [name.replace("_", " ") for name in fitted.feature_names_in_] == list(frame)
    # To the last digits, which depend on how the numbers lie in memory.
    np.testing.assert_allclose(
        predicted(fitted, frame, groups),
        predicted(clone(ranker).fit(X, y, groups=groups), X, groups),
    )
    for other in (frame[["d", "c", "b b", "a"]], frame[["a", "b b", "c"]], frame.assign(e=0.0)):
        with pytest.raises(ValueError, match=r"feature names should match|must have the columns"):
            predicted(fitted, other, groups)


def test_columns_of_trees_are_checked_in_classifiers_and_pipelines_too(data):
    X, y, groups = data
    frame = pd.DataFrame(X, columns=list("abcd"))
    for ranker in (
        make_ranker("ordinal", learner="trees"),
        RankAndFilter(make_ranker("bce", learner="trees"), cv=2),
        CompletedLabels(QueryRanker(LIGHTGBM)),
    ):
        fitted = ranker.fit(frame, y, groups=groups)
        assert np.isfinite(fitted.predict(frame)).any()
        with pytest.raises(ValueError, match="Feature names must be in the same order"):
            fitted.predict(frame[list("dcba")])
    # Columns without names are told apart by number alone, as everywhere.
    numbered = RankAndFilter(LIGHTGBM, cv=2).fit(pd.DataFrame(X), y, groups=groups)
    assert len(numbered.predict(pd.DataFrame(X))) == len(y)


class LooksAtNothing(BaseEstimator):
    """Somebody's regressor, which takes any columns."""

    def fit(self, X, y):
        """Learn nothing."""
        self.fitted_ = True
        return self

    def predict(self, X):
        """Score by the first column."""
        return np.asarray(X, dtype=float).reshape(len(X), -1)[:, 0]


INSIDE = {
    "LGBMRanker": LIGHTGBM,
    "XGBRanker": XGBRanker(n_estimators=3, n_jobs=1),
    "CatBoostRanker": CatBoostRanker(
        iterations=3, verbose=False, thread_count=1, allow_writing_files=False
    ),
    "LooksAtNothing": LooksAtNothing(),
}


@pytest.mark.parametrize("inside", INSIDE.values(), ids=INSIDE)
@pytest.mark.parametrize(
    "wrap",
    [
        QueryRanker,
        lambda inner: RankAndFilter(inner, threshold=None),
        lambda inner: RankAndFilter(make_pipeline("passthrough", inner), cv=2),
        lambda inner: CalibratedRanker(inner, cv=2),
        lambda inner: FilterOnly(QueryRanker(inner), random_state=0),
        lambda inner: CompletedLabels(QueryRanker(inner)),
    ],
    ids=["QueryRanker", "no threshold", "RankAndFilter", "Calibrated", "FilterOnly", "Completed"],
)
def test_columns_are_checked_whatever_is_inside(data, wrap, inside):
    X, y, groups = data
    frame = pd.DataFrame(X, columns=list("abcd"))
    fitted = wrap(inside).fit(frame, y, groups=groups)
    for other in (frame[list("dcba")], frame[list("abc")], frame.assign(e=0.0)):
        with pytest.raises(ValueError, match="feature names should match"):
            fitted.predict(other)
    fitted = wrap(inside).fit(X, y, groups=groups)
    assert fitted.n_features_in_ == 4
    assert not hasattr(fitted, "feature_names_in_")
    for other in (X[:, :3], np.column_stack([X, X])):
        with pytest.raises(ValueError, match=rf"X has {other.shape[1]} features, but \w+ is expec"):
            fitted.predict(other)
    for call in (lambda: wrap(inside).fit(X[:, 0], y, groups=groups), lambda: fitted.predict(X[0])):
        with pytest.raises(InputError, match="Expected 2D array, got 1D array instead"):
            call()


def test_a_transformer_inside_chooses_its_columns(data):
    X, y, groups = data
    frame = pd.DataFrame(X, columns=list("abcd"))
    chosen = make_column_transformer((StandardScaler(), ["a", "b"]))
    for ranker in (
        RankAndFilter(make_pipeline(chosen, Ridge()), cv=2),
        CalibratedRanker(QueryRanker(make_pipeline("passthrough", chosen, LIGHTGBM)), cv=2),
    ):
        fitted = ranker.fit(frame, y, groups=groups)
        # A product of matrices laid out otherwise may differ in the last digit.
        np.testing.assert_allclose(
            fitted.predict(frame[list("dcba")].assign(e=0.0)), fitted.predict(frame), rtol=1e-12
        )


def test_the_trees_of_catboost_are_not_given_more_columns(data):
    X, y, groups = data
    bare = CatBoostRanker(iterations=3, verbose=False, allow_writing_files=False)
    bare.fit(X, np.maximum(y, 0), group_id=np.sort(groups))
    with pytest.raises(InputError, match="X has 8 features, but CatBoostRanker is expecting 4"):
        make_ranking_scorer("ndcg@3")(bare, np.column_stack([X, X]), y, groups=groups)


def test_transformers_know_their_columns():
    X = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    shared = SharedFeatures(StandardScaler())
    assert not hasattr(shared, "n_features_in_")
    shared.fit(X)
    assert (shared.n_features_in_, list(shared.feature_names_in_)) == (2, ["a", "b"])
    with pytest.raises(ValueError, match="feature names should match"):
        shared.transform(X[["b", "a"]])
    table = pd.DataFrame({"text": ["a word"], "more": [1]})
    found = TextStatistics("text").fit(table)
    assert (found.n_features_in_, list(found.feature_names_in_)) == (2, ["text", "more"])
    # Columns are found by their names, in any order and among any others.
    np.testing.assert_array_equal(found.transform(table), found.transform(table[["text"]]))
    numbered = found.fit(table.set_axis(["text", 0], axis=1))
    assert numbered.n_features_in_ == 2
    assert not hasattr(numbered, "feature_names_in_")


@every_ranker
def test_sparse_rows_are_learned_as_dense_ones_are(data, ranker):
    X, y, groups = data
    if not ranker.__sklearn_tags__().input_tags.sparse:
        if get_tags(LogisticRegression()).input_tags.sparse is False:
            pytest.skip("scikit-learn 1.6 does not tell which estimators take sparse rows")
        with pytest.raises(TypeError, match="dense data is required"):
            clone(ranker).fit(sparse.csr_matrix(X), y, groups=groups)
        return
    dense = predicted(clone(ranker).fit(X, y, groups=groups), X, groups)
    X = sparse.csr_matrix(X)
    np.testing.assert_allclose(predicted(clone(ranker).fit(X, y, groups=groups), X, groups), dense)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", CASES)
def test_nothing_of_the_caller_is_changed(name):
    case = CASES[name]
    estimator = copy.deepcopy(case.estimator)
    first, _ = DATA[case.kind]
    before = joblib.hash((first, estimator))
    inner = getattr(estimator, "estimator", None)
    fitted = estimator.fit(*first.args, **first.kwargs)
    asked(fitted, first)
    fitted = clone(fitted) if isinstance(fitted, BaseEstimator) else type(fitted)(k=fitted.k)
    assert joblib.hash((first, fitted)) == before
    assert getattr(estimator, "estimator", None) is inner
    if inner is not None:
        with pytest.raises(ValueError, match="not fitted"):
            check_is_fitted(inner)


@pytest.mark.filterwarnings("ignore:.*rows are unjudged")
@every_ranker
def test_arrays_may_be_read_only(data, unjudged, ranker):
    X, _, groups = data
    arrays = [array.copy() for array in (X, unjudged, groups)]
    for array in arrays:
        array.flags.writeable = False
    fitted = clone(ranker).fit(*arrays)
    expected = clone(ranker).fit(X, unjudged, groups)
    np.testing.assert_array_equal(
        predicted(fitted, arrays[0], arrays[2]), predicted(expected, X, groups)
    )


def test_a_failed_fit_leaves_the_threshold_with_its_model(data):
    X, y, groups = data
    model = RankAndFilter(clone(RANKERS["OrdinalRanker"]), k=3, cv=2).fit(X, y, groups=groups)
    kept = model.predict(X)
    for threshold in ("risk", "per_query"):
        model.set_params(threshold=threshold, risk="any_forbidden", max_risk=0.01)
        with pytest.raises(InputError):
            # Too few queries for the one, and for the folds of both.
            model.fit(X[:6], y[:6], groups=groups[:6])
        np.testing.assert_array_equal(model.predict(X), kept)


def test_groups_reach_classifiers_that_want_them(data):
    X, y, groups = data
    inner = CalibratedRanker(LIGHTGBM, cv=2)
    ranker = OrdinalRanker(inner).fit(X, y, groups=groups)
    one = clone(inner).fit(X, (y > 1).astype(int), groups=groups)
    np.testing.assert_array_equal(ranker.predict_level_proba(X)[:, 1], one.predict_proba(X)[:, 1])
    with pytest.raises(InputError, match="LGBMRanker needs queries"):
        OrdinalRanker(inner).fit(X, y)
    assert FilterOnly(inner, random_state=0).fit(X, y, groups=groups).n_unjudged_ == 0
