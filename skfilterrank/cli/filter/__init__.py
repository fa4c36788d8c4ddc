"""The command `filter`: its options, its work, its output."""
