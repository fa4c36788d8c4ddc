"""Judging with less effort: selecting documents, predicting labels, estimating measures."""

from typing import TYPE_CHECKING

from skfilterrank._base.lazy_names import names_of
from skfilterrank.judgments._active_selectors import MoveToFrontSelector, MTCSelector
from skfilterrank.judgments._assessor_agreement import assessor_agreement
from skfilterrank.judgments._complete_qrels import complete_qrels
from skfilterrank.judgments._document_vectors import columns_by_id as columns_by_id
from skfilterrank.judgments._estimate import estimate
from skfilterrank.judgments._feedback_selector import FeedbackSelector
from skfilterrank.judgments._label_predictor import LabelPredictor
from skfilterrank.judgments._maxrep import MaxRepSelector
from skfilterrank.judgments._pair_features import PairFeatures
from skfilterrank.judgments._pseudo_qrels import pseudo_qrels, rank_systems
from skfilterrank.judgments._rank_table import rank_table
from skfilterrank.judgments._ranked_pool import RankedPool as RankedPool
from skfilterrank.judgments._ranked_selectors import (
    PoolingSelector,
    PriorSelector,
    RandomSelector,
    StatAPSelector,
)
from skfilterrank.judgments._ranked_selectors import statap_prior as statap_prior
from skfilterrank.judgments._sample import draw_sample

__all__ = [
    "FeedbackSelector",
    "LabelPredictor",
    "MTCSelector",
    "MaxRepSelector",
    "MoveToFrontSelector",
    "PairFeatures",
    "PoolingSelector",
    "PriorSelector",
    "RandomSelector",
    "StatAPSelector",
    "assessor_agreement",
    "complete_qrels",
    "draw_sample",
    "estimate",
    "pseudo_qrels",
    "rank_systems",
    "rank_table",
]

if not TYPE_CHECKING:  # without this check, type checkers accept any name
    __getattr__ = names_of(__name__)
