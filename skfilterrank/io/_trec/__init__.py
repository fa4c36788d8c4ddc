"""TREC runs and judgments: read, written and joined."""
