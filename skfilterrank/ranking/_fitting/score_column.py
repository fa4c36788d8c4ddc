"""The estimator that has nothing to learn: X is a score."""

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from skfilterrank._core.checks import check_scores
from skfilterrank.exceptions import InputError, brief, brief_list

PASSTHROUGH = "passthrough"
_COLUMN = "score"


def as_estimator(estimator):
    """The estimator, where "passthrough" asks for none."""
    is_word = isinstance(estimator, str) and estimator == PASSTHROUGH
    return ScoreColumn() if is_word else estimator


class ScoreColumn(RegressorMixin, BaseEstimator):
    """Predict the scores that X holds.

    X is one score per row, in one dimension or in one column, or a table with a column "score".
    Scores are numbers, -inf where a row is filtered already.

    See Also
    --------
    RankAndFilter : Has it inside for ``RankAndFilter("passthrough")``.

    Examples
    --------
    >>> from skfilterrank.ranking._fitting.score_column import ScoreColumn
    >>> ScoreColumn().fit([0.5, 2.0]).predict([[1.0], [3.0]])
    array([1., 3.])
    """

    def fit(self, X, y=None) -> "ScoreColumn":
        """Check that X holds scores.

        Parameters
        ----------
        X : array-like of shape (n_rows,) or (n_rows, 1), or DataFrame
            Scores.
        y : object, default=None
            Not used.

        Returns
        -------
        self : ScoreColumn
            The estimator.
        """
        _scores_of(X)
        return self

    def predict(self, X) -> np.ndarray:
        """Return the scores.

        Parameters
        ----------
        X : array-like of shape (n_rows,) or (n_rows, 1), or DataFrame
            Scores.

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            The same scores.
        """
        return _scores_of(X).astype(np.float64, copy=False)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.requires_fit = tags.target_tags.required = False
        return tags


def _scores_of(X):
    """One score per row."""
    columns = getattr(X, "columns", None)
    if columns is not None:
        names = list(columns)
        if len(names) != 1 and names.count(_COLUMN) != 1:
            raise InputError(
                f"estimator='passthrough' takes X for scores: expected one column, or one named "
                f"{_COLUMN!r}, got the columns {brief_list(names)}. Give the column of the score, "
                "or an estimator that learns from features."
            )
        X = X[names[0] if len(names) == 1 else _COLUMN]
    elif len(shape := getattr(X, "shape", None) or np.shape(X)) == 2:
        if shape[1] != 1:
            raise InputError(
                f"estimator='passthrough' takes X for scores: expected shape (n_rows,) or "
                f"(n_rows, 1), got {brief(tuple(shape))}. Give the column of the score, or an "
                "estimator that learns from features."
            )
        X = X.toarray().ravel() if hasattr(X, "toarray") else np.asarray(X).ravel()
    return check_scores(X, name="X")
