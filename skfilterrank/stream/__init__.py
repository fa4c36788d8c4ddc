"""Rows that need not fit into memory: measures and thresholds of files, frames and generators."""

from typing import TYPE_CHECKING

from skfilterrank._names import names_of
from skfilterrank.stream._evaluate import StreamEvaluation, evaluate
from skfilterrank.stream._rows import Rows
from skfilterrank.stream._threshold import threshold_curve

__all__ = ["Rows", "StreamEvaluation", "evaluate", "threshold_curve"]

if not TYPE_CHECKING:  # which would take any name for one that is there
    __getattr__ = names_of(__name__)
