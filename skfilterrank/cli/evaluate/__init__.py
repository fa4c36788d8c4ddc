"""The command `evaluate`: its options, its work, its output."""
