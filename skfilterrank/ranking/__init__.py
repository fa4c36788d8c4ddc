"""Estimators that rank each query's documents and leave out the forbidden ones."""

from typing import TYPE_CHECKING

from skfilterrank._base.lazy_names import names_of
from skfilterrank._estimators.ranker_mixin import RankerMixin
from skfilterrank.ranking._adarank import AdaRankRanker
from skfilterrank.ranking._calibrated_ranker import CalibratedRanker
from skfilterrank.ranking._coordinate_ascent import CoordinateAscentRanker
from skfilterrank.ranking._filter_only import FilterOnly
from skfilterrank.ranking._fusion import fuse_runs
from skfilterrank.ranking._lambdarank import LambdaRankRanker
from skfilterrank.ranking._list_features import QueryScaler, list_embedding_features
from skfilterrank.ranking._make_ranker import LOSSES as LOSSES
from skfilterrank.ranking._make_ranker import METHODS as METHODS
from skfilterrank.ranking._make_ranker import make_ranker
from skfilterrank.ranking._make_ranker import share_features as share_features
from skfilterrank.ranking._query_ranker import OrdinalRanker, QueryRanker
from skfilterrank.ranking._rank_and_filter import RankAndFilter
from skfilterrank.ranking._rankboost import RankBoostRanker
from skfilterrank.ranking._score_difference import ScoreDifference as ScoreDifference
from skfilterrank.ranking._score_difference import score_difference
from skfilterrank.ranking._text_features import make_text_features
from skfilterrank.ranking._time_series_split import QueryTimeSeriesSplit

__all__ = [
    "AdaRankRanker",
    "CalibratedRanker",
    "CoordinateAscentRanker",
    "FilterOnly",
    "LambdaRankRanker",
    "OrdinalRanker",
    "QueryRanker",
    "QueryScaler",
    "QueryTimeSeriesSplit",
    "RankAndFilter",
    "RankBoostRanker",
    "RankerMixin",
    "fuse_runs",
    "list_embedding_features",
    "make_ranker",
    "make_text_features",
    "score_difference",
]

if not TYPE_CHECKING:  # without this check, type checkers accept any name
    __getattr__ = names_of(__name__)
