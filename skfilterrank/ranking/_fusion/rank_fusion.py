"""Fusion without learning as an estimator, so that its method can be tuned."""

from collections.abc import Callable

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from skfilterrank._estimators.ranker_mixin import RankerMixin, all_or_nothing
from skfilterrank._lists.checks import check_groups, find_groups
from skfilterrank._lists.gains import Gains, as_gains
from skfilterrank.exceptions import InputError
from skfilterrank.ranking._fusion.columns import FusionMixin
from skfilterrank.ranking._fusion.lists import check_fusion, check_weights, fuse


class RankFusion(FusionMixin, RankerMixin, BaseEstimator):
    """Fuse several systems' scores by a fixed method.

    Each column of X holds the scores of a system. `fit` learns nothing but their number; it is
    there so that scikit-learn's searches can choose method, normalisation, constants and weights
    by grouped cross-validation for any measure.

    Parameters
    ----------
    method, normalize, rrf_k, persistence, weights, filtered
        As in :func:`fuse_scores`; `weights` as a dict goes by the column names of X.
    measure : str, default="ndcg_f@10"
        What `score` measures.
    gains : None, "exp2", dict or callable, default=None
        How `score` turns a label into a gain, as in :func:`skfilterrank.metrics.ndcg_f_score`.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features_in_,), dtype float64
        Weight of each system.
    n_features_in_ : int
        Number of systems.
    feature_names_in_ : ndarray of shape (n_features_in_,), dtype object
        Names of the systems, where X is a DataFrame.

    See Also
    --------
    fuse_scores : The formulas.
    LinearRankFusion : Learns the weights.
    fuse_learned : Tunes and fuses runs or scores in one call, labelled queries held out.

    Notes
    -----
    NaN and -inf in X mean that the system does not retrieve the row, or filters it.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.model_selection import GridSearchCV, GroupKFold
    >>> from skfilterrank.metrics import make_ranking_scorer
    >>> from skfilterrank.ranking import RankFusion
    >>> rng = np.random.default_rng(0)
    >>> groups = np.repeat(np.arange(50), 20)
    >>> y = pd.Series(rng.integers(0, 3, size=1000), index=pd.Index(groups, name="qid"))
    >>> X = y.to_numpy()[:, None] + rng.normal(size=(1000, 3)) * [1, 2, 2]
    >>> search = GridSearchCV(
    ...     RankFusion(),
    ...     {"method": ["rrf", "combsum", "combmax"], "weights": [[1, 1, 1], [2, 1, 1]]},
    ...     scoring=make_ranking_scorer("ap"),
    ...     cv=GroupKFold(5),
    ... )
    >>> search.fit(X, y, groups=groups).best_params_
    {'method': 'combsum', 'weights': [2, 1, 1]}
    """

    needs_groups = True
    takes_unjudged = True

    def __init__(
        self,
        method: str = "rrf",
        *,
        normalize: str | None = "minmax",
        rrf_k: float = 60,
        persistence: float = 0.8,
        weights=None,
        filtered: str = "all",
        measure: str | Callable = "ndcg_f@10",
        gains: Gains = None,
    ):
        self.method = method
        self.normalize = normalize
        self.rrf_k = rrf_k
        self.persistence = persistence
        self.weights = weights
        self.filtered = filtered
        self.measure = measure
        self.gains = gains

    @all_or_nothing
    def fit(self, X, y, groups=None) -> "RankFusion":
        """Check the parameters, and take down the number of systems.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_systems)
            Scores of each system; NaN or -inf where it does not retrieve.
        y : array-like of shape (n_rows,)
            Labels, which are not learned from.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `y`, then on `X`.

        Returns
        -------
        self : RankFusion
            The fitted fusion.

        Raises
        ------
        ValueError
            If a parameter is out of range, a score is +inf, arrays have different lengths, a label
            has no gain, or query ids are missing.
        """
        settings = check_fusion(
            self.method, self.normalize, self.rrf_k, self.persistence, self.filtered
        )
        groups = self._find_groups(X, y, groups)
        scores = self._check_X(X, reset=True)
        n_labels = len(as_gains(y, self.gains, name="y"))
        if n_labels != len(scores):
            raise InputError(f"y has {n_labels} labels but X has {len(scores)} rows.")
        check_groups(groups, n_rows=len(scores), carrier="y as a Series")
        names = getattr(self, "feature_names_in_", range(self.n_features_in_))
        self.weights_ = check_weights(self.weights, list(names))
        # What is predicted by, whatever the parameters are set to before the next fit.
        self._how = {"method": self.method, "settings": settings, "filtered": self.filtered}
        return self

    def predict(self, X, groups=None) -> np.ndarray:
        """Fuse the rows of X.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_systems)
            Scores of each system, whole queries in any order of rows.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `X`.

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            What :func:`fuse_scores` returns.

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
        index = check_groups(groups, n_rows=len(scores), carrier="X as a DataFrame")
        return fuse(scores, self.weights_, index, **self._how)
