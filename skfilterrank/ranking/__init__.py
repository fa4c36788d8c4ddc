"""Estimators that rank each query's documents and leave out the forbidden ones."""

from skfilterrank.ranking._per_query import QueryThreshold
from skfilterrank.ranking._rank_and_filter import RankAndFilter
from skfilterrank.ranking._threshold import ThresholdCurve, threshold_curve

__all__ = ["QueryThreshold", "RankAndFilter", "ThresholdCurve", "threshold_curve"]
