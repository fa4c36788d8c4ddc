"""Estimators that rank each query's documents and leave out the forbidden ones."""

from skfilterrank.ranking._adarank import AdaRankRanker
from skfilterrank.ranking._baselines import FilterAll, FilterOnly
from skfilterrank.ranking._calibrated import CalibratedRanker
from skfilterrank.ranking._compare import RankerComparison, compare_rankers
from skfilterrank.ranking._coordinate_ascent import CoordinateAscentRanker
from skfilterrank.ranking._features import (
    ColumnsEqual,
    ListFeatures,
    NumericColumns,
    TextSimilarity,
    TextStatistics,
    TextVectors,
    make_text_features,
)
from skfilterrank.ranking._fusion import fuse_runs, fuse_scores, score_table
from skfilterrank.ranking._fusion_learned import LinearRankFusion
from skfilterrank.ranking._lambdarank import LambdaRankRanker
from skfilterrank.ranking._linear_rank_fusion import linear_rank_fusion
from skfilterrank.ranking._methods.make import RANKING_METHODS, make_ranking_method
from skfilterrank.ranking._methods.pointwise import make_logistic, make_random_forest
from skfilterrank.ranking._methods.query_ranker import QueryRanker
from skfilterrank.ranking._methods.trees import make_lambdamart, make_listnet, make_ranknet
from skfilterrank.ranking._ordinal import OrdinalRanker
from skfilterrank.ranking._per_query import QueryThreshold
from skfilterrank.ranking._rank_and_filter import RankAndFilter
from skfilterrank.ranking._rankboost import RankBoostRanker
from skfilterrank.ranking._recipes import LEARNERS, LOSSES, make_ranker
from skfilterrank.ranking._risk import RiskCertificate, risk_threshold
from skfilterrank.ranking._shared_features import SharedFeatures, share_features
from skfilterrank.ranking._threshold import ThresholdCurve, threshold_curve

__all__ = [
    "LEARNERS",
    "LOSSES",
    "RANKING_METHODS",
    "AdaRankRanker",
    "CalibratedRanker",
    "ColumnsEqual",
    "CoordinateAscentRanker",
    "FilterAll",
    "FilterOnly",
    "LambdaRankRanker",
    "LinearRankFusion",
    "ListFeatures",
    "NumericColumns",
    "OrdinalRanker",
    "QueryRanker",
    "QueryThreshold",
    "RankAndFilter",
    "RankBoostRanker",
    "RankerComparison",
    "RiskCertificate",
    "SharedFeatures",
    "TextSimilarity",
    "TextStatistics",
    "TextVectors",
    "ThresholdCurve",
    "compare_rankers",
    "fuse_runs",
    "fuse_scores",
    "linear_rank_fusion",
    "make_lambdamart",
    "make_listnet",
    "make_logistic",
    "make_random_forest",
    "make_ranker",
    "make_ranking_method",
    "make_ranknet",
    "make_text_features",
    "risk_threshold",
    "score_table",
    "share_features",
    "threshold_curve",
]
