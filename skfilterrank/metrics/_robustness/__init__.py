"""Recall as robustness: positions, preferences, and the numbers made of them."""
