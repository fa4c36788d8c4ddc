"""Rankers around other estimators: what they forward to the estimator inside, and ask of it.

Where X is a score already, the estimator inside returns it.
"""

from collections.abc import Callable

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.validation import check_is_fitted

from skfilterrank._core.checks import check_scores, find_groups, refuse_query_column
from skfilterrank._core.gains import Gains
from skfilterrank._core.measure import ParsedMeasure
from skfilterrank._ranker import RankerMixin
from skfilterrank._response import document_scores
from skfilterrank._sklearn_compat import (
    BaseSearchCV,
    final_step,
    metadata_routing_enabled,
    without_groups,
)
from skfilterrank._wrapping import WrapsEstimator
from skfilterrank.exceptions import InputError, brief, brief_list
from skfilterrank.ranking._fitting.adapters import group_parameter, needs_own_form


class WrappingRanker(WrapsEstimator, RankerMixin, MetaEstimatorMixin):
    """A ranker that fits the estimator it is given, on features that the estimator takes."""

    takes_unjudged = True

    def _unfitted_inner(self):
        """The estimator that is cloned and fitted; for "passthrough" one that returns X."""
        is_word = isinstance(self.estimator, str) and self.estimator == PASSTHROUGH
        return ScoreColumn() if is_word else self.estimator

    def _is_prefit(self):
        """Whether all rows that `fit` gets are for the wrapper alone."""
        has_scores = self.estimator is not self._unfitted_inner()
        return is_prefit(self.cv) or (has_scores and self.cv is None)

    @property
    def needs_groups(self) -> bool:  # type: ignore[override]  # what the estimator says
        """Whether the estimator learns nothing without query ids."""
        return needs_groups(self._unfitted_inner())

    def _find_groups(self, X, y, groups):
        """Query ids of the rows that `fit` is given, whose columns are remembered."""
        groups = super()._find_groups(X, y, groups)
        self._remember_columns(X)
        if not self._chooses_columns():
            refuse_query_column(vars(self).get("feature_names_in_"))
        return groups

    def _scores_inside(self, X, groups, gains=None):
        """What the fitted estimator scores, float64."""
        check_is_fitted(self)
        self._check_columns(X)
        groups = find_groups(groups, X)
        scores = document_scores(self.estimator_, X, groups=groups, gains=gains, checked=True)
        return scores.astype(np.float64, copy=False)

    def _inside_routing(self):
        """What the estimator asks scikit-learn for; queries it is given by this ranker."""
        return without_groups(super()._inside_routing())

    def _inside_parameters(self, fit_params):
        """Parameters of `fit` that go to the estimator."""
        if metadata_routing_enabled():
            return process_routing(self, "fit", **fit_params).estimator.fit
        return fit_params

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self._unfitted_inner())
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.string = inner.input_tags.string
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.non_deterministic = inner.non_deterministic
        return tags


class MeasuredAsInside(WrappingRanker):
    """A ranker that is measured as the ranker that it is given."""

    @property
    def measure(self) -> str | Callable:  # type: ignore[override]  # what the estimator says
        """Measure that `score` returns: that of the estimator, nDCG_f where it has none."""
        return self._ranker_inside().measure

    @property
    def gains(self) -> Gains:  # type: ignore[override]  # what the estimator says
        """Gains of labels in `score`: those of the estimator."""
        return self._ranker_inside().gains

    def _ranker_inside(self):
        """The ranker inside, else what a ranker is unless it says otherwise."""
        inner = final_step(self.estimator)
        return inner if isinstance(inner, RankerMixin) else RankerMixin

    def _score_measure(self) -> ParsedMeasure:
        """The measure of the estimator, with the cut-off it was tuned for."""
        inner = final_step(self._fitted_inner())
        if isinstance(inner, RankerMixin):
            return inner._score_measure()
        return super()._score_measure()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.target_tags = inner.target_tags
        tags.no_validation = inner.no_validation
        return tags


def is_prefit(cv) -> bool:
    """Whether `cv` says that the estimator is fitted already."""
    return isinstance(cv, str) and cv == "prefit"


def estimators_inside(estimator) -> list:
    """The estimator and those it wraps, from the outermost to the one that learns."""
    inside = [final_step(estimator)]
    while isinstance(inside[-1], BaseSearchCV | WrappingRanker):
        inner = inside[-1].estimator
        if not hasattr(inner, "fit"):
            break
        inside.append(final_step(inner))
    return inside


def needs_groups(estimator) -> bool:
    """Whether the estimator learns nothing without query ids."""
    learner = estimators_inside(estimator)[-1]
    if isinstance(learner, WrapsEstimator):
        # Another part's, such as CompletedLabels, which asks for what its estimator asks for.
        return needs_groups(learner._unfitted_inner())
    return learner.needs_groups if isinstance(learner, RankerMixin) else needs_own_form(learner)


def takes_unjudged(estimator) -> bool:
    """Whether the `fit` of the estimator, or of what a search around it fits, takes NaN labels."""
    inside = estimators_inside(estimator)
    fitted = next((each for each in inside if not isinstance(each, BaseSearchCV)), inside[-1])
    return isinstance(fitted, RankerMixin) and fitted.takes_unjudged


def has_fixed_scale(estimator) -> bool:
    """Whether scores of the estimator fitted on other rows mean the same.

    Probabilities and predicted gains have the scale of what is learned. A ranker learns from the
    order of a query's documents, and no loss says how large its scores should be.
    """
    final = final_step(estimator)
    while isinstance(final, BaseSearchCV):
        final = final_step(final.estimator)
    if isinstance(final, RankerMixin):
        return final.has_fixed_scale
    return is_classifier(final) or group_parameter(final) is None


PASSTHROUGH = "passthrough"
_COLUMN = "score"


class ScoreColumn(RegressorMixin, BaseEstimator):
    """Predict the scores that X holds.

    X is one score per row, in one dimension or in one column, or a table with a column "score".
    Scores are numbers, -inf where a row is filtered already.

    See Also
    --------
    RankAndFilter : Has it inside for ``RankAndFilter("passthrough")``.

    Examples
    --------
    >>> from skfilterrank.ranking._fitting.wrapping import ScoreColumn
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
