"""Linear models that optimize a measure directly, one weight after the other."""

from skfilterrank.ranking._coordinate_ascent.estimator import CoordinateAscentRanker

__all__ = ["CoordinateAscentRanker"]
