"""Measures of ranked and filtered lists, per query and on average, and scorers made of them."""

import importlib
import pkgutil
from typing import TYPE_CHECKING

from skfilterrank._lists.additive import Additive
from skfilterrank._lists.lazy_names import names_of
from skfilterrank._lists.measure import MEASURES
from skfilterrank._lists.measure_names import get_measure, get_measure_names
from skfilterrank.metrics._bounds.informativeness import QueryInformativeness, query_informativeness
from skfilterrank.metrics._bounds.random_ranking import (
    RandomRankingBound,
    expected_dcg,
    expected_sum_precision,
    random_ranking_bound,
)
from skfilterrank.metrics._bounds.unjudged import UnjudgedBounds, unjudged_bounds
from skfilterrank.metrics._evaluate import evaluate
from skfilterrank.metrics._evaluate_runs import (
    RunEvaluation,
    evaluate_run,
    evaluate_runs,
    iter_evaluations,
)
from skfilterrank.metrics._forbidden.dcg import (
    UnboundedQueries,
    dcg_bounds,
    filtering_difficulty,
    unbounded_queries,
)
from skfilterrank.metrics._register import register_measure
from skfilterrank.metrics._report import rank_filter_report
from skfilterrank.metrics._robustness.positions import RelevantPositions, relevant_positions
from skfilterrank.metrics._robustness.preferences import (
    PreferenceMatrix,
    lexicographic_preference,
    preference_matrix,
    recall_paired_preference,
)
from skfilterrank.metrics._rows_evaluation import RowsEvaluation

__all__ = [
    "Additive",
    "PreferenceMatrix",
    "QueryInformativeness",
    "RandomRankingBound",
    "RankingScorer",
    "RankingScorers",
    "RelevantPositions",
    "RowsEvaluation",
    "RunEvaluation",
    "UnboundedQueries",
    "UnjudgedBounds",
    "dcg_bounds",
    "evaluate",
    "evaluate_run",
    "evaluate_runs",
    "expected_dcg",
    "expected_sum_precision",
    "filtering_difficulty",
    "get_measure",
    "get_measure_names",
    "iter_evaluations",
    "lexicographic_preference",
    "make_ranking_scorer",
    "preference_matrix",
    "query_informativeness",
    "random_ranking_bound",
    "rank_filter_report",
    "recall_paired_preference",
    "register_measure",
    "register_with_ir_measures",
    "relevant_positions",
    "unbounded_queries",
    "unjudged_bounds",
]

_LATER = {
    "_scorer": ("RankingScorer", "RankingScorers", "make_ranking_scorer"),
    "_ir_measures": ("register_with_ir_measures",),
}
if TYPE_CHECKING:
    from skfilterrank.metrics._ir_measures import register_with_ir_measures
    from skfilterrank.metrics._scorer import RankingScorer, RankingScorers, make_ranking_scorer
else:  # it would take any name for one that is there
    __getattr__ = names_of(__name__, _LATER)

# Whatever a file of this folder declares as a measure is public, under its function's name.
for _file in pkgutil.walk_packages(__path__, f"{__name__}."):
    if _file.name.rpartition(".")[2] not in _LATER:
        importlib.import_module(_file.name)
for _measure in MEASURES.values():
    if _measure.function.__module__.startswith(f"{__name__}."):
        globals()[_measure.function.__name__] = _measure.function
        __all__ += [_measure.function.__name__]
