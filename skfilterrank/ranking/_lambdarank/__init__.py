"""LambdaRank with boosted trees."""
