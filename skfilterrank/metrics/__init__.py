"""Measures of ranked and filtered lists, per query and on average, and scorers made of them."""

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
from skfilterrank.metrics._measure import get_measure_names
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
from skfilterrank.metrics._ul_normalized import ul_normalized_score

__all__ = [
    "RandomRankingBound",
    "RankingScorer",
    "UnboundedQueries",
    "bpref_score",
    "dcg_bounds",
    "dcg_score",
    "empty_list_rate",
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
    "make_ranking_scorer",
    "ndcg_0_score",
    "ndcg_f_score",
    "ndcg_min_score",
    "ndcg_score",
    "qwa_score",
    "random_ranking_bound",
    "rank_filter_report",
    "stat_ap_score",
    "ul_normalized_score",
    "unbounded_queries",
]
