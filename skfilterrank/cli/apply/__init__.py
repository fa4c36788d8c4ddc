"""The command `apply`: its options, its work, its output."""
