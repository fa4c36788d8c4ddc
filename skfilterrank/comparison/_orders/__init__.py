"""Orders of systems."""
