"""Judging less: which documents to judge, labels nobody made, systems without judgments."""

from skfilterrank.judgments._pool import rank_table
from skfilterrank.judgments._pseudo_qrels import pseudo_qrels
from skfilterrank.judgments._rank_systems import rank_systems
from skfilterrank.judgments._selector import TopicSelector

__all__ = [
    "TopicSelector",
    "pseudo_qrels",
    "rank_systems",
    "rank_table",
]
