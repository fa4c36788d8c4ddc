"""Estimators that rank each query's documents and leave out the forbidden ones."""

from skfilterrank.ranking._threshold import ThresholdCurve, threshold_curve

__all__ = ["ThresholdCurve", "threshold_curve"]
