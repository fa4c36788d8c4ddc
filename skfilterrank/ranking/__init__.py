"""Estimators that rank each query's documents and leave out the forbidden ones."""

from typing import TYPE_CHECKING

from skfilterrank._estimators.ranker_mixin import RankerMixin
from skfilterrank._lists.lazy_names import names_of
from skfilterrank.ranking._baselines import FilterAll, FilterOnly
from skfilterrank.ranking._boosting.adarank import AdaRankRanker
from skfilterrank.ranking._boosting.rankboost import RankBoostRanker
from skfilterrank.ranking._calibrated_ranker import CalibratedRanker
from skfilterrank.ranking._compare_rankers import RankerComparison, compare_rankers
from skfilterrank.ranking._coordinate_ascent import CoordinateAscentRanker
from skfilterrank.ranking._early_stopping import (
    catboost_metric,
    lightgbm_metric,
    xgboost_early_stopping,
)
from skfilterrank.ranking._explanation.score_difference import ScoreDifference, score_difference
from skfilterrank.ranking._fusion.fuse import fuse_runs, fuse_scores, score_table
from skfilterrank.ranking._fusion.fuse_learned import fuse_learned
from skfilterrank.ranking._fusion.learned import LinearRankFusion
from skfilterrank.ranking._fusion.rank_fusion import RankFusion
from skfilterrank.ranking._lambdarank.lambdarank import LambdaRankRanker
from skfilterrank.ranking._methods.make_ranker import get_ranker_names, make_ranker
from skfilterrank.ranking._methods.ordinal import OrdinalRanker
from skfilterrank.ranking._methods.pointwise import make_logistic, make_random_forest
from skfilterrank.ranking._methods.trees import make_lambdamart, make_listnet, make_ranknet
from skfilterrank.ranking._query_ranker import QueryRanker
from skfilterrank.ranking._query_scaler import QueryScaler
from skfilterrank.ranking._rank_and_filter import RankAndFilter
from skfilterrank.ranking._search.preferences import PreferenceSearch, search_by_preferences
from skfilterrank.ranking._table_features import (
    ColumnsEqual,
    ListFeatures,
    NumericColumns,
    make_text_features,
)
from skfilterrank.ranking._text_features import TextSimilarity, TextStatistics, TextVectors

__all__ = [
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
    "PreferenceSearch",
    "QueryRanker",
    "QueryScaler",
    "RankAndFilter",
    "RankBoostRanker",
    "RankFusion",
    "RankerComparison",
    "RankerMixin",
    "ScoreDifference",
    "TextSimilarity",
    "TextStatistics",
    "TextVectors",
    "catboost_metric",
    "compare_rankers",
    "fuse_learned",
    "fuse_runs",
    "fuse_scores",
    "get_ranker_names",
    "lightgbm_metric",
    "make_lambdamart",
    "make_listnet",
    "make_logistic",
    "make_random_forest",
    "make_ranker",
    "make_ranknet",
    "make_text_features",
    "score_difference",
    "score_table",
    "search_by_preferences",
    "xgboost_early_stopping",
]

if not TYPE_CHECKING:  # which would take any name for one that is there
    __getattr__ = names_of(__name__)
