"""Queries, gains, ranked lists, ties, the declaration of measures, and the threshold engine."""
