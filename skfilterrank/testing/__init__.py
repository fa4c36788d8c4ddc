"""Checks that every measure, ranker and held-out value must pass; use them for your own code."""

from skfilterrank._lists.lazy_names import names_of
from skfilterrank.testing._checks import check_measure, check_ranker, parametrize_with_checks
from skfilterrank.testing._leaks import check_no_leak

__all__ = ["check_measure", "check_no_leak", "check_ranker", "parametrize_with_checks"]

__getattr__ = names_of(__name__)
