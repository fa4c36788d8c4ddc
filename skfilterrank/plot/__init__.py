"""Pictures, in the manner of scikit-learn's displays; they need matplotlib."""

from skfilterrank.plot._threshold_curve import ThresholdCurveDisplay

__all__ = ["ThresholdCurveDisplay"]
