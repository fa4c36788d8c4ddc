"""Values of systems, query by query, and where they come from."""
