"""Standardizer: scikit-learn's StandardScaler, for dense and for sparse features."""

from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._estimators.wrapping import WrapsFitted


class Standardizer(WrapsFitted, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Bring every feature to the standard deviation 1, and dense ones to the mean 0.

    Sparse X keeps its zeros. A model with a free intercept learns the same from both.

    Attributes
    ----------
    scaler_ : StandardScaler
        The fitted scaler; it is what the kind of X in `fit` made it, and scales X of either kind.
    """

    @all_or_nothing
    def fit(self, X, y=None, sample_weight=None) -> "Standardizer":
        """Learn the scale of each feature of X, dense or sparse of shape (n_rows, n_features)."""
        scaler = StandardScaler(with_mean=not sparse.issparse(X))
        self.scaler_ = scaler.fit(X, y, sample_weight)
        return self

    def transform(self, X):
        """Scale X, dense or sparse of shape (n_rows, n_features)."""
        check_is_fitted(self)
        if self.scaler_.with_mean and sparse.issparse(X):
            X = X.toarray()
        return self.scaler_.transform(X)

    def _fitted_inner(self):
        """The fitted scaler, or None."""
        return getattr(self, "scaler_", None)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(StandardScaler(with_mean=False)).input_tags
        return tags
