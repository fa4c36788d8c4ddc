"""Estimators that rank each query's documents and leave out the forbidden ones."""

from skfilterrank.ranking._baselines import FilterAll, FilterOnly
from skfilterrank.ranking._compare import RankerComparison, compare_rankers
from skfilterrank.ranking._features import (
    ColumnsEqual,
    ListFeatures,
    NumericColumns,
    TextSimilarity,
    TextStatistics,
    TextVectors,
    make_text_features,
)
from skfilterrank.ranking._lambdarank import LambdaRankRanker
from skfilterrank.ranking._ordinal import OrdinalRanker
from skfilterrank.ranking._per_query import QueryThreshold
from skfilterrank.ranking._rank_and_filter import RankAndFilter
from skfilterrank.ranking._recipes import LEARNERS, LOSSES, make_ranker
from skfilterrank.ranking._risk import RiskCertificate, risk_threshold
from skfilterrank.ranking._shared_features import SharedFeatures, share_features
from skfilterrank.ranking._threshold import ThresholdCurve, threshold_curve

__all__ = [
    "LEARNERS",
    "LOSSES",
    "ColumnsEqual",
    "FilterAll",
    "FilterOnly",
    "LambdaRankRanker",
    "ListFeatures",
    "NumericColumns",
    "OrdinalRanker",
    "QueryThreshold",
    "RankAndFilter",
    "RankerComparison",
    "RiskCertificate",
    "SharedFeatures",
    "TextSimilarity",
    "TextStatistics",
    "TextVectors",
    "ThresholdCurve",
    "compare_rankers",
    "make_ranker",
    "make_text_features",
    "risk_threshold",
    "share_features",
    "threshold_curve",
]
