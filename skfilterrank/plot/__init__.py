"""Pictures, in the manner of scikit-learn's displays; they need matplotlib."""

from typing import TYPE_CHECKING

from skfilterrank._lists.lazy_names import names_of
from skfilterrank.plot._critical_difference import CriticalDifferenceDisplay
from skfilterrank.plot._interval import IntervalDisplay
from skfilterrank.plot._measure_curves import SensitivityCurveDisplay, StabilityCurveDisplay
from skfilterrank.plot._pairwise_comparison import PairwiseComparisonDisplay
from skfilterrank.plot._query_difference import QueryDifferenceDisplay
from skfilterrank.plot._risk_coverage import RiskCoverageDisplay
from skfilterrank.plot._score_difference import ScoreDifferenceDisplay
from skfilterrank.plot._threshold_curve import ThresholdCurveDisplay
from skfilterrank.plot._trade_off import TradeOffDisplay

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

if not TYPE_CHECKING:  # which would take any name for one that is there
    __getattr__ = names_of(__name__)
