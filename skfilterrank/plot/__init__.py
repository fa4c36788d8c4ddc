"""Displays in the style of scikit-learn, which draw with matplotlib.

Many results of functions have a method ``plot``. The displays here draw several results together,
or compute the numbers that they draw.
"""

from typing import TYPE_CHECKING

from skfilterrank._base.lazy_names import names_of
from skfilterrank.plot._compared_systems import CriticalDifferenceDisplay, QueryDifferenceDisplay
from skfilterrank.plot._compared_systems import (
    PairwiseComparisonDisplay as PairwiseComparisonDisplay,
)
from skfilterrank.plot._curves import MeasureCurvesDisplay, ThresholdCurveDisplay

__all__ = [
    "CriticalDifferenceDisplay",
    "MeasureCurvesDisplay",
    "QueryDifferenceDisplay",
    "ThresholdCurveDisplay",
]

if not TYPE_CHECKING:  # without this check, type checkers accept any name
    __getattr__ = names_of(__name__)
