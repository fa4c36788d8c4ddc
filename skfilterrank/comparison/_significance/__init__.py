"""Tests of the differences between systems."""
