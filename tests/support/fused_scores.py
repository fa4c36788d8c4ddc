"""Systems of one query, and their fused scores."""

from math import inf

from skfilterrank.ranking import fuse_runs

# One query: four documents, of which the second system shows two and nobody the last.
ONE = {"words": [8.0, 4.0, 2.0, -inf], "links": [-inf, 0.2, 0.3, -inf]}


def fused(y_scores, groups=None, **options):
    """Fused scores of one query, as a list."""
    n_rows = len(next(iter(y_scores.values())))
    return fuse_runs(y_scores, groups=[1] * n_rows if groups is None else groups, **options)
