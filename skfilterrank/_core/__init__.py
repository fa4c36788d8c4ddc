"""The ground floor: queries, gains, checks, padded lists, ties, and the measure table."""
