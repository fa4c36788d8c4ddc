"""RankerMixin, the common interface of rankers, and the decorator `all_or_nothing`."""

import functools
from collections.abc import Callable
from typing import Any, Self, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from skfilterrank._base.checks import as_column, check_container, count_rows, refuse_lazy
from skfilterrank._base.words import warn_user
from skfilterrank._lists.cut_queries import QuerySizes, unwatched, warn_of_cut_queries
from skfilterrank._lists.gains import Gains, as_gains
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.queries import GroupIndex, check_groups, find_groups
from skfilterrank._lists.scoring import QueryWeight
from skfilterrank.exceptions import FitWarning, InputError

_Method = TypeVar("_Method", bound=Callable[..., Any])


class RankerMixin:
    """Mixin of all rankers: query ids in `fit`, `predict` and `score`.

    A ranker of your own inherits from this class and from :class:`sklearn.base.BaseEstimator`, in
    this order, and has two methods: ``fit(X, y, groups=None)`` and ``predict(X, groups=None)``,
    which returns one score per row, -inf where it hides the row. `score` and the routing of
    `groups` through scikit-learn come with the mixin, and :class:`RankAndFilter`,
    :class:`CalibratedRanker`, :class:`QueryRanker` and :class:`FilterOnly` accept the ranker like
    those of this library.

    Attributes
    ----------
    measure : str, default="ndcg_f"
        Measure that `score` returns: a name of the measure table such as "ndcg_f@10", or one of the
        measure functions. Usually a parameter of the constructor.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains in `score`. Usually a parameter of the constructor.
    ranking_target : {"gain", "binary", "grade", "label"}, default="gain"
        Target that :class:`RankAndFilter` gives the ranker with ``target="auto"``.
    needs_groups : bool, default=False
        Whether the ranker cannot learn without query ids. Estimators around it then raise if
        `groups` is missing.
    has_fixed_scale : bool, default=False
        Whether scores of rankers fitted on different rows are comparable, as probabilities and
        expected gains are. Otherwise the scores of each fold are rescaled to those of the final
        model.
    scores_are_gains : bool, default=False
        Whether scores are expected gains, so that a document pays where its score is above 0.
        :class:`RankAndFilter` then compares its threshold with hiding what is below 0, too.
    takes_unjudged : bool, default=False
        Whether `fit` accepts NaN labels. Otherwise the estimators around it leave such rows out.
    fitted_with_groups_ : bool, default=True
        Whether `fit` got query ids. A `fit` that works without query ids must set it.

    See Also
    --------
    RankAndFilter : Adds the threshold that hides documents.
    QueryRanker : Makes a ranker of an estimator of another library.

    Notes
    -----
    **Without queries.** If a ranker was fitted without query ids, each row was a query with one
    document, and `score` without query ids does the same. The score then shows only the effect of
    hiding single documents: all rankers that hide nothing have the same score. A ranker that was
    fitted with query ids raises instead.

    **For others.** A ranker that others use should refuse `groups` of another length than the rows,
    columns of other names or numbers than in `fit`, and rows that are all unjudged. scikit-learn's
    ``check_consistent_length`` and ``validate_data`` check the first two.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.base import BaseEstimator
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.ranking import RankAndFilter, RankerMixin
    >>> class FirstFeature(RankerMixin, BaseEstimator):
    ...     def __init__(self, *, sign=1.0, measure="ndcg_f"):
    ...         self.sign = sign
    ...         self.measure = measure
    ...
    ...     def fit(self, X, y, groups=None):
    ...         self.n_features_in_ = X.shape[1]
    ...         return self
    ...
    ...     def predict(self, X, groups=None):
    ...         return self.sign * X[:, 0]
    >>> X, y, groups, _ = make_rank_and_filter(n_queries=100, random_state=0)
    >>> up, down = (FirstFeature(sign=sign).fit(X, y, groups=groups) for sign in (1.0, -1.0))
    >>> up.score(X, y, groups=groups) > down.score(X, y, groups=groups)
    True
    >>> RankAndFilter(up, measure="ndcg_f@3").fit(X, y, groups=groups).threshold_ is not None
    True
    """

    measure: str | Callable = "ndcg_f"
    gains: Gains = None
    ranking_target = "gain"
    needs_groups = False
    has_fixed_scale = False
    scores_are_gains: Any = False
    takes_unjudged = False
    fitted_with_groups_ = True

    # By default, scikit-learn's metadata routing passes `groups` and weights.
    __metadata_request__fit = {"groups": True}  # noqa: RUF012
    __metadata_request__predict = {"groups": True}  # noqa: RUF012
    __metadata_request__score = {"groups": True, "query_weight": True}  # noqa: RUF012

    def fit(self, X, y, groups=None, *, eval_set=None, eval_groups=None, **fit_params) -> Self:
        """Learn from the rows of X.

        A parameter has the same meaning in all rankers.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Features of documents, rows in any order. A ranker around another estimator accepts any
            input of that estimator, such as a list of texts.
        y : array-like of shape (n_rows,)
            Labels; rows with a NaN label are left out, with a warning. A Series may carry the
            query ids in an index level "qid".
        groups : array-like of shape (n_rows,), default=None
            Query id of each row, of any type. None looks for an index level "qid" on `y`, then on
            `X`.
        eval_set : (X, y) or list of (X, y), default=None
            Held-out queries for early stopping, with labels as in `y`; rows with a NaN label are
            left out, with a warning.
        eval_groups : array-like or list of array-like, default=None
            Query ids of the rows of each held-out set; None looks for an index level "qid". They
            may be missing if `fit` gets no query ids or does not need them.
        **fit_params
            Passed to the `fit` of the estimator inside, such as `sample_weight`; with
            scikit-learn's metadata routing, what the estimator requests. Entries with one value per
            row are split like the rows. In a Pipeline "step__parameter" names the step, and plain
            names go to the last.

        Returns
        -------
        self : RankerMixin
            The fitted ranker.
        """
        raise NotImplementedError(f"{type(self).__name__} has no fit(X, y, groups=None).")

    def predict(self, X, groups=None) -> np.ndarray:
        """Score the rows of X.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Documents, as in `fit`.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. Scores of some rankers depend on it; others ignore it. None looks
            for an index level "qid" on `X`.

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            Scores, higher is better, -inf where hidden.
        """
        raise NotImplementedError(f"{type(self).__name__} has no predict(X, groups=None).")

    def score(
        self,
        X,
        y,
        groups=None,
        *,
        query_weight: QueryWeight = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Compute the mean of `measure` over the queries of X.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or list of length n_rows
            Documents, as in `fit`; whole queries.
        y : array-like of shape (n_rows,)
            Labels, as in `fit`; NaN where unjudged, which counts as gain 0.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `y`, then on `X`; a ranker
            that was fitted without query ids treats each row as a separate query.
        query_weight : dict, Series or array-like of shape (n_rows,), default=None
            Weight of each query in the mean, as in
            :func:`skfilterrank.metrics.ndcg_f_score`.
        sample_weight : array-like of shape (n_rows,), default=None
            Another name of `query_weight` by row: the name that scikit-learn's Pipeline passes on.

        Returns
        -------
        float
            The measure, negated where lower is better, as scikit-learn's scorers do.

        Raises
        ------
        ValueError
            If query ids are missing though `fit` had some, `measure` is unknown, arrays have
            different lengths, a label has no gain, rows of a query differ in `sample_weight`, or
            weights are given by both names.
        """
        check_is_fitted(self)
        if sample_weight is not None:
            if query_weight is not None:
                raise InputError(
                    "query_weight and sample_weight are both given, and both are weights of "
                    "queries in the mean: leave one of the two out."
                )
            query_weight = sample_weight
        groups = find_groups(groups, y, X)
        warn_of_cut_queries(self, groups, is_judged=True)
        is_guessed = groups is None and not self.fitted_with_groups_
        if is_guessed:
            groups = np.arange(count_rows(X))
        with unwatched():
            scores = self._without_filtered(self.predict(X, groups=groups))
        if is_guessed and not np.isneginf(scores).any():
            warn_user(
                f"{type(self).__name__}.score was given no query ids: each row counts as a "
                "separate query, so that all rankers that hide nothing have the same score. Give y "
                "as a Series with an index level 'qid', which keeps them through model selection; "
                "or pass groups=, there with sklearn.set_config(enable_metadata_routing=True).",
                FitWarning,
            )
        labels, gains = self._labels_to_score(y)
        # A measure would name its own arguments in errors.
        if (n_labels := len(as_gains(labels, gains, name="y"))) != len(scores):
            raise InputError(f"y has {n_labels} labels but there are {len(scores)} rows.")
        index = check_groups(groups, n_rows=len(scores), carrier="y as a pandas Series")
        return self._score_measure().utility(
            labels, scores, groups=index, gains=gains, query_weight=query_weight
        )

    def _labels_to_score(self, y):
        """Return the labels for `score`, and the `gains` for them."""
        return y, self.gains

    def _score_measure(self) -> ParsedMeasure:
        """Return the measure that `score` computes."""
        return parse_measure(self.measure)

    def _without_filtered(self, scores):
        """Return scores with -inf for rows to hide, even if `predict` gives finite scores."""
        return scores

    def _find_groups(self, X, y, groups):
        """Index the query ids of the rows of `fit`, or return None; raise if labels are missing."""
        if y is None:
            name = type(self).__name__
            raise InputError(f"{name} requires y to be passed, but the target y is None.")
        check_container(X)
        # Masked labels mean unjudged documents.
        refuse_lazy(y, "y")
        groups = find_groups(groups, y, X)
        self.fitted_with_groups_ = groups is not None
        # Without rows, X or y is to blame, which are checked later.
        if groups is not None and len(as_column(groups, "groups", "query id")):
            groups = GroupIndex.from_groups(groups)
        has_index = isinstance(groups, GroupIndex)
        self._fitted_sizes = QuerySizes.of(groups) if has_index else None
        return groups

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def all_or_nothing(method: _Method) -> _Method:
    """Decorate a method: it changes all attributes of its object at once when it has returned.

    The method works on a second object with the same attributes. After any exception, including
    KeyboardInterrupt, the object has the attributes it had before, so that a failed `fit` leaves no
    mixture of two fits; and other threads can call `predict` of the old fit during a new one. Only
    the attributes are apart, not their contents: the method must assign new objects instead of
    changing old ones. Objects of the caller are changed, such as the state of a RandomState.
    """

    @functools.wraps(method)
    def unless_stopped(self, *args, **kwargs):
        working = object.__new__(type(self))
        working.__dict__ = vars(self).copy()
        result = method(working, *args, **kwargs)
        # A single assignment: no interrupt and no other thread finds it half done.
        self.__dict__ = working.__dict__
        return self if result is working else result

    return cast(_Method, unless_stopped)
