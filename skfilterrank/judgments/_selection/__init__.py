"""Strategies that choose which documents to judge."""
