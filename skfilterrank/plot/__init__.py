"""Pictures, in the manner of scikit-learn's displays; they need matplotlib."""

from typing import TYPE_CHECKING

from skfilterrank._lists.lazy_names import names_of
from skfilterrank.plot._compared_systems import CriticalDifferenceDisplay, PairwiseComparisonDisplay
from skfilterrank.plot._measure_curves import SensitivityCurveDisplay, StabilityCurveDisplay
from skfilterrank.plot._named_rows import IntervalDisplay, ScoreDifferenceDisplay
from skfilterrank.plot._query_difference import QueryDifferenceDisplay
from skfilterrank.plot._threshold_curves import (
    RiskCoverageDisplay,
    ThresholdCurveDisplay,
    TradeOffDisplay,
)

__all__ = [
    "CriticalDifferenceDisplay",
    "IntervalDisplay",
    "PairwiseComparisonDisplay",
    "QueryDifferenceDisplay",
    "RiskCoverageDisplay",
    "ScoreDifferenceDisplay",
    "SensitivityCurveDisplay",
    "StabilityCurveDisplay",
    "ThresholdCurveDisplay",
    "TradeOffDisplay",
]

if not TYPE_CHECKING:  # type checkers would accept any name
    __getattr__ = names_of(__name__)
