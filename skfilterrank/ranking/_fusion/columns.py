"""What estimators of fusion share: a column of X for each system."""

import numpy as np
from sklearn.utils.validation import validate_data

from skfilterrank._estimators.wrapping import check_finite_columns, refuse_dates
from skfilterrank._files.named_runs import are_runs
from skfilterrank._lists.checks import check_container
from skfilterrank.exceptions import InputError


class FusionMixin:
    """Takes scores of systems for X, NaN or -inf where a system does not retrieve the row."""

    def _check_X(self, X, *, reset):
        """Scores, -inf where not retrieved."""
        check_container(X)
        refuse_dates(X)
        if are_runs(X):
            raise InputError(
                "X must hold the scores of rows by systems, an array or DataFrame, and holds runs: "
                f"fuse_learned(qrels, runs, fusion={type(self).__name__}(...)) learns from runs "
                "and fuses them."
            )
        scores = validate_data(
            self,
            X,
            reset=reset,
            dtype=np.float64,
            ensure_all_finite=False,
            ensure_min_samples=int(reset),
        )
        retrieved = scores > -np.inf
        names = getattr(self, "feature_names_in_", None)
        finite = np.where(retrieved, scores, 0.0)
        check_finite_columns(finite, owner=type(self).__name__, names=names)
        return np.where(retrieved, scores, -np.inf)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
