"""Measures of relevant or not, and of grades, with complete judgments."""
