"""Strategies that ask again after each answer, and the loop that asks."""
