"""Rows that need not fit into memory, and the passes that read them."""
