"""Judged documents with known answers."""

from typing import TYPE_CHECKING

from skfilterrank._names import names_of
from skfilterrank.datasets._generator import RankAndFilterData, make_rank_and_filter

__all__ = ["RankAndFilterData", "make_rank_and_filter"]

if not TYPE_CHECKING:  # which would take any name for one that is there
    __getattr__ = names_of(__name__)
