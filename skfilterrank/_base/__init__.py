"""Checks, words, results, rounding and folds: everything that knows no query."""
