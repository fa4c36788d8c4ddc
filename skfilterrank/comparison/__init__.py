"""Systems against systems: which is better, how sure one can be, and which measure can tell."""

from skfilterrank.comparison._scores.score_systems import score_predictions, score_systems
from skfilterrank.comparison._scores.system_scores import SystemScores

__all__ = ["SystemScores", "score_predictions", "score_systems"]
