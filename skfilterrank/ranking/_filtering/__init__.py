"""RankAndFilter, and the thresholds it chooses."""
