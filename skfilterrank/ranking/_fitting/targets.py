"""Targets that an estimator is given to learn: the gain, its sign, its grade, or the label."""

import numpy as np
from sklearn.base import is_classifier

from skfilterrank._core.inside import final_step
from skfilterrank._ranker import RankerMixin
from skfilterrank.exceptions import InputError
from skfilterrank.ranking._fitting.adapters import group_parameter

TARGETS = ("auto", "binary", "gain", "grade", "label")


def resolve_target(estimator, target: str) -> str:
    """The target that suits the estimator, where "auto" is asked."""
    if target != "auto":
        return target
    final = final_step(estimator)
    if is_classifier(final):
        return "binary"
    if isinstance(final, RankerMixin):
        return final.ranking_target
    # Rankers of other libraries want grades from 0 up: LightGBM's learns nothing, silently,
    # from a negative one.
    return "gain" if group_parameter(final) in (None, "groups") else "grade"


def learns_labels(estimator, target: str, *, prefit: bool) -> bool:
    """Whether a classifier's classes are labels rather than 1 for a gain above 0."""
    if prefit and is_classifier(estimator):
        return not set(estimator.classes_) <= {0, 1}
    return resolve_target(estimator, target) == "label"


class TargetEncoder:
    """Turn gains (and labels) into the target, the same way in every fold."""

    def __init__(self, kind: str, gains):
        self.kind = kind
        self.levels = np.unique(gains[~np.isnan(gains)])

    def encode(self, gains, labels):
        """Target of judged rows."""
        if self.kind == "binary":
            return (gains > 0).astype(np.int64)
        if self.kind == "gain":
            return gains
        if self.kind == "label":
            return labels
        grades = np.searchsorted(self.levels, gains)
        unknown = ~np.isin(gains, self.levels)
        if unknown.any():
            raise InputError(
                f"eval_set holds the gain {gains[unknown][0]:g}, which does not occur in y: its "
                "grade is unknown. Known gains: "
                f"{', '.join(f'{level:g}' for level in self.levels[:10])}."
            )
        return grades
