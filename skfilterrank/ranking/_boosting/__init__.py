"""AdaRank and RankBoost."""
