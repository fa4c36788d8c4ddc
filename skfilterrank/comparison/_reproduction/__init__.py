"""Runs and what others made when they did the same again."""
