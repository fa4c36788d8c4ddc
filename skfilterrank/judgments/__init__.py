"""Judging less: which documents to judge, labels nobody made, systems without judgments."""

from typing import TYPE_CHECKING

from skfilterrank._names import names_of
from skfilterrank.judgments._active.active import ActiveSelector
from skfilterrank.judgments._active.judging import Answer, Question, judge
from skfilterrank.judgments._active.judgment_log import read_judgment_log
from skfilterrank.judgments._active.move_to_front import MoveToFrontSelector
from skfilterrank.judgments._active.mtc import MTCSelector
from skfilterrank.judgments._assessors.agreement import AssessorAgreement, assessor_agreement
from skfilterrank.judgments._assessors.likely_errors import likely_errors
from skfilterrank.judgments._exchange.answers import read_judging_answers
from skfilterrank.judgments._exchange.merged import MergedAnswers, merge_answers
from skfilterrank.judgments._exchange.tasks import write_judging_tasks
from skfilterrank.judgments._no_judgments.pseudo_qrels import pseudo_qrels
from skfilterrank.judgments._no_judgments.rank_systems import rank_systems
from skfilterrank.judgments._prediction.complete_qrels import CompletedQrels, complete_qrels
from skfilterrank.judgments._prediction.completed_labels import CompletedLabels
from skfilterrank.judgments._prediction.completed_scorer import make_completed_scorer
from skfilterrank.judgments._prediction.label_predictor import LabelPredictor
from skfilterrank.judgments._selection.maxrep import MaxRepSelector
from skfilterrank.judgments._selection.pool import rank_table
from skfilterrank.judgments._selection.pooling import PoolingSelector, PriorSelector
from skfilterrank.judgments._selection.random import RandomSelector
from skfilterrank.judgments._selection.sampling import StatAPSelector, statap_prior
from skfilterrank.judgments._selection.selector import TopicSelector
from skfilterrank.judgments._selection.similarity import similarity_join

__all__ = [
    "ActiveSelector",
    "Answer",
    "AssessorAgreement",
    "CompletedLabels",
    "CompletedQrels",
    "LabelPredictor",
    "MTCSelector",
    "MaxRepSelector",
    "MergedAnswers",
    "MoveToFrontSelector",
    "PoolingSelector",
    "PriorSelector",
    "Question",
    "RandomSelector",
    "StatAPSelector",
    "TopicSelector",
    "assessor_agreement",
    "complete_qrels",
    "judge",
    "likely_errors",
    "make_completed_scorer",
    "merge_answers",
    "pseudo_qrels",
    "rank_systems",
    "rank_table",
    "read_judging_answers",
    "read_judgment_log",
    "similarity_join",
    "statap_prior",
    "write_judging_tasks",
]

if not TYPE_CHECKING:  # which would take any name for one that is there
    __getattr__ = names_of(__name__)
