"""The command `monitor`: its options, its work, its output."""
