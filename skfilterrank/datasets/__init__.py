"""Judged documents with known answers."""

from ._generator import RankAndFilterData, make_rank_and_filter

__all__ = ["RankAndFilterData", "make_rank_and_filter"]
