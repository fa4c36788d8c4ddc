"""CalibratedRanker: scores that are probabilities of a gain above 0."""

from typing import Any, Literal, Self

import numpy as np
from scipy.special import logit
from sklearn.base import BaseEstimator
from sklearn.metrics import roc_auc_score
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted

from skfilterrank._base.checks import check_choice
from skfilterrank._base.probabilities import (
    CALIBRATORS,
    LEAST_PROBABILITY,
    fit_calibrator,
    probabilities,
)
from skfilterrank._base.rounding import mean_tolerance
from skfilterrank._base.sklearn_compat import final_step
from skfilterrank._base.words import warn_user
from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._estimators.wrapping import WrappingRanker
from skfilterrank._lists.cut_queries import note_documents
from skfilterrank.exceptions import FitWarning, InputError
from skfilterrank.ranking._out_of_fold import (
    check_inner,
    is_prefit,
    out_of_fold,
    split_rows,
)
from skfilterrank.ranking._training_rows import learns_labels, prepare_rows

# Range of probabilities with finite log-odds; hidden rows get the lower end.
_LEAST, _MOST = np.finfo(np.float64).tiny, np.nextafter(1.0, 0.0)


class CalibratedRanker(WrappingRanker, BaseEstimator):
    """A ranker that turns any estimator's scores into the probability of a gain above 0.

    Scores of rankers have no fixed scale, and probabilities of classifiers are often too extreme.
    This class fits a rising curve from out-of-fold scores (query-grouped cross-validation) to
    probabilities. A threshold on probabilities has a meaning: 0.5 hides documents that are more
    likely bad than good.

    Parameters
    ----------
    estimator : estimator
        A classifier, a regressor, a ranker or a Pipeline that ends in one, as in
        :class:`RankAndFilter`. It learns its own target, such as the grade, and not only whether
        the gain is above 0.
    method : {"isotonic", "sigmoid"}, default="isotonic"
        The curve: any rising steps (isotonic regression), or a logistic curve (Platt scaling),
        which needs fewer rows.
    target : {"auto", "binary", "gain", "grade", "label"}, default="auto"
        Target of the estimator, as in :class:`RankAndFilter`.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`.
    cv : int, float, splitter, iterable, "prefit" or None, default=None
        Cross-validation that gives held-out scores. None: 5 folds by query. An int: that many
        folds. A float between 0 and 1: one split that holds out that share of the queries. A
        splitter or an iterable of (train, test) row numbers is used as it is. "prefit": `estimator`
        is fitted already, and all rows in `fit`, which it should not have seen, are used for the
        curve.
    refit : bool, default=True
        Whether to fit the estimator on all rows afterwards. False needs a `cv` with one split and
        keeps the model of that split.
    measure : str, default="ndcg_f"
        Measure that `score` returns: a name of the measure table such as "ndcg_f@10", or one of the
        measure functions.
    n_jobs : int or None, default=None
        Folds fitted at a time; results do not depend on it.
    verbose : int, default=0
        Above 0 shows the progress over folds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    calibrator_ : IsotonicRegression, Pipeline or DummyClassifier
        The fitted curve. With "sigmoid", a Pipeline that ends in a LogisticRegression, or a
        DummyClassifier if a constant is best.
    auc_ : float
        Area under the ROC curve of the held-out scores over all queries: the share of (good, bad)
        pairs of rows in the right order. NaN if all rows are good, or none.
    classes_ : ndarray of shape (2,), dtype int64
        0 and 1, the classes of the columns of :meth:`predict_proba`.
    n_unjudged_ : int
        Rows with a NaN label, which were left out.
    feature_importances_, coef_ : ndarray of shape (n_features_in_,), dtype float64
        Attributes of the last inner step, if it has them.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str
        Names of the columns of X, where it has some.

    See Also
    --------
    RankAndFilter : Finds the best threshold; with ``threshold=0.5`` around this, none is searched.
    sklearn.calibration.CalibratedClassifierCV : For classifiers without queries.

    Notes
    -----
    For scikit-learn this is a ranker, not a classifier: labels can have any gains, :meth:`predict`
    returns scores, and `score` measures lists. To select models by the probabilities, use a scorer
    of scikit-learn if `y` is 0 or 1: "roc_auc", "average_precision", "neg_log_loss" or
    "neg_brier_score". Before scikit-learn 1.9, these accept only classifiers.

    A curve never falls, so the order of the estimator's scores is kept. `fit` warns if held-out
    scores order good and bad rows significantly worse than at random; the curve is then almost
    constant.

    Finite data cannot show that an event is impossible. So the steps of isotonic regression [2]_
    are limited to the range between ``1 / (n + 2)`` and ``1 - 1 / (n + 2)``, n being the number of
    held-out rows. The logistic curve is fitted to Platt's targets [1]_, ``(n_good + 1) / (n_good +
    2)`` for good rows and ``1 / (n_bad + 2)`` for others. All probabilities differ from 0 and 1 by
    at least a millionth.

    A row that the estimator hides (score -inf) has probability 0, and keeps -inf in
    :meth:`predict`. Such rows are left out of the fit of the curve.

    The curve is the same for all queries. Scores of a ranker need not compare between queries;
    :func:`skfilterrank.thresholds.score_comparability` tells. Where they do not, probabilities are
    right on average over queries, but not within each query.

    References
    ----------
    .. [1] J. Platt. "Probabilistic Outputs for Support Vector Machines and Comparisons to
       Regularized Likelihood Methods". 1999.
    .. [2] B. Zadrozny, C. Elkan. "Transforming Classifier Scores into Accurate Multiclass
       Probability Estimates". KDD 2002.

    Examples
    --------
    >>> from lightgbm import LGBMRanker
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.ranking import CalibratedRanker, RankAndFilter
    >>> X, y, groups, _ = make_rank_and_filter(n_queries=200, random_state=0)
    >>> ranker = CalibratedRanker(LGBMRanker(n_estimators=10, n_jobs=1, verbose=-1))
    >>> probability = ranker.fit(X, y, groups=groups).predict_proba(X)[:, 1]
    >>> bool(0 < probability.min() < 0.5 < probability.max() < 1)
    True

    Hide documents that are more likely bad than good:

    >>> model = RankAndFilter(ranker, threshold=0.5, measure="ndcg_f@3").fit(X, y, groups=groups)
    >>> bool(model.score(X, y, groups=groups) > 0.7)
    True
    """

    calibrator_: Any
    auc_: float
    classes_: Any

    # By default, scikit-learn's metadata routing passes `groups`.
    __metadata_request__predict_proba = {"groups": True}  # noqa: RUF012
    __metadata_request__decision_function = {"groups": True}  # noqa: RUF012
    has_fixed_scale = True

    def __init__(
        self,
        estimator: Any,
        *,
        method: Literal["isotonic", "sigmoid"] = "isotonic",
        target: Literal["auto", "binary", "gain", "grade", "label"] = "auto",
        gains: Any = None,
        cv: Any = None,
        refit: bool = True,
        measure: str = "ndcg_f",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.target = target
        self.gains = gains
        self.cv = cv
        self.refit = refit
        self.measure = measure
        self.n_jobs = n_jobs
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X, y, groups=None, *, eval_set=None, eval_groups=None, **fit_params) -> Self:
        """Fit the estimator and the curve.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Features of documents, rows in any order, as in :meth:`RankerMixin.fit`.
        y : array-like of shape (n_rows,)
            Labels; rows with a NaN label are left out, with a warning.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `y`, then on `X`.
            Without query ids, each row is its own query, with a warning; rankers raise.
        eval_set : (X, y) or list of (X, y), default=None
            Held-out queries for early stopping, as in :meth:`RankerMixin.fit`.
        eval_groups : array-like or list of array-like, default=None
            Query ids of the rows of each held-out set.
        **fit_params
            Passed to the `fit` of the estimator inside, as in :meth:`RankerMixin.fit`.
            The curve ignores `sample_weight`.

        Returns
        -------
        self : CalibratedRanker
            The fitted model.

        Raises
        ------
        ValueError
            If a parameter is out of range, arrays have different lengths, a label has no gain, a
            ranker gets no query ids, a classifier gets only one class, all held-out rows are
            hidden, or there are fewer queries than folds.
        """
        check_choice(self.method, "method", tuple(CALIBRATORS))
        check_choice(self.refit, "refit", (True, False))
        check_inner(self)
        prefit = is_prefit(self.cv)
        data = prepare_rows(
            self.estimator,
            X,
            y,
            self._find_groups(X, y, groups),
            gains=self.gains,
            target=self.target,
            prefit=prefit,
            eval_set=eval_set,
            eval_groups=eval_groups,
            fit_params=self._inside_parameters(fit_params),
            without_groups="CalibratedRanker was given no query ids: each row counts as a "
            "separate query, so folds may divide queries.",
        )
        self.n_unjudged_ = data.n_unjudged
        note_documents(self, data.documents)
        as_labels = learns_labels(self.estimator, self.target, prefit=prefit)
        self._score_gains = self.gains if as_labels else None
        splits = split_rows(self, data)
        tuning = out_of_fold(self, self.estimator, data, self._score_gains, splits=splits)
        self.estimator_ = tuning.estimator
        self._fit_curve(tuning.scores, data.gains[tuning.rows])
        return self

    def predict(self, X, groups=None) -> np.ndarray:
        """Score the rows of X by the probability that their gain is above 0.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Documents, as in `fit`.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `X`.

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            Probabilities, -inf where the estimator hides the row. They are up to a millionth higher
            than those of :meth:`predict_proba`, in the order of the raw scores: isotonic regression
            gives many rows the same probability, so their order would be lost.
        """
        scores, good = self._scores_and_probabilities(X, groups)
        distance = (scores - self._center) / self._spread
        with np.errstate(invalid="ignore"):
            squeezed = 0.5 + 0.5 * distance / (1.0 + np.abs(distance))
        return np.where(scores == -np.inf, -np.inf, good + LEAST_PROBABILITY * squeezed)

    def predict_proba(self, X, groups=None) -> np.ndarray:
        """Compute the probability that the gain of each row is above 0, and that it is not.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Documents, as in `fit`.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `X`.

        Returns
        -------
        ndarray of shape (n_rows, 2), dtype float64
            Second column: P(gain > 0); 0 where the estimator hides the row.
        """
        _, good = self._scores_and_probabilities(X, groups)
        return np.column_stack([1.0 - good, good])

    def decision_function(self, X, groups=None) -> np.ndarray:
        """Compute finite log-odds that the gain of each row is above 0.

        Their order is that of :meth:`predict`.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Documents, as in `fit`.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `X`.

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            ``log(p / (1 - p))`` for the result p of :meth:`predict`: at least 0 where p is at least
            0.5. Rows that the estimator hides have about -708, below all other rows.
        """
        return logit(np.clip(self.predict(X, groups=groups), _LEAST, _MOST))

    def _fit_curve(self, scores, gains):
        """Fit the curve from held-out scores to labels."""
        counted = ~np.isnan(gains) & (scores > -np.inf)
        if not counted.any():
            raise InputError(
                f"{type(final_step(self.estimator_)).__name__} hides every judged held-out row "
                "(score -inf): there is nothing to fit probabilities to."
            )
        scores, good = scores[counted], gains[counted] > 0
        self._center, deviation = scores.mean(), scores.std()
        # Rounding can make the standard deviation of equal scores nonzero.
        self._spread = deviation if deviation > mean_tolerance(scores) else 1.0
        self.calibrator_ = fit_calibrator(self.method, scores, good)
        self.classes_ = np.array([0, 1])
        n_good, n_bad = np.count_nonzero(good), np.count_nonzero(~good)
        self.auc_ = float(roc_auc_score(good, scores)) if n_good and n_bad else np.nan
        # Three standard deviations of the area under the ROC curve of random scores.
        if self.auc_ < 0.5 - 3 * np.sqrt((n_good + n_bad + 1) / (12 * n_good * n_bad + 1)):
            warn_user(
                f"the held-out scores of {type(final_step(self.estimator_)).__name__} are worse "
                f"than chance: of all pairs, {100 * self.auc_:.0f} % have the good row before the "
                "bad one. Probabilities never fall with the score, so they are of little use; "
                "check the labels and {gains=}, or whether the score must be negated.",
                FitWarning,
                argument="gains=",
            )

    def _scores_and_probabilities(self, X, groups):
        """Compute raw scores, and P(gain > 0)."""
        check_is_fitted(self)
        scores = self._scores_inside(X, groups, self._score_gains)
        good = np.zeros(len(scores))
        is_scored = scores > -np.inf
        if is_scored.any():
            good[is_scored] = probabilities(self.calibrator_, scores[is_scored])
        return scores, good

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # For code that reads `predict_proba`; the estimator type is still not "classifier".
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags
