"""Evaluation of TREC runs: runs and judgments in, measures of every topic out."""

from skfilterrank.trec._evaluate import (
    RunEvaluation,
    evaluate_run,
    evaluate_runs,
    iter_evaluations,
)
from skfilterrank.trec._ir_measures import register_with_ir_measures

__all__ = [
    "RunEvaluation",
    "evaluate_run",
    "evaluate_runs",
    "iter_evaluations",
    "register_with_ir_measures",
]
