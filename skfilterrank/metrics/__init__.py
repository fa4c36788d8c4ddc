"""Measures of ranked and filtered lists, per query and on average, and scorers made of them."""

from skfilterrank.metrics._average_precision import (
    average_precision_score,
    q_measure_score,
    sum_precision_score,
)
from skfilterrank.metrics._dcg import (
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
from skfilterrank.metrics._evaluate import evaluate
from skfilterrank.metrics._filtering import (
    empty_list_rate,
    false_reject_rate,
    forbidden_at_k,
)
from skfilterrank.metrics._incomplete import (
    bpref_score,
    induced_ap_score,
    judged_at_k_score,
)
from skfilterrank.metrics._informativeness import QueryInformativeness, query_informativeness
from skfilterrank.metrics._lexicographic import (
    lexiprecision_score,
    lexirecall_score,
    metric_lexirecall_score,
)
from skfilterrank.metrics._measure import get_measure_names
from skfilterrank.metrics._positions import RelevantPositions, relevant_positions
from skfilterrank.metrics._precision_recall import (
    precision_at_k_score,
    r_precision_score,
    recall_at_k_score,
    reciprocal_rank_score,
    success_at_k_score,
)
from skfilterrank.metrics._preferences import (
    PreferenceMatrix,
    lexicographic_preference,
    preference_matrix,
    preference_matrix_of_positions,
)
from skfilterrank.metrics._qwa import qwa_score
from skfilterrank.metrics._random_ranking import (
    RandomRankingBound,
    expected_dcg,
    expected_sum_precision,
    random_ranking_bound,
)
from skfilterrank.metrics._report import rank_filter_report
from skfilterrank.metrics._sampled_ap import inferred_ap_score, stat_ap_score
from skfilterrank.metrics._scorer import RankingScorer, make_ranking_scorer
from skfilterrank.metrics._search_effort import (
    recall_error_score,
    search_length_score,
    total_search_efficiency_score,
)
from skfilterrank.metrics._ul_normalized import ul_normalized_score
from skfilterrank.metrics._user_models import err_score, rbp_score

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
    "preference_matrix_of_positions",
    "q_measure_score",
    "query_informativeness",
    "qwa_score",
    "r_precision_score",
    "random_ranking_bound",
    "rank_filter_report",
    "rbp_score",
    "recall_at_k_score",
    "recall_error_score",
    "reciprocal_rank_score",
    "relevant_positions",
    "search_length_score",
    "stat_ap_score",
    "success_at_k_score",
    "sum_precision_score",
    "total_search_efficiency_score",
    "ul_normalized_score",
    "unbounded_queries",
]
