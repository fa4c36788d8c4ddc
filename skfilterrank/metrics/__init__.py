"""Measures of ranked lists with hidden documents, and scorers for model selection."""

from typing import TYPE_CHECKING

from skfilterrank._base.lazy_names import names_of
from skfilterrank._lists.measure_names import get_measure, get_measure_names
from skfilterrank.metrics._average_precision import average_precision_score
from skfilterrank.metrics._condensed import bpref_score
from skfilterrank.metrics._dcg import (
    dcg_bounds,
    dcg_score,
    filtering_difficulty,
    ndcg_0_score,
    ndcg_f_score,
    ndcg_min_score,
    ndcg_score,
)
from skfilterrank.metrics._evaluate import Evaluation as Evaluation
from skfilterrank.metrics._evaluate import evaluate
from skfilterrank.metrics._evaluate_runs import check_aligned as check_aligned
from skfilterrank.metrics._evaluate_runs import evaluate_run as evaluate_run
from skfilterrank.metrics._evaluate_runs import evaluate_runs
from skfilterrank.metrics._evaluate_runs import iter_evaluations as iter_evaluations
from skfilterrank.metrics._evaluate_runs import values_of_run as values_of_run
from skfilterrank.metrics._filtering import (
    any_forbidden_at_k,
    empty_list_rate,
    false_reject_rate,
    forbidden_at_k,
    udcg_score,
)
from skfilterrank.metrics._filtering import false_rejects_of_first as false_rejects_of_first
from skfilterrank.metrics._informativeness import query_informativeness
from skfilterrank.metrics._lexicographic import (
    lexiprecision_score,
    lexirecall_score,
    metric_lexirecall_score,
)
from skfilterrank.metrics._ndcg_differences import explain_differences
from skfilterrank.metrics._normalized import ul_normalized_score
from skfilterrank.metrics._precision_recall import (
    precision_at_k_score,
    r_precision_score,
    recall_at_k_score,
    reciprocal_rank_score,
    success_at_k_score,
)
from skfilterrank.metrics._preferences import (
    compatibility_score,
    lexicographic_preference,
    recall_paired_preference,
)
from skfilterrank.metrics._random_rankings import random_ranking_bound
from skfilterrank.metrics._register import register_measure
from skfilterrank.metrics._report import rank_filter_report
from skfilterrank.metrics._sampled_ap import inferred_ap_score, stat_ap_score
from skfilterrank.metrics._search_effort import (
    recall_error,
    search_length,
    total_search_efficiency_score,
)
from skfilterrank.metrics._sets_and_counts import f_score
from skfilterrank.metrics._unjudged_bounds import unjudged_bounds
from skfilterrank.metrics._user_models import err_score, rbp_score

__all__ = [
    "any_forbidden_at_k",
    "average_precision_score",
    "bpref_score",
    "compatibility_score",
    "dcg_bounds",
    "dcg_score",
    "empty_list_rate",
    "err_score",
    "evaluate",
    "evaluate_runs",
    "explain_differences",
    "f_score",
    "false_reject_rate",
    "filtering_difficulty",
    "forbidden_at_k",
    "get_measure",
    "get_measure_names",
    "inferred_ap_score",
    "lexicographic_preference",
    "lexiprecision_score",
    "lexirecall_score",
    "make_ranking_scorer",
    "metric_lexirecall_score",
    "ndcg_0_score",
    "ndcg_f_score",
    "ndcg_min_score",
    "ndcg_score",
    "precision_at_k_score",
    "query_informativeness",
    "r_precision_score",
    "random_ranking_bound",
    "rank_filter_report",
    "rbp_score",
    "recall_at_k_score",
    "recall_error",
    "recall_paired_preference",
    "reciprocal_rank_score",
    "register_measure",
    "search_length",
    "stat_ap_score",
    "success_at_k_score",
    "total_search_efficiency_score",
    "udcg_score",
    "ul_normalized_score",
    "unjudged_bounds",
]

_LATER = {
    "_scorer": ("make_ranking_scorer",),
}
if TYPE_CHECKING:
    from skfilterrank.metrics._scorer import make_ranking_scorer
else:  # without this check, type checkers accept any name
    __getattr__ = names_of(__name__, _LATER)
