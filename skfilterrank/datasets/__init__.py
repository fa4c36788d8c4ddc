"""Generators of judged documents, and loaders of public test collections."""

from typing import TYPE_CHECKING

from skfilterrank._base.lazy_names import names_of
from skfilterrank.datasets._generator import make_marketplace, make_rank_and_filter
from skfilterrank.datasets._loaders import (
    fetch_cranfield,
    fetch_semeval_cqa,
    fetch_trec_covid,
    fetch_trec_qrels,
)

__all__ = [
    "fetch_cranfield",
    "fetch_semeval_cqa",
    "fetch_trec_covid",
    "fetch_trec_qrels",
    "make_marketplace",
    "make_rank_and_filter",
]

if not TYPE_CHECKING:  # without this check, type checkers accept any name
    __getattr__ = names_of(__name__)
