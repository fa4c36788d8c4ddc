"""Pictures, in the manner of scikit-learn's displays; they need matplotlib."""

from typing import TYPE_CHECKING

from skfilterrank._names import names_of
from skfilterrank.plot._answer_curve import AnswerCurveDisplay
from skfilterrank.plot._critical_difference import CriticalDifferenceDisplay
from skfilterrank.plot._measure_curves import SensitivityCurveDisplay, StabilityCurveDisplay
from skfilterrank.plot._pairwise_comparison import PairwiseComparisonDisplay
from skfilterrank.plot._price_curve import PriceCurveDisplay
from skfilterrank.plot._query_difference import QueryDifferenceDisplay
from skfilterrank.plot._score_difference import ScoreDifferenceDisplay
from skfilterrank.plot._threshold_curve import ThresholdCurveDisplay

__all__ = [
    "AnswerCurveDisplay",
    "CriticalDifferenceDisplay",
    "PairwiseComparisonDisplay",
    "PriceCurveDisplay",
    "QueryDifferenceDisplay",
    "ScoreDifferenceDisplay",
    "SensitivityCurveDisplay",
    "StabilityCurveDisplay",
    "ThresholdCurveDisplay",
]

if not TYPE_CHECKING:  # which would take any name for one that is there
    __getattr__ = names_of(__name__)
