"""Generators of judged documents, and a loader of judged forum answers."""

from typing import TYPE_CHECKING

from skfilterrank._base.lazy_names import names_of
from skfilterrank.datasets._generator import make_marketplace, make_rank_and_filter
from skfilterrank.datasets._semeval import fetch_semeval_cqa

__all__ = [
    "fetch_semeval_cqa",
    "make_marketplace",
    "make_rank_and_filter",
]

if not TYPE_CHECKING:  # without this check, type checkers accept any name
    __getattr__ = names_of(__name__)
