"""Features computed once for all models that are fitted on the same rows."""

import pickle
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Self

import joblib
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._estimators.wrapping import WrapsFitted

_cache: ContextVar[dict | None] = ContextVar("features", default=None)


@contextmanager
def share_features():
    """Context in which every :class:`SharedFeatures` caches its results.

    Comparing six losses by cross-validation fits the same transformer on the same rows many times;
    inside this context each is fitted once. The memory is freed at the end. Contexts may be
    nested: the inner one starts empty. Sharing happens within one process and thread, so folds
    that are fitted with ``n_jobs`` above 1 compute their own.
    """
    token = _cache.set({})
    try:
        yield
    finally:
        _cache.reset(token)


class SharedFeatures(WrapsFitted, TransformerMixin, BaseEstimator):
    """Wrapper of a transformer that ignores labels, so that models can share its output.

    Parameters
    ----------
    transformer : transformer
        Fitted on X alone, and repeatable: its `random_state`, if it has one, is a number. Inside
        :func:`share_features` models get the same arrays and must not change them in place.

    Attributes
    ----------
    transformer_ : transformer
        The fitted transformer.
    n_features_in_ : int
        Number of features, where the transformer knows it.
    feature_names_in_ : ndarray of str
        Names of the features, where the transformer knows them.

    See Also
    --------
    share_features : Where sharing happens; elsewhere this is the transformer and no more.
    """

    def __init__(self, transformer):
        self.transformer = transformer

    @all_or_nothing
    def fit(self, X, y=None) -> Self:
        """Fit the transformer on X; y is not used."""
        self._fit(X)
        return self

    @all_or_nothing
    def fit_transform(self, X, y=None):
        """Fit the transformer and transform X."""
        return self._fit(X)

    def _fit(self, X):
        """Fit the transformer; its features of X."""
        self.transformer_, features = _remember(
            None, (self.transformer, X), lambda: _fit_transform(self.transformer, X)
        )
        return features

    def transform(self, X):
        """Transform X with the fitted transformer."""
        check_is_fitted(self)
        fitted = self.transformer_
        return _remember(fitted, X, lambda: (fitted, fitted.transform(X)))[1]

    def get_feature_names_out(self, input_features=None):
        """Return the names of the features, where the transformer knows them; ndarray of str."""
        check_is_fitted(self)
        return self.transformer_.get_feature_names_out(input_features)

    def _fitted_inner(self):
        """Return the fitted transformer, or None."""
        return getattr(self, "transformer_", None)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.transformer).input_tags
        return tags


def _fit_transform(transformer, X):
    fitted = clone(transformer)
    features = fitted.fit_transform(X)
    return fitted, features


def _remember(fitted, what, compute):
    """Return (transformer, result) of `compute`, which runs once inside the context."""
    cache = _cache.get()
    if cache is None:
        return compute()
    try:
        # The cache holds the transformer, so that no other one can get its id meanwhile.
        key = (id(fitted), joblib.hash(what))
    except (pickle.PicklingError, AttributeError, TypeError):
        # Some parameters, such as a lambda, cannot be hashed; then nothing is cached.
        return compute()
    if key not in cache:
        cache[key] = compute()
    return cache[key]
