"""Comparison of measures and of judging strategies on the same systems."""

from typing import TYPE_CHECKING

from skfilterrank._base.lazy_names import names_of
from skfilterrank.metaevaluation._agreement import agreement, conflicts
from skfilterrank.metaevaluation._judging_curve import judging_curve, leave_teams_out
from skfilterrank.metaevaluation._label_degradation import label_degradation
from skfilterrank.metaevaluation._recall_levels import (
    metric_orientation,
    recall_level_metric,
    tie_probability,
    worst_case_searcher,
)
from skfilterrank.metaevaluation._reliability import reliability
from skfilterrank.metaevaluation._stability import SensitivityCurve as SensitivityCurve
from skfilterrank.metaevaluation._stability import StabilityCurve as StabilityCurve
from skfilterrank.metaevaluation._stability import (
    discriminative_power,
    sensitivity_curve,
    stability_curve,
)

__all__ = [
    "agreement",
    "conflicts",
    "discriminative_power",
    "judging_curve",
    "label_degradation",
    "leave_teams_out",
    "metric_orientation",
    "recall_level_metric",
    "reliability",
    "sensitivity_curve",
    "stability_curve",
    "tie_probability",
    "worst_case_searcher",
]

if not TYPE_CHECKING:  # without this check, type checkers accept any name
    __getattr__ = names_of(__name__)
