"""Judging less: which documents to judge, labels nobody made, systems without judgments."""

from skfilterrank.judgments._active import ActiveSelector
from skfilterrank.judgments._completed_labels import CompletedLabels
from skfilterrank.judgments._completed_scorer import make_completed_scorer
from skfilterrank.judgments._judging import SKIP, STOP, UNDO, Answer, Question, judge
from skfilterrank.judgments._judgment_log import JudgmentLogError, read_judgment_log
from skfilterrank.judgments._label_predictor import LabelPredictor
from skfilterrank.judgments._maxrep import MaxRepSelector
from skfilterrank.judgments._move_to_front import MoveToFrontSelector
from skfilterrank.judgments._mtc import MTCSelector
from skfilterrank.judgments._pool import rank_table
from skfilterrank.judgments._pooling import PoolingSelector, PriorSelector
from skfilterrank.judgments._pseudo_qrels import pseudo_qrels
from skfilterrank.judgments._random import RandomSelector
from skfilterrank.judgments._rank_systems import rank_systems
from skfilterrank.judgments._sampling import StatAPSelector, statap_prior
from skfilterrank.judgments._selector import TopicSelector
from skfilterrank.judgments._similarity import similarity_join

__all__ = [
    "SKIP",
    "STOP",
    "UNDO",
    "ActiveSelector",
    "Answer",
    "CompletedLabels",
    "JudgmentLogError",
    "LabelPredictor",
    "MTCSelector",
    "MaxRepSelector",
    "MoveToFrontSelector",
    "PoolingSelector",
    "PriorSelector",
    "Question",
    "RandomSelector",
    "StatAPSelector",
    "TopicSelector",
    "judge",
    "make_completed_scorer",
    "pseudo_qrels",
    "rank_systems",
    "rank_table",
    "read_judgment_log",
    "similarity_join",
    "statap_prior",
]
