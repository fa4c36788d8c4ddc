"""Estimators that rank each query's documents and leave out the forbidden ones."""

from skfilterrank.ranking._baselines import FilterAll, FilterOnly
from skfilterrank.ranking._ordinal import OrdinalRanker
from skfilterrank.ranking._per_query import QueryThreshold
from skfilterrank.ranking._rank_and_filter import RankAndFilter
from skfilterrank.ranking._threshold import ThresholdCurve, threshold_curve

__all__ = [
    "FilterAll",
    "FilterOnly",
    "OrdinalRanker",
    "QueryThreshold",
    "RankAndFilter",
    "ThresholdCurve",
    "threshold_curve",
]
