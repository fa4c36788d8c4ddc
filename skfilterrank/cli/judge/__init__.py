"""The command `judge`: its options, its work, its output."""
