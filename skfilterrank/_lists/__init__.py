"""Shared core: queries, gains, ranked lists, ties, declaration of measures, threshold engine."""
