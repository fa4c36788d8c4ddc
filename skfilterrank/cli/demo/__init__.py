"""The command `demo`: its options, its work, its output."""
