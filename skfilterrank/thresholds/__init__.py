"""Thresholds on scores: which documents of each query are shown, and with which guarantee."""
