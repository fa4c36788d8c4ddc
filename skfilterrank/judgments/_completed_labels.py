"""Completion of labels within model selection, separately in training and held-out folds."""

import inspect
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import get_routing_for_object, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._estimators.wrapping import WrappingRanker, inner_attribute
from skfilterrank._lists.checks import as_column, as_number_array, count_rows, is_missing
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.queries import check_groups, find_groups
from skfilterrank._lists.scoring import QueryWeight
from skfilterrank._lists.sklearn_compat import (
    RequestsGroups,
    check_method_params,
    final_step,
    metadata_routing_enabled,
    num_samples,
    safe_indexing,
)
from skfilterrank._lists.words import PEOPLE, PREDICTED, warn_user
from skfilterrank.exceptions import DataWarning, FitWarning, InputError, brief
from skfilterrank.judgments._label_predictor import LabelPredictor, check_parameters
from skfilterrank.judgments._label_table import (
    DocumentVectors,
    check_labels,
    is_table,
    names_of,
    warn_of_minus_one,
)
from skfilterrank.metrics import make_ranking_scorer


def _estimator_has(name):
    """Return a check whether the inner estimator has a method, fitted or not."""

    def has(self):
        getattr(getattr(self, "estimator_", self.estimator), name)
        return True

    return has


class CompletedLabels(WrappingRanker, BaseEstimator):
    """Estimator that predicts missing labels before it fits an inner estimator.

    `fit` completes the labels only from the rows that it gets, so in cross-validation each training
    fold is completed separately. Held-out folds are completed by :func:`make_completed_scorer`.

    Parameters
    ----------
    estimator : estimator
        Estimator that is fitted on the completed labels: a ranker, RankAndFilter, classifier or
        regressor, or a Pipeline that ends in one.
    predictor : LabelPredictor or None, default=None
        Predicts the labels; cloned. None means ``LabelPredictor()``.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    predictor_ : LabelPredictor or None
        The fitted predictor; None if every row was judged and used.
    n_imputed_ : int
        Number of rows whose label was predicted.
    n_left_ : int
        Number of rows without a label, in queries for which the predictor has no model; they are
        left out of training.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str
        Names of the columns of X, where it has some.

    See Also
    --------
    LabelPredictor : The same for a table of judgments, once and for all.
    make_completed_scorer : Scores on held-out rows of which not all are judged.

    Notes
    -----
    The predictor's input depends on X. From a DataFrame with the predictor's text column, it uses
    this column and its feature columns, if any. From a list or Series of texts, it uses the texts.
    Otherwise it uses all of X as numbers, scaled within the given rows: to mean 0 and variance 1,
    or columns of a sparse matrix to a largest absolute value of 1.

    Completing all labels before a split would leak into training: the idf of held-out documents,
    and with a model of all queries or a pooled calibration also their labels.

    When to use it: first try to leave unjudged rows out of training, and use this as one candidate
    of a search. With random samples the defaults are a little worse (nDCG@10 of a ridge regression,
    5 % judged: OHSUMED 0.431 instead of 0.454, MQ2007 0.410 instead of 0.417). With rows selected
    as the best of some ranking, results differ: 0.411 instead of 0.186 on OHSUMED, 0.407 instead of
    0.428 on MQ2007. For features that mean the same in every query and estimators that learn from
    expected labels, as regressors do, a shared model, ``LabelPredictor(
    HistGradientBoostingClassifier(), shared=True, output="soft")``, is ahead of leaving out from
    random samples (by 0.005 to 0.008) and on OHSUMED's best rows (0.445), not on MQ2007's (0.411):
    ``benchmarks/results/when_to_impute.md``.

    With the predictor's `n_per_query`, only the labels that its selector asks for first are used,
    and the others are predicted, even if every row is judged. So a grid over
    ``predictor__n_per_query`` and, with ``selector=MaxRepSelector()``, over
    ``predictor__selector__threshold`` compares strategies and budgets by the quality of the fitted
    estimator.

    If the split divides queries, the labels of a query are completed only from its training rows.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.model_selection import GroupKFold, cross_val_score
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.judgments import CompletedLabels, make_completed_scorer
    >>> X, y, groups, _ = make_rank_and_filter(
    ...     n_queries=60, documents_per_query=20, random_state=0
    ... )
    >>> y = pd.Series(y, index=pd.Index(groups, name="qid"), dtype=float)
    >>> y[np.random.default_rng(0).random(len(y)) < 0.5] = np.nan
    >>> scores = cross_val_score(
    ...     CompletedLabels(Ridge()), X, y, groups=groups, cv=GroupKFold(3),
    ...     scoring=make_completed_scorer("ndcg_f@5"),
    ... )
    >>> scores.shape
    (3,)
    """

    estimator_: Any
    predictor_: Any
    n_imputed_: int
    n_left_: int
    n_features_in_: int
    feature_names_in_: np.ndarray

    # Labels are completed before the estimator learns from them.
    is_transparent = False

    def __init__(self, estimator: Any, *, predictor: Any = None) -> None:
        self.estimator = estimator
        self.predictor = predictor

    @all_or_nothing
    def fit(self, X, y, groups=None, **fit_params) -> Self:
        """Complete the labels and fit the estimator.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or list of length n_rows
            Documents, as the estimator takes them.
        y : array-like of shape (n_rows,)
            Labels, NaN where unjudged. A Series may carry the queries in an index level "qid".
        groups : array-like of shape (n_rows,), default=None
            Query of each row. None looks for an index level "qid" on `y`, then on `X`. Needed only
            if a row is unjudged, or if the estimator needs query ids.
        **fit_params
            Passed to the estimator's `fit`; with scikit-learn's metadata routing, what the
            estimator requests.

        Returns
        -------
        self : CompletedLabels
            The fitted model.

        Raises
        ------
        ValueError
            If rows are unjudged and queries are missing, if no row is judged, or no row of X can
            be used by the predictor.

        Warns
        -----
        DataWarning
            If no label is NaN and some are -1, which never means unjudged.
        FitWarning
            If the predictor has a selector but no `n_per_query`: the selector then has no effect.
        """
        if y is None:
            raise InputError("CompletedLabels requires y to be passed, but the target y is None.")
        (X,) = indexable(X)
        self._remember_columns(X)
        if num_samples(y) != count_rows(X):
            raise InputError(f"y has {num_samples(y)} labels but X has {count_rows(X)} rows.")
        group_ids = find_groups(groups, y, X)
        if group_ids is not None:
            # scikit-learn cannot slice an index of Arrow text.
            group_ids = np.asarray(group_ids)
            check_groups(group_ids, n_rows=count_rows(X))
        if metadata_routing_enabled():
            fit_params = process_routing(self, "fit", groups=group_ids, **fit_params).estimator.fit
        else:
            name = _groups_parameter(self.estimator)
            if name is not None and group_ids is not None:
                fit_params = {name: group_ids} | fit_params
        y, self.predictor_ = complete_labels(self.predictor, X, y, group_ids)
        self.n_imputed_ = self.n_left_ = 0
        if self.predictor_ is not None:
            self.n_imputed_, self.n_left_ = self.predictor_.n_imputed_, self.predictor_.n_left_
        if getattr(self.estimator, "takes_judged_by", False) and self.n_imputed_:
            # A guarantee from predicted labels does not hold for people's labels.
            judges = np.where(self.predictor_.imputed_, PREDICTED, PEOPLE)
            fit_params = fit_params | {"judged_by": judges}
        if self.n_left_:
            rows = np.flatnonzero(~np.isnan(np.asarray(y)))
            fit_params = check_method_params(X, fit_params, indices=rows)
            X, y = safe_indexing(X, rows), safe_indexing(y, rows)
        self.estimator_ = clone(self.estimator).fit(X, y, **fit_params)
        return self

    def predict(self, X, groups=None) -> np.ndarray:
        """Predict the rows of X with the estimator.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or list of length n_rows
            Documents.
        groups : array-like of shape (n_rows,), default=None
            Query of each row, for estimators whose `predict` needs it.

        Returns
        -------
        ndarray of shape (n_rows,)
            Scores, gains or classes.
        """
        return self._ask("predict", X, groups=groups)

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X) -> np.ndarray:
        """Probabilities of the estimator's classes.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or list of length n_rows
            Documents.

        Returns
        -------
        ndarray of shape (n_rows, n_classes), dtype float64
            Probabilities.
        """
        return self._ask("predict_proba", X)

    @available_if(_estimator_has("decision_function"))
    def decision_function(self, X, groups=None) -> np.ndarray:
        """Return the estimator's decision function.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or list of length n_rows
            Documents.
        groups : array-like of shape (n_rows,), default=None
            Query of each row, for estimators that need it.

        Returns
        -------
        ndarray
            Margins.
        """
        return self._ask("decision_function", X, groups=groups)

    @available_if(_estimator_has("score"))
    def score(self, X, y, groups=None, *, sample_weight: ArrayLike | None = None) -> float:
        """Return the estimator's own score on the given labels, without completing them.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or list of length n_rows
            Documents.
        y : array-like of shape (n_rows,)
            Labels.
        groups : array-like of shape (n_rows,), default=None
            Query of each row, for estimators that need it.
        sample_weight : array-like of shape (n_rows,), default=None
            Weight of each row, for estimators that take it.

        Returns
        -------
        float
            The score.
        """
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self._ask("score", X, y, groups=groups, **weights)

    @property
    def classes_(self) -> np.ndarray:
        """Classes of a classifier."""
        return inner_attribute(self, "classes_")

    def _ask(self, method, *data, groups=None, **params):
        """Call a method of the fitted estimator, with query ids if it has a parameter for them."""
        check_is_fitted(self)
        self._check_columns(data[0])
        find_groups(groups, *reversed(data))
        if not count_rows(data[0]):
            raise InputError(f"X has no rows: {method} needs at least one.")
        call = getattr(self.estimator_, method)
        final = getattr(final_step(self.estimator_), method)
        takes_groups = "groups" in inspect.signature(final).parameters
        if takes_groups and groups is not None:
            params["groups"] = groups
        return call(*data, **params)

    def _inside_routing(self):
        return get_routing_for_object(self.estimator)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        names = "estimator_type", "classifier_tags", "regressor_tags", "input_tags", "target_tags"
        for name in names:
            setattr(tags, name, getattr(inner, name))
        return tags


def _groups_parameter(estimator):
    """Return the name of the parameter for query ids of the estimator's fit, or None."""
    prefix = ""
    while isinstance(estimator, Pipeline):
        name, estimator = estimator.steps[-1]
        prefix += f"{name}__"
    takes = "groups" in inspect.signature(estimator.fit).parameters
    return f"{prefix}groups" if takes else None


def check_predictor(predictor) -> None:
    """Raise a ValueError unless `predictor` is a LabelPredictor or None."""
    if predictor is not None and not isinstance(predictor, LabelPredictor):
        raise InputError(f"predictor must be a LabelPredictor or None, got {brief(predictor)}.")


def complete_labels(predictor, X, y, groups):
    """Return labels completed from these rows, and the fitted predictor (None if not needed).

    A Series gives a Series with the same index.
    """
    check_predictor(predictor)
    predictor = LabelPredictor() if predictor is None else clone(predictor)
    values = as_number_array(y, "y")
    missing = is_missing(as_column(y, "y", "label") if values is None else values, "y").any()
    if not missing and predictor.n_per_query is None:
        warn_of_minus_one(y, "y")
        return y, None
    labels = check_labels(y, "y")
    index = check_groups(groups, n_rows=len(labels), carrier="y as a pandas Series")
    check_parameters(predictor)
    if predictor.selector is not None and predictor.n_per_query is None:
        warn_user(
            f"selector={brief(predictor.selector)} has no effect: with n_per_query=None all "
            "labels are used. Set the predictor's n_per_query, or no selector.",
            FitWarning,
        )
    documents = DocumentVectors(predictor, of_table=False, scale=True)
    predicted = predictor._fit_documents(documents, X, index, labels)
    labels = np.where(predictor.imputed_, predicted, labels)
    if isinstance(y, pd.Series):
        return pd.Series(labels, index=y.index, name=y.name), predictor
    return labels, predictor


def reads_texts_alone(predictor, X) -> bool:
    """Tell whether labels of these rows are predicted from texts only."""
    if is_table(X):
        return predictor.features is None and predictor.text in names_of(X)
    return not sparse.issparse(X) and np.ndim(X) == 1


class CompletedScorer(RequestsGroups):
    """Scorer ``scorer(estimator, X, y, groups=None)`` of :func:`make_completed_scorer`."""

    def __init__(self, scorer, predictor):
        self._scorer = scorer
        self._predictor = predictor
        self._has_ap = any(
            each.measure.name == "ap" for each in getattr(scorer, "_measures", {}).values()
        )

    @property
    def __name__(self):
        """The name that scikit-learn's displays use for their axes."""
        return self._scorer.__name__

    def __repr__(self):
        return f"make_completed_scorer({self._scorer.arguments}, predictor={self._predictor!r})"

    def __call__(
        self, estimator, X, y, groups=None, *, query_weight: QueryWeight = None
    ) -> float | dict[str, float]:
        """Complete the labels of the rows, then score the estimator on them; higher is better."""
        group_ids = find_groups(groups, y, X)
        (X,) = indexable(X)
        if pd.isna(y).all():
            raise InputError(
                f"y has no judged row in the held-out fold: all {len(y)} labels are NaN, and there "
                "is nothing to predict them from. Take fewer folds, or judge more."
            )
        labels, predictor = complete_labels(self._predictor, X, y, group_ids)
        if predictor is not None and self._has_ap and reads_texts_alone(predictor, X):
            warn_user(
                "AP by labels completed from texts orders systems worse than AP without unjudged "
                "documents if the judged ones are a random sample or few. Use "
                "make_ranking_scorer(..., unjudged='drop'), or a measure of the top such as "
                "'ndcg_f@10'.",
                DataWarning,
            )
        return self._scorer(estimator, X, labels, groups=group_ids, query_weight=query_weight)


def make_completed_scorer(
    measure, /, *, predictor=None, k: int | None = None, gains: Gains = None, **params
) -> CompletedScorer:
    """Make a scorer that completes the labels of held-out rows before it measures.

    Parameters
    ----------
    measure : str, callable or list of these
        As for :func:`skfilterrank.metrics.make_ranking_scorer`.
    predictor : LabelPredictor or None, default=None
        Predicts the labels; cloned at every call. None means ``LabelPredictor()``.
    k : int or None, default=None
        Cut-off, if the name does not contain it.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain.
    **params
        Other parameters of the measure.

    Returns
    -------
    CompletedScorer
        Callable ``scorer(estimator, X, y, groups=None, *, query_weight=None)`` that returns a
        float, or a dict of floats for a list of measures.

    Raises
    ------
    ValueError
        For the reasons of :func:`skfilterrank.metrics.make_ranking_scorer`. When called: if rows
        are unjudged and query ids are missing, or if no row is judged.

    Warns
    -----
    DataWarning
        When called: if labels are completed only from texts and a measure is AP. AP with such
        labels ordered systems worse than with condensed lists.

    See Also
    --------
    CompletedLabels : Completes the labels of the training folds.

    Notes
    -----
    The missing labels of the held-out rows are predicted only from the judged rows among them.
    Neither the scored estimator nor the training folds influence these labels. Rows that stay
    without a label (in queries without a model) count as unjudged. If every row is judged, the
    value equals that of the plain scorer, with a warning if some labels are -1.

    When to use it: if rows were judged because they were ranked high in some list (pooling,
    MAXREP), and for measures of the top of the list. On 33 sets of 10 or 20 systems with 5 to 20 %
    pooled, completed labels order systems by nDCG@10 better than condensed lists
    (``unjudged="drop"``) in 23 and worse in 7, by AP in 16 and 16. If the judged rows are a random
    sample, completed labels are better by nDCG@10 in 19 and worse in 14, better by AP in 10 and
    worse in 23, and their values are mostly less accurate
    (``benchmarks/results/completing_few_systems.md``). Compare on a collection of your own by
    :func:`skfilterrank.metaevaluation.judging_curve`. Use values from completed labels only to
    order models; with people's labels, values would differ.

    With the predictor's `n_per_query`, labels of held-out rows that its selector would not ask for
    are hidden and predicted, too.

    The labels are completed again for each candidate of a grid, with the same result.

    Examples
    --------
    >>> from skfilterrank.judgments import LabelPredictor, make_completed_scorer
    >>> make_completed_scorer("ap@10", predictor=LabelPredictor(n_terms=10_000))
    make_completed_scorer('ap@10', predictor=LabelPredictor(n_terms=10000))
    """
    scorer = make_ranking_scorer(measure, k=k, gains=gains, **params)
    check_predictor(predictor)
    return CompletedScorer(scorer, predictor)
