"""The command `fuse`: its options, its work, its output."""
