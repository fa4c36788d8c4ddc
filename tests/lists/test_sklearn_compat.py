"""What is taken from scikit-learn's private modules does what the package takes it for."""

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, xlogy
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

from skfilterrank._lists.sklearn_compat import (
    calling_cross_validation,
    feature_names,
    fit_calibrator,
    metadata_routing_enabled,
    probabilities,
    rows_of_callers,
    safe_indexing,
    tags_tell_sparse,
    without_groups,
)
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.ranking import CalibratedRanker, QueryRanker

X, Y = np.arange(8.0)[:, None], np.arange(8) % 2


class Witness(BaseEstimator):
    """An estimator that writes down what it sees of its callers."""

    seen: list = []  # noqa: RUF012

    def __init__(self, alpha=1):
        self.alpha = alpha

    def fit(self, X, y):
        self.seen.append(("fit", *calling_cross_validation(), len(X), list(rows_of_callers())))
        return self

    def predict(self, X):
        return np.zeros(len(X))

    def score(self, X, y):
        self.seen.append(("score", *calling_cross_validation(), len(X), list(rows_of_callers())))
        return 0.0


@pytest.fixture(autouse=True)
def seen():
    Witness.seen.clear()
    return Witness.seen


def test_outside_of_cross_validation(seen):
    Witness().fit(X, Y).score(X, Y)
    assert [each[1:] for each in seen] == [(False, None, 8, [])] * 2


def test_cross_validation_and_the_rows_on_both_sides(seen):
    cross_val_score(Witness(), X, Y, cv=KFold(4))
    assert [(name, n) for name, *_, n, _ in seen] == [("fit", 6), ("score", 2)] * 4
    assert all(is_called for _, is_called, *_ in seen)
    # One object stands for the whole of it.
    wholes = {id(whole) for _, _, whole, *_ in seen}
    assert len(wholes) == 1
    assert isinstance(seen[0][2], joblib.Parallel)
    held_all, train, test = next(
        (each[0], each[2], each[3]) for each in seen[0][4] if each[2] is not None
    )
    assert held_all is X
    assert (list(train), list(test)) == ([2, 3, 4, 5, 6, 7], [0, 1])


def test_the_outermost_search_stands_for_all(seen):
    inner = GridSearchCV(Witness(), {"alpha": [1, 2]}, cv=2, refit=False)
    with pytest.raises(AttributeError):  # without a refit it has no score
        cross_val_score(inner, X, Y, cv=2, error_score="raise")
    assert len({id(whole) for _, _, whole, *_ in seen}) == 1


def test_the_refit_of_a_search_is_no_side_of_a_split(seen):
    GridSearchCV(Witness(), {"alpha": [1]}, cv=2).fit(X, Y)
    assert [is_called for _, is_called, *_ in seen] == [True] * 4 + [False]


def test_permutations_call_as_cross_validation_does(seen):
    permutation_importance(Witness(), X, Y, n_repeats=1, random_state=0)
    assert [is_called for _, is_called, *_ in seen] == [True, True]


@pytest.mark.parametrize(
    "rows", [[2, 0], np.array([2, 0]), np.array([True, False, True])], ids=["list", "array", "mask"]
)
def test_rows_of_each_container(rows):
    expected = np.array([1, 2, 3])[rows].tolist()
    for make in (
        np.array,
        list,
        pd.Series,
        pl.Series,
        pd.Index,
        pa.array,
        lambda values: pd.array(values, dtype="Int64"),
        lambda values: pd.Series(values, dtype="int64[pyarrow]"),
    ):
        assert [int(str(each)) for each in safe_indexing(make([1, 2, 3]), rows)] == expected
    table = safe_indexing(pa.table({"a": [1, 2, 3]}), rows)
    assert table["a"].to_pylist() == expected


def test_names_of_columns():
    assert feature_names(X) is None
    assert feature_names(pd.DataFrame(X)) is None
    assert feature_names(pd.DataFrame(X, columns=["a"])).tolist() == ["a"]
    assert feature_names(pl.DataFrame({"a": [1]})).tolist() == ["a"]


def test_the_switch_of_routing():
    assert not metadata_routing_enabled()
    with sklearn.config_context(enable_metadata_routing=True):
        assert metadata_routing_enabled()


def test_nobody_inside_asks_for_groups():
    with sklearn.config_context(enable_metadata_routing=True):
        inner = QueryRanker(QueryRanker(Ridge()))
        assert "groups" in inner.get_metadata_routing().consumes("fit", ["groups"])
        changed = without_groups(inner.get_metadata_routing())
        inside = [each.router for _, each in changed]
        assert inside
        assert all(not router.consumes("fit", ["groups"]) for router in inside)


def test_what_versions_say_of_sparse_rows():
    version = tuple(map(int, sklearn.__version__.split(".")[:2]))
    assert tags_tell_sparse() is (version >= (1, 7))


class FirstColumn(RegressorMixin, BaseEstimator):
    """Scores by the first feature, and remembers what it was fitted on."""

    def __init__(self, sign=1.0):
        self.sign = sign

    def fit(self, X, y, groups=None):
        self.y_, self.groups_, self.n_features_in_ = np.asarray(y), groups, X.shape[1]
        return self

    def predict(self, X):
        return self.sign * np.asarray(X)[:, 0]


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(n_queries=150, bayes=False, random_state=0)


def as_column(scores):
    return np.asarray(scores, dtype=float)[:, None]


def prefit(scores, labels, **options):
    """A model calibrated on these scores, as they are."""
    inner = FirstColumn().fit(as_column(scores), labels)
    model = CalibratedRanker(inner, cv="prefit", **options)
    return model.fit(as_column(scores), labels, groups=np.arange(len(scores)))


class TestCurves:
    def test_isotonic_by_hand(self):
        # Scores 2 and 3 fall from good to bad: they share 1 of 2. The ends keep 1 / (4 + 2) off.
        model = prefit([1, 2, 3, 4], [-1, 1, -1, 2])
        expected = [1 / 6, 1 / 2, 1 / 2, 5 / 6]
        np.testing.assert_allclose(model.predict_proba(as_column([1, 2, 3, 4]))[:, 1], expected)
        np.testing.assert_allclose(
            model.predict_proba(as_column([-9, 1.5, 2.5, 3.5, 9]))[:, 1],
            [1 / 6, (1 / 6 + 1 / 2) / 2, 1 / 2, (1 / 2 + 5 / 6) / 2, 5 / 6],
        )

    @given(rows=st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=12))
    def test_isotonic_is_the_minimax_of_means(self, rows):
        scores, good = np.array([(s, g) for s, g in rows], dtype=float).T
        levels = np.unique(scores)
        found = probabilities(fit_calibrator("isotonic", scores, good == 1), levels)
        # max over left ends of the min over right ends of the mean between them.
        least = 1 / (len(scores) + 2)
        expected = [
            max(
                min(good[(scores >= low) & (scores <= high)].mean() for high in levels[i:])
                for low in levels[: i + 1]
            )
            for i in range(len(levels))
        ]
        np.testing.assert_allclose(found, np.clip(expected, least, 1 - least), atol=1e-12)

    @pytest.mark.parametrize("seed", range(3))
    def test_sigmoid_maximises_platts_likelihood(self, seed):
        rng = np.random.default_rng(seed)
        scores = 100 + 30 * rng.normal(size=60)
        good = rng.random(60) < expit((scores - 110) / 20)
        n_good, n_bad = good.sum(), (~good).sum()
        target = np.where(good, (n_good + 1) / (n_good + 2), 1 / (n_bad + 2))

        def loss(parameters):
            p = expit(parameters[0] * (scores - 100) / 30 + parameters[1])
            return -np.sum(xlogy(target, p) + xlogy(1 - target, 1 - p))

        best = minimize(loss, [0.0, 0.0], tol=1e-12)
        np.testing.assert_allclose(
            probabilities(fit_calibrator("sigmoid", scores, good), scores),
            expit(best.x[0] * (scores - 100) / 30 + best.x[1]),
            atol=1e-5,
        )

    def test_sigmoid_equals_scikit_learns(self, data):
        inner = LogisticRegression().fit(data.X, data.y > 0)
        frozen = sklearn.frozen.FrozenEstimator(inner)
        theirs = CalibratedClassifierCV(frozen, method="sigmoid").fit(data.X, data.y > 0)
        # Theirs reads the decision function.
        model = prefit(inner.decision_function(data.X), data.y, method="sigmoid")
        np.testing.assert_allclose(
            model.predict_proba(as_column(inner.decision_function(data.X))),
            theirs.predict_proba(data.X),
            atol=1e-4,
        )

    def test_perfect_separation_stays_finite(self):
        for method in ("isotonic", "sigmoid"):
            model = prefit([1, 2, 3, 4], [0, 0, 1, 1], method=method)
            good = model.predict_proba(as_column([1, 2, 3, 4]))[:, 1]
            assert (good > 0).all()
            assert (good < 1).all()
            assert good[1] < 0.5 < good[2]

    def test_all_good_or_all_bad(self):
        for method in ("isotonic", "sigmoid"):
            for label, expected in ((1, 5 / 6), (-1, 1 / 6)):
                model = prefit([1, 2, 3, 4], [label] * 4, method=method)
                good = model.predict_proba(as_column([0, 2.5]))[:, 1]
                np.testing.assert_allclose(good, [expected] * 2, atol=1e-8)
                assert np.isnan(model.auc_)

    def test_equal_scores(self):
        for method in ("isotonic", "sigmoid"):
            model = prefit([5, 5, 5, 5], [1, 1, 1, -1], method=method)
            (good,) = model.predict_proba(as_column([5]))[:, 1]
            # Platt's targets: (3 * 4 / 5 + 1 / 3) / 4.
            expected = 3 / 4 if method == "isotonic" else (3 * 4 / 5 + 1 / 3) / 4
            assert good == pytest.approx(expected, abs=1e-8)

    def test_huge_scores(self):
        for method in ("isotonic", "sigmoid"):
            model = prefit(np.array([1, 2, 3, 4]) * 1e100, [-1, 1, -1, 2], method=method)
            good = model.predict(as_column(np.array([1, 2, 4]) * 1e100))
            assert good[0] < good[1] < good[2] < 1
