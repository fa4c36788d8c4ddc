"""The checks as calls and as test cases of pytest."""

import sys
import types
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.linear_model import Ridge
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import validate_data

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import InputError, MissingPackageError
from skfilterrank.metrics import average_precision_score, get_measure
from skfilterrank.ranking import AdaRankRanker, QueryRanker, RankerMixin, RankFusion
from skfilterrank.testing import check_ranker, parametrize_with_checks
from skfilterrank.testing._measure_checks import CHECKS


class Ranker(QueryRanker):
    """A ranker as it should be."""


class FirstColumn(RankerMixin, BaseEstimator):
    """Somebody's ranker, with what scikit-learn has for checks."""

    def __init__(self, measure="ndcg_f"):
        self.measure = measure

    def fit(self, X, y, groups=None):
        X, y = self._rows(X, reset=True), check_array(y, ensure_2d=False, ensure_all_finite=False)
        check_consistent_length(X, y, groups)
        unjudged = np.isnan(y)
        if unjudged.all():
            raise ValueError("no row is judged")
        if unjudged.any():
            warnings.warn(f"{unjudged.sum()} of {len(y)} rows are unjudged (NaN label)")
        self.n_unjudged_ = int(unjudged.sum())
        self.sign_ = np.sign(np.corrcoef(X[~unjudged, 0], y[~unjudged])[0, 1])
        return self

    def predict(self, X, groups=None):
        return self.sign_ * self._rows(X, reset=False)[:, 0]

    def _rows(self, X, reset):
        if np.ma.isMaskedArray(X):
            raise ValueError("X is a masked array")
        return validate_data(self, X, reset=reset, dtype=np.float64)


class WritingToRows(FirstColumn):
    def predict(self, X, groups=None):
        scores = super().predict(X)
        X *= 2
        return scores


def test_rows_of_the_caller_stay_whatever_the_ranker_does():
    X, y, groups, _ = make_rank_and_filter(14, random_state=0)
    before = X.copy()
    with pytest.raises(AssertionError, match="predict writes to X"):
        check_ranker(WritingToRows(), data=(X, y, groups))
    np.testing.assert_array_equal(X, before)


@pytest.mark.slow
def test_all_that_fails_is_told():
    with pytest.raises(AssertionError) as error:
        check_ranker(RankFusion())
    learning, counted, none = str(error.value).split("\n\n")
    assert learning.startswith("check_learning: `fit` learns which columns rise")
    assert counted.startswith(
        "check_unjudged_rows_are_counted: The number of rows with a NaN label"
    )
    assert "labels that are all NaN must raise ValueError, but raised nothing" in none


@pytest.mark.slow
def test_data_of_ones_own():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 3, 60)
    check_ranker(Ranker(Ridge()), data=(X, y, np.arange(60) // 5))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ranker": "ndcg"}, "ranker must be an estimator with a method fit, got 'ndcg'"),
        ({"ranker": AdaRankRanker}, "ranker must be an estimator with a method fit"),
        (
            {"ranker": type("Fits", (), {"fit": len})()},
            "ranker must be an estimator with get_params",
        ),
        ({"ranker": types.SimpleNamespace(fit=3)}, "ranker must be an estimator with a method fit"),
        ({"data": ([[1], [1, 2]], [1, 2], [1, 1])}, "data must be arrays X, y and groups: .*shape"),
        ({"data": (np.ones((0, 2)), [], [])}, r"data must be numbers X .* X of float64 \(0, 2\)"),
        ({"data": ([[1], [2]], [1, np.inf], [1, 1])}, "finite labels y"),
        ({"data": ([[1], [2]], [1, 2], [1, np.nan])}, "no missing id, .* groups .*nan"),
        ({"data": 3}, r"data must be \(X, y, groups\), got 3"),
        (
            {"data": ([[1], [2]], [1, 2], [1])},
            r"y of int64 \(2,\) and groups .*1",
        ),
        ({"data": ([[1], [2]], [1, np.nan], [1, 1])}, "finite labels y"),
        ({"data": ([[1], [2]], [1, 2], [1, 1])}, "at least two queries"),
        ({"data": ([["a"], ["b"]], [1, 2], [1, 2])}, "numbers X .* X of <U1"),
        (
            {"data": (sparse.eye(2), [1, 2], [1, 2])},
            r"a dense X, got a sparse X: pass X.toarray\(\)",
        ),
        ({"expected_failed_checks": {"check_it": ""}}, "must name checks among .* got 'check_it'"),
    ],
)
def test_odd_arguments(given, message):
    with pytest.raises(InputError, match=message):
        check_ranker(**{"ranker": AdaRankRanker(), **given})


def test_nothing_to_check():
    with pytest.raises(InputError, match="things must not be empty: pass at least one"):
        parametrize_with_checks([])


def test_without_pytest(monkeypatch):
    monkeypatch.setitem(sys.modules, "pytest", None)
    with pytest.raises(MissingPackageError, match="pip install pytest"):
        parametrize_with_checks(["ap"])


def test_names_of_tests_have_no_addresses():
    mark = parametrize_with_checks([AdaRankRanker(gains=lambda label: label)])
    assert all(" at 0x" not in case.id for case in mark.mark.args[1])


def test_parametrize():
    mark = parametrize_with_checks(
        ["lexirecall(n_items=50)"], expected_failed_checks=lambda one: {"check_range": "because"}
    )
    names, cases = mark.mark.args
    assert names == "check"
    assert [case.id for case in cases] == [
        f"lexirecall(n_items=50)-{check.__name__}" for check in CHECKS
    ]
    marked = {case.id: case.marks for case in cases if case.marks}
    (xfail,) = marked.pop("lexirecall(n_items=50)-check_range")
    assert not marked
    assert xfail.kwargs == {"reason": "because", "strict": True}
    with pytest.raises(InputError, match="must be a function that takes a measure or ranker"):
        parametrize_with_checks(["ap"], expected_failed_checks={})
    for one in ("ap", get_measure("ap"), average_precision_score, AdaRankRanker()):
        with pytest.raises(InputError, match="things must be"):
            parametrize_with_checks(one)
