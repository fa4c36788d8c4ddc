"""Systems ranked with no judgments at all."""
