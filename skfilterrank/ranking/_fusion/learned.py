"""Learned linear fusion of several systems' scores."""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from skfilterrank._estimators.ranker_mixin import RankerMixin, all_or_nothing
from skfilterrank._estimators.wrapping import group_parameter
from skfilterrank._lists.checks import check_choice, check_groups, find_groups
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.sklearn_compat import final_step
from skfilterrank._lists.user_warnings import warn_user
from skfilterrank.exceptions import FitWarning, InputError, brief
from skfilterrank.ranking._coordinate_ascent import CoordinateAscentRanker
from skfilterrank.ranking._fusion.columns import FusionMixin
from skfilterrank.ranking._fusion.lists import FILTERED, is_filtered
from skfilterrank.ranking._fusion.scales import NORMALIZATIONS, normalized
from skfilterrank.ranking._training_rows import prepare_rows

LEARNERS = ("coordinate_ascent", "logistic")


class LinearRankFusion(FusionMixin, RankerMixin, BaseEstimator):
    """Fuse several systems' scores by weights learned from labels.

    Each column of X holds the scores of a system. They are brought to one scale within each query,
    and a linear model learns how much each system is worth.

    Parameters
    ----------
    learner : {"coordinate_ascent", "logistic"} or linear estimator, default="coordinate_ascent"
        What finds the weights: coordinate ascent on `measure` from equal weights, that is from
        CombSUM; logistic regression of ``gain > 0``; or any estimator that has `coef_` once it is
        fitted, such as ``Ridge(positive=True)``.
    measure : str, default="ndcg_f@10"
        What coordinate ascent optimizes, see :class:`CoordinateAscentRanker`, and what `score`
        measures, whatever the learner.
    normalize : {"minmax", "zscore", "max", "sum", "rank", "borda"} or None, default="minmax"
        How each system's scores for a query are brought to one scale, as in :func:`fuse_scores`.
    filtered : {"all", "any", "majority"}, default="all"
        Which rows are filtered whatever the weights, as in :func:`fuse_scores`.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`skfilterrank.metrics.ndcg_f_score`.
    random_state : int, RandomState instance or None, default=None
        Seed of coordinate ascent.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features_in_,), dtype float64
        Weight of each system's normalised scores. Of coordinate ascent, the common factor is
        arbitrary, and weights may be negative.
    intercept_ : float
        What is added to every score; 0.0 where the learner has none.
    learner_ : estimator
        The fitted learner.
    n_unjudged_ : int
        Rows with a NaN label, which were left out of the training.
    n_features_in_ : int
        Number of systems.
    feature_names_in_ : ndarray of shape (n_features_in_,), dtype object
        Names of the systems, where X is a DataFrame.

    See Also
    --------
    fuse_scores : Fusion without labels.
    RankFusion : The same as an estimator, whose method can be tuned.
    fuse_learned : Fuses runs or scores in one call, labelled queries by held-out weights.
    RankAndFilter : Adds a threshold.

    Notes
    -----
    NaN and -inf in X mean that the system does not retrieve the row, or filters it; it then adds
    nothing. A row that no system retrieves has the score -inf.

    Scores are normalised over all rows of a query that are given, in `fit` with unjudged rows
    among them. Inside a RankAndFilter, which leaves unjudged rows out before, training sees judged
    rows alone: label what is unjudged 0 there if most rows are. For the same reason `predict` wants
    whole queries.

    Where all gains are equal coordinate ascent gives all systems the weight 0, and
    logistic regression raises.

    References
    ----------
    .. [1] C. Vogt, G. Cottrell. "Fusion via a Linear Combination of Scores". Information Retrieval
       1(3), 1999.

    Examples
    --------
    >>> import numpy as np
    >>> from skfilterrank.metrics import ndcg_score
    >>> from skfilterrank.ranking import LinearRankFusion, fuse_scores
    >>> rng = np.random.default_rng(0)
    >>> groups, y = np.repeat(np.arange(50), 20), rng.integers(0, 3, size=1000)
    >>> noise = rng.normal(size=(1000, 3)) * [1, 2, 20]
    >>> X = y[:, None] + noise  # the third system knows next to nothing
    >>> fusion = LinearRankFusion(random_state=0).fit(X, y, groups=groups)
    >>> learned = ndcg_score(y, fusion.predict(X, groups=groups), groups=groups, k=10)
    >>> equal = fuse_scores(X, groups=groups, method="combsum")
    >>> bool(learned > ndcg_score(y, equal, groups=groups, k=10))
    True
    """

    needs_groups = True
    takes_unjudged = True

    def __init__(
        self,
        learner="coordinate_ascent",
        *,
        measure: str = "ndcg_f@10",
        normalize: str | None = "minmax",
        filtered: str = "all",
        gains: Gains = None,
        random_state=None,
    ):
        self.learner = learner
        self.measure = measure
        self.normalize = normalize
        self.filtered = filtered
        self.gains = gains
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X, y, groups=None) -> "LinearRankFusion":
        """Learn the weights.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_systems)
            Scores of each system, in any order of rows; NaN or -inf where it does not retrieve.
        y : array-like of shape (n_rows,)
            Labels; rows with a NaN label are not learned from, with a warning.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row, of any type. None looks for an index level "qid" on `y`, then on
            `X`. Where there is none, each row is its own query, with a warning: only with
            ``normalize=None`` and a learner that knows no queries.

        Returns
        -------
        self : LinearRankFusion
            The fitted fusion.

        Raises
        ------
        ValueError
            If a parameter is out of range, a score is +inf, arrays have different lengths, a label
            has no gain, no row is judged, query ids are missing, or the learner is not linear or
            cannot learn from this.
        """
        check_choice(self.normalize, "normalize", NORMALIZATIONS)
        check_choice(self.filtered, "filtered", FILTERED)
        learner = self._make_learner()
        scores = self._check_X(X, reset=True)
        groups = self._find_groups(X, y, groups)
        # What the weights are learned for, whatever the parameters are set to before the next fit.
        self._normalize, self._filtered = self.normalize, self.filtered
        if groups is None:
            self._check_single_rows(learner)
            groups = np.arange(len(scores))
        index = check_groups(groups, n_rows=len(scores))
        X = normalized(scores, index, self.normalize)
        data = prepare_rows(learner, X, y, index, gains=self.gains)
        self.n_unjudged_ = data.n_unjudged
        self.learner_ = data.fit(learner)
        self._read_weights()
        return self

    def predict(self, X, groups=None) -> np.ndarray:
        """Score the rows of X.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_systems)
            Scores of each system, whole queries in any order of rows.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `X`. Not needed with
            ``normalize=None``.

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            The weighted sum of the normalised scores, plus the intercept; -inf where filtered.

        Raises
        ------
        ValueError
            If query ids are missing, a score is +inf, or the number of systems is another.
        """
        check_is_fitted(self)
        scores = self._check_X(X, reset=False)
        groups = find_groups(groups, X)
        if not len(scores):
            return np.empty(0)
        if groups is None and self._normalize is None:
            groups = np.arange(len(scores))
        index = check_groups(groups, n_rows=len(scores), carrier="X as a DataFrame")
        fused = normalized(scores, index, self._normalize) @ self.coef_ + self.intercept_
        fused[is_filtered(scores > -np.inf, self._filtered)] = -np.inf
        return fused

    def _make_learner(self):
        """The unfitted learner."""
        if isinstance(self.learner, str):
            check_choice(self.learner, "learner", LEARNERS)
            if self.learner == "logistic":
                return LogisticRegression(max_iter=1000)
            return CoordinateAscentRanker(
                measure=self.measure, init="uniform", random_state=self.random_state
            )
        if isinstance(self.learner, type) or not hasattr(self.learner, "fit"):
            raise InputError(
                "learner must be 'coordinate_ascent', 'logistic' or a linear estimator, got "
                f"{brief(self.learner)}."
            )
        return self.learner

    def _check_single_rows(self, learner):
        """Without query ids, only a learner of single rows of comparable scores learns anything."""
        has_order = group_parameter(final_step(learner)) is not None
        if has_order or self.normalize is not None:
            why = (
                f"{type(final_step(learner)).__name__} orders the documents of a query"
                if has_order
                else f"normalize={brief(self.normalize)} compares the scores of a query's documents"
            )
            raise InputError(
                f"groups is missing: {why}. Pass groups=, the query id of each row, or give y as a "
                "pandas Series whose index has a level named 'qid'; or use normalize=None and "
                "learner='logistic', which learns from single documents."
            )
        warn_user(
            "LinearRankFusion was given no query ids: each row is its own query, and its scores "
            "are learned from as they are. Pass groups=, the query id of each row, or give y an "
            "index level named 'qid'.",
            FitWarning,
        )

    def _read_weights(self):
        """Weights and intercept of the fitted learner."""
        coef = np.ravel(getattr(self.learner_, "coef_", ()))
        if coef.shape != (self.n_features_in_,):
            raise InputError(
                "learner must be a linear estimator, which has a coef_ with one weight for each of "
                f"the {self.n_features_in_} systems once it is fitted; "
                f"{type(final_step(self.learner_)).__name__} has not."
            )
        self.coef_ = coef.astype(np.float64)
        # What CoordinateAscentRanker compares with is subtracted from its scores.
        intercept = getattr(self.learner_, "intercept_", -getattr(self.learner_, "threshold_", 0.0))
        self.intercept_ = float(np.ravel(intercept)[0])
