"""Queries and documents behind the difference of two systems."""
