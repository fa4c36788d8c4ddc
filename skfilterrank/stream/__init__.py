"""Rows that need not fit into memory: measures and thresholds of files, frames and generators."""

from typing import TYPE_CHECKING

from skfilterrank._names import names_of
from skfilterrank.stream._evaluate import StreamEvaluation, evaluate
from skfilterrank.stream._predictions import score_predictions
from skfilterrank.stream._report import rank_filter_report
from skfilterrank.stream._risk import risk_threshold
from skfilterrank.stream._rows import Rows
from skfilterrank.stream._threshold import threshold_curve

__all__ = [
    "Rows",
    "StreamEvaluation",
    "evaluate",
    "rank_filter_report",
    "risk_threshold",
    "score_predictions",
    "threshold_curve",
]

if not TYPE_CHECKING:  # which would take any name for one that is there
    __getattr__ = names_of(__name__)
