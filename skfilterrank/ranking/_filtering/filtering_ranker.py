"""What a fitted RankAndFilter serves: scores with a cut, margins, and places."""

import functools
from collections.abc import Callable
from typing import TypeVar, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skfilterrank._core.arrays import is_dask
from skfilterrank._core.checks import check_groups, count_rows, find_groups
from skfilterrank._core.measure import ParsedMeasure
from skfilterrank._core.measure_names import parse_measure
from skfilterrank._core.results import counted
from skfilterrank.exceptions import InputError
from skfilterrank.ranking._filtering.cluster_serving import score_partitions, serve_partitions
from skfilterrank.thresholds._list_sizes import scored_sizes, warn_of_other_sizes
from skfilterrank.ranking._filtering.parameters import is_search, last_place
from skfilterrank._core.prefixes import thresholds_of
from skfilterrank.thresholds._score_scale import warn_of_other_scale
from skfilterrank.ranking._fitting.wrapping import WrappingRanker

# The margin nearest to 0 that still says "filtered".
_TINY = float(np.finfo(np.float64).tiny)
# Stands for an infinite score, of which a margin is to be finite, too.
_HUGE = float(np.finfo(np.float64).max) / 4


_Method = TypeVar("_Method", bound=Callable)


def _over_partitions(method: _Method) -> _Method:
    """Let a method of X and groups take Dask's, of which each partition is done by itself."""

    @functools.wraps(method)
    def of_partitions(self, X, groups=None):
        if not is_dask(X):
            return method(self, X, groups)
        check_is_fitted(self)
        return serve_partitions(self, method.__name__, X, groups)

    return cast(_Method, of_partitions)


class FilteringRanker(WrappingRanker):
    """A ranker whose `fit` has set `threshold_`, or `query_threshold_`, and `tuned_measure_`."""

    @_over_partitions
    def predict(self, X, groups=None) -> np.ndarray:
        """Score the rows of X, -inf where filtered.

        Parameters
        ----------
        {X}
            All documents of each query, where the threshold looks at lists: "per_query",
            "expected", "first_k", "largest_gap" and "surprise", `abstain` and the caps.
        {groups}

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            Scores, higher is better, -inf where filtered.
        """
        scores, index = self._scores_and_lists(X, groups)
        if index is not None:
            return np.where(self.query_threshold_.shown(scores, index), scores, -np.inf)
        if self.threshold_ is None:
            return scores
        return np.where(scores >= self.threshold_, scores, -np.inf)

    @_over_partitions
    def decision_function(self, X, groups=None) -> np.ndarray:
        """Score minus threshold: finite, and at least 0 exactly where the row is kept.

        Where the threshold is infinite, margins lie between 0 and 1 (everything is kept) or -1 and
        0 (everything is filtered), in the order of the scores. Without a threshold they are the
        scores.

        Parameters
        ----------
        {X}
        {groups}

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            Margins.
        """
        scores, thresholds, shown = self._scores_and_thresholds(X, groups)
        if thresholds is None:
            return scores
        scores = np.clip(scores, -_HUGE, _HUGE)
        is_infinite = np.isinf(thresholds)
        margins = scores - np.where(is_infinite, 0.0, thresholds)
        if np.any(is_infinite):
            squeezed = 0.5 + 0.5 * scores / (1.0 + np.abs(scores))
            squeezed = np.where(thresholds > 0, np.minimum(squeezed - 1.0, -_TINY), squeezed)
            margins = np.where(is_infinite, squeezed, margins)
        # Documents of one score, of which a cap shows some.
        return np.where(shown, margins, np.minimum(margins, -_TINY))

    @_over_partitions
    def rank(self, X, groups=None) -> np.ndarray:
        """Place of each row in its query's list.

        Parameters
        ----------
        {X}
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `X`.

        Returns
        -------
        ndarray of shape (n_rows,), dtype int64
            1 for the first document shown, 0 where filtered. Rows of equal score stand in the
            order in which they came. Without rows, as where nothing was retrieved, it is empty.

        Raises
        ------
        ValueError
            If there are no query ids.
        """
        check_is_fitted(self)
        if not count_rows(X):
            return np.empty(0, dtype=np.int64)
        index = check_groups(groups, X, n_rows=count_rows(X), carrier="X as a DataFrame")
        scores = self.predict(X, groups=find_groups(groups, X))
        codes = index.codes()
        order = np.lexsort((-scores, codes))
        places = np.empty(len(scores), dtype=np.int64)
        first = np.cumsum(index.sizes) - index.sizes
        places[order] = np.arange(1, len(scores) + 1) - np.repeat(first, index.sizes)
        places[np.isneginf(scores)] = 0
        return places

    def score(self, X, y, groups=None, *, query_weight=None, sample_weight=None) -> float:
        """Mean of `measure` over the queries of X.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or list of length n_rows
            Documents, as in `fit`; whole queries. Of a Dask DataFrame only sums are collected.
        y : array-like of shape (n_rows,)
            Labels, as in `fit`; NaN where unjudged, which counts as gain 0.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `y`, then on `X`; a ranker
            that was fitted without query ids takes each row for a query of its own.
        query_weight : dict, Series or array-like of shape (n_rows,), default=None
            What each query counts in the mean, as in
            :func:`skfilterrank.metrics.ndcg_f_score`; not of Dask's rows.
        sample_weight : array-like of shape (n_rows,), default=None
            `query_weight` by row, under the name by which scikit-learn's Pipeline hands on weights.

        Returns
        -------
        float
            The measure, negated where lower is better, as scikit-learn's scorers do.

        Raises
        ------
        ValueError
            If query ids are missing though `fit` had some, arrays have different lengths, a label
            has no gain, rows of a query differ in `sample_weight`, or weights come by both names;
            of Dask's rows also if there are weights, or `y` or `groups` are no Dask Series.
        """
        if not is_dask(X):
            if is_dask(y) or is_dask(groups):
                raise InputError(
                    "y and groups are Dask's and X is not: take all three from one Dask DataFrame, "
                    "or all three from memory."
                )
            return super().score(
                X, y, groups, query_weight=query_weight, sample_weight=sample_weight
            )
        check_is_fitted(self)
        if query_weight is not None or sample_weight is not None:
            name = "query_weight" if sample_weight is None else "sample_weight"
            raise InputError(
                f"{name} is not possible where X is a Dask DataFrame: leave it out, or give rows "
                "in memory."
            )
        return score_partitions(self, X, y, groups)

    def _scores_and_lists(self, X, groups):
        """Raw scores, and the queries where what is shown depends on whole lists."""
        check_is_fitted(self)
        groups = find_groups(groups, X)
        scores = self._scores_inside(X, groups, self._score_gains)
        looks_at_lists = hasattr(self, "query_threshold_")
        if not len(scores):
            return scores, None
        index, calibration = None, getattr(self, "calibration_", None)
        if groups is None and looks_at_lists and hasattr(self, "risk_certificate_"):
            raise InputError(
                "groups is missing: the filter shows at most "
                f"{counted(self.query_threshold_.max_shown, 'document')} of each query, as its "
                "promise covers no more. Pass the query id of each row, or fit with "
                "show_beyond_k=True."
            )
        warns = hasattr(self, "list_sizes_") or calibration is not None
        if looks_at_lists or (warns and groups is not None):
            index = check_groups(groups, n_rows=len(scores), carrier="X as a DataFrame")
        if hasattr(self, "list_sizes_") and index is not None:
            warn_of_other_sizes(self, scores, index)
        if calibration is not None:
            warn_of_other_scale(self, scores, self._sizes_of(scores, index))
        return scores, index if looks_at_lists else None

    def _sizes_of(self, scores, index):
        """Sizes of the lists, or without query ids as few lists as the rows can be."""
        if index is not None:
            return scored_sizes(scores, index)
        if not self.fitted_with_groups_:
            return np.ones(len(scores))
        longest = getattr(self, "list_sizes_", [np.nan, np.nan])[1]
        n_lists = max(int(len(scores) / longest), 1) if longest > 0 else 1
        return np.full(n_lists, len(scores) / n_lists)

    def _scores_and_thresholds(self, X, groups):
        """Raw scores, what they are compared with (None, a number, or one per row), what is shown.

        A document may be hidden at the threshold itself, where others of its score are shown.
        """
        scores, index = self._scores_and_lists(X, groups)
        if index is None:
            thresholds = self.threshold_
            if thresholds is None:
                return scores, None, None
            return scores, thresholds, (scores >= thresholds) & (scores > -np.inf)
        shown = self.query_threshold_.shown(scores, index)
        return scores, thresholds_of(shown, scores, index), shown

    def _looks_at_lists(self):
        """Whether what is shown of a list depends on more than each score by itself."""
        is_by_score = not is_search(self.threshold) or self.threshold in ("tune", "risk")
        rest = (self.abstain, last_place(self), self.min_shown)
        return not is_by_score or rest != (None, None, None)

    def _score_measure(self) -> ParsedMeasure:
        """The tuned measure, whatever `measure` is set to before the next fit."""
        return parse_measure(self.tuned_measure_)
