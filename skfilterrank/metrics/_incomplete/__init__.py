"""Measures for incomplete judgments."""
