"""The one contract of all estimators that learn from rows: queries, labels, columns."""

import copy

import joblib
import numpy as np
import pandas as pd
import pytest
from catboost import CatBoostRanker
from sklearn.base import BaseEstimator, clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted
from xgboost import XGBRanker

from all_estimators import BASES, CASES, DATA, LIGHTGBM, all_estimators, asked, rows
from ranker_checks import CHECKS
from skfilterrank.exceptions import InputError, SkfilterrankWarning, UnjudgedWarning
from skfilterrank.judgments import LabelPredictor
from skfilterrank.metrics import make_ranking_scorer
from skfilterrank.ranking import (
    CalibratedRanker,
    FilterOnly,
    LambdaRankRanker,
    OrdinalRanker,
    QueryRanker,
    RankAndFilter,
    make_ranker,
)
from skfilterrank.ranking._make_ranker import SharedFeatures
from skfilterrank.thresholds import BaseThreshold, CertifiedThreshold, PerQueryThreshold
from thinned import thinned

RANKERS = {name: case.estimator for name, case in CASES.items() if case.kind == "rows"}


@pytest.fixture(scope="module")
def data():
    """All rows judged; gains -1 (forbidden), 1 and 2."""
    (X, _), queries = rows(14, 0)
    y = np.random.default_rng(0).permuted(np.repeat([-1.0, 1.0, 2.0], len(X) // 3))
    return X, y + 0.0, queries["groups"]


def test_whatever_predicts_is_in_the_contract():
    predicting = {found for found in all_estimators() - BASES if hasattr(found, "predict")}
    # Thresholds learn from scores, LabelPredictor from missing labels: they have own contracts.
    predicting = {
        each for each in predicting if not issubclass(each, BaseThreshold | LabelPredictor)
    }
    assert predicting == {type(ranker) for ranker in RANKERS.values()}


def expected_failures(ranker):
    """Checks that fail on purpose, with the reason."""
    if isinstance(ranker, FilterOnly):
        return {"check_learning": "What is shown has scores by chance."}
    return {}


# What the doors of a class do, whatever its parameters are: checked of its first case.
OF_THE_CLASS = {
    "check_signatures",
    "check_groups_by_routing",
    "check_lengths",
    "check_labels_that_are_no_numbers",
    "check_gains",
    "check_columns",
    "check_masked_features",
    "check_sparse_features",
    "check_nothing_of_the_caller_is_changed",
    "check_score",
    "check_grid_search",
}

# Searches fit six times, and the others inherit how they are scored.
SEARCHED = (RankAndFilter, LambdaRankRanker)


def cases():
    """Every check of every class, and of its further cases, at night, those of what it learns."""
    checked = set()
    for label, ranker in RANKERS.items():
        reasons, is_first = expected_failures(ranker), type(ranker) not in checked
        checked.add(type(ranker))
        # By day every check looks at half of the classes.
        for check in thinned(CHECKS, turn=len(checked), parts=2):
            name, marks = check.__name__, []
            if name in reasons:
                marks.append(pytest.mark.xfail(reason=reasons[name], strict=True))
            is_long = name == "check_grid_search" and not isinstance(ranker, SEARCHED)
            if is_long or not is_first:
                marks.append(pytest.mark.nightly)
            if is_first or name not in OF_THE_CLASS:
                yield pytest.param(check, ranker, id=f"{label}-{name}", marks=marks)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*unjudged", "ignore:.*gains are below 0")
@pytest.mark.parametrize(("check", "ranker"), cases())
def test_checks(check, ranker, data):
    # A faulty ranker may change what it is given.
    check(clone(ranker), *(part.copy() for part in data))


@pytest.mark.slow
@pytest.mark.parametrize(
    "ranker",
    [
        pytest.param(ranker, id=name)
        for name, ranker in RANKERS.items()
        if "check_unjudged_rows_are_counted" not in expected_failures(ranker)
    ],
)
def test_unjudged_rows_are_warned_of_where_fit_is_called(data, ranker):
    X, y, groups = data
    with pytest.warns(UserWarning, match="(rows|risk depends on) are unjudged") as caught:
        clone(ranker).fit(X, np.where(np.arange(len(y)) % 5, y, np.nan), groups=groups)
    ours = [warning for warning in caught if issubclass(warning.category, SkfilterrankWarning)]
    assert {warning.filename for warning in ours} == {__file__}
    assert sum(issubclass(warning.category, UnjudgedWarning) for warning in ours) == 1


@pytest.mark.slow
def test_columns_of_trees_are_checked_in_classifiers_and_pipelines_too(data):
    X, y, groups = data
    frame = pd.DataFrame(X, columns=list("abcd"))
    for ranker in (
        make_ranker("ordinal", learner="trees"),
        RankAndFilter(make_ranker("bce", learner="trees"), cv=2),
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

NIGHTLY = pytest.mark.nightly
AROUND = {
    "QueryRanker": QueryRanker,
    "no threshold": lambda inner: RankAndFilter(inner, threshold=None),
    "RankAndFilter": lambda inner: RankAndFilter(make_pipeline("passthrough", inner), cv=2),
    "Calibrated": lambda inner: CalibratedRanker(inner, cv=2),
    "FilterOnly": lambda inner: FilterOnly(QueryRanker(inner), random_state=0),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("around", "name"),
    [
        pytest.param(
            around,
            name,
            # By day each is once around, and once inside.
            marks=[] if around == "QueryRanker" or name == "LooksAtNothing" else NIGHTLY,
        )
        for around in AROUND
        for name in INSIDE
    ],
)
def test_columns_are_checked_whatever_is_inside(data, around, name):
    wrap, inside = AROUND[around], INSIDE[name]
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


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", thinned([name for name in CASES if name not in RANKERS], parts=2))
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


def test_a_failed_fit_leaves_the_threshold_with_its_model(data):
    X, y, groups = data
    model = RankAndFilter(clone(RANKERS["OrdinalRanker"]), measure="ndcg_f@3", cv=2)
    model.fit(X, y, groups=groups)
    kept = model.predict(X)
    for threshold in (CertifiedThreshold({"any_forbidden": 0.01}), PerQueryThreshold("ap")):
        model.set_params(threshold=threshold)
        with pytest.raises(InputError):
            # Too few queries for the one, and for the folds of both.
            model.fit(X[:6], y[:6], groups=groups[:6])
        np.testing.assert_array_equal(model.predict(X), kept)


@pytest.mark.slow
def test_groups_reach_classifiers_that_want_them(data):
    X, y, groups = data
    inner = CalibratedRanker(LIGHTGBM, cv=2)
    ranker = OrdinalRanker(inner).fit(X, y, groups=groups)
    one = clone(inner).fit(X, (y > 1).astype(int), groups=groups)
    np.testing.assert_array_equal(ranker.predict_level_proba(X)[:, 1], one.predict_proba(X)[:, 1])
    with pytest.raises(InputError, match="LGBMRanker needs queries"):
        OrdinalRanker(inner).fit(X, y)
    assert FilterOnly(inner, random_state=0).fit(X, y, groups=groups).n_unjudged_ == 0
