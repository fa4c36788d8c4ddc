"""Judging less: which documents to judge, labels nobody made, systems without judgments."""

from skfilterrank.judgments._pool import rank_table
from skfilterrank.judgments._selector import TopicSelector

__all__ = [
    "TopicSelector",
    "rank_table",
]
