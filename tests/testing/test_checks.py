"""The checks as calls and as test cases of pytest."""

import sys
import types
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.linear_model import Ridge
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import validate_data

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import InputError, MissingPackageError
from skfilterrank.metrics import Additive, average_precision_score, get_measure
from skfilterrank.ranking import FilterAll, QueryRanker, RankerMixin, RankFusion
from skfilterrank.testing import check_ranker, parametrize_with_checks


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
    assert learning.startswith("check_learning: `fit` learns which of the columns rise")
    assert counted.startswith("check_unjudged_rows_are_counted: Rows with a NaN label are counted")
    assert "labels that are all NaN must raise ValueError, and did not" in none


@pytest.mark.slow
def test_data_of_ones_own():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 3, 60)
    check_ranker(Ranker(Ridge()), data=(X, y, np.arange(60) // 5))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ranker": "ndcg"}, "ranker must be an estimator with a fit, got 'ndcg'"),
        ({"ranker": FilterAll}, "ranker must be an estimator with a fit"),
        (
            {"ranker": type("Fits", (), {"fit": len})()},
            "ranker must be an estimator with get_params",
        ),
        ({"ranker": types.SimpleNamespace(fit=3)}, "ranker must be an estimator with a fit"),
        ({"data": ([[1], [1, 2]], [1, 2], [1, 1])}, "data must be arrays X, y and groups: .*shape"),
        ({"data": (np.ones((0, 2)), [], [])}, "data must have rows, got none"),
        ({"data": ([[1], [2]], [1, np.inf], [1, 1])}, "none of them NaN or infinite"),
        ({"data": ([[1], [2]], [1, 2], [1, np.nan])}, "data must have groups without missing"),
        ({"data": 3}, r"data must be \(X, y, groups\), got 3"),
        ({"data": ([[1], [2]], [1, 2], [1])}, r"got shapes \(2, 1\), \(2,\) and \(1,\)"),
        ({"data": ([[1], [2]], [1, np.nan], [1, 1])}, "none of them NaN"),
        ({"data": ([[1], [2]], [1, 2], [1, 1])}, "data must have two queries at least"),
        ({"data": ([["a"], ["b"]], [1, 2], [1, 2])}, "features X that are numbers, got dtype <U1"),
        ({"data": (sparse.eye(2), [1, 2], [1, 2])}, r"a dense X, such as X.toarray\(\)"),
        ({"expected_failed_checks": {"check_it": ""}}, "has no check 'check_it'"),
    ],
)
def test_odd_arguments(given, message):
    with pytest.raises(InputError, match=message):
        check_ranker(**{"ranker": FilterAll(), **given})


def test_nothing_to_check():
    with pytest.raises(InputError, match="things is empty: name at least one"):
        parametrize_with_checks([])


def test_without_pytest(monkeypatch):
    monkeypatch.setitem(sys.modules, "pytest", None)
    with pytest.raises(MissingPackageError, match="pip install pytest"):
        parametrize_with_checks(["ap"])


def test_names_of_tests_have_no_addresses():
    mark = parametrize_with_checks([FilterAll(gains=lambda label: label)])
    assert all(" at 0x" not in case.id for case in mark.mark.args[1])


AP = average_precision_score


def values(y_true, y_score, **given):
    """AP of each query, whatever else is asked."""
    return AP(y_true, y_score, **{**given, "average": None})


def by_the_first_row(y_true, y_score, **given):
    return AP(y_true, y_score, **given) * (1 + np.argmax(y_score))


def whole_rows(y_true, y_score, **given):
    contiguous = np.all(np.diff(given["groups"]) >= 0)
    return AP(y_true, y_score, **given) * (1 + contiguous * (given.get("ties") == "stable"))


def texts_in_another_order(y_true, y_score, **given):
    found = AP(y_true, y_score, **given)
    return found[::-1] if isinstance(given["groups"][0], str) else found


def ids_as_texts(y_true, y_score, **given):
    if not isinstance(given.get("ties", ""), str):
        given["ties"] = [str(document) for document in given["ties"]]
    return AP(y_true, y_score, **given)


def no_index(y_true, y_score, **given):
    if isinstance(y_true, pd.Series):
        return AP(y_true.iloc[::-1], np.asarray(y_score), **given)
    return AP(y_true, y_score, **given)


def clipped(y_true, y_score, **given):
    return AP(y_true, np.minimum(y_score, 1.5), **given)


def doubles_alone(y_true, y_score, **given):
    is_double = isinstance(y_score, np.ndarray) and y_score.dtype == np.float64
    return AP(y_true, y_score, **given) * (1 if is_double else 0.5)


def against_the_others(y_true, y_score, **given):
    found = values(y_true, y_score, **given)
    return found - np.nan_to_num(found).max()


def of_few_queries(y_true, y_score, **given):
    found = AP(y_true, y_score, **given)
    return found / 2 if np.size(found) > 31 else found


def median(y_true, y_score, **given):
    found = values(y_true, y_score, **given)
    return float(np.nanmedian(found)) if given.get("average", "mean") == "mean" else found


def labels_alone(y_true, y_score, **given):
    return AP(y_true, y_score, **{**given, "gains": None})


def writing(y_true, y_score, **given):
    y_true[0] = 0.0
    return AP(y_true, y_score, **given)


def clipping(block, k, **options):
    gains = block.gains
    gains.flags.writeable = True
    np.maximum(gains, 0, out=gains)
    return gains.sum(axis=1)


def divided_by_k(y_true, y_score, **given):
    return AP(y_true, y_score, **given) / max(9, given.get("k") or 9)


def turned_ties(y_true, y_score, **given):
    turned = {"worst": "best", "best": "worst"}
    ties = given.get("ties", "average")
    ties = turned.get(ties, ties) if isinstance(ties, str) else ties
    return AP(y_true, y_score, **{**given, "ties": ties})


def one_order(y_true, y_score, **given):
    ties = given.get("ties", "average")
    is_average = isinstance(ties, str) and ties == "average"
    return AP(y_true, y_score, **{**given, "ties": "best" if is_average else ties})


def better_if_stable(y_true, y_score, **given):
    ties = given.get("ties")
    return AP(y_true, y_score, **given) * (1 + (isinstance(ties, str) and ties == "stable"))


def too_high(y_true, y_score, **given):
    return AP(y_true, y_score, **given) * 1.5


def by_all_rows(y_true, y_score, **given):
    return values(y_true, y_score, **given) / np.bincount(given["groups"])


def never_dropped(y_true, y_score, **given):
    return AP(y_true, y_score, **{**given, "unjudged": "zero"})


def no_lists(y_true, y_score, **given):
    return np.nan if np.isneginf(y_score).all() else AP(y_true, y_score, **given)


def half_the_sum(facts):
    return Additive(facts.relevant / 2, facts.by_place(lambda place: 1 / place))


def drawn(y_true, y_score, **given):
    return AP(y_true, y_score, **given) * np.random.default_rng().random()


BROKEN = {
    "check_every_kind_of_list": {"function": no_lists},
    "check_the_same_again": {"function": drawn},
    "check_direction": {"greater_is_better": False},
    "check_order_of_rows": {"function": by_the_first_row},
    "check_stable_ties": {"function": whole_rows},
    "check_names_of_queries": {"function": texts_in_another_order},
    "check_names_of_documents": {"function": ids_as_texts},
    "check_query_ids_in_the_index": {"function": no_index},
    "check_scale_of_scores": {"function": clipped},
    "check_types_of_scores": {"function": doubles_alone},
    "check_queries_alone": {"function": against_the_others},
    "check_further_queries": {"function": of_few_queries},
    "check_mean": {"function": median},
    "check_gains_of_labels": {"function": labels_alone},
    "check_nothing_is_written_to": {"function": writing},
    "check_other_measures": {"kernel": clipping},
    "check_cut_off_beyond_the_list": {"function": divided_by_k},
    "check_worst_and_best_ties": {"function": turned_ties},
    "check_average_of_ties": {"function": one_order},
    "check_ties_without_ties": {"function": better_if_stable},
    "check_range": {"function": too_high},
    "check_filtered_rows": {"function": by_all_rows},
    "check_dropped_unjudged_rows": {"function": never_dropped},
    "check_threshold_curve": {"additive": half_the_sum},
    "check_wherever_measures_are_named": {"function": too_high, "name": "ap"},
    "check_order_matters": {"order_matters": "never"},
    "check_pickle_and_repr": {"name": "ap"},
}


def test_parametrize():
    mark = parametrize_with_checks(
        ["lexirecall(n_items=50)"], expected_failed_checks=lambda one: {"check_range": "because"}
    )
    names, cases = mark.mark.args
    assert names == "check"
    assert [case.id for case in cases] == [f"lexirecall(n_items=50)-{name}" for name in BROKEN]
    marked = {case.id: case.marks for case in cases if case.marks}
    (xfail,) = marked.pop("lexirecall(n_items=50)-check_range")
    assert not marked
    assert xfail.kwargs == {"reason": "because", "strict": True}
    with pytest.raises(InputError, match="must be a function of a measure or ranker"):
        parametrize_with_checks(["ap"], expected_failed_checks={})
    for one in ("ap", get_measure("ap"), AP, FilterAll()):
        with pytest.raises(InputError, match="things must be"):
            parametrize_with_checks(one)
