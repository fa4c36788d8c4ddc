"""The command `complete`: its options, its work, its output."""
