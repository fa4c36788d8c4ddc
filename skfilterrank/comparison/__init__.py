"""Systems against systems: which is better, how sure one can be, and which measure can tell."""

from typing import TYPE_CHECKING

from skfilterrank._lists.lazy_names import names_of
from skfilterrank._lists.p_values import adjust_p_values
from skfilterrank.comparison._compare_slices import SliceComparison, compare_slices
from skfilterrank.comparison._compare_systems import compare_systems
from skfilterrank.comparison._comparison_table import comparison_table
from skfilterrank.comparison._overlap import RankBiasedOverlap, rank_biased_overlap
from skfilterrank.comparison._pairwise import PairwiseComparison
from skfilterrank.comparison._preference_orders import SystemOrder, order_systems
from skfilterrank.comparison._rank_correlation import kendall_tau, tau_ap, tau_ap_b
from skfilterrank.comparison._read_system_scores import read_system_scores
from skfilterrank.comparison._score_systems import score_predictions, score_systems
from skfilterrank.comparison._system_scores import SystemScores
from skfilterrank.comparison._topic_set_size import TopicSetSize, topic_set_size

__all__ = [
    "PairwiseComparison",
    "RankBiasedOverlap",
    "SliceComparison",
    "SystemOrder",
    "SystemScores",
    "TopicSetSize",
    "adjust_p_values",
    "compare_slices",
    "compare_systems",
    "comparison_table",
    "kendall_tau",
    "order_systems",
    "rank_biased_overlap",
    "read_system_scores",
    "score_predictions",
    "score_systems",
    "tau_ap",
    "tau_ap_b",
    "topic_set_size",
]

if not TYPE_CHECKING:  # which would take any name for one that is there
    __getattr__ = names_of(__name__)
