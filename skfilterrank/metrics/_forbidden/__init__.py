"""Ranking and filtering: nDCG_f, its family, and the rates of a filter."""
