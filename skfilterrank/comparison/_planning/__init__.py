"""How many topics are needed."""
