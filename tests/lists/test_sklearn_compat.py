"""What is taken from scikit-learn's private modules does what the package takes it for."""

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.base import BaseEstimator
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

from skfilterrank._lists.sklearn_compat import (
    calling_cross_validation,
    feature_names,
    metadata_routing_enabled,
    rows_of_callers,
    safe_indexing,
    tags_tell_sparse,
    trees_and_forests,
    without_groups,
)
from skfilterrank.ranking import QueryRanker

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


def test_trees_and_what_hands_them_rows():
    tree, forests = trees_and_forests()
    forest = RandomForestClassifier(1).fit(X, Y)
    assert isinstance(forest, forests)
    assert isinstance(forest.estimators_[0].tree_, tree)
    assert isinstance(GradientBoostingClassifier(), forests)
    assert not isinstance(Ridge(), forests)


def test_what_versions_say_of_sparse_rows():
    version = tuple(map(int, sklearn.__version__.split(".")[:2]))
    assert tags_tell_sparse() is (version >= (1, 7))
