"""Judging on a page or in other tools, and the answers that come back."""
