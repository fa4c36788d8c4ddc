"""Held-out queries that a ranker takes from its own training rows, to stop early by."""

import numpy as np

from skfilterrank._estimators.ranker_mixin import RankerMixin
from skfilterrank._estimators.responses import is_model
from skfilterrank._estimators.wrapping import WrappingRanker
from skfilterrank._lists.checks import check_share
from skfilterrank._lists.sklearn_compat import fitted_end
from skfilterrank._lists.user_warnings import warn_user
from skfilterrank.exceptions import FitWarning, InputError


def check_no_sets(eval_set) -> None:
    """Raise where there are held-out sets already."""
    if eval_set is not None:
        raise InputError(
            "validation_fraction holds out queries of its own, and eval_set was given too: use one "
            "of the two."
        )


def held_out_rows(fraction, codes, judged=True) -> np.ndarray:
    """Mask of the judged rows of the queries that are held out, always the same ones.

    `codes` numbers the query of each row. Unjudged rows stay behind, to be counted there.
    """
    check_share(fraction, "validation_fraction")
    judged = np.broadcast_to(judged, codes.shape)
    # Of these alone something can be measured.
    queries = np.unique(codes[judged])
    n_held = max(1, round(fraction * len(queries)))
    if n_held >= len(queries):
        raise InputError(
            f"validation_fraction={fraction:g} holds out {n_held} of {len(queries)} judged queries "
            "and leaves none to learn from: lower it, or give more queries."
        )
    drawn = np.random.RandomState(0).permutation(queries)[:n_held]
    return judged & np.isin(codes, drawn)


def warn_unless_stopped_by(fraction, estimator) -> None:
    """Say so where a fitted estimator made no use of the queries that were held out for it."""
    final = fitted_end(estimator)
    while isinstance(final, WrappingRanker):
        final = fitted_end(final._fitted_inner())
    if not _stops_early(final):
        warn_user(
            f"validation_fraction={fraction:g} holds queries out of the training, and "
            f"{type(final).__name__} did not stop by them: set early_stopping_rounds (of "
            f"{type(final).__name__}), or leave validation_fraction out to learn from all queries.",
            FitWarning,
        )


def _stops_early(fitted):
    """Whether a held-out set decides how many rounds there are; True where nothing tells."""
    if isinstance(fitted, RankerMixin):
        return getattr(fitted, "early_stopping_rounds", 1) is not None
    if is_model(fitted, "lightgbm", "LGBMModel"):
        return fitted.best_iteration_ > 0
    if is_model(fitted, "xgboost", "XGBModel"):
        return hasattr(fitted, "best_iteration")
    if is_model(fitted, "catboost", "CatBoost"):
        settings = fitted.get_all_params()
        return settings.get("use_best_model", False) or "od_type" in settings
    return True
