"""Scores of rankers as probabilities."""
