"""A filter of its own for each segment of the queries, such as each language."""

import numpy as np
import pandas as pd
from pandas.api.types import is_string_dtype
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from skfilterrank._all_or_nothing import all_or_nothing
from skfilterrank._core.checks import (
    check_count,
    check_groups,
    count_rows,
    find_groups,
    is_hashable,
)
from skfilterrank._core.results import counted
from skfilterrank._response import document_scores
from skfilterrank._sklearn_compat import safe_indexing
from skfilterrank.exceptions import InputError, brief, brief_list
from skfilterrank.ranking._fitting.adapters import cut_rows, fit_clone
from skfilterrank.ranking._fitting.wrapping import MeasuredAsInside


class SegmentedFilter(MeasuredAsInside, BaseEstimator):
    """Fit a clone of a filter for each segment: thresholds and certificates by language, say.

    Parameters
    ----------
    estimator : estimator
        RankAndFilter, or any ranker that it could hold. Each segment's clone learns from the rows
        of its segment alone; to share one model among all, give its scores to
        ``RankAndFilter("passthrough")``, or the model itself, fitted on other queries, to
        ``RankAndFilter(FrozenEstimator(model), cv="prefit")``.
    segment : str, hashable or None, default=None
        Column of X, or level of its index, that names the segment of each row; all rows of a query
        must be in one. A column is taken out of X. None makes one segment of all rows, so that
        a search over ``[None, "language"]`` says whether segments earn their keep; columns of text
        are then left out of X, unless the estimator takes text.
    min_queries : int, default=10
        Fewer queries with a judged row in any segment are an error.

    Attributes
    ----------
    filters_ : dict
        The fitted clone of each segment, by its name, sorted where names have an order; "all" of
        ``segment=None``. With ``threshold="risk"`` each has a `risk_certificate_`.
    n_unjudged_ : int
        Rows with a NaN label.
    n_features_in_ : int
        Number of columns of X, that of the segments included.
    feature_names_in_ : ndarray of str
        Names of the columns of X, where it has some.

    See Also
    --------
    skfilterrank.comparison.compare_slices : How a measure differs from segment to segment.
    write_filter : Saves it where it filters scores.

    Notes
    -----
    What is promised is promised of each segment by itself, with the confidence of its certificate.
    That all of m segments keep their promises at once is sure with 1 - m (1 - confidence) at
    least: for 0.9 and three languages, fit with ``confidence=1 - 0.1 / 3``.

    A segment that `fit` has not seen is an error of `predict`. In cross-validation every segment
    must therefore be in every training set.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.ranking import RankAndFilter, SegmentedFilter
    >>> _, y, groups, scores = make_rank_and_filter(400, random_state=0)
    >>> X = pd.DataFrame({"score": scores, "language": np.where(groups % 4 == 0, "fr", "en")})
    >>> safe = RankAndFilter(
    ...     "passthrough", k=3, threshold="risk", risk="any_forbidden", max_risk=0.15
    ... )
    >>> model = SegmentedFilter(safe, segment="language").fit(X, y, groups=groups)
    >>> {name: each.risk_certificate_.promises["any_forbidden"].n_queries
    ...  for name, each in model.filters_.items()}
    {'en': 300, 'fr': 100}
    >>> bool(model.filters_["en"].threshold_ < model.filters_["fr"].threshold_)
    True
    """

    def __init__(self, estimator, *, segment=None, min_queries=10):
        self.estimator = estimator
        self.segment = segment
        self.min_queries = min_queries

    @all_or_nothing
    def fit(self, X, y, groups=None, **fit_params) -> "SegmentedFilter":
        """Fit a filter for each segment.

        Parameters
        ----------
        {X}
            With a column, or an index level, for the segment of each row.
        {y}
        {groups}
        {fit_params}

        Returns
        -------
        self : SegmentedFilter
            The fitted filters.

        Raises
        ------
        ValueError
            If X says nothing of segments, a query is in two, one has fewer than `min_queries`
            queries, or its filter cannot be fitted (the message names the segment).
        """
        fit_params = self._inside_parameters(fit_params)
        groups = self._find_groups(X, y, groups)
        n_rows = count_rows(X)
        least = check_count(self.min_queries, "min_queries")
        self._segment = self.segment
        if self.segment is None:
            if groups is not None:
                check_groups(groups, n_rows=n_rows)
            self._text = self._text_columns(X)
            X = X.drop(columns=self._text) if self._text else X
            self.filters_ = {"all": fit_clone(self.estimator, X, y, groups, fit_params)}
        else:
            if count_rows(y, "y") != n_rows:
                raise InputError(f"y has {count_rows(y, 'y')} labels but X has {n_rows} rows.")
            if fit_params.get("eval_set") is not None:
                raise InputError(
                    "eval_set belongs to one model, and each segment has its own: leave it out, or "
                    "give a fitted model in a FrozenEstimator, with cv='prefit'."
                )
            X, codes, names = self._read(X, groups)
            _check_sizes(codes, names, groups, y, least)
            self.filters_ = {}
            for name, rows in _by_name(codes, names):
                try:
                    self.filters_[name] = fit_clone(
                        self.estimator, *cut_rows(rows, X, y, groups, fit_params)
                    )
                except ValueError as error:
                    raise InputError(f"segment {brief(name)}: {error}") from error
        self.n_unjudged_ = sum(getattr(each, "n_unjudged_", 0) for each in self.filters_.values())
        return self

    def predict(self, X, groups=None) -> np.ndarray:
        """Score the rows of X, -inf where the filter of their segment filters.

        Parameters
        ----------
        {X}
        {groups}

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            Scores, -inf where filtered.
        """
        return self._each(document_scores, X, groups, np.float64)

    def decision_function(self, X, groups=None) -> np.ndarray:
        """Score minus threshold of the segment, as :meth:`RankAndFilter.decision_function` has it.

        Parameters
        ----------
        {X}
        {groups}

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            Margins.
        """
        return self._each(_asking("decision_function"), X, groups, np.float64)

    def rank(self, X, groups=None) -> np.ndarray:
        """Place of each row in its query's list, as :meth:`RankAndFilter.rank` has it.

        Parameters
        ----------
        {X}
        {groups}

        Returns
        -------
        ndarray of shape (n_rows,), dtype int64
            1 for the first document shown, 0 where filtered.
        """
        return self._each(_asking("rank"), X, groups, np.int64)

    @property
    def takes_judged_by(self) -> bool:
        """Tell whether the filters state how many of their labels are of machines."""
        return getattr(self.estimator, "takes_judged_by", False)

    def _each(self, ask, X, groups, dtype):
        """What `ask(filter, X, groups=groups)` says of the rows of each filter."""
        check_is_fitted(self)
        fitted = self._fitted_inner()
        self._check_columns(X)
        groups = find_groups(groups, X)
        if not count_rows(X):
            return np.empty(0, dtype=dtype)
        if self._segment is None:
            text = getattr(self, "_text", [])  # models saved by earlier versions lack it
            return ask(fitted, X.drop(columns=text) if text else X, groups=groups)
        X, codes, names = self._read(X, groups)
        if unseen := [name for name in names if name not in self.filters_]:
            raise InputError(
                f"X has segments in {brief(self._segment)} that fit has not seen: "
                f"{brief_list(unseen)}. Known are {brief_list(list(self.filters_))}: fit with "
                "judged queries of all segments, or name theirs after a known one."
            )
        said = np.empty(len(codes), dtype=dtype)
        for name, rows in _by_name(codes, names):
            own = None if groups is None else safe_indexing(groups, rows)
            said[rows] = ask(self.filters_[name], safe_indexing(X, rows), groups=own)
        return said

    def _text_columns(self, X):
        """Names of columns that can only name segments: text for an estimator that takes none."""
        takes_text = get_tags(self.estimator).input_tags.string or self._chooses_columns()
        if takes_text or not isinstance(X, pd.DataFrame):
            return []
        return [name for name, dtype in X.dtypes.items() if is_string_dtype(dtype)]

    def _read(self, X, groups):
        """X without the segments, the number of each row's segment, and their names."""
        name = self._segment
        index = getattr(X, "index", None)
        in_index = isinstance(index, pd.Index) and name in index.names
        in_columns = is_hashable(name) and name in list(getattr(X, "columns", ()))
        if in_index == in_columns:
            what = "both a column and an index level" if in_index else "no column or index level"
            raise InputError(
                f"segment={brief(name)} names the segment of each row, and X has {what} of this "
                "name: give X as a DataFrame with the column, or with the level in its index."
            )
        if in_index:
            values = index.get_level_values(name)
        else:
            values = X[name]
            X = X.drop(columns=[name]) if isinstance(X, pd.DataFrame) else X.drop(name)
        values = pd.Series(np.asarray(values, dtype=object))
        if values.isna().any():
            raise InputError(
                f"X has no segment in {brief(name)} at row {int(values.isna().argmax())}: name one."
            )
        try:
            codes, names = pd.factorize(values, sort=True)
        except TypeError:
            codes, names = pd.factorize(values)
        names = names.tolist()
        if groups is not None:
            queries = check_groups(groups, n_rows=len(codes))
            pairs = np.unique(np.column_stack([queries.codes(), codes]), axis=0)
            if len(pairs) > queries.n_queries:
                first = pairs[int((np.diff(pairs[:, 0]) == 0).argmax()), 0]
                raise InputError(
                    f"query {brief(queries.query_ids.tolist()[first])} has rows in several "
                    f"segments of {brief(name)}: a query is in one segment."
                )
        return X, codes, names

    def _fitted_inner(self):
        """The filter of the first segment, which measures as all do."""
        filters = getattr(self, "filters_", None)
        return None if filters is None else next(iter(filters.values()))

    def _of_inner(self, name, *, last=False):
        if len(getattr(self, "filters_", ())) > 1:
            raise AttributeError(f"{name} is that of each segment: look at those in filters_.")
        return super()._of_inner(name, last=last)


def _asking(method):
    """A function that calls a method of a filter."""
    return lambda fitted, X, groups: getattr(fitted, method)(X, groups=groups)


def _by_name(codes, names):
    """Yield the name of each segment and its rows."""
    for code, name in enumerate(names):
        yield name, np.flatnonzero(codes == code)


def _check_sizes(codes, names, groups, y, least):
    """Raise where a segment has too few queries with a judged row."""
    judged = ~np.asarray(pd.isna(y)).reshape(len(codes), -1).any(axis=1)
    queries = (
        np.arange(len(codes)) if groups is None else check_groups(groups, n_rows=len(codes)).codes()
    )
    pairs = np.unique(np.column_stack([codes, queries])[judged], axis=0)
    sizes = np.bincount(pairs[:, 0], minlength=len(names))
    if few := [
        f"{brief(name)} has {counted(int(size), 'judged query', 'judged queries')}"
        for name, size in zip(names, sizes)
        if size < least
    ]:
        raise InputError(
            f"segments have fewer than min_queries={least}: {', '.join(few)}. Judge more, put "
            "small segments together under one name, or lower min_queries."
        )
