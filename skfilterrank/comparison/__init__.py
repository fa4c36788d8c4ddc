"""Comparison of systems: values by query, significance tests, orders of systems, correlation."""

from typing import TYPE_CHECKING

from skfilterrank._base.lazy_names import names_of
from skfilterrank.comparison._compare_systems import PairwiseComparison as PairwiseComparison
from skfilterrank.comparison._compare_systems import compare_systems, comparison_table
from skfilterrank.comparison._order_systems import order_systems
from skfilterrank.comparison._rank_correlation import kendall_tau, swap_rate, tau_ap
from skfilterrank.comparison._score_systems import score_predictions, score_systems
from skfilterrank.comparison._system_scores import SystemScores

__all__ = [
    "SystemScores",
    "compare_systems",
    "comparison_table",
    "kendall_tau",
    "order_systems",
    "score_predictions",
    "score_systems",
    "swap_rate",
    "tau_ap",
]

if not TYPE_CHECKING:  # without this check, type checkers accept any name
    __getattr__ = names_of(__name__)
