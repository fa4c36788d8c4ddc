"""Measures of ranked and filtered lists, per query and on average, and scorers made of them."""

from skfilterrank._core.measure_names import get_measure_names
from skfilterrank.metrics._bounds.informativeness import QueryInformativeness, query_informativeness
from skfilterrank.metrics._bounds.random_ranking import (
    RandomRankingBound,
    expected_dcg,
    expected_sum_precision,
    random_ranking_bound,
)
from skfilterrank.metrics._bounds.ul_normalized import ul_normalized_score
from skfilterrank.metrics._complete.average_precision import (
    average_precision_score,
    q_measure_score,
    sum_precision_score,
)
from skfilterrank.metrics._complete.precision_recall import (
    precision_at_k_score,
    r_precision_score,
    recall_at_k_score,
    reciprocal_rank_score,
    success_at_k_score,
)
from skfilterrank.metrics._complete.user_models import err_score, rbp_score
from skfilterrank.metrics._evaluate import evaluate
from skfilterrank.metrics._forbidden.dcg import (
    UnboundedQueries,
    dcg_bounds,
    dcg_score,
    filtering_difficulty,
    ndcg_0_score,
    ndcg_f_score,
    ndcg_min_score,
    ndcg_score,
    unbounded_queries,
)
from skfilterrank.metrics._forbidden.filtering import (
    empty_list_rate,
    false_reject_rate,
    forbidden_at_k,
)
from skfilterrank.metrics._forbidden.qwa import qwa_score
from skfilterrank.metrics._incomplete.condensed import (
    bpref_score,
    induced_ap_score,
    judged_at_k_score,
)
from skfilterrank.metrics._incomplete.sampled_ap import inferred_ap_score, stat_ap_score
from skfilterrank.metrics._report import rank_filter_report
from skfilterrank.metrics._robustness.lexicographic import (
    lexiprecision_score,
    lexirecall_score,
    metric_lexirecall_score,
)
from skfilterrank.metrics._robustness.positions import RelevantPositions, relevant_positions
from skfilterrank.metrics._robustness.preferences import (
    PreferenceMatrix,
    lexicographic_preference,
    preference_matrix,
)
from skfilterrank.metrics._robustness.search_effort import (
    recall_error,
    search_length,
    total_search_efficiency_score,
)
from skfilterrank.metrics._scorer import RankingScorer, make_ranking_scorer

__all__ = [
    "PreferenceMatrix",
    "QueryInformativeness",
    "RandomRankingBound",
    "RankingScorer",
    "RelevantPositions",
    "UnboundedQueries",
    "average_precision_score",
    "bpref_score",
    "dcg_bounds",
    "dcg_score",
    "empty_list_rate",
    "err_score",
    "evaluate",
    "expected_dcg",
    "expected_sum_precision",
    "false_reject_rate",
    "filtering_difficulty",
    "forbidden_at_k",
    "get_measure_names",
    "induced_ap_score",
    "inferred_ap_score",
    "judged_at_k_score",
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
    "preference_matrix",
    "q_measure_score",
    "query_informativeness",
    "qwa_score",
    "r_precision_score",
    "random_ranking_bound",
    "rank_filter_report",
    "rbp_score",
    "recall_at_k_score",
    "recall_error",
    "reciprocal_rank_score",
    "relevant_positions",
    "search_length",
    "stat_ap_score",
    "success_at_k_score",
    "sum_precision_score",
    "total_search_efficiency_score",
    "ul_normalized_score",
    "unbounded_queries",
]
