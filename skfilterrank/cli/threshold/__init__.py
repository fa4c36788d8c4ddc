"""The command `threshold`: its options, its work, its output."""
