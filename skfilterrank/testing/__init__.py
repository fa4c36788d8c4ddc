"""Checks that hold of every measure and of every ranker, for those of your own."""

from skfilterrank._names import names_of
from skfilterrank.testing._checks import check_measure, check_ranker, parametrize_with_checks

__all__ = ["check_measure", "check_ranker", "parametrize_with_checks"]

__getattr__ = names_of(__name__)
