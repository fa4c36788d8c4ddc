"""Each check of the kit fails for a ranker that breaks what the check is about."""

import itertools
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.linear_model import Ridge
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import validate_data

from skfilterrank._lists.sklearn_compat import tags_tell_sparse
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.ranking import QueryRanker, RankerMixin
from skfilterrank.testing import check_ranker, parametrize_with_checks
from skfilterrank.testing._checks import _ranker_cases


class Ranker(QueryRanker):
    """A ranker as it should be."""


class NoGroupsToPredict(Ranker):
    def predict(self, X):
        return super().predict(X)


class SinglePrecision(Ranker):
    def predict(self, X, groups=None):
        return super().predict(X, groups).astype(np.float32)


class NumbersAlone(Ranker):
    def fit(self, X, y, groups=None, **fit_params):
        self.factor_ = 1 if groups is not None and np.asarray(groups).dtype.kind == "i" else 2
        return super().fit(X, y, groups, **fit_params)

    def predict(self, X, groups=None):
        return self.factor_ * super().predict(X, groups)


class ContiguousRows(Ranker):
    def fit(self, X, y, groups=None, **fit_params):
        self.factor_ = 1 if (np.diff(groups) >= 0).all() else 2
        return super().fit(X, y, groups, **fit_params)

    def predict(self, X, groups=None):
        return self.factor_ * super().predict(X, groups)


class QueryByQuery(Ranker):
    def predict(self, X, groups=None):
        scores = super().predict(X, groups)
        return scores if groups is None else scores[np.argsort(groups, kind="stable")]


class NotRouted(Ranker):
    __metadata_request__fit = {"groups": None}  # noqa: RUF012


class ReturnsNothing(Ranker):
    def fit(self, X, y, groups=None, **fit_params):
        super().fit(X, y, groups, **fit_params)


class LearnsNothing(Ranker):
    def fit(self, X, y, groups=None, **fit_params):
        return super().fit(X, np.zeros(len(y)), groups, **fit_params)


class CutToLength(Ranker):
    def fit(self, X, y, groups=None, **fit_params):
        n = min(len(X), len(y), len(groups))
        return super().fit(X[:n], y[:n], groups[:n], **fit_params)


class WordsAreZero(Ranker):
    def fit(self, X, y, groups=None, **fit_params):
        if np.asarray(y).dtype.kind == "U":
            y = np.arange(len(y)) % 2
        return super().fit(X, y, groups, **fit_params)


class Silent(Ranker):
    def fit(self, X, y, groups=None, **fit_params):
        judged = ~np.isnan(y)
        return super().fit(X[judged], y[judged], groups[judged], **fit_params)


class UnjudgedIsZero(Ranker):
    def fit(self, X, y, groups=None, **fit_params):
        super().fit(X, y, groups, **fit_params)
        return super().fit(X, np.nan_to_num(y), groups, **fit_params)


class NothingIsZero(Ranker):
    def fit(self, X, y, groups=None, **fit_params):
        y = np.zeros(len(X)) if pd.isna(y).all() else y
        return super().fit(X, y, groups, **fit_params)


class GainsLeftOut(Ranker):
    def fit(self, X, y, groups=None, **fit_params):
        if self.gains is not None:
            y = pd.factorize(y)[0]
            return QueryRanker(self.estimator).fit(X, y, groups, **fit_params)
        return super().fit(X, y, groups, **fit_params)


class ManyQueries(Ranker):
    def predict(self, X, groups=None):
        few = len(np.unique(groups)) == 1
        return super().predict(X, groups) * (np.nan if few else 1)


class NumberedColumns(Ranker):
    def fit(self, X, y, groups=None, **fit_params):
        return super().fit(np.asarray(X), y, groups, **fit_params)

    def predict(self, X, groups=None):
        return super().predict(np.asarray(X)[:, :4], groups)


class Unmasked(Ranker):
    def fit(self, X, y, groups=None, **fit_params):
        return super().fit(np.asarray(X), y, groups, **fit_params)


class DenseAfterAll(Ranker):
    def fit(self, X, y, groups=None, **fit_params):
        X = X.toarray()[:, ::-1] if sparse.issparse(X) else X
        return super().fit(X, y, groups, **fit_params)


class Writing(Ranker):
    def fit(self, X, y, groups=None, **fit_params):
        X[0] = X[0]
        return super().fit(X, y, groups, **fit_params)


class Mending(Ranker):
    def fit(self, X, y, groups=None, **fit_params):
        self.measure = "ap"
        return super().fit(X, y, groups, **fit_params)


class Counting(Ranker):
    counter = itertools.count(1)

    def fit(self, X, y, groups=None, **fit_params):
        self.factor_ = next(self.counter)
        return super().fit(X, y, groups, **fit_params)

    def predict(self, X, groups=None):
        return self.factor_ * super().predict(X, groups)


class Forgetful(Ranker):
    factor_ = 2

    def fit(self, X, y, groups=None, **fit_params):
        self.factor_ = 1
        return super().fit(X, y, groups, **fit_params)

    def predict(self, X, groups=None):
        return self.factor_ * super().predict(X, groups)

    def __getstate__(self):
        return {key: value for key, value in vars(self).items() if key != "factor_"}


class ByTheBatch(Ranker):
    def predict(self, X, groups=None):
        scores = super().predict(X, groups)
        return scores - scores.mean()


class Guessing(Ranker):
    def score(self, X, y, groups=None, **weights):
        if groups is None and not isinstance(y, pd.Series):
            groups = np.zeros(len(X))
        return super().score(X, y, groups, **weights)


class MoodyScore(Ranker):
    calls = itertools.count()

    def score(self, X, y, groups=None, **weights):
        return super().score(X, y, groups, **weights) + next(self.calls)


BROKEN = {
    "check_signatures": NoGroupsToPredict,
    "check_fit": ReturnsNothing,
    "check_nothing_of_the_caller_is_changed": Mending,
    "check_refitting": Counting,
    "check_scores": SinglePrecision,
    "check_learning": LearnsNothing,
    "check_types_of_groups": NumbersAlone,
    "check_order_of_groups": ContiguousRows,
    "check_groups_by_routing": NotRouted,
    "check_lengths": CutToLength,
    "check_labels_that_are_no_numbers": WordsAreZero,
    "check_unjudged_rows_are_counted": Silent,
    "check_unjudged_rows_teach_nothing": UnjudgedIsZero,
    "check_no_judged_row": NothingIsZero,
    "check_gains": GainsLeftOut,
    "check_few_documents": ManyQueries,
    "check_columns": NumberedColumns,
    "check_masked_features": Unmasked,
    "check_sparse_features": DenseAfterAll,
    "check_read_only_arrays": Writing,
    "check_pickling": Forgetful,
    "check_batches": ByTheBatch,
    "check_score": Guessing,
    "check_grid_search": MoodyScore,
}


def test_every_check_is_tried():
    assert list(BROKEN) == list(_ranker_cases(Ranker(Ridge()), None))


def test_scores_query_by_query_are_none_by_row():
    with pytest.raises(AssertionError, match="in the order of the rows, not query by query"):
        _ranker_cases(QueryByQuery(Ridge()), None)["check_order_of_groups"]()


@pytest.mark.slow
@pytest.mark.parametrize("name", BROKEN)
def test_a_check_fails_for_what_it_is_about(name):
    if name == "check_sparse_features" and not tags_tell_sparse():
        pytest.skip("scikit-learn 1.6 does not tell who takes sparse features")
    with pytest.raises((AssertionError, ValueError, TypeError)):
        _ranker_cases(BROKEN[name](Ridge()), None)[name]()


class SparseAfterAll(Ranker):
    """Takes sparse features, and its tags say that it does not."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


@pytest.mark.skipif(not tags_tell_sparse(), reason="scikit-learn 1.6 does not tell who does")
def test_sparse_features_that_are_taken_in_silence():
    with pytest.raises(AssertionError, match="sparse features"):
        _ranker_cases(SparseAfterAll(Ridge()), None)["check_sparse_features"]()


@pytest.mark.slow
@parametrize_with_checks([Ranker(Ridge())])
def test_and_passes_for_others(check):
    check()


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


@pytest.mark.slow
@parametrize_with_checks([FirstColumn()])
def test_a_ranker_of_somebody_elses_passes(check):
    check()


class Negated(FirstColumn):
    def predict(self, X, groups=None):
        return -super().predict(X)


class Constant(FirstColumn):
    def predict(self, X, groups=None):
        return 0 * super().predict(X)


class OfNoLabels(FirstColumn):
    def predict(self, X, groups=None):
        return self._rows(X, reset=False)[:, 1]


class NoneBack(FirstColumn):
    def fit(self, X, y, groups=None):
        super().fit(X, y, groups)


class Raising(FirstColumn):
    def fit(self, X, y, groups=None):
        raise KeyError("colour")


class SettingAParameter(FirstColumn):
    def fit(self, X, y, groups=None):
        self.measure = "ap"
        return super().fit(X, y, groups)


class WritingToRows(FirstColumn):
    def predict(self, X, groups=None):
        scores = super().predict(X)
        X *= 2
        return scores


class DrawingAtRandom(FirstColumn):
    def fit(self, X, y, groups=None):
        self.offset_ = np.random.default_rng().random()
        return super().fit(X, y, groups)

    def predict(self, X, groups=None):
        return super().predict(X) + self.offset_


class CountingFits(FirstColumn):
    def fit(self, X, y, groups=None):
        self.n_fits_ = getattr(self, "n_fits_", 0) + 1
        return super().fit(X, y, groups)

    def predict(self, X, groups=None):
        return super().predict(X) + self.n_fits_


class CountingPredictions(FirstColumn):
    def predict(self, X, groups=None):
        self.n_predicted_ = getattr(self, "n_predicted_", 0) + 1
        return super().predict(X) + self.n_predicted_


class NoLengths(FirstColumn):
    def fit(self, X, y, groups=None):
        return super().fit(X, y)


class OfAnotherLibrary(BaseEstimator):
    def fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, 0]


NO_CHANGE, AGAIN = "check_nothing_of_the_caller_is_changed", "check_refitting"


MISTAKES = {
    Negated: ("check_learning", "random order .*: higher scores must be better"),
    Constant: ("check_learning", "scores do not distinguish the documents of a query"),
    OfNoLabels: ("check_learning", "fit must read the labels"),
    NoneBack: (
        "check_fit",
        "fit must return the ranker, but returned None: end it with `return self`",
    ),
    Raising: ("check_fit", "expects no error here, got KeyError: 'colour'"),
    SettingAParameter: (
        NO_CHANGE,
        "fit changes the parameters measure .from 'ndcg_f' to 'ap'.: .* such as measure_",
    ),
    WritingToRows: (NO_CHANGE, "predict writes to X of the caller: copy them first"),
    DrawingAtRandom: (AGAIN, "when a clone is fitted, .*: the ranker draws random numbers"),
    CountingFits: (AGAIN, "when it is fitted a second time, .* keeps something from call to"),
    CountingPredictions: (AGAIN, "when predict is called a second time, .* keeps something"),
    NoLengths: (
        "check_lengths",
        r"but raised nothing: call sklearn.utils.check_consistent_length\(X, y, gr",
    ),
    OfAnotherLibrary: ("check_signatures", "fit must take X, y, groups, but takes X, y"),
}


@pytest.mark.slow
@pytest.mark.parametrize("mistaken", MISTAKES)
def test_a_mistake_is_found_by_one_check_that_says_what_to_do(mistaken):
    check, message = MISTAKES[mistaken]
    with pytest.raises(AssertionError) as error:
        check_ranker(mistaken())
    text = str(error.value)
    assert re.findall(r"^check_\w+(?=:)", text, re.MULTILINE) == [check]
    assert re.search(message, text), text


def test_rows_that_no_order_ranks_better_than_another_ask_nothing_of_learning():
    X, groups = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) // 5
    check_ranker(FirstColumn(), data=(X, groups % 3, groups))


@pytest.mark.slow
def test_solvers_that_stop_elsewhere_for_sparse_features_pass():
    X, y, groups, _ = make_rank_and_filter(40, random_state=0)
    check_ranker(QueryRanker(Ridge()), data=(X, y, groups))
