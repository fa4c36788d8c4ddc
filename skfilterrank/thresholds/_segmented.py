"""A threshold of its own for each segment of the queries, such as each language."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._files.rows import Rows
from skfilterrank._files.states import label, listed, pair, record
from skfilterrank._lists.checks import check_count, count_rows, is_hashable
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.queries import check_groups, check_one_order, find_groups
from skfilterrank._lists.results import counted
from skfilterrank._lists.scoring import QueryWeight, given_weights
from skfilterrank._lists.sklearn_compat import safe_indexing
from skfilterrank._lists.words import repeat_warnings, with_warnings
from skfilterrank.exceptions import InputError, brief, brief_list
from skfilterrank.thresholds._base import DEFAULT_MEASURE, BaseThreshold
from skfilterrank.thresholds._files import NOT_FITTED, threshold_from_json, threshold_to_json

_FIELDS = record(
    {"segment": label, "thresholds": listed(pair(label, threshold_from_json), least=1)}
)


class SegmentedThreshold(BaseThreshold):
    """A clone of a threshold for each segment of the queries, such as each language.

    Parameters
    ----------
    threshold : threshold estimator
        A clone of it is fitted on the rows of each segment.
    segment : str, hashable or None, default="segment"
        Column of the scores, or level of their index, that names the segment of each row. All rows
        of a query must be in one segment. None makes one segment of all rows, so that a search over
        ``[None, "language"]`` shows if segments improve the measure.
    min_queries : int, default=10
        Smallest number of queries with a judged row in each segment.

    Attributes
    ----------
    thresholds_ : dict
        The fitted clone of each segment by the segment's name, sorted if names have an order; the
        only key is "all" if `segment` is None.
    measure_ : str
        Name of the measure with its cut-off.
    n_unjudged_ : int
        Rows with a NaN label.

    Notes
    -----
    The certificate of a segment holds for the queries of that segment, with its own confidence
    level. All m segments keep their risks at once with a probability of at least
    ``1 - m (1 - confidence_level)``. For 0.9 and three languages, set a level of ``1 - 0.1 / 3``.

    `predict` refuses a segment that `fit` has not seen. In cross-validation every segment must
    therefore be in every training set.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.thresholds import CertifiedThreshold, SegmentedThreshold
    >>> _, y, groups, scores = make_rank_and_filter(400, random_state=0)
    >>> table = pd.DataFrame({"score": scores, "language": np.where(groups % 4 == 0, "fr", "en")})
    >>> safe = CertifiedThreshold({"any_forbidden@3": 0.15}, confidence_level=0.9)
    >>> model = SegmentedThreshold(safe, segment="language").fit(table, y, groups=groups)
    >>> {name: each.certificate_.promises["any_forbidden@3"].n_queries
    ...  for name, each in model.thresholds_.items()}
    {'en': 300, 'fr': 100}
    >>> {name: round(each.threshold_, 3) for name, each in model.thresholds_.items()}
    {'en': 0.224, 'fr': 0.279}
    """

    thresholds_: Any

    _has_one_level = False
    __metadata_request__fit = {"times": True}  # noqa: RUF012

    def __init__(self, threshold: Any, *, segment: Any = "segment", min_queries: int = 10) -> None:
        self.threshold = threshold
        self.segment = segment
        self.min_queries = min_queries

    @property
    def measure(self) -> str | Callable:  # type: ignore[override]  # the threshold's
        """The measure of the threshold."""
        return getattr(self.threshold, "measure", None) or DEFAULT_MEASURE

    @property
    def gains(self) -> Gains:  # type: ignore[override]  # the threshold's
        """The gains of the threshold."""
        return getattr(self.threshold, "gains", None)

    @all_or_nothing
    def fit(  # type: ignore[override]  # other parameters
        self,
        scores,
        y=None,
        groups=None,
        *,
        filter_scores=None,
        clusters=None,
        query_weight: QueryWeight = None,
        judged_by=None,
        times=None,
    ) -> Self:
        """Fit a threshold for each segment.

        Parameters
        ----------
        scores : DataFrame or Series
            Score of each row, with the segment in a column or in a level of the index.
        y, groups, filter_scores, clusters, query_weight, judged_by
            As in :meth:`TunedThreshold.fit`.
        times : array-like of shape (n_rows,), default=None
            Time of each row, as in :meth:`CertifiedThreshold.fit`, whose clones alone take them.

        Returns
        -------
        self : SegmentedThreshold
            The fitted thresholds.

        Raises
        ------
        ValueError
            If `scores` name no segments, a query is in several, one has fewer than `min_queries`
            queries, or its threshold cannot be fitted (the message names the segment).
        """
        self._check_parameters(None)
        if isinstance(scores, Rows):
            return self._fit_rows(scores)
        groups = self._find_groups(scores, y, groups)
        n_rows = count_rows(scores)
        of_rows = {"y": y, "groups": groups, "filter_scores": filter_scores}
        of_rows |= {"clusters": clusters, "judged_by": judged_by}
        if times is not None:
            of_rows["times"] = times
            if not self.threshold.is_calibrated:
                raise InputError(
                    "times is for a CertifiedThreshold, and threshold is a "
                    f"{type(self.threshold).__name__}. Leave times out."
                )
        # The rows of a segment no longer show it.
        check_one_order(scores=scores, **of_rows)
        for name, values in of_rows.items():
            if values is not None and count_rows(values, name) != n_rows:
                raise InputError(
                    f"{name} has {count_rows(values, name)} entries but there are {n_rows} scores: "
                    "give one for each row."
                )
        index = check_groups(np.arange(n_rows) if groups is None else groups, n_rows=n_rows)
        weights = given_weights(query_weight, index)
        of_rows["query_weight"] = None if weights is None else weights[index.codes()]
        self._segment = self.segment
        table, codes, names = self._read_segments(scores, index)
        if self._segment is not None:
            labels, _ = self._labels_to_score(y)
            _check_sizes(codes, names, index, labels, self.min_queries)
        self.thresholds_, caught = {}, {}
        for name, rows in _rows_by_name(codes, names):
            fit = partial(clone(self.threshold).fit, **_cut(of_rows, rows))
            try:
                self.thresholds_[name], caught[name] = with_warnings(
                    fit, safe_indexing(table, rows)
                )
            except ValueError as error:
                if self._segment is None:
                    raise
                raise InputError(f"segment {brief(name)}: {error}") from error
            if self._segment is not None and hasattr(own := self.thresholds_[name], "certificate_"):
                own.certificate_ = replace(own.certificate_, segment=f"{self._segment} = {name}")
        self._warn_of_segments(caught)
        thresholds = list(self.thresholds_.values())
        self.measure_ = thresholds[0].measure_
        self.n_unjudged_ = sum(getattr(each, "n_unjudged_", 0) for each in thresholds)
        return self

    def _warn_of_segments(self, caught):
        """Issue each kind of warning once, with the number and the names of its segments."""
        kinds: dict = {}
        for name, own in caught.items():
            for text, category in own:
                kinds.setdefault((text.partition(":")[0], category), {}).setdefault(name, text)
        for (_, category), texts in kinds.items():
            text, *others = texts.values()
            if self._segment is not None:
                names = brief_list(list(texts))
                text += f" In {len(texts)} of {counted(len(caught), 'segment')}: {names}"
                text += "; the figures are of the first." if others else "."
            repeat_warnings([(text, category)])

    def fit_judged(self, judged) -> Self:
        """Refuse rows without segments.

        Parameters
        ----------
        judged : JudgedScores
            The rows.
        """
        raise InputError(
            "SegmentedThreshold needs scores in a table that names the segment of each row, which "
            "RankAndFilter does not give. Fit it on the scores of a fitted ranker."
        )

    def predict(self, scores, groups=None, *, filter_scores=None) -> np.ndarray:
        """Return each score, -inf where the threshold of its segment hides the row.

        Parameters
        ----------
        scores : DataFrame or Series
            Scores, with the segment in a column or in a level of the index.
        groups, filter_scores
            As in :meth:`TunedThreshold.predict`.

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            The score where a row is shown, else -inf.
        """
        return self._predict_parts("predict", np.float64, scores, groups, filter_scores)

    def decision_function(self, scores, groups=None, *, filter_scores=None) -> np.ndarray:
        """Return margins of the threshold of each segment.

        Parameters
        ----------
        scores, groups, filter_scores
            As in :meth:`predict`.

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            Margins, as :meth:`TunedThreshold.decision_function` returns them.
        """
        return self._predict_parts("decision_function", np.float64, scores, groups, filter_scores)

    def rank(self, scores, groups=None, *, filter_scores=None) -> np.ndarray:
        """Rank the rows of each query; 1 is the first document, 0 is hidden.

        Parameters
        ----------
        scores, groups, filter_scores
            As in :meth:`predict`.

        Returns
        -------
        ndarray of shape (n_rows,), dtype int64
            Places, as :meth:`TunedThreshold.rank` returns them.
        """
        return self._predict_parts("rank", np.int64, scores, groups, filter_scores)

    def _why_hidden(self, scores, groups, *, filter_scores=None) -> np.ndarray:
        """Say why the threshold of its segment hides each row."""
        return self._predict_parts("_why_hidden", object, scores, groups, filter_scores)

    def _predict_parts(self, method, dtype, scores, groups, filter_scores):
        """Call a method of each threshold for the rows of its segment."""
        check_is_fitted(self, "thresholds_", msg=NOT_FITTED)
        groups = find_groups(groups, scores, names=("scores",))
        n_rows = count_rows(scores)
        if not n_rows:
            return np.empty(0, dtype=dtype)
        index = None if groups is None else check_groups(groups, n_rows=n_rows)
        table, codes, names = self._read_segments(scores, index)
        if unseen := [name for name in names if name not in self.thresholds_]:
            raise InputError(
                f"scores have segments in {brief(self._segment)} that fit has not seen: "
                f"{brief_list(unseen)}. Known are {brief_list(list(self.thresholds_))}: fit with "
                "judged queries of all segments, or give them the name of a known one."
            )
        found = np.empty(n_rows, dtype=dtype)
        of_rows = {"groups": groups, "filter_scores": filter_scores}
        for name, rows in _rows_by_name(codes, names):
            predict = getattr(self.thresholds_[name], method)
            found[rows] = predict(safe_indexing(table, rows), **_cut(of_rows, rows))
        return found

    def _read_segments(self, scores, index):
        """Return scores without the segments, the number of each row's segment, and their names."""
        name = self._segment
        if name is None:
            return scores, np.zeros(count_rows(scores), dtype=np.intp), ["all"]
        rows = getattr(scores, "index", None)
        in_index = isinstance(rows, pd.Index) and name in rows.names
        in_columns = is_hashable(name) and name in list(getattr(scores, "columns", ()))
        if in_index == in_columns:
            what = "both a column and an index level" if in_index else "no column or index level"
            raise InputError(
                f"segment={brief(name)} names the segment of each row, but scores have {what} of "
                "this name: give a DataFrame with the column, or with the level in its index."
            )
        if in_index:
            values = rows.get_level_values(name)
        else:
            values = scores[name]
            is_pandas = isinstance(scores, pd.DataFrame)
            scores = scores.drop(columns=[name]) if is_pandas else scores.drop(name)
        values = pd.Series(np.asarray(values, dtype=object))
        if values.isna().any():
            row = int(values.isna().argmax())
            raise InputError(f"scores have no segment in {brief(name)} at row {row}: name one.")
        try:
            codes, names = pd.factorize(values, sort=True)
        except TypeError:
            codes, names = pd.factorize(values)
        if index is not None:
            pairs = np.unique(np.column_stack([index.codes(), codes]), axis=0)
            if len(pairs) > index.n_queries:
                first = pairs[int((np.diff(pairs[:, 0]) == 0).argmax()), 0]
                raise InputError(
                    f"query {brief(index.query_ids.tolist()[first])} has rows in several "
                    f"segments of {brief(name)}: a query is in one segment."
                )
        return scores, codes, names.tolist()

    def _check_parameters(self, parsed):
        if not isinstance(self.threshold, BaseThreshold):
            raise InputError(
                "threshold must be a threshold estimator such as TunedThreshold(), got "
                f"{brief(self.threshold)}."
            )
        check_count(self.min_queries, "min_queries")

    def _state(self):
        label(self._segment, "SegmentedThreshold names the segments by")
        thresholds = [
            [label(name, "SegmentedThreshold has a segment"), threshold_to_json(each)]
            for name, each in self.thresholds_.items()
        ]
        return {"segment": self._segment, "thresholds": thresholds}

    def _restore(self, state, name):
        state = _FIELDS(state, name)
        self._segment, self.thresholds_ = state["segment"], dict(state["thresholds"])


def _rows_by_name(codes, names):
    """Yield the name of each segment and its rows."""
    for code, name in enumerate(names):
        yield name, np.flatnonzero(codes == code)


def _cut(of_rows, rows):
    """Take some rows of each array by name; None where there is none."""
    return {
        name: None if values is None else safe_indexing(values, rows)
        for name, values in of_rows.items()
    }


def _check_sizes(codes, names, index, y, least):
    """Raise where a segment has too few queries with a judged row."""
    is_judged = ~np.asarray(pd.isna(y)).reshape(len(codes), -1).any(axis=1)
    pairs = np.unique(np.column_stack([codes, index.codes()])[is_judged], axis=0)
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
