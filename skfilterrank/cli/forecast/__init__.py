"""The command `forecast`: its options, its work, its output."""
