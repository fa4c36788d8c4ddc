"""QueryRanker and OrdinalRanker: estimators of other libraries, fitted with query ids."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from skfilterrank._base.checks import check_choice, count_rows
from skfilterrank._base.probabilities import levels_above
from skfilterrank._base.sklearn_compat import final_step
from skfilterrank._base.words import in_parallel
from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._estimators.responses import check_columns, has_method, in_library_form
from skfilterrank._estimators.wrapping import WrappingRanker
from skfilterrank._lists.cut_queries import note_documents, warn_of_cut_queries
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.queries import find_groups
from skfilterrank.exceptions import InputError
from skfilterrank.ranking._held_out_sets import (
    check_no_sets,
    held_out_rows,
    warn_unless_stopped_by,
)
from skfilterrank.ranking._out_of_fold import has_fixed_scale, scores_are_gains
from skfilterrank.ranking._training_rows import prepare_rows


class QueryRanker(WrappingRanker, BaseEstimator):
    """A ranker that fits any classifier, regressor or ranker with one query id per row.

    LightGBM's ranker needs the sizes of consecutive queries, XGBoost's and CatBoost's a number per
    row and sorted rows, and a classifier a binary target. With this wrapper, all of them are fitted
    on the original labels with `groups`, rows in any order, so that scikit-learn's model selection
    can fit them. No document is hidden.

    Parameters
    ----------
    estimator : estimator
        A classifier (learns which gains are above 0 and scores by their probability), a regressor
        (learns the gain), a ranker such as LGBMRanker, XGBRanker or CatBoostRanker (learns the
        order of the gains), or a Pipeline that ends in one. Scores of a ranker need not compare
        between queries; :func:`skfilterrank.thresholds.score_comparability` tells.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`.
    validation_fraction : float or None, default=None
        Share of the training queries that `fit` holds out for early stopping of the estimator,
        instead of an `eval_set`. The content of queries decides which, and their ids do not. `fit`
        warns if the estimator does not stop early.
    measure : str, default="ndcg_f"
        Measure that `score` returns, and by which LightGBM, XGBoost and CatBoost stop early, see
        Notes: a name of the measure table such as "ndcg_f@10", or one of the measure functions.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    n_unjudged_ : int
        Rows with a NaN label, which were left out of the training.
    feature_importances_, coef_ : ndarray of shape (n_features_in_,), dtype float64
        Attributes of the last step, if it has them.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str
        Names of the columns of X, where it has some.

    See Also
    --------
    RankAndFilter : Adds a threshold; accepts the same estimators, also inside a QueryRanker.
    make_ranker : Ready-made rankers by name; many are QueryRankers.

    Notes
    -----
    Queries with one document, or with equal labels, are kept and have no effect. If all gains are
    equal, regressors give all documents the same score, and rankers and classifiers raise. NaN in X
    is passed to the estimator; if it does not accept NaN, the error names the columns. XGBoost
    takes the zeros that a sparse X does not store for missing values: `predict` warns if X is dense
    then.

    **Early stopping.** LightGBM, XGBoost and CatBoost stop by `measure` on the queries that
    `validation_fraction` or `eval_set` holds out, if they are told to stop early, as by
    ``early_stopping_rounds=20``. The measure is computed of the gains, not of the grades or classes
    that they learn. With several sets, XGBoost stops by the last one. They stop by their own metric
    if you choose it (`metric` or `eval_metric`), if `fit` gets no query ids, and for CatBoost on a
    GPU. Rows of held-out sets have no weights or scores of their own.

    CatBoost's `cat_features` go to `fit`, as in ``fit(X, y, groups=groups, cat_features=["f0"])``,
    or to its constructor as a tuple: scikit-learn cannot clone a CatBoostRanker that was
    constructed with a list. LightGBM's correction of position bias in clicks (`position`) exists
    only in ``lightgbm.train``, whose model is not an estimator.

    `feature_importances_` of a CatBoostRanker are its "PredictionValuesChange", which need no rows.

    Stacking and voting of scikit-learn do not support rankers; :func:`fuse_runs` combines scores
    of rankers. A BaggingRegressor around a QueryRanker needs metadata routing, because it makes an
    array of y.

    Examples
    --------
    >>> from lightgbm import LGBMRanker
    >>> from sklearn.model_selection import GroupKFold, cross_val_score
    >>> import pandas as pd
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.ranking import QueryRanker
    >>> X, y, groups, _ = make_rank_and_filter(n_queries=300, random_state=0)
    >>> y = pd.Series(y, index=pd.Index(groups, name="qid"))
    >>> cross_val_score(
    ...     QueryRanker(LGBMRanker(n_estimators=10, verbose=-1), measure="ndcg_f@3"), X, y,
    ...     groups=groups, cv=GroupKFold(3),
    ... ).round(2)
    array([...])

    Stop early on a fifth of the queries, by the measure:

    >>> ranker = LGBMRanker(n_estimators=300, early_stopping_rounds=10, verbose=-1)
    >>> ranker = QueryRanker(ranker, validation_fraction=0.2, measure="ndcg_f@3").fit(X, y)
    >>> ranker.estimator_.best_iteration_ < 300
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        gains: Gains = None,
        validation_fraction: float | None = None,
        measure: str | Callable = "ndcg_f",
    ) -> None:
        self.estimator = estimator
        self.gains = gains
        self.validation_fraction = validation_fraction
        self.measure = measure

    @property
    def has_fixed_scale(self) -> bool:  # type: ignore[override]  # the estimator decides
        """True where scores keep their scale when the estimator is fitted on other rows."""
        return has_fixed_scale(self.estimator)

    @property
    def scores_are_gains(self) -> bool:
        """True where the estimator is a regressor of the gain."""
        return scores_are_gains(self.estimator)

    @all_or_nothing
    def fit(self, X, y, groups=None, *, eval_set=None, eval_groups=None, **fit_params) -> Self:
        """Fit the estimator.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Features of documents, rows in any order, as in :meth:`RankerMixin.fit`.
        y : array-like of shape (n_rows,)
            Labels; rows with a NaN label are left out, with a warning.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `y`, then on `X`.
            Classifiers and regressors do not need them.
        eval_set : (X, y) or list of (X, y), default=None
            Held-out queries for early stopping, as in :meth:`RankerMixin.fit`.
        eval_groups : array-like or list of array-like, default=None
            Query ids of the rows of each held-out set.
        **fit_params
            Passed to the `fit` of the estimator inside, as in :meth:`RankerMixin.fit`.
            XGBoost's ranker weights whole queries: all rows of a query must have the same weight.

        Returns
        -------
        self : QueryRanker
            The fitted model.

        Raises
        ------
        ValueError
            If arrays have different lengths, a label has no gain, a ranker gets no query ids or
            only equal gains, a classifier gets only one class, or the estimator does not accept the
            values of X.
        """
        groups = self._find_groups(X, y, groups)
        data = prepare_rows(
            self.estimator,
            X,
            y,
            groups,
            gains=self.gains,
            eval_set=eval_set,
            eval_groups=eval_groups,
            needs_eval_groups=True,
            fit_params=self._inside_parameters(fit_params),
        )
        self.n_unjudged_ = data.n_unjudged
        note_documents(self, data.documents)
        rows = None
        if self.validation_fraction is not None:
            check_no_sets(eval_set)
            held = held_out_rows(self.validation_fraction, data.groups, data.judged)
            data, rows = data.with_held_out(held), np.flatnonzero(~held)
        stop_by = None if groups is None else parse_measure(self.measure)
        self.estimator_ = data.fit_on(self.estimator, rows, stop_by=stop_by)
        if self.validation_fraction is not None:
            warn_unless_stopped_by(self.validation_fraction, self.estimator_)
        return self

    def predict(self, X, groups=None) -> np.ndarray:
        """Score the rows of X; a classifier scores by the probability of a gain above 0.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Documents, as in `fit`.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `X`.

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            Scores, higher is better, -inf where hidden.
        """
        return self._scores_inside(X, groups)


class OrdinalRanker(WrappingRanker, BaseEstimator):
    r"""Score documents by the probabilities that their gain exceeds each level.

    For each distinct gain except the highest, a clone of a binary classifier learns whether a
    document's gain is above it. The score is the sum of these probabilities. Unlike regression, it
    does not treat differences of labels as distances. Unlike a single classifier of good documents,
    it uses all grades.

    Parameters
    ----------
    estimator : classifier or None, default=None
        A classifier with `predict_proba`, or a Pipeline that ends in one; it gets X unchanged. None
        means ``LogisticRegression()``.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`skfilterrank.metrics.ndcg_f_score`. With
        `weights=None` only the order of the gains counts.
    weights : {None, "gain"}, default=None
        None adds the probabilities (the ordinal loss). "gain" multiplies each probability by the
        difference to the next gain (the weighted ordinal loss).
    n_jobs : int or None, default=None
        Classifiers fitted at a time; results do not depend on it.
    measure : str, default="ndcg_f"
        Measure that `score` returns: a name of the measure table such as "ndcg_f@10", or one of the
        measure functions.

    Attributes
    ----------
    levels_ : ndarray of shape (n_levels,), dtype float64
        The distinct gains, ascending.
    estimators_ : list of n_levels - 1 classifiers
        ``estimators_[i]`` gives P(gain > ``levels_[i]``).
    n_unjudged_ : int
        Rows with a NaN label, which were left out of the training.
    n_features_in_ : int
        Number of features, where the classifiers know it.
    feature_names_in_ : ndarray of str
        Names of the features, where the classifiers know them.

    See Also
    --------
    RankAndFilter : Adds the threshold that hides documents.

    Notes
    -----
    After Frank & Hall [1]_. The scores of section 5.1 of [2]_, in which the gains are
    :math:`l_1 < \dots < l_m`:

    .. math::

        s(d) = \sum_{i=1}^{m-1} w_i P(\mathrm{gain}(d) > l_i), \qquad
        w_i = 1 \text{ or } l_{i+1} - l_i .

    With ``weights="gain"`` the score is therefore the expected gain less the lowest gain.

    In [2]_ the weights multiply the terms of the loss as well, where all its terms train one
    network. Here the classifiers are independent, so a constant factor does not change the minimum
    of a loss; it would only change the strength of the regularisation. So the weights are used only
    in the score, and the classifiers are the same for both.

    The probabilities come from separate classifiers, so P(gain > l) may rise a little from one
    level to the next. This is not corrected, as in [2]_.

    If all rows have the same gain, this gain is the score of every row.

    Unweighted scores are not on the scale of the gains, so for scikit-learn this is neither a
    classifier nor a regressor.

    References
    ----------
    .. [1] E. Frank, M. Hall. "A Simple Approach to Ordinal Classification". ECML 2001.
    .. [2] D. Carmel, N. Cohen, A. Ingber, E. Kravi. "IR Evaluation and Learning in the Presence
       of Forbidden Documents". SIGIR 2022.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.ranking import OrdinalRanker, RankAndFilter
    >>> X, y, groups, _ = make_rank_and_filter(n_queries=400, random_state=0)
    >>> ranker = OrdinalRanker().fit(X, y)
    >>> ranker.levels_
    array([-1.,  1.,  2.])
    >>> ranker.predict_level_proba(X[:2]).shape  # P(gain > -1), P(gain > 1)
    (2, 2)
    >>> model = RankAndFilter(OrdinalRanker(), measure="ndcg_f@3").fit(X, y, groups=groups)
    >>> bool(model.score(X, y, groups=groups) > 0.8)
    True
    """

    levels_: Any
    estimators_: Any

    has_fixed_scale = True

    def __init__(
        self,
        estimator: Any = None,
        *,
        gains: Gains = None,
        weights: str | None = None,
        n_jobs: int | None = None,
        measure: str | Callable = "ndcg_f",
    ) -> None:
        self.estimator = estimator
        self.gains = gains
        self.weights = weights
        self.n_jobs = n_jobs
        self.measure = measure

    @all_or_nothing
    def fit(self, X, y: ArrayLike, groups=None, **fit_params) -> OrdinalRanker:
        """Fit one classifier for each level but the highest.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Features of documents, rows in any order, as in :meth:`RankerMixin.fit`.
        y : array-like of shape (n_rows,)
            Labels; rows with a NaN label are left out, with a warning.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `y`, then on `X`.
            They are passed to classifiers whose `fit` accepts them, such as a search; other
            classifiers do not use queries.
        **fit_params
            Passed to the `fit` of the estimator inside, as in :meth:`RankerMixin.fit`.

        Returns
        -------
        self : OrdinalRanker
            The fitted ranker.

        Raises
        ------
        ValueError
            If a parameter is out of range, the classifier has no `predict_proba`, X and y have
            different lengths, a label is not a number and has no entry in `gains`, or no row is
            judged.
        """
        check_choice(self.weights, "weights", (None, "gain"))
        estimator = self._unfitted_inner()
        if not has_method(final_step(estimator), "predict_proba"):
            raise InputError(
                "estimator must be a classifier with predict_proba, got "
                f"{type(final_step(estimator)).__name__}: switch its probabilities on, or wrap it "
                "in CalibratedClassifierCV."
            )
        data = prepare_rows(
            estimator,
            X,
            y,
            self._find_groups(X, y, groups),
            gains=self.gains,
            target="gain",
            fit_params=self._inside_parameters(fit_params),
        )
        self.n_unjudged_ = data.n_unjudged
        note_documents(self, data.documents)
        self.levels_, is_above = levels_above(data.gains)
        steps = np.diff(self.levels_)
        self._step_weights = steps if self.weights == "gain" else np.ones(len(steps))
        targets = (each.astype(np.int64) for each in is_above)
        jobs = (delayed(replace(data, target=target).fit_on)(estimator) for target in targets)
        self.estimators_ = list(in_parallel(jobs, self.n_jobs, Parallel))
        return self

    def predict(self, X, groups=None) -> np.ndarray:
        """Score the rows of X.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Documents, as in `fit`.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `X`.

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            Scores, higher is better: from 0 to ``n_levels - 1``, or to the span of the gains with
            ``weights="gain"``. With one level, the score is its gain.
        """
        above = self.predict_level_proba(X, groups=groups)
        if len(self.levels_) == 1:
            return np.full(len(above), self.levels_[0])
        return above @ self._step_weights

    def predict_level_proba(self, X, groups=None) -> np.ndarray:
        """Compute the probability that each row's gain exceeds each level but the highest.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Documents, as in `fit`.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `X`.

        Returns
        -------
        ndarray of shape (n_rows, n_levels - 1), dtype float64
            Column i holds P(gain > ``levels_[i]``).
        """
        check_is_fitted(self)
        self._check_columns(X)
        groups = find_groups(groups, X)
        warn_of_cut_queries(self, groups)
        above = np.empty((count_rows(X), len(self.estimators_)))
        for column, classifier in enumerate(self.estimators_):
            check_columns(classifier, X)
            if not len(above):
                continue
            takes_groups = "groups" in inspect.signature(classifier.predict_proba).parameters
            wanted = {"groups": groups} if takes_groups else {}
            rows = in_library_form(classifier, X)
            above[:, column] = classifier.predict_proba(rows, **wanted)[:, 1]
        return above

    def _unfitted_inner(self):
        """Return the classifier that is cloned for each level."""
        return LogisticRegression() if self.estimator is None else self.estimator

    def _fitted_inner(self):
        """Return the first classifier, or None if there is only one level."""
        classifiers = getattr(self, "estimators_", None)
        return classifiers[0] if classifiers else None
