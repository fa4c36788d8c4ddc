"""RankAndFilter: an estimator that ranks, with a threshold that hides documents."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils.validation import check_is_fitted

from skfilterrank._base.checks import check_choice, check_container, count_rows, is_level
from skfilterrank._base.sklearn_compat import final_step, fitted_end
from skfilterrank._base.words import counted, warn_user
from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._estimators.responses import document_scores, has_method
from skfilterrank._estimators.wrapping import WrappingRanker, estimators_inside, needs_groups
from skfilterrank._lists.cut_queries import count_known_queries, note_documents
from skfilterrank._lists.gains import (
    Gains,
    TwoLabels,
    has_two_labels,
    labels_in_one_column,
    read_two_labels,
)
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.queries import check_one_order, find_groups
from skfilterrank._lists.scoring import QueryWeight, query_weights
from skfilterrank.exceptions import FitWarning, InputError, Message, brief
from skfilterrank.ranking._out_of_fold import (
    check_inner,
    is_prefit,
    out_of_fold,
    scores_are_gains,
    split_rows,
)
from skfilterrank.ranking._training_rows import learns_labels, prepare_rows
from skfilterrank.thresholds import (
    APPROXIMATE,
    FILTER_SCORE,
    SCORE,
    UNSEEN,
    BaseThreshold,
    CertifiedThreshold,
    FixedThreshold,
    JudgedScores,
    TunedThreshold,
)

# Attributes of the fitted threshold that the model has, too.
_OF_THRESHOLD = (
    "threshold_",
    "threshold_curve_",
    "certificate_",
    "best_score_",
    "held_out_",
    "summary_",
    "list_sizes_",
    "comparability_",
)
# Number of forbidden rows below which a warning is given.
_FEW_FORBIDDEN = 50


class RankAndFilter(WrappingRanker, BaseEstimator):
    """Ranker that sorts documents by an estimator's score and hides those below a threshold.

    The estimator is fitted on judged (query, document) rows. The threshold is fitted on out-of-fold
    scores from query-grouped cross-validation. By default it maximises a measure exactly.

    Parameters
    ----------
    estimator : estimator
        A classifier (learns which gains are above 0 and scores by their probability), a regressor
        (learns the gain), a ranker such as LGBMRanker, XGBRanker, CatBoostRanker or
        LambdaRankRanker (learns the order of the gains), or a Pipeline that ends in one. Scores of
        a ranker need not compare between queries, as one threshold assumes; `comparability_`
        tells. Where there are scores already, fit a threshold such as :class:`TunedThreshold` on
        them instead.
    threshold : "tune", "better", float, None or threshold estimator, default="tune"
        "tune" is the best threshold on the score for `measure`; "better" takes that threshold,
        everything, nothing, the first k or hiding below 0, whichever has the highest value in
        `held_out_`. A float is used as it is; None shows all. A threshold estimator of
        :mod:`skfilterrank.thresholds`, such as ``TunedThreshold(max_shown=10)`` or
        ``CertifiedThreshold({"any_forbidden@5": 0.1})``, is cloned and fitted; searches reach its
        parameters as ``threshold__max_shown``.
    filter_estimator : estimator or None, default=None
        A second model, which learns which documents to hide: a classifier (by the probability of a
        gain below 0) or a regressor (of 1 where the gain is below 0). `estimator` then counts
        forbidden documents as gain 0, and the `rule` of the threshold determines what is hidden and
        how lists are ordered. With the rule "ratio", lists are ordered by
        the expected gain from both models, which falls with the probability of harm. With "harm",
        lists are ordered by the score of `estimator`.
    measure : str, default="ndcg_f"
        Measure that :meth:`score` returns, and that the threshold maximises unless it has a measure
        of its own: a name of the measure table such as "ndcg_f@10", or a measure function.
    target : {"auto", "binary", "gain", "grade", "label"}, default="auto"
        Target of the estimator. "binary": 1 where the gain is above 0. "gain": the gain. "grade":
        the rank of the gain among the distinct gains, 0 for the lowest. "label": the label as it
        is. "auto" decides by the kind of estimator.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`. Gains below 0
        mark forbidden documents. If `estimator` has a parameter `gains`, too, set only this one:
        the inner estimator gets gains instead of labels.
    cv : int, float, splitter, iterable, "prefit" or None, default=None
        Cross-validation that gives out-of-fold scores. None: 5 folds by query, with a
        CertifiedThreshold one split that holds out 0.3 of the queries. An int: that many folds. A
        float between 0 and 1: one split that holds out that share of the queries. These queries are
        drawn by their content: neither ids nor the order of rows change the folds. A splitter or an
        iterable of (train, test) row numbers is used as it is; a query that it holds out several
        times counts several times, and a query that it never holds out, such as the oldest ones of
        :class:`QueryTimeSeriesSplit`, does not count. "prefit": the estimators are fitted already,
        and all rows given to `fit` are used for the threshold.
    refit : bool or "auto", default="auto"
        Whether to fit the estimators on all rows after the threshold is found. False needs a `cv`
        of one split and keeps that split's models. "auto" refits, except where a
        CertifiedThreshold has one split.
    n_jobs : int or None, default=None
        Folds fitted at a time; results do not depend on it.
    verbose : int, default=0
        Above 0 shows the progress over folds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    filter_estimator_ : estimator
        The fitted second model. Only with `filter_estimator`.
    filter_ : threshold estimator
        The fitted threshold, which hides documents.
    threshold_ : float or None
        Rows with ``score >= threshold_`` are shown, apart from caps; None where each query has its
        own threshold.
    threshold_curve_ : ThresholdCurve
        The measure at every threshold, over all out-of-fold scores.
    certificate_ : RiskCertificate
        The certificate of a CertifiedThreshold; `str` gives it in words.
    best_score_ : float
        The measure of the out-of-fold scores at the chosen threshold, negated where lower is
        better. It is optimistic for new queries where the threshold was chosen on these scores.
    held_out_ : DataFrame
        The measure of held-out queries by the threshold and by answers that need none, with paired
        differences and intervals, as in :class:`skfilterrank.thresholds.TunedThreshold`; "hide
        below 0" is among them if the estimator is a regressor of the gain. `fit` warns unless the
        threshold beats everything, nothing and the first k by a standard error of the difference,
        or equals the best of them for every query. Not set with a CertifiedThreshold, nor where
        `threshold` is None, a number or a FixedThreshold.
    summary_ : str
        A line with the shares of documents, good ones and forbidden ones that are shown, and the
        values of `held_out_`, as in :class:`skfilterrank.thresholds.TunedThreshold`; with "better"
        also which answer was kept. Not set where `threshold` is None, a number or a FixedThreshold;
        without held-out values with a CertifiedThreshold.
    list_sizes_ : ndarray of shape (2,), dtype float64
        Quantiles (5 % and 95 %) of the sizes of the lists on which the threshold was chosen.
    comparability_ : ScoreComparability
        Whether out-of-fold scores compare between queries, by
        :func:`skfilterrank.thresholds.score_comparability`. Set where `held_out_` can be.
    measure_ : str
        Name of `measure` with its cut-off.
    cv_results_ : dict of ndarrays of shape (n_folds,)
        For each fold "n_queries", "fit_time" and "score_time" in seconds, and "test_score" at the
        chosen threshold.
    n_unjudged_ : int
        Number of rows with a NaN label, which are scored but not used for training.
    feature_importances_, coef_ : ndarray of shape (n_features_in_,), dtype float64
        Attributes of the last inner step, if it has them.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str
        Names of the columns of X, where it has some.

    See Also
    --------
    skfilterrank.thresholds.TunedThreshold : The threshold alone, for scores from anywhere.
    skfilterrank.thresholds.CertifiedThreshold : The threshold with a certificate.
    skfilterrank.metrics.make_ranking_scorer : Scorers for GridSearchCV.

    Notes
    -----
    The learning to rank and filter framework of section 5 in [1]_; there the threshold is tuned
    on one validation set. Without query ids, `fit` treats each row as a query (pure filtering),
    with a warning. Estimators that learn within queries, and a CertifiedThreshold, raise then.

    **Two labels.** With `filter_estimator`, `y` may have two columns: relevance, and harm, 0 for a
    harmless document. A document of harm above 0 has the gain ``-harm``, any other the gain of its
    relevance. Each model learns from the rows whose label is not NaN.

    **Certificates.** A certificate is exact where the model in use has scored the calibration
    queries without having seen them: with one split and without refit, as by default, or with
    ``cv="prefit"`` and queries that the estimator was not fitted on. With several folds, or
    ``refit=True``, the models that were calibrated are replaced by a model fitted on all rows. This
    uses more training and calibration queries, but the certificate is then only an approximation
    without proof, and ``certificate_.facts["exact"]`` is False.

    Two things are not checked: whether a "prefit" estimator was fitted on the calibration queries,
    and whether a search chose settings on the same queries. Choose settings on some queries, and
    fit the chosen model on others.

    Other parameters of `fit` are passed to `estimator`. Parameters with one entry per row are
    divided by fold. Rankers with early stopping get ``eval_set=[(X, y)]`` and
    ``eval_groups=[groups]`` in the form that they need. In a Pipeline, "step__parameter" names the
    step and plain names go to the last.

    The best single threshold depends on the lengths of lists, since nDCG_f is normalised within
    each query. So `predict` warns if more than a quarter of at least 30 lists are clearly shorter
    or longer than the lists on which the threshold was chosen. If scores compare between
    queries (`comparability_`), ``threshold=ExpectedThreshold()`` adapts to the length.

    Rows may come in any order, but LightGBM's, XGBoost's and CatBoost's rankers break ties and draw
    by the order of rows, so another order gives other trees and scores. Queries come in the order
    of their first rows, whatever they are called.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022, https://doi.org/10.1145/3477495.3532006.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.ranking import RankAndFilter
    >>> from skfilterrank.thresholds import CertifiedThreshold, TunedThreshold
    >>> X, y, groups, _ = make_rank_and_filter(n_queries=400, random_state=0)
    >>> model = RankAndFilter(LogisticRegression(), measure="ndcg_f@3")
    >>> model.fit(X, y, groups=groups).predict(X)[:3].round(2)  # -inf where hidden
    array([...])
    >>> model.rank(X, groups=groups)[:3]  # places in each query's list, 0 where hidden
    array([...])

    Three documents at most:

    >>> model = RankAndFilter(LogisticRegression(), TunedThreshold(max_shown=3), measure="ndcg_f@3")
    >>> int(model.fit(X, y, groups=groups).rank(X, groups=groups).max())
    3

    At most one query in ten is to show a forbidden document in its top 3:

    >>> safe = CertifiedThreshold({"any_forbidden@3": 0.1}, confidence_level=0.9)
    >>> model = RankAndFilter(LogisticRegression(), safe, measure="ndcg_f@3")
    >>> print(model.fit(X, y, groups=groups).certificate_)
    With confidence 0.9, the share of queries with a forbidden document in the shown top 3 is at
    most 0.1 on new queries, at threshold ...: on 120 calibration queries it is ...
    """

    filter_estimator_: Any
    filter_: Any
    threshold_: float | Any
    threshold_curve_: Any
    certificate_: Any
    best_score_: float
    held_out_: Any
    summary_: str
    list_sizes_: Any
    comparability_: Any
    measure_: str
    cv_results_: Any

    __metadata_request__fit = {  # noqa: RUF012
        "query_weight": True,
    }

    def __init__(
        self,
        estimator: Any,
        threshold: Any = "tune",
        *,
        filter_estimator: Any = None,
        measure: str = "ndcg_f",
        target: str = "auto",
        gains: Gains = None,
        cv: Any = None,
        refit: bool | str = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.filter_estimator = filter_estimator
        self.measure = measure
        self.target = target
        self.gains = gains
        self.cv = cv
        self.refit = refit
        self.n_jobs = n_jobs
        self.verbose = verbose

    def set_params(self, **params) -> Self:
        """Set parameters of the model, of its estimators and of its threshold.

        Parameters
        ----------
        **params
            Parameters; ``threshold__max_shown`` is that of a threshold estimator.

        Returns
        -------
        self : RankAndFilter
            The model.
        """
        threshold = params.get("threshold", self.threshold)
        nested = [name for name in params if name.startswith("threshold__")]
        if nested and not isinstance(threshold, BaseThreshold):
            raise InputError(
                f"{nested[0]} is a parameter of a threshold estimator, but threshold is "
                f"{brief(threshold)}. Give one, such as threshold=TunedThreshold()."
            )
        return super().set_params(**params)

    @all_or_nothing
    def fit(
        self,
        X,
        y,
        groups=None,
        *,
        query_weight: QueryWeight = None,
        eval_set=None,
        eval_groups=None,
        **fit_params,
    ) -> Self:
        """Fit the estimator and find the threshold.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Features of documents, rows in any order, as in :meth:`RankerMixin.fit`.
        y : array-like of shape (n_rows,), or (n_rows, 2) with `filter_estimator`
            Labels. Rows with a NaN label train nothing, with a warning; the threshold is chosen on
            lists in which they have the gain 0. Two columns are relevance and harm, see Notes.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `y`, then on `X`.
        eval_set : (X, y) or list of (X, y), default=None
            Held-out queries for early stopping, as in :meth:`RankerMixin.fit`.
        eval_groups : array-like or list of array-like, default=None
            Query ids of the rows of each held-out set.
        query_weight : dict, Series or array-like of shape (n_rows,), default=None
            Weight of each query in the mean that the threshold maximises, as in
            :func:`skfilterrank.metrics.ndcg_f_score`. The estimator does not get it.
        **fit_params
            Passed to the `fit` of the estimator inside, as in :meth:`RankerMixin.fit`.

        Returns
        -------
        self : RankAndFilter
            The fitted model.

        Raises
        ------
        ValueError
            If a parameter is out of range, arrays have different lengths, a label has no gain, a
            ranker or a CertifiedThreshold gets no query ids, a classifier gets only one class, or
            there are fewer queries than folds, or than a certificate needs.
        """
        threshold = self._check_parameters()
        for name in (*_OF_THRESHOLD, "filter_", "filter_estimator_", "cv_results_"):
            self.__dict__.pop(name, None)
        self.measure_ = parse_measure(self.measure).text
        rows, harm = self._read_rows(threshold, X, y, groups, eval_set, eval_groups, fit_params)
        threshold.check_weights(query_weight, n_more=int(harm is not None))
        if isinstance(threshold, FixedThreshold):
            self.estimator_ = self.estimator if self._is_prefit else rows.fit_on(self.estimator)
            threshold.fit()
        else:
            how: dict[str, Any] = {"calibrates": threshold.is_calibrated}
            how["splits"] = split_rows(self, rows, **how)
            # Each split is fitted and scored, and the final model is fitted.
            tuning = out_of_fold(self, self.estimator, rows, self._score_gains, **how)
            self.estimator_ = tuning.estimator
            columns = {name: x[tuning.rows] for name, x in threshold.columns_of(rows.X).items()}
            if harm is not None:
                second = out_of_fold(self, self.filter_estimator, harm, None, **how)
                self.filter_estimator_, columns = second.estimator, {FILTER_SCORE: second.scores}
            self._cut(threshold, rows, tuning, columns, query_weight)
        self.filter_ = threshold
        for name in _OF_THRESHOLD:
            if name in vars(threshold):
                setattr(self, name, vars(threshold)[name])
        return self

    @property
    def _is_prefit(self):
        return is_prefit(self.cv)

    def _check_parameters(self) -> BaseThreshold:
        """Check the parameters; return the unfitted threshold."""
        if isinstance(self.estimator, str) and self.estimator == "passthrough":
            raise InputError(
                "estimator must be an estimator, got 'passthrough'. Where there are scores "
                "already, fit a threshold such as skfilterrank.thresholds.TunedThreshold on them."
            )
        check_inner(self)
        check_choice(self.refit, "refit", (True, False, "auto"))
        threshold = make_threshold(self.threshold)
        if threshold.measure is None:
            threshold.set_params(measure=self.measure)
        threshold.check_parameters()
        if threshold.gains is not None and threshold.gains != self.gains:
            raise InputError(
                f"threshold has gains={brief(threshold.gains)} of its own, but RankAndFilter gives "
                "it gains. Set gains on RankAndFilter alone."
            )
        if self.filter_estimator is not None:
            check_filter_estimator(self.filter_estimator)
            if not isinstance(threshold, TunedThreshold | CertifiedThreshold):
                raise InputError(
                    f"filter_estimator has no effect with {type(threshold).__name__}, which looks "
                    "at one score. Use threshold='tune' or a CertifiedThreshold, or leave it out."
                )
            if self.target == "label":
                raise InputError(
                    "target='label' is not possible with filter_estimator, whose other model "
                    "learns gains from 0 up. Use another target."
                )
        return threshold

    def _read_rows(self, threshold, X, y, groups, eval_set, eval_groups, fit_params) -> tuple:
        """Check the arguments of `fit`; return the rows for each of the two models."""
        groups = self._find_groups(X, y, groups)
        check_one_order(y=y, X=X)
        threshold.fitted_with_groups_ = self.fitted_with_groups_
        if groups is None and threshold.is_calibrated:
            threshold.rows_as_queries(0)
        has_two = self.filter_estimator is not None
        if not has_two and has_two_labels(y):
            raise InputError(
                "y has two columns, as for two models, and filter_estimator= is None: give the "
                "model of harm as filter_estimator, or one column of labels."
            )
        two = read_two_labels(y, self.gains) if has_two else None
        are_told = has_two and np.ndim(y) == 2
        rows = prepare_rows(
            self.estimator,
            X,
            y if two is None else two.relevance,
            groups,
            gains=self.gains if two is None else None,
            target=self.target,
            prefit=self._is_prefit,
            eval_set=eval_set,
            eval_groups=eval_groups,
            fit_params=self._inside_parameters(fit_params),
            taught=("relevance", "estimator") if are_told else None,
            without_groups="RankAndFilter was fitted without query ids: each row counts as a query "
            "(pure filtering).",
        )
        self.n_unjudged_ = rows.n_unjudged
        note_documents(self, rows.documents)
        as_labels = not has_two and learns_labels(
            self.estimator, self.target, prefit=self._is_prefit
        )
        self._score_gains = self.gains if as_labels else None
        rows = replace(rows, carriers={"y": y, "X": X})
        if two is None:
            return rows, None
        taught = ("harm", "filter_estimator") if are_told else None
        return replace(rows, gains=two.gains, labels=two.gains), self._read_harm(rows, two, taught)

    def _read_harm(self, rows, two: TwoLabels, taught):
        """Return the rows for the second model."""
        if not (self._is_prefit or np.nanmax(two.harm, initial=0.0) > 0):
            raise InputError(
                "no row is forbidden, so filter_estimator has nothing to learn: check y and gains= "
                "(a gain below 0, or a harm above 0, forbids), or leave filter_estimator out."
            )
        harm = prepare_rows(
            self.filter_estimator,
            rows.X,
            two.harm,
            rows.index,
            gains=None,
            prefit=self._is_prefit,
            taught=taught,
        )
        n_forbidden = int(np.nansum(two.harm))
        if not self._is_prefit and n_forbidden < _FEW_FORBIDDEN:
            warn_user(
                f"filter_estimator learns from {counted(n_forbidden, 'forbidden row')}, fewer than "
                f"{_FEW_FORBIDDEN}: what it hides may be chance. Judge more forbidden documents.",
                FitWarning,
            )
        return harm

    def _cut(self, threshold, rows, tuning, columns, query_weight):
        """Fit the threshold on out-of-fold scores, and note the results of the folds."""
        try:
            judged = _judged_scores(rows, tuning, columns, query_weight)
            has_one = FILTER_SCORE not in columns
            are_gains = has_one and scores_are_gains(self.estimator, self.target)
            threshold.fit_judged(replace(judged, are_gains=are_gains))
        except ValueError as error:
            if threshold.is_calibrated and tuning.times:
                queries = counted(tuning.lists.n_queries, "query")
                own = f"cv={brief(self.cv)}"
                note = f"{{{own}}} gives {queries} to calibrate on."
                error.add_note(Message(note, own))
            raise
        if threshold.is_calibrated:
            self._qualify_certificate(threshold, rows, tuning)
        found = vars(threshold).pop("fold_results_", {})
        self.cv_results_ = {}
        if tuning.times:
            self.cv_results_ = {"n_queries": found.pop("n_queries")} | tuning.times | found

    def _qualify_certificate(self, threshold, rows, tuning):
        """State in the certificate whether it holds exactly."""
        fitted = []
        if self._is_prefit:
            for inner in (self.estimator, self.filter_estimator):
                if inner is not None:
                    fitted += [fitted_end(inner), *estimators_inside(inner)]
        n_known = count_known_queries(fitted, rows.documents)
        if n_known:
            warn_user(
                f"{n_known} of {tuning.lists.n_queries} calibration queries are queries that the "
                "estimator was fitted on, so the certificate need not hold for new ones. "
                "Calibrate on other queries.",
                FitWarning,
            )
        certificate = threshold.certificate_
        if not tuning.is_calibrated or n_known:
            certificate = certificate.with_conditions(APPROXIMATE)
        if not self._is_prefit:
            certificate = certificate.with_conditions(UNSEEN._replace(value=False, sentence=""))
        threshold.certificate_ = certificate

    def predict(self, X, groups=None) -> np.ndarray:
        """Score the rows of X, -inf where hidden.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Documents, as in `fit`.
            All documents of each query, if the threshold depends on whole lists, such as a cap.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `X`; without one, a
            threshold with a cap or one that depends on whole lists takes all rows as one query. If
            `fit` got no query ids, each row is a query.

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            Scores, higher is better, -inf where hidden.
        """
        return self._filtered("predict", X, groups)

    def decision_function(self, X, groups=None) -> np.ndarray:
        """Return finite margins, at least 0 exactly where the row is shown.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Documents, as in `fit`.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `X`.

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            Score minus threshold, as in :meth:`TunedThreshold.decision_function`.
        """
        return self._filtered("decision_function", X, groups)

    def rank(self, X, groups=None) -> np.ndarray:
        """Rank the rows of each query; 1 is the first document, 0 is hidden.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Documents, as in `fit`.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `X`; without one, all rows
            are one query.

        Returns
        -------
        ndarray of shape (n_rows,), dtype int64
            Places. Rows with equal scores keep their order. Empty if X has no rows.
        """
        check_is_fitted(self)
        check_container(X)
        if not count_rows(X):
            return np.empty(0, dtype=np.int64)
        return self._filtered("rank", X, groups)

    def answers(self, X, groups=None) -> dict[str, np.ndarray]:
        """Return what the answers without a threshold show of new rows.

        Parameters
        ----------
        X, groups
            As in :meth:`predict`.

        Returns
        -------
        dict of str to ndarray of shape (n_rows,), dtype float64
            Scores, -inf where an answer hides the row, as :meth:`TunedThreshold.answers` gives
            them; :func:`skfilterrank.metrics.rank_filter_report` compares them.
        """
        return self._filtered("answers", X, groups)

    def why_hidden(self, X, groups) -> tuple[np.ndarray, np.ndarray]:
        """Return the margin of each row of whole lists, and why it is hidden."""
        return self.decision_function(X, groups), self._filtered("why_hidden", X, groups)[1]

    def _filtered(self, method, X, groups):
        """Apply the threshold to the scores of the rows."""
        groups = find_groups(groups, X)
        _, given = self._scored(X, groups)
        if groups is None and isinstance(X, pd.DataFrame | pd.Series):
            # The index tells a threshold if the rows are of several queries.
            frame = pd.Series if given.ndim == 1 else pd.DataFrame
            given = frame(given).set_axis(X.index)
        return getattr(self.filter_, method)(given, groups=groups)

    def _scored(self, X, groups):
        """Score rows; return also the scores with the columns that the threshold reads."""
        check_is_fitted(self)
        scores = self._scores_inside(X, groups, self._score_gains)
        # Decided in `fit`, even if `filter_estimator` was changed since.
        if hasattr(self, "filter_estimator_"):
            harm = harm_scores(self.filter_estimator_, X, groups)
            return scores, np.column_stack([scores, harm])
        columns = self.filter_.columns_of(X)
        return scores, pd.DataFrame({SCORE: scores} | columns) if columns else scores

    def _scores_and_thresholds(self, X, groups):
        """Score rows; return also the threshold of each row, or None without one on the score."""
        groups = find_groups(groups, X)
        scores, given = self._scored(X, groups)
        if hasattr(self, "filter_estimator_"):
            return scores, None
        return scores, self.filter_.thresholds_of_rows(given, groups)

    def _labels_to_score(self, y):
        return labels_in_one_column(y, self.gains)

    def _score_measure(self):
        """Return the measure of the last fit, even if `set_params` changed `measure`."""
        return parse_measure(self.measure_)


def _judged_scores(rows, tuning, columns, query_weight) -> JudgedScores:
    """Join out-of-fold scores with labels and queries for a threshold."""
    held_out, n_queries = tuning.rows, rows.n_queries
    queries = tuning.lists.query_ids % n_queries
    lists = RankedLists(rows.gains[held_out], tuning.scores, groups=tuning.lists)
    if query_weight is not None:
        weights = query_weights(query_weight, rows.index)
        if weights is not None:
            of_query = np.empty(n_queries)
            of_query[rows.groups] = weights[rows.index.codes()]
            lists = lists.replace(weights=of_query[queries])
    return JudgedScores(
        lists,
        queries,
        np.column_stack([np.empty((len(held_out), 0)), *columns.values()]),
        list(columns),
        folds=tuning.lists.query_ids // n_queries if tuning.times else None,
        names=(rows.ids[held_out], held_out) if lists.has_unjudged else None,
        # Out-of-fold scores may differ in spread from scores of the model fitted on all rows.
        watches_scale=False,
    )


def make_threshold(threshold) -> BaseThreshold:
    """Make the unfitted threshold for the parameter `threshold`."""
    if isinstance(threshold, BaseThreshold):
        return clone(threshold)
    if isinstance(threshold, str) and threshold in ("tune", "better"):
        return TunedThreshold(measure=None, keep_if="better" if threshold == "better" else None)
    if threshold is None or is_level(threshold):
        return FixedThreshold(threshold, measure=None)
    raise InputError(
        "threshold must be 'tune', 'better', a number, None or a threshold estimator such as "
        f"skfilterrank.thresholds.TunedThreshold(), got {brief(threshold)}."
    )


def check_filter_estimator(estimator) -> None:
    """Raise a ValueError if the second model is not supported."""
    final = final_step(estimator)
    if isinstance(final, type) or not (hasattr(final, "fit") and has_method(final, "predict")):
        raise InputError(
            "filter_estimator must be a classifier or a regressor that learns what is forbidden, "
            f"got {brief(final)}."
        )
    if needs_groups(estimator):
        raise InputError(
            f"filter_estimator must be a classifier or a regressor, got {brief(final)}, which "
            "learns an order within queries. The probability of harm must be comparable across "
            "queries."
        )


def harm_scores(estimator, X, groups) -> np.ndarray:
    """Score rows with a fitted second model, higher for documents to hide."""
    final = final_step(estimator)
    classes = getattr(estimator, "classes_", None)
    if is_classifier(final) and classes is not None and len(classes) == 1:
        raise InputError(
            f"filter_estimator has only seen the label {brief(classes[0])}, so it cannot learn "
            "what is forbidden. Pass rows of both kinds."
        )
    return document_scores(estimator, X, groups=groups).astype(np.float64, copy=False)
