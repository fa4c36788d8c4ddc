"""Features computed once for all models that are fitted on the same rows."""

from contextlib import contextmanager
from contextvars import ContextVar

import joblib
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

_cache: ContextVar[dict | None] = ContextVar("features", default=None)


@contextmanager
def share_features():
    """Let every :class:`SharedFeatures` that is used inside remember what it computed.

    Comparing six losses by cross-validation fits the same transformer on the same rows many times;
    inside this context each is fitted once. The memory is freed at the end.

    Examples
    --------
    >>> from skfilterrank.ranking import share_features
    >>> with share_features():
    ...     pass  # fit several models here
    """
    token = _cache.set({})
    try:
        yield
    finally:
        _cache.reset(token)


class SharedFeatures(TransformerMixin, BaseEstimator):
    """A transformer that never looks at the labels, so that models can share its output.

    Parameters
    ----------
    transformer : transformer
        Fitted on X alone.

    Attributes
    ----------
    transformer_ : transformer
        The fitted transformer.

    See Also
    --------
    share_features : Where sharing happens; elsewhere this is the transformer and no more.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from skfilterrank.ranking import SharedFeatures
    >>> SharedFeatures(TfidfVectorizer()).fit_transform(["good answer", "bad answer"]).shape
    (2, 3)
    """

    def __init__(self, transformer):
        self.transformer = transformer

    def fit(self, X, y=None):
        """Fit the transformer.

        Parameters
        ----------
        X : object
            Whatever the transformer takes.
        y : object, default=None
            Not used.

        Returns
        -------
        self : SharedFeatures
            The fitted transformer.
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X, y=None):
        """Fit the transformer and transform X.

        Parameters
        ----------
        X : object
            Whatever the transformer takes.
        y : object, default=None
            Not used.

        Returns
        -------
        object
            What the transformer gives.
        """
        self._key, (self.transformer_, features) = _remember(
            (self.transformer, X), lambda: _fit_transform(self.transformer, X)
        )
        return features

    def transform(self, X):
        """Transform X.

        Parameters
        ----------
        X : object
            Whatever the transformer takes.

        Returns
        -------
        object
            What the transformer gives.
        """
        check_is_fitted(self)
        if self._key is None:
            return self.transformer_.transform(X)
        return _remember((self._key, X), lambda: self.transformer_.transform(X))[1]

    def get_feature_names_out(self, input_features=None):
        """Names of the features, where the transformer knows them.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Passed to the transformer.

        Returns
        -------
        ndarray of str
            The names.
        """
        return self.transformer_.get_feature_names_out(input_features)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.transformer).input_tags
        return tags


def _fit_transform(transformer, X):
    fitted = clone(transformer)
    features = fitted.fit_transform(X)
    return fitted, features


def _remember(what, compute):
    """The key of what was asked for (None outside the context), and the result."""
    cache = _cache.get()
    if cache is None:
        return None, compute()
    key = joblib.hash(what)
    if key not in cache:
        cache[key] = compute()
    return key, cache[key]
