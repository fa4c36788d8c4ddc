"""The command `convert`: its options and its work."""
