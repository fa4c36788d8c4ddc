"""Searches of parameters."""
