"""The command `compare`: its options, its work, its output."""
