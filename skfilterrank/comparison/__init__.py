"""Systems against systems: which is better, how sure one can be, and which measure can tell."""

from typing import TYPE_CHECKING

from skfilterrank._names import names_of
from skfilterrank.comparison._judging.judging_curve import JudgingCurve, judging_curve
from skfilterrank.comparison._judging.leave_out_teams import LeftOutTeams, leave_out_teams
from skfilterrank.comparison._measure_quality.agreement import Agreement, agreement, fraction_tied
from skfilterrank.comparison._measure_quality.conflicts import MeasureConflicts, conflicts
from skfilterrank.comparison._measure_quality.discriminative_power import (
    DiscriminativePower,
    discriminative_power,
)
from skfilterrank.comparison._measure_quality.label_degradation import (
    LabelDegradation,
    label_degradation,
)
from skfilterrank.comparison._measure_quality.percentage_difference import (
    percentage_absolute_difference,
)
from skfilterrank.comparison._measure_quality.reliability import Reliability, reliability
from skfilterrank.comparison._measure_quality.sensitivity import SensitivityCurve, sensitivity_curve
from skfilterrank.comparison._measure_quality.stability import StabilityCurve, stability_curve
from skfilterrank.comparison._orders.overlap import RankBiasedOverlap, rank_biased_overlap
from skfilterrank.comparison._orders.preference_orders import SystemOrder, order_systems
from skfilterrank.comparison._orders.rank_correlation import kendall_tau, tau_ap, tau_ap_b
from skfilterrank.comparison._orders.swap_rate import swap_rate
from skfilterrank.comparison._planning.topic_set_size import TopicSetSize, topic_set_size
from skfilterrank.comparison._queries.moved_documents import moved_documents
from skfilterrank.comparison._reproduction.reproducibility import Reproducibility, reproducibility
from skfilterrank.comparison._scores.reading import read_system_scores
from skfilterrank.comparison._scores.score_systems import score_predictions, score_systems
from skfilterrank.comparison._scores.system_scores import SystemScores
from skfilterrank.comparison._significance.compare import compare_systems
from skfilterrank.comparison._significance.corrections import adjust_p_values
from skfilterrank.comparison._significance.pairwise import PairwiseComparison
from skfilterrank.comparison._significance.paper import comparison_table
from skfilterrank.comparison._slices.compare_slices import SliceComparison, compare_slices

__all__ = [
    "Agreement",
    "DiscriminativePower",
    "JudgingCurve",
    "LabelDegradation",
    "LeftOutTeams",
    "MeasureConflicts",
    "PairwiseComparison",
    "RankBiasedOverlap",
    "Reliability",
    "Reproducibility",
    "SensitivityCurve",
    "SliceComparison",
    "StabilityCurve",
    "SystemOrder",
    "SystemScores",
    "TopicSetSize",
    "adjust_p_values",
    "agreement",
    "compare_slices",
    "compare_systems",
    "comparison_table",
    "conflicts",
    "discriminative_power",
    "fraction_tied",
    "judging_curve",
    "kendall_tau",
    "label_degradation",
    "leave_out_teams",
    "moved_documents",
    "order_systems",
    "percentage_absolute_difference",
    "rank_biased_overlap",
    "read_system_scores",
    "reliability",
    "reproducibility",
    "score_predictions",
    "score_systems",
    "sensitivity_curve",
    "stability_curve",
    "swap_rate",
    "tau_ap",
    "tau_ap_b",
    "topic_set_size",
]

if not TYPE_CHECKING:  # which would take any name for one that is there
    __getattr__ = names_of(__name__)
