"""Rank documents, filter out forbidden documents, and measure the quality of ranked lists."""

from typing import TYPE_CHECKING

from skfilterrank import _base
from skfilterrank._base.lazy_names import names_of

__version__ = _base.VERSION
_base.room_of_displays = f"{__name__}.plot"
_ROOMS = (
    "comparison",
    "datasets",
    "exceptions",
    "integrations",
    "io",
    "judgments",
    "metaevaluation",
    "metrics",
    "plot",
    "ranking",
    "thresholds",
)

if TYPE_CHECKING:
    from skfilterrank.comparison import compare_systems
    from skfilterrank.judgments import LabelPredictor, MaxRepSelector
    from skfilterrank.metrics import (
        evaluate,
        evaluate_runs,
        lexirecall_score,
        make_ranking_scorer,
        ndcg_f_score,
        register_measure,
    )
    from skfilterrank.ranking import QueryRanker, RankAndFilter, make_ranker
    from skfilterrank.thresholds import CertifiedThreshold, TunedThreshold

__all__ = [
    "CertifiedThreshold",
    "LabelPredictor",
    "MaxRepSelector",
    "QueryRanker",
    "RankAndFilter",
    "TunedThreshold",
    "__version__",
    "compare_systems",
    "evaluate",
    "evaluate_runs",
    "lexirecall_score",
    "make_ranker",
    "make_ranking_scorer",
    "ndcg_f_score",
    "register_measure",
]

if not TYPE_CHECKING:
    __getattr__ = names_of(
        __name__,
        {
            "comparison": ("compare_systems",),
            "judgments": ("LabelPredictor", "MaxRepSelector"),
            "metrics": (
                "evaluate",
                "evaluate_runs",
                "lexirecall_score",
                "make_ranking_scorer",
                "ndcg_f_score",
                "register_measure",
            ),
            "ranking": ("QueryRanker", "RankAndFilter", "make_ranker"),
            "thresholds": ("CertifiedThreshold", "TunedThreshold"),
        },
        _ROOMS,
    )
