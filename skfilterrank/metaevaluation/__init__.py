"""Measures and ways of judging, compared with each other on the same systems."""

from typing import TYPE_CHECKING

from skfilterrank._lists.lazy_names import names_of
from skfilterrank.metaevaluation._agreement import Agreement, agreement, fraction_tied
from skfilterrank.metaevaluation._conflicts import MeasureConflicts, conflicts
from skfilterrank.metaevaluation._discriminative_power import (
    DiscriminativePower,
    discriminative_power,
)
from skfilterrank.metaevaluation._judging_curve import JudgingCurve, judging_curve
from skfilterrank.metaevaluation._label_degradation import (
    LabelDegradation,
    label_degradation,
)
from skfilterrank.metaevaluation._leave_out_teams import LeftOutTeams, leave_out_teams
from skfilterrank.metaevaluation._moved_documents import moved_documents
from skfilterrank.metaevaluation._orientation import metric_orientation
from skfilterrank.metaevaluation._percentage_difference import (
    percentage_absolute_difference,
)
from skfilterrank.metaevaluation._recall_levels import recall_level_metric
from skfilterrank.metaevaluation._reliability import Reliability, reliability
from skfilterrank.metaevaluation._reproducibility import Reproducibility, reproducibility
from skfilterrank.metaevaluation._sensitivity import SensitivityCurve, sensitivity_curve
from skfilterrank.metaevaluation._simulation import simulate_agreement, simulate_ties
from skfilterrank.metaevaluation._stability import StabilityCurve, stability_curve
from skfilterrank.metaevaluation._swap_rate import swap_rate
from skfilterrank.metaevaluation._tie_probability import tie_probability
from skfilterrank.metaevaluation._worst_case import (
    optimal_worst_case,
    worst_case_provider,
    worst_case_searcher,
)

__all__ = [
    "Agreement",
    "DiscriminativePower",
    "JudgingCurve",
    "LabelDegradation",
    "LeftOutTeams",
    "MeasureConflicts",
    "Reliability",
    "Reproducibility",
    "SensitivityCurve",
    "StabilityCurve",
    "agreement",
    "conflicts",
    "discriminative_power",
    "fraction_tied",
    "judging_curve",
    "label_degradation",
    "leave_out_teams",
    "metric_orientation",
    "moved_documents",
    "optimal_worst_case",
    "percentage_absolute_difference",
    "recall_level_metric",
    "reliability",
    "reproducibility",
    "sensitivity_curve",
    "simulate_agreement",
    "simulate_ties",
    "stability_curve",
    "swap_rate",
    "tie_probability",
    "worst_case_provider",
    "worst_case_searcher",
]

if not TYPE_CHECKING:  # which would take any name for one that is there
    __getattr__ = names_of(__name__)
