"""Upper and lower bounds: normalisation between a random and a perfect ranking."""
