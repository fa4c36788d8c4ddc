"""Systems against systems: which is better, how sure one can be, and which measure can tell."""

from skfilterrank.comparison._scores.score_systems import score_predictions, score_systems
from skfilterrank.comparison._scores.system_scores import SystemScores
from skfilterrank.comparison._tests.compare import compare_systems
from skfilterrank.comparison._tests.corrections import adjust_p_values
from skfilterrank.comparison._tests.pairwise import PairwiseComparison

__all__ = [
    "PairwiseComparison",
    "SystemScores",
    "adjust_p_values",
    "compare_systems",
    "score_predictions",
    "score_systems",
]
