"""Evaluation of TREC runs: runs and judgments in, measures of every topic out."""

from typing import TYPE_CHECKING

from skfilterrank._names import names_of
from skfilterrank.trec._evaluate import (
    RunEvaluation,
    evaluate_run,
    evaluate_runs,
    iter_evaluations,
)

__all__ = [
    "RunEvaluation",
    "evaluate_run",
    "evaluate_runs",
    "iter_evaluations",
    "register_with_ir_measures",
]

if TYPE_CHECKING:
    from skfilterrank.trec._ir_measures import register_with_ir_measures
else:  # it would take any name for one that is there
    __getattr__ = names_of(__name__, {"_ir_measures": ("register_with_ir_measures",)})
