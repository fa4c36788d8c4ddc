"""Judging less: which documents to judge, labels nobody made, systems without judgments."""

__all__ = []
