"""Slices of the queries against all of them."""
