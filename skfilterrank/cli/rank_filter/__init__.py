"""The command `rank-filter`: its options, its work, its output."""
