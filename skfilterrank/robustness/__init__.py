"""Recall as robustness: worst cases, orientation and ties of measures, as functions."""

from typing import TYPE_CHECKING

from skfilterrank._names import names_of
from skfilterrank.robustness._orientation import metric_orientation
from skfilterrank.robustness._recall_levels import recall_level_metric
from skfilterrank.robustness._simulation import simulate_agreement, simulate_ties
from skfilterrank.robustness._ties import tie_probability
from skfilterrank.robustness._worst_case import (
    optimal_worst_case,
    worst_case_provider,
    worst_case_searcher,
)

__all__ = [
    "metric_orientation",
    "optimal_worst_case",
    "recall_level_metric",
    "simulate_agreement",
    "simulate_ties",
    "tie_probability",
    "worst_case_provider",
    "worst_case_searcher",
]

if not TYPE_CHECKING:  # which would take any name for one that is there
    __getattr__ = names_of(__name__)
